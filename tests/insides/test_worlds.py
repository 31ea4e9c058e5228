"""Python classes that decide in whole networks, named in a topology.

The examples decide step by step what the built-in ones do: a network asks both, and time stands at
the first decision that differs.
"""

import io
from pathlib import Path

import pytest
from vitrine.v1 import world_pb2

from controller.errors import ControllerError
from controller.world import PS_PER_S
from labs.narration import Narrator
from labs.worlds.virtual import server
from labs.worlds.virtual.bench import VirtualBench
from topo import deciders, load
from topo.document import Place
from topo.errors import ModelError

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "insides" / "examples"
WRONG = Path(__file__).with_name("wrong.py")

pytestmark = pytest.mark.skipif(not server.BINARY.exists(), reason="vitrine-sim is not built")

# Two senders, one line of 10 Mb/s behind a crossbar.
NETWORK = """
hosts:
  h1: {{address: 10.0.1.1/24, tcp: {{congestion: {congestion}}}{sysctls}}}
  h2: {{address: 10.0.2.1/24, tcp: {{congestion: {congestion}}}{sysctls}}}
  h3: {{address: 10.0.3.1/24{sysctls}}}
switches:
  s1:
    input: {input}
    ports:
      1: {{address: 10.0.1.254/24, rate: 100 Mb/s}}
      2: {{address: 10.0.2.254/24, rate: 100 Mb/s}}
      3: {{address: 10.0.3.254/24, rate: 10 Mb/s, queue: 30 packets, {port}}}
links:
  - [h1, s1:1]
  - [h2, s1:2]
  - {{ends: [s1:3, h3], delay: 10 ms, {line}}}
"""


def topology(congestion="reno", input="none", port="aqm: off", line="loss: 0 %", sysctls=""):
    text = NETWORK.format(congestion=congestion, input=input, port=port, line=line, sysctls=sysctls)
    return load.read(Place.of_text(text, ROOT / "a test's topology"))


def transfers(of, folder, seconds=12.0):
    """The results of two transfers of these networks: bytes, retransmissions, windows at the
    end."""
    with VirtualBench(folder, Narrator((), io.StringIO()), seed=3) as bench:
        bench.bring_up(of)
        world = bench.world
        world.start("h3", world_pb2.App(listener=world_pb2.Listener(port=5001)))
        to = world_pb2.Peer(host="h3", port=5001)
        bulk = world_pb2.App(bulk=world_pb2.Bulk(to=to))
        apps = [world.start(host, bulk) for host in ("h1", "h2")]
        world.advance(round(seconds * PS_PER_S))
        reports = [world.report(app).bulk for app in apps]
        windows = [
            (connection.cwnd, connection.ssthresh)
            for state in world.look(["h1", "h2"], connections=True).hosts
            for connection in state.connections
        ]
    return [(each.acked_bytes, each.retransmits) for each in reports], windows


@pytest.mark.parametrize(
    ("line", "sysctls"),
    [
        ("loss: 0 %", ""),
        # Losses in a row make timeouts, packets that overtake make reductions that are taken back.
        ("loss: {share: 1 %, burst: 6 packets}, jitter: 12 ms, reorder: true", ""),
        ("loss: 0 %", ", sysctls: {net.ipv4.tcp_ecn: 1}"),
    ],
    ids=["a full queue", "a rough line", "marks"],
)
@pytest.mark.parametrize("name", ["reno", "cubic"])
def test_a_congestion_control_decides_as_the_built_in_one(name, line, sysctls, tmp_path):
    example = f"{EXAMPLES / name}.py:{name.capitalize()}:{name}"
    path = {"line": line, "sysctls": sysctls, "port": "aqm: {red: {}}" if sysctls else "aqm: off"}
    compared = transfers(topology(example, **path), tmp_path)
    assert compared == transfers(topology(name, **path), tmp_path)


@pytest.mark.parametrize(
    ("own", "built_in"),
    [
        ({"port": "aqm: {folder}/codel.py:CoDel"}, {"port": "aqm: codel"}),
        (
            {"port": "scheduler: {{drr: {{0: 1}}, by: {folder}/drr.py:Drr}}"},
            {"port": "scheduler: {drr: {0: 1}}"},
        ),
        (
            {
                "input": "{{queueing: voq, rate: 100 Mb/s, arbiter: {folder}/islip.py:Islip, "
                "iterations: 2}}"
            },
            {"input": "{queueing: voq, rate: 100 Mb/s, arbiter: islip, iterations: 2}"},
        ),
    ],
    ids=["aqm", "scheduler", "arbiter"],
)
def test_a_class_in_a_router_comes_to_the_same_bytes(own, built_in, tmp_path):
    named = {key: text.format(folder=EXAMPLES) for key, text in own.items()}
    of = topology(**named)
    assert len(list(deciders.of(of))) == 1
    assert transfers(of, tmp_path, 3.0) == transfers(topology(**built_in), tmp_path, 3.0)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("WindowOfNothing", "it decided a window of 0 packets"),
        ("HalfAPacket", "grow() left Window(cwnd=1"),
        ("ForgetsToAnswer", "lost() returned None, which is no whole number"),
        ("Stumbles", "ZeroDivisionError: a round trip of nothing (line "),
        ("NeverDecides", "it took longer than 5 s, and was ended"),
        ("KeepsAllAfterALoss:reno", "where the built-in one decides a threshold of"),
    ],
)
def test_a_wrong_one_is_told_with_the_instant_and_the_state(name, words, tmp_path):
    with pytest.raises(ControllerError) as told:
        transfers(topology(f"{WRONG}:{name}"), tmp_path, 30.0)
    assert words in str(told.value)
    for part in ("decision ", " at ", f"wrong.py:{name}", "its window was ", " in flight"):
        assert part in str(told.value)


def test_a_router_says_which_of_its_classes_was_wrong(tmp_path):
    with pytest.raises(ControllerError) as told:
        transfers(topology(port=f"aqm: {WRONG}:MarksEverything"), tmp_path, 1.0)
    assert "router s1, " in str(told.value) and "wrong.py:MarksEverything" in str(told.value)
    assert "it marked a packet that is not ECN-capable" in str(told.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [("DoesNotGrow", "DoesNotGrow has no method grow()"), ("Quiet", "Quiet is no Congestion")],
)
def test_a_class_that_cannot_decide_is_told_before_anything_runs(name, words, tmp_path):
    with pytest.raises(ControllerError) as told:
        transfers(topology(f"{WRONG}:{name}"), tmp_path)
    assert words in str(told.value)


def test_only_files_of_the_folders_that_were_named_may_decide(tmp_path):
    from controller.world import World

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "reno.py").write_text((EXAMPLES / "reno.py").read_text())
    wanted = world_pb2.Topology()
    host = wanted.hosts.add(name="h1", mac="02:00:00:00:00:01", addresses=["10.0.0.1/24"])
    host.tcp.congestion_control = f"{elsewhere}/reno.py:Reno"
    for classes, words in (
        ([EXAMPLES], "is in none of the folders whose classes may decide"),
        ([], "has --classes FOLDER"),
    ):
        with (
            server.serving(tmp_path / "world.log", classes=classes) as address,
            World.connect(address) as world,
            pytest.raises(ControllerError) as told,
        ):
            world.build(wanted, 1)
        assert words in str(told.value)


@pytest.mark.parametrize("place", ["congestion", "port"])
def test_a_topology_names_no_class_outside_its_own_folder(place, tmp_path):
    file = tmp_path / "reno.py"
    file.write_text("raise SystemExit")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "link.py").symlink_to(file)
    for name in (file, "../reno.py", "link.py"):
        value = f"{name}:Reno" if place == "congestion" else f"aqm: {name}:Reno"
        default = {"congestion": "reno", "port": "aqm: off", "input": "none"}
        text = NETWORK.format(**{**default, place: value}, line="loss: 0 %", sysctls="")
        with pytest.raises(ModelError, match="outside the folder of this file"):
            load.read(Place.of_text(text, tmp_path / "inside" / "a topology"))


def test_a_topology_names_the_line_where_a_file_is_missing_and_a_live_network_refuses_all():
    with pytest.raises(ModelError, match="nowhere.py"):
        topology(port="aqm: nowhere.py:MyAqm")
    with pytest.raises(ModelError, match="names a file and no class"):
        topology(port=f"aqm: {'insides/examples/codel.py:'!r}")
    with pytest.raises(ModelError, match="say --world virtual"):
        deciders.refuse(topology(port=f"aqm: {EXAMPLES}/codel.py:CoDel"))
