"""The whole thread on real parts: P4 program, P4Runtime, queues, Mininet hosts, kernel TCP."""

import io
import itertools
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import p4runtime_sh.shell as p4runtime_shell
import pytest

from apps import shell
from controller.entries import Lpm
from controller.queueing import PortSettings
from controller.queues import Queues
from controller.toolchain import ROOT
from labs.bdp_tcp_windows.lab import BdpTcpWindows, longest_closed_s
from labs.narration import Narrator
from labs.settings import Settings
from labs.worlds.live import network as lab_network
from labs.worlds.live.bench import LiveBench
from tests.first_lab import BOTTLENECK, Bottleneck
from tests.live import foreground
from topo import record, wait
from topo.live import LiveNetwork

FRAME_BYTES = 1514
QUICK = Settings(quick=True)
DEADLINE_S = 300


@pytest.fixture
def thread(tmp_path):
    with lab_network.programmed(Bottleneck(QUICK).topology(), logs=tmp_path) as (live, sessions):
        yield live, sessions["s1"]


@pytest.fixture
def bench(tmp_path):
    with LiveBench(tmp_path, Narrator((), io.StringIO())) as bench:
        yield bench


def assert_a_busy_line_carries(rate_bps, series):
    """Between two samples with a backlog that outlasts the time between, exactly its rate.

    A sample has the router's own instant, so this holds however busy the machine is.
    """
    samples = zip(series.time_s, series.bytes, series.departed_bytes, strict=True)
    checked = 0
    for (at_s, held, sent), (then_s, _, sent_then) in itertools.pairwise(samples):
        carried = rate_bps / 8 * (then_s - at_s)
        if held >= carried + FRAME_BYTES:
            # A frame counts as a whole when it leaves.
            assert abs(sent_then - sent - carried) <= FRAME_BYTES + 1, f"{at_s} to {then_s} s"
            checked += 1
    assert checked >= 20


def conduct(bench, settings=QUICK):
    """The lab's one run, without its report."""
    lab = Bottleneck(settings)
    (run,) = lab.runs()
    bench.narrator = Narrator([run], io.StringIO())
    bench.narrator.begin(run)
    return lab.conduct(run, bench)


def test_packets_between_the_hosts_are_routed_and_their_ttl_counts_down(thread):
    network, _ = thread
    h1, h2 = network.host("h1"), network.host("h2")
    # Linux sends with a TTL of 64, and one router is on the way.
    assert "ttl=63" in h1.run(["ping", "-n", "-c", "1", "-W", "60", str(h2.address)])
    assert "ttl=63" in h2.run(["ping", "-n", "-c", "1", "-W", "60", str(h1.address)])


def test_packets_for_nobody_are_dropped_by_the_default(thread):
    network, _ = thread
    ping = network.host("h1").start(
        ["ping", "-n", "-c", "2", "-i", "0.2", "-W", "1", "10.0.9.9"], network.logs / "nobody.log"
    )
    wait.until(ping.has_ended, "the end of ping", 10)
    assert "100% packet loss" in ping.log.read_text()


def test_the_routes_can_be_read_back_as_they_were_written(thread):
    _, session = thread
    routes = {entry.match["hdr.ipv4.dst_addr"]: entry for entry in session.read("ipv4_routes")}
    h2 = routes[Lpm(int(Bottleneck(QUICK).topology().host("h2").address.ip), 32)]
    assert h2.call.action.endswith("set_next_hop")
    assert h2.call.args["port"] == 2
    # One for each host and one for each of the router's own addresses.
    assert len(routes) == 4


def test_a_tcp_flow_fills_the_line_and_its_queue_to_the_limit(bench):
    recording = conduct(bench)
    flow, series = recording.flows["flow"], recording.ports[f"s1-eth{BOTTLENECK}"]
    assert_a_busy_line_carries(10e6, series)
    # The queue was full, and never held more.
    assert max(series.packets) <= 50
    assert {drop.reason for drop in series.drops} == {"QUEUE_LIMIT"}
    # Every packet the router dropped was one that TCP had to send again. Pings may be among them.
    assert flow.result.retransmits > 0
    # 50 full frames wait 60.6 ms. A busy machine makes pings slower, and none of them faster.
    alone, during = (
        [echo.rtt_ms for echo in recording.pings[name].echoes]
        for name in ("alone", "during the flow")
    )
    assert max(during) > min(alone) + 10


@pytest.mark.nightly
@pytest.mark.alone
def test_a_smaller_queue_holds_less_and_delays_less(bench):
    recording = conduct(bench, Settings(queue_packets=10, seconds=4))
    assert max(recording.ports[f"s1-eth{BOTTLENECK}"].packets) <= 10
    if recording.hold_ups.disturb:
        pytest.skip(str(recording.hold_ups))
    # Ten full frames wait 12.1 ms at most, and the machine may add as much. The queue of 50 costs
    # about 45 ms.
    pings = recording.pings
    assert pings["during the flow"].mean_ms <= pings["alone"].mean_ms + 25


def test_the_rate_of_a_port_can_be_changed_while_it_runs(bench):
    bench.bring_up(Bottleneck(QUICK).topology())
    Queues(bench.session("s1")).configure({BOTTLENECK: PortSettings(rate_bps=2_000_000)})
    with bench.recording([("s1", BOTTLENECK)], senders=["h1"]) as instruments:
        instruments.flow("flow", "h1", "h2", seconds=3, congestion="reno")
        instruments.finish()
    assert_a_busy_line_carries(2e6, instruments.recording.ports[f"s1-eth{BOTTLENECK}"])


@pytest.mark.nightly
@pytest.mark.alone
def test_a_receiver_that_stops_reading_closes_its_window(bench):
    lab = BdpTcpWindows(Settings(rate_bps=100_000_000, seconds=8))
    (late,) = (run for run in lab.runs() if run.name == "late")
    bench.narrator = Narrator([late], io.StringIO())
    bench.narrator.begin(late)
    recording = lab.conduct(late, bench)
    if recording.hold_ups.disturb:
        pytest.skip(str(recording.hold_ups))
    _, span_s = lab.pause_s
    closed_s = longest_closed_s(recording.flows["flow"].samples)
    assert 0.7 * span_s <= closed_s <= span_s + 0.3
    # It goes on afterwards.
    flow = recording.flows["flow"]
    end_s = flow.samples[-1].time_s
    assert flow.throughput_bps(end_s - 1, end_s) > 50e6


def test_p4runtime_shell_can_program_the_router(thread):
    network, session = thread
    shell.reach_sockets()
    # The shell becomes primary with a higher election id, as anybody's controller may.
    p4runtime_shell.setup(
        device_id=0,
        grpc_addr=network.address("s1"),
        election_id=(0, session.election_id + 1),
        config=None,
        verbose=False,
    )
    try:
        h2 = str(network.host("h2").address)
        (entry,) = [
            each
            for each in p4runtime_shell.TableEntry("ingress.routing.ipv4_routes").read()
            if each.match["hdr.ipv4.dst_addr"].lpm.value == b"\x0a\x00\x02\x01"
        ]
        entry.delete()
        ping = network.host("h1").start(
            ["ping", "-n", "-c", "2", "-i", "0.2", "-W", "1", h2], network.logs / "deleted.log"
        )
        wait.until(ping.has_ended, "the end of ping", 10)
        assert "100% packet loss" in ping.log.read_text()
        entry.insert()
        assert "ttl=63" in network.host("h1").run(["ping", "-n", "-c", "1", "-W", "60", h2])
    finally:
        p4runtime_shell.teardown()


def test_the_example_of_the_controller_page_runs_as_it_is_printed(tmp_path, monkeypatch, capsys):
    page = (ROOT / "docs" / "controller.md").read_text()
    example = page.partition("```python\n")[2].partition("```")[0]
    monkeypatch.chdir(ROOT)
    with LiveNetwork(Bottleneck(QUICK).topology(), logs=tmp_path):
        exec(compile(example, "docs/controller.md", "exec"), {})
    # Its last line prints the counters of port 2, where nothing has happened yet.
    assert capsys.readouterr().out.startswith("PortState(port=2, held_packets=0")


def test_make_up_offers_the_prompt_of_mininet():
    done = subprocess.run(
        [sys.executable, "-m", "vitrine", "up", "--world=live"],
        cwd=ROOT,
        # The ping is long enough for programs started before it to be more than the shell's copy.
        input="h2 tail -f /dev/null &\nh1 ping -c 1 h2\n",
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0
    assert "1 received, 0% packet loss" in done.stdout + done.stderr
    # Programs started by hand are ended with the network, and named.
    assert re.search(r"ended: tail \(process \d+\) in h2", done.stdout)
    assert not record.interface_exists("s1-eth1")


def lab_command(results, *options):
    """`make run` with a folder of results of its own: other tests run this lab at the same time."""
    return foreground.start(
        [sys.executable, "-m", "vitrine", "run", "bottleneck", "--quick", "--world=live", *options],
        cwd=ROOT,
        env={**os.environ, "VITRINE_RESULTS": str(results)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_make_run_prints_the_queue_and_says_where_the_results_lie(tmp_path):
    output, errors = lab_command(tmp_path).communicate(timeout=DEADLINE_S)
    # Mininet may say that it could not raise a limit of the kernel; the lab has nothing to say.
    assert "vitrine" not in errors
    first, second, *_ = output.splitlines()
    assert first.startswith("The glass: http://127.0.0.1:")
    assert second == f"bottleneck: {Bottleneck.question}"
    folder = (tmp_path / "bottleneck" / "latest").resolve()
    assert output.splitlines()[-2:] == [
        f"Report:      {folder}/report.html",
        f"All numbers: {folder}/results.json",
    ]
    for name in ("report.html", "results.json", "table.md", "figures/queue.svg"):
        assert (folder / name).stat().st_size > 0


def test_a_mistyped_setting_is_one_sentence(tmp_path):
    process = lab_command(tmp_path, "--rate=fast")
    output, errors = process.communicate(timeout=DEADLINE_S)
    # As `vitrine --help` has it: the command line is wrong.
    assert process.returncode == 2
    assert output == ""
    assert errors == (
        "vitrine: --rate fast: 'fast' is not a rate: write a number and a unit, such as '10 Mb/s'."
        "\n"
    )


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.nightly)]
)
def test_an_interrupted_flow_leaves_nothing_behind(number, tmp_path):
    process = lab_command(tmp_path, "--duration=60")
    # The first line of the queue means that the flow is under way.
    assert any("of 50 packets" in line for line in iter(process.stdout.readline, ""))
    process.send_signal(number)
    told, _ = process.communicate(timeout=DEADLINE_S)
    assert process.returncode != 0
    assert not record.path().exists()
    # The flow's data until then are there.
    (kept,) = re.findall(r"Kept in (.+): 0 of 1 runs and what there is of flow\.", told)
    rows = (Path(kept) / "data" / "flow-unfinished" / "queues-s1-eth2.csv").read_text()
    # The names of the columns, and samples.
    assert len(rows.splitlines()) > 10
    assert not record.interface_exists("s1-eth1")
