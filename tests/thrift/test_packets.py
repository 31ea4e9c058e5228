"""The effects of Thrift on packets: three cables, and frames in and out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.queues import Queues
from controller.session import Session
from tests.control.cables import Cable, cables
from tests.thrift.switch import Door, door
from topo import preflight
from topo.errors import MachineError

from bm_runtime.standard.ttypes import DevMgrErrorCode, InvalidDevMgrOperation  # isort: skip
from sswitch_runtime.ttypes import MirroringSessionConfig  # isort: skip

FRAME = (bytes.fromhex("000000000002") + bytes(6) + b"\x88\x02").ljust(60, b"\0")


@pytest.fixture
def wired(program: Path, tmp_path: Path) -> Iterator[tuple[Door, dict[int, Cable]]]:
    """A switch with a cable at ports 1 to 3."""
    try:
        preflight.check_machine()
    except MachineError as error:
        pytest.skip(str(error))
    with cables(1, 2, 3) as laid:
        flags = [word for port, it in laid.items() for word in ("-i", f"{port}@{it.device}")]
        with door(program, tmp_path, *flags) as switch:
            yield switch, laid


def test_frames_go_where_entries_say(wired: tuple[Door, dict[int, Cable]]) -> None:
    switch, cable = wired
    switch.cli("table_add by_address send 00:00:00:00:00:02 => 2")
    cable[1].send(FRAME)
    assert cable[2].receive(1) == [FRAME]
    assert "seen[1]= (60 bytes, 1 packets)" in switch.cli("counter_read seen 1")
    assert "hits[0]= (60 bytes, 1 packets)" in switch.cli("counter_read hits 0")


def test_copies_go_to_the_ports_of_nodes_and_of_their_lags(
    wired: tuple[Door, dict[int, Cable]],
) -> None:
    switch, cable = wired
    switch.cli(
        "mc_mgrp_create 1",
        "mc_node_create 0 2",
        "mc_node_create 1 | 0",
        "mc_set_lag_membership 0 3",
        "mc_node_associate 1 0",
        "mc_node_associate 1 1",
        "table_add by_address spread 00:00:00:00:00:02 => 1",
    )
    cable[1].send(FRAME)
    assert cable[2].receive(1) == [FRAME]
    assert cable[3].receive(1) == [FRAME]
    assert cable[1].waiting() == []


def test_a_clone_goes_to_the_port_of_its_session(wired: tuple[Door, dict[int, Cable]]) -> None:
    switch, cable = wired
    switch.switch.mirroring_session_add(5, MirroringSessionConfig(port=3))
    switch.cli("table_add by_address copy 00:00:00:00:00:02 => 5")
    cable[2].send(FRAME)
    assert cable[1].receive(1) == [FRAME]
    assert cable[3].receive(1) == [FRAME]


def test_queues_take_depths_and_rates_in_packets(wired: tuple[Door, dict[int, Cable]]) -> None:
    switch, _ = wired
    assert switch.switch.set_all_egress_queue_depths(9) == 0
    assert switch.switch.set_egress_queue_depth(2, 7) == 0
    assert switch.switch.set_egress_priority_queue_rate(2, 0, 100) == 0
    # There is no priority 8, and never a port 512.
    assert switch.switch.set_egress_priority_queue_depth(2, 8, 1) == -1
    assert switch.switch.set_egress_queue_rate(512, 100) == -1
    with Session.observe(f"127.0.0.1:{switch.grpc_port}") as session:
        ports = {port.port: port.config.queues[0] for port in Queues(session).describe().ports}
    assert (ports[2].limit.packets, ports[2].shaper.packets.rate_pps) == (7, 100)
    # A queue catches up with the line's delays, as there.
    assert ports[2].shaper.packets.catches_up
    assert (ports[3].limit.packets, ports[3].shaper.WhichOneof("kind")) == (9, None)


def test_a_port_that_comes_later_has_the_queues_that_were_set_for_it(
    wired: tuple[Door, dict[int, Cable]],
) -> None:
    switch, cable = wired
    switch.switch.set_egress_queue_rate(3, 50)
    switch.standard.bm_dev_mgr_remove_port(3)
    assert switch.switch.set_egress_queue_rate(3, 100) == 0
    assert switch.switch.set_all_egress_queue_depths(9) == 0
    assert switch.switch.set_egress_priority_queue_depth(3, 0, 7) == 0
    switch.standard.bm_dev_mgr_add_port(cable[3].device, 3, "")
    with Session.observe(f"127.0.0.1:{switch.grpc_port}") as session:
        ports = {port.port: port.config.queues[0] for port in Queues(session).describe().ports}
    assert (ports[3].limit.packets, ports[3].shaper.packets.rate_pps) == (7, 100)
    assert ports[2].limit.packets == 9


def test_ports_come_and_go(wired: tuple[Door, dict[int, Cable]]) -> None:
    switch, cable = wired
    standard = switch.standard

    def ports() -> dict[int, str]:
        return {it.port_num: it.iface_name for it in standard.bm_dev_mgr_show_ports()}

    assert ports() == {number: it.device for number, it in cable.items()}
    standard.bm_dev_mgr_remove_port(3)
    assert sorted(ports()) == [1, 2]
    standard.bm_dev_mgr_add_port(cable[3].device, 3, "")
    assert sorted(ports()) == [1, 2, 3]
    # No port of a switch unless it is given at the start.
    with pytest.raises(InvalidDevMgrOperation) as refused:
        standard.bm_dev_mgr_add_port("lo", 4, "")
    assert refused.value.code == DevMgrErrorCode.ERROR
