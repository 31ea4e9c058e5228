"""`make top`: what is drawn of a router, what keys do, and the whole program in a terminal."""

import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from controller import routers
from controller.errors import ConnectError
from controller.queueing import (
    Arbiter,
    Discipline,
    Group,
    Groups,
    InputQueueing,
    InputStage,
    Limit,
    PortSettings,
    QueueSettings,
    RouterSettings,
)
from controller.queues import InputState, PortState, QueueState, Sample, VoqState
from controller.toolchain import ROOT
from labs.top.monitor import Monitor
from labs.top.screen import KEYS, Choice, busiest, draw, pressed
from tests.controller.device_double import DeviceDouble, serving
from tests.controller.router_double import RouterDouble
from topo import wait
from topo.process import Identity

LIMIT = QueueSettings(limit=Limit(packets=100))
FAIR = Groups((Group({0: 1, 1: 1}, Discipline.DRR),))
SETTINGS = RouterSettings(
    {
        1: PortSettings(rate_bps=100_000_000, every_queue=LIMIT),
        2: PortSettings(rate_bps=1_500_000, every_queue=LIMIT, scheduler=FAIR),
    },
    input=InputStage(InputQueueing.NONE),
)


def queue(class_, held, departed, dropped=0):
    reasons = {"QUEUE_LIMIT": dropped} if dropped else {}
    return QueueState(class_, held, held * 1514, departed // 1514, departed, reasons)


def sample(time_s, *, departed=0, dropped=0):
    """Port 1 idle with one queue; port 2 with 93 packets in its class 0 and 5 in its class 1."""
    queues = (queue(0, 93, departed, dropped), queue(1, 5, 0))
    reasons = {"QUEUE_LIMIT": dropped} if dropped else {}
    busy = PortState(2, 98, 98 * 1514, departed // 1514, departed, reasons, queues)
    return Sample(time_s, 0, {1: PortState(1, 0, 0, 0, 0, {}, (queue(0, 0, 0),)), 2: busy})


def moment(settings=SETTINGS):
    """A second of the line's whole rate: 187,500 bytes are 1.5 Mb/s; 10 drops in that second."""
    monitor = Monitor()
    monitor.take(sample(4.0, departed=1_000_000, dropped=6), settings)
    return monitor.take(sample(5.0, departed=1_187_500, dropped=16), settings)


def shown(choice=None, *, width=80, height=24, settings=SETTINGS):
    choice = choice or Choice(port=2)
    return draw(moment(settings), choice, title="s1", width=width, height=height, styled=False)


def test_rates_and_drops_are_those_of_the_last_second():
    _, busy = moment().ports
    assert busy.rate_bps == pytest.approx(1.5e6)
    assert busy.utilisation == pytest.approx(1.0)
    assert busy.drop_rate == pytest.approx(10)
    assert busy.dropped_packets == 16


def test_a_router_that_was_started_again_is_not_compared_with_before():
    monitor = Monitor()
    monitor.take(sample(50.0, departed=9_000_000), SETTINGS)
    again = monitor.take(sample(0.1), SETTINGS)
    assert again.ports[1].rate_bps == 0
    assert list(again.ports[1].queues[0].history) == [93]


def test_a_port_is_a_line_with_its_rate_its_use_its_packets_and_its_drops():
    (line,) = [line for line in shown() if line.startswith(">   2")]
    assert re.match(r">   2   1\.5 Mb/s   1\.5 Mb/s  █+ 100%      98       16  10/s", line)


def test_the_queues_of_the_chosen_port_are_bars_against_their_limits():
    lines = shown()
    assert "queues of port 2  drr 0:1 1:1" in lines
    (bulk,) = [line for line in lines if "16 queue limit" in line]
    # 93 of 100 packets in a bar of 18 characters: 16 whole ones and six eighths of the next.
    assert bulk.startswith(">    0  " + "█" * 16 + "▊")
    assert "93   100   140.8" in bulk


def test_what_is_lost_between_a_port_and_its_device_is_said_where_there_is_some():
    lossy = moment()
    ports = [replace(port, lost_outside={"overrun": 12}) for port in lossy.ports]
    lines = draw(
        replace(lossy, ports=ports), Choice(port=2), title="s1", width=80, height=24, styled=False
    )
    assert "  lost between this port and its network device: 12 overrun" in lines
    assert not any("network device" in line for line in shown())


def test_what_waits_between_a_port_and_its_device_is_said_where_something_does():
    busy = moment()
    held = {"waiting_bytes": 143_360, "unfinished": 2}
    ports = [replace(port, held_outside=held) for port in busy.ports]
    lines = draw(
        replace(busy, ports=ports), Choice(port=2), title="s1", width=80, height=24, styled=False
    )
    words = "143,360 bytes for the switch to take, 2 super-packets half taken"
    assert words in " ".join(" ".join(lines).split())
    assert not any("kernel" in line for line in shown())


def test_what_waits_outside_of_the_queues_is_said_where_there_is_some():
    now = moment()
    ports = [replace(port, receive_line=134, arriving=3, refused=9) for port in now.ports]
    lines = draw(
        replace(now, ports=ports), Choice(port=2), title="s1", width=110, height=24, styled=False
    )
    assert (
        "  9 refused by the neighbour's card, 134 in the neighbour's card (receive line), "
        "3 on the cable to us"
    ) in lines
    # Nothing of it is cut off where the terminal is narrow.
    lines = draw(
        replace(now, ports=ports), Choice(port=2), title="s1", width=60, height=24, styled=False
    )
    at = lines.index("  9 refused by the neighbour's card, 134 in the neighbour's")
    assert lines[at + 1] == "  card (receive line), 3 on the cable to us"
    assert not any("cable" in line for line in shown())


def test_of_many_classes_those_with_something_in_them_are_shown():
    now = moment()
    ports = []
    for port in now.ports:
        empty = replace(port.queues[0], packets=0, bytes=0, rate_bps=0, dropped={}, history=[0])
        queues = [replace(empty, class_=number) for number in range(8)]
        queues[3] = replace(queues[3], rate_bps=20_000_000)
        ports.append(replace(port, queues=queues))
    lines = draw(
        replace(now, ports=ports), Choice(port=2), title="s1", width=80, height=24, styled=False
    )
    # Nothing waits anywhere, so the one that packets pass is what is looked at.
    assert any(line.startswith(">    3") for line in lines)
    assert "  nothing in classes 7, 6, 5, 4, 2, 1, 0" in lines
    assert any("port 2 class 3, packets that wait" in line for line in lines)
    # The arrows still lead to each of them.
    chosen = pressed(Choice(port=2, class_=3), "left", replace(now, ports=ports))
    assert chosen.class_ != 3


def test_the_history_fills_what_the_rest_leaves():
    lines = shown(height=40)
    assert len(lines) == 40
    assert any("port 2 class 0, packets that wait" in line for line in lines)
    assert lines[-1] == KEYS


@pytest.mark.parametrize(("width", "height"), [(80, 24), (60, 16), (120, 40), (200, 60)])
def test_a_screen_never_exceeds_the_terminal(width, height):
    lines = shown(width=width, height=height)
    assert len(lines) == height
    assert max(map(len, lines)) <= width


DROPPED = {"QUEUE_LIMIT": 1234, "AQM": 5678, "PORT_LIMIT": 91011, "POOL_LIMIT": 121314}


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_number_of_a_queue_is_cut(width):
    full = QueueState(0, 93, 140_802, 1000, 1_514_000, DROPPED)
    state = PortState(2, 93, 140_802, 1000, 1_514_000, DROPPED, (full,))
    lines = draw(
        Monitor().take(Sample(1.0, 0, {2: state}), SETTINGS),
        Choice(),
        title="s1 127.0.0.1:9559 of a network with quite a long name",
        width=width,
        height=40,
        styled=False,
    )
    assert max(map(len, lines)) <= width
    words = " ".join(" ".join(lines).split())
    for number in ("1234 queue limit", "5678 aqm", "91011 port limit", "121314 pool limit"):
        assert number in words
    assert "live by port" in words


@pytest.mark.parametrize(("width", "busy"), [(80, (2, 9)), (60, (3, 7)), (80, range(1, 17))])
def test_no_number_of_a_large_crossbar_is_cut(width, busy):
    ports = {n: PortState(n, 0, 0, 0, 0, {}, (queue(0, 0, 0),)) for n in (*range(1, 17), 510)}
    voqs = tuple(VoqState(output, 0, 100 + output, 1514) for output in busy)
    inputs = {1: InputState(1, sum(100 + n for n in busy), 0, {"VOQ_LIMIT": 4711}, voqs)}
    stage = InputStage(InputQueueing.VOQ, arbiter=Arbiter.ISLIP, rate_bps=10**9)
    taken = Monitor().take(Sample(1.0, 0, ports, inputs), RouterSettings(input=stage))
    lines = draw(taken, Choice(), title="s1", width=width, height=60, styled=False)
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    for output in busy:
        assert words.count(str(output + 100)) == 1
    assert "4711 voq limit" in " ".join(words)
    if len(busy) < 16:
        assert "nothing for outputs 1" in " ".join(words)
        assert "15, 16, cpu" in " ".join(words)


def test_a_long_schedule_is_shown_whole():
    classes = tuple(Group({n: n + 1 for n in (2 * m, 2 * m + 1)}, Discipline.DRR) for m in range(4))
    settings = RouterSettings({2: PortSettings(scheduler=Groups(classes))})
    taken = Monitor().take(sample(1.0), settings)
    lines = draw(taken, Choice(port=2), title="s1", width=60, height=40, styled=False)
    assert max(map(len, lines)) <= 60
    words = " ".join(" ".join(lines).split())
    assert "before drr 6:7 7:8" in words


def test_a_router_with_many_ports_says_how_many_are_hidden():
    ports = {n: PortState(n, 0, 0, 0, 0, {}, (queue(0, 0, 0),)) for n in range(1, 65)}
    many = Monitor().take(Sample(1.0, 0, ports), RouterSettings())
    lines = draw(many, Choice(), title="s1", width=80, height=24, styled=False)
    assert len(lines) == 24
    assert any(re.match(r"  and \d+ more", line) for line in lines)


def test_the_port_to_the_controller_has_a_name():
    ports = {n: PortState(n, 0, 0, 0, 0, {}, (queue(0, 0, 0),)) for n in (1, 510)}
    lines = draw(
        Monitor().take(Sample(1.0, 0, ports), RouterSettings()),
        Choice(port=510),
        title="s1",
        width=80,
        height=24,
        styled=False,
    )
    assert [line.split()[0] for line in lines[2:4]] == ["1", ">"]
    assert lines[3].split()[1] == "cpu"


def inputs_shown(queueing, *inputs, matches=()):
    stage = InputStage(queueing, rate_bps=10**9, arbiter=Arbiter.ISLIP)
    now = replace(
        moment(RouterSettings(SETTINGS.ports, input=stage)), inputs=inputs, matches=matches
    )
    return draw(now, Choice(port=2), title="s1", width=80, height=24, styled=False)


def test_virtual_output_queues_are_a_matrix_with_the_matches_of_the_moment():
    voqs = (VoqState(1, 0, 3, 4542), VoqState(2, 0, 4, 6056), VoqState(2, 1, 5, 7570))
    lines = inputs_shown(
        InputQueueing.VOQ,
        InputState(1, 12, 18_168, {"VOQ_LIMIT": 7}, voqs),
        InputState(2, 0, 0, {}),
        matches=[(1, 2)],
    )
    head = next(index for index, line in enumerate(lines) if line.startswith("input voq"))
    assert lines[head] == "input voq, arbiter islip, fabric 1 Gb/s x 1   now crossing: 1→2"
    # From input 1: three packets for output 1, nine in both classes for output 2.
    assert lines[head + 1 : head + 4] == [
        " input  packets   to 1   to 2  drops",
        "     1       12      3      9  7 voq limit",
        "     2        0      ·      ·  none",
    ]


def test_a_fifo_at_the_input_has_one_number():
    lines = inputs_shown(InputQueueing.FIFO, InputState(1, 40, 60_560, {"INPUT_LIMIT": 2}))
    assert "     1       40  2 input limit" in lines
    assert any(line.endswith("now crossing: nothing") for line in lines)


def test_keys_pause_sort_and_choose():
    now, choice = moment(), Choice(port=2)
    assert pressed(choice, "p", now).paused
    assert not pressed(pressed(choice, "p", now), "p", now).paused
    sorts = [choice.sort]
    for _ in range(4):
        choice = pressed(choice, "s", now)
        sorts.append(choice.sort)
    assert sorts == ["port", "use", "packets", "dropped", "port"]
    assert pressed(choice, "up", now).port == 1
    # The last port stays chosen.
    assert pressed(choice, "down", now).port == 2
    # Queues are shown from the highest class down: left goes up to class 1.
    assert pressed(choice, "left", now).class_ == 1
    assert pressed(choice, "x", now) == choice


def test_sorted_by_packets_the_busiest_port_comes_first():
    lines = shown(Choice(sort="packets", port=2))
    numbers = [line[:5].strip("> ") for line in lines[2:4]]
    assert numbers == ["2", "1"]
    assert busiest(moment()) == 2


@pytest.fixture
def address():
    with serving(DeviceDouble(), RouterDouble().handler()) as address:
        yield address


def test_without_a_terminal_one_screen_is_printed(address):
    done = subprocess.run(
        [sys.executable, "-m", "vitrine", "top", "--router", address],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "80", "LINES": "24"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert done.stdout.startswith(f"{address}   2 ports   1.5 s   live   by port\n")


def test_routers_are_known_by_name_while_their_network_is_up(tmp_path, monkeypatch):
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))
    with routers.announced({"s1": "127.0.0.1:9559", "s2": "127.0.0.1:9560"}):
        routers.look_at("s2", 3)
        up = routers.up()
        assert up.routers == {"s1": "127.0.0.1:9559", "s2": "127.0.0.1:9560"}
        assert (up.router, up.port) == ("s2", 3)
        assert routers.address_of("s2") == "127.0.0.1:9560"
        with pytest.raises(ConnectError, match="no router 's3': there are: s1, s2"):
            routers.address_of("s3")
    with pytest.raises(ConnectError, match="no network of the kit is up"):
        routers.address_of("s2")


def test_of_two_networks_that_are_up_a_router_is_named_with_its_world(tmp_path, monkeypatch):
    monkeypatch.setenv("VITRINE_RUN_DIR", str(tmp_path))
    with routers.announced({"s1": "127.0.0.1:9559", "s3": "127.0.0.1:9561"}):
        # Another process, which has a network in virtual time, and lives as long as we do.
        theirs = Identity.of(os.getppid())
        other = {
            "routers": {"s1": "127.0.0.1:40001/1", "s2": "127.0.0.1:40001/2"},
            "began_ns": time.time_ns(),
            "owner": [theirs.pid, theirs.start_ticks],
        }
        (tmp_path / f"routers-{theirs.pid}.json").write_text(json.dumps(other))
        assert routers.up().world == "virtual"
        assert routers.address_of("s3") == "127.0.0.1:9561"
        assert routers.address_of("s2") == "127.0.0.1:40001/2"
        with pytest.raises(ConnectError, match=r"2 networks .* 's1': say its address, 127"):
            routers.address_of("s1")
        with pytest.raises(ConnectError, match="there are: s1, s2, s3"):
            routers.address_of("s9")
        assert routers.called("127.0.0.1:9559") == "s1 (live) 127.0.0.1:9559"
        assert list(routers.having("127.0.0.1:9561").routers) == ["s1", "s3"]
    # The ended network leaves the other alone, and a killed one has nothing up.
    assert routers.address_of("s1") == "127.0.0.1:40001/1"
    other["owner"] = [theirs.pid, theirs.start_ticks - 1]
    (tmp_path / f"routers-{theirs.pid}.json").write_text(json.dumps(other))
    assert routers.all_up() == []


def test_no_router_is_one_sentence():
    done = subprocess.run(
        [sys.executable, "-m", "vitrine", "top", "--router", "127.0.0.1:1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("vitrine: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
@pytest.mark.parametrize(("width", "height"), [(80, 24), (132, 43)])
def test_in_a_terminal_it_draws_obeys_keys_and_gives_the_screen_back(
    address, width, height, tmp_path
):
    # A tmux server of its own: one shared by both sizes may still be ending when asked again.
    tmux = ["tmux", "-u", "-S", str(tmp_path / "tmux"), "-f", "/dev/null"]

    def do(*arguments):
        return subprocess.run([*tmux, *arguments], capture_output=True, text=True, check=True)

    def screen():
        return do("capture-pane", "-p", "-t", "top").stdout.splitlines()

    def until(text):
        wait.until(lambda: any(text in line for line in screen()), f"{text!r} on the screen", 60)

    # Colours and blocks need a terminal that speaks UTF-8.
    folder, python = shlex.quote(str(ROOT)), shlex.quote(sys.executable)
    command = f"cd {folder} && LC_ALL=C.UTF-8 {python} -m vitrine top --router {address}; cat"
    do("new-session", "-d", "-s", "top", "-x", str(width), "-y", str(height), "sh", "-c", command)
    try:
        until("queues of port 2")
        # The keys stand on the last line; the very first picture may be of another size.
        wait.until(lambda: screen()[-1] == KEYS, "the keys on the last line", 60)
        assert screen()[0].startswith(f"{address}   2 ports")
        do("send-keys", "-t", "top", "s")
        until("by use")
        do("send-keys", "-t", "top", "p")
        until("PAUSED")
        do("send-keys", "-t", "top", "Up")
        until("queues of port 1")
        # There is only one router: the next one is the same.
        do("send-keys", "-t", "top", "r")
        until("queues of port 2")
        do("send-keys", "-t", "top", "q")
        wait.until(lambda: not any("ports" in line for line in screen()), "the end of top", 60)
    finally:
        do("kill-server")


def test_the_history_is_as_long_as_what_was_seen():
    monitor = Monitor()
    for index in itertools.islice(itertools.count(), 300):
        last = monitor.take(sample(index / 10), SETTINGS)
    assert len(last.ports[1].queues[0].history) == 240
