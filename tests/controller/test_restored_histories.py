"""Sessions whose device restarts, again and again, in the middle of batches: histories from seeds.

What is written to a router that restarts is written to one beside it that does not. In the end both
have the same: nothing of what the session had written is missing, nothing is there that it had
removed. `SEEDS=100` plays as many histories.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc
from vitrine.v1 import world_pb2

from controller.connection import CHANNEL_OPTIONS
from controller.entities import CloneSession, Group, Item, Member, Meter, MulticastGroup, Register
from controller.entries import Call, Entry, Exact, Lpm, Ternary, ToGroup, ToMember
from controller.p4info import P4Info
from controller.session import Session
from controller.world import World
from labs.worlds.virtual import server
from tests.control.conftest import ROOT, compile_program
from topo import wait

SEEDS = range(int(os.environ.get("SEEDS", 3)))
PORTS = (1, 2, 3)
_STEPS, _RESTARTS_OF = 40, 6
_BATCH_MAX = 60
# Objects come after those they refer to.
_ORDER = {Member: 0, Group: 1}
Key = tuple[object, ...]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[P4Info, bytes]:
    made = compile_program(ROOT / "tests/control/driven.p4", tmp_path_factory.mktemp("program"))
    return P4Info.load(made.p4info), made.json.read_bytes()


@pytest.fixture
def routers(program, tmp_path: Path) -> Iterator[tuple[World, Session, Session]]:
    """A world of two routers with the program, and a session with each."""
    with ExitStack() as stack:
        address = stack.enter_context(server.serving(tmp_path / "world.log"))
        world = stack.enter_context(World.connect(address))
        topology = world_pb2.Topology()
        for number in (1, 2):
            router = topology.routers.add(name=f"s{number}", device_id=number)
            for port in PORTS:
                router.ports.add(port=port)
        world.build(topology, seed=1)
        sessions = [
            stack.enter_context(Session.connect(address, device_id=number)) for number in (1, 2)
        ]
        for session in sessions:
            session.load(*program)
        yield world, *sessions


class History:
    """The objects, and the next action; the dice decide."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._there: dict[Key, Item] = {}

    def restarts(self) -> bool:
        return self._dice.randrange(_RESTARTS_OF) == 0

    def step(self) -> tuple[str, list[Item]]:
        """A batch: an operation and its objects. They come after those they refer to."""
        if self._dice.randrange(4) == 0:
            cells = [self._cell() for _ in range(self._dice.randrange(1, 8))]
            return "modify", list({(type(cell), cell.index): cell for cell in cells}.values())
        if self._there and self._dice.randrange(3) == 0:
            # Nothing refers to these.
            free = [key for key in self._there if key[0] not in (Member, Group)]
            gone = self._dice.sample(free, self._dice.randrange(len(free) + 1))
            return "delete", [self._there.pop(key) for key in gone]
        wanted = dict(self._item() for _ in range(self._dice.randrange(1, _BATCH_MAX)))
        kind = "modify" if self._dice.randrange(3) == 0 else "insert"
        fits = {key: it for key, it in wanted.items() if (key in self._there) == (kind == "modify")}
        batch = sorted(fits, key=lambda key: _ORDER.get(key[0], len(_ORDER)))
        there = {**self._there, **fits}
        batch = [key for key in batch if all(need in there for need in _needs(fits[key], there))]
        self._there |= {key: fits[key] for key in batch}
        return kind, [fits[key] for key in batch]

    def _call(self) -> Call:
        port = self._dice.choice(PORTS)
        return self._dice.choice([Call("drop"), Call("ingress.forward", port=port)])

    def _cell(self) -> Register | Meter:
        index, rate = self._dice.randrange(16), self._dice.randrange(1, 1000)
        return self._dice.choice(
            [
                Register("ingress.seen", index, self._dice.randrange(1 << 32)),
                Meter("ingress.port_meter", index, rate, rate, 2 * rate, 3 * rate),
            ]
        )

    def _item(self) -> tuple[Key, Item]:
        number = self._dice.randrange(1, 40)
        address = {"hdr.ethernet.dst_addr": Exact(number)}
        few = 1 + number % 8
        match self._dice.randrange(8):
            case 0:
                return (Member, few), Member("ingress.next_hops", few, self._call())
            case 1:
                weights = {member: 1 + member % 3 for member in self._dice.sample(range(1, 9), 3)}
                return (Group, few), Group("ingress.next_hops", few, weights)
            case 2:
                outcome = self._dice.choice([ToMember, ToGroup])(self._dice.randrange(1, 9))
                return ("selector", few), Entry(
                    "ingress.selector_table", {"hdr.ethernet.dst_addr": Exact(few)}, outcome
                )
            case 3:
                copies = tuple(self._dice.sample(PORTS, 2))
                return (CloneSession, few), CloneSession(few, copies)
            case 4:
                copies = tuple(self._dice.sample(PORTS, 2))
                return (MulticastGroup, few), MulticastGroup(few, copies)
            case 5:
                prefix = {"hdr.ethernet.dst_addr": Lpm(number << 8, 40)}
                return ("lpm", number), Entry("ingress.lpm_table", prefix, self._call())
            case 6:
                masked = {"hdr.ethernet.dst_addr": Ternary(number, 0xFF)}
                entry = Entry("ingress.ternary_table", masked, self._call(), priority=number)
                return ("ternary", number), entry
            case _:
                metered = Call("ingress.forward_metered", port=self._dice.choice(PORTS))
                call = self._dice.choice([Call("drop"), metered])
                return ("exact", number), Entry("ingress.exact_table", address, call)


def _needs(item: Item, there: Mapping[Key, Item]) -> list[Key]:
    """The objects that must exist for it."""
    if isinstance(item, Group):
        return [(Member, number) for number in item.weights]
    if isinstance(item, Entry) and isinstance(item.call, ToMember):
        return [(Member, item.call.id)]
    if isinstance(item, Entry) and isinstance(item.call, ToGroup):
        group = (Group, item.call.id)
        return [group, *(_needs(there[group], there) if group in there else ())]
    return []


def all_of(session: Session) -> list[str]:
    """Everything that was written to a router, as it is read, in an order."""
    request = p4runtime_pb2.ReadRequest(device_id=session.device_id)
    request.entities.add().table_entry.SetInParent()
    request.entities.add().action_profile_member.SetInParent()
    request.entities.add().action_profile_group.SetInParent()
    engine = request.entities.add().packet_replication_engine_entry
    engine.multicast_group_entry.SetInParent()
    engine = request.entities.add().packet_replication_engine_entry
    engine.clone_session_entry.SetInParent()
    request.entities.add().register_entry.SetInParent()
    request.entities.add().meter_entry.SetInParent()
    address = (
        session.address.partition("/")[0] if "unix:" not in session.address else session.address
    )
    with grpc.insecure_channel(address, options=CHANNEL_OPTIONS) as channel:
        answers = p4runtime_pb2_grpc.P4RuntimeStub(channel).Read(request)
        return sorted(str(entity) for answer in answers for entity in answer.entities)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_router_that_restarts_has_what_one_has_that_does_not(routers, seed):
    world, restarted, steady = routers
    history, restarts = History(seed), 0
    for _ in range(_STEPS):
        kind, batch = history.step()
        getattr(steady, kind)(batch)
        if history.restarts():
            restarts += 1
            # Before the batch, in the middle or behind it, as it comes.
            fault = world_pb2.FaultRequest(restart="s1")
            striking = threading.Thread(target=world.fault, args=(fault,))
            striking.start()
            getattr(restarted, kind)(batch)
            striking.join()
        else:
            getattr(restarted, kind)(batch)
    assert restarts > 0
    # The end of a stream may not have been noticed yet.
    wait.until(lambda: all_of(restarted) == all_of(steady), "that both have the same", 60)
