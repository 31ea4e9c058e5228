"""Programs made at random: compiled, played by machine code and interpreter, and evaluated.

The evaluator walks the tree of the program by the sentences of the specification and knows nothing
of our compiler and switch. SEEDS=10000 plays that many programs, 100 unless it is set; the nightly
run plays 10,000 others. A seed always makes the same program.
"""

from __future__ import annotations

import dataclasses
import os

import pytest

from tests.generated import check, grow, play, shrink, write
from tests.generated import tree as t
from tests.generated.evaluate import STANDARD, Machine
from tests.generated.values import UndefinedError

SEEDS = int(os.environ.get("SEEDS", "100"))
# Each is a test, so that they are shared out among processes.
BATCHES = 20


@pytest.mark.parametrize("batch", range(BATCHES))
def test_programs_do_what_the_specification_says(batch: int) -> None:
    seeds = range(batch, SEEDS, BATCHES)
    results = [check.check(seed) for seed in seeds]
    failed = [each.told() for each in results if each.failure is not None]
    assert not failed, "\n\n".join(failed)
    # Hardly any packet of a batch that tests something is undefined or lost.
    assert sum(each.packets for each in results) > 5 * len(seeds)


def test_a_seed_makes_the_same_program_again() -> None:
    assert grow.program(17) == grow.program(17)
    assert write.program(grow.program(17)) != write.program(grow.program(18))


def test_a_wrong_expectation_is_noticed_by_machine_code_and_interpreter(tmp_path) -> None:
    made = play.case(_program(_port(1)))
    assert play.run(made, tmp_path) is None
    wrong = dataclasses.replace(made, script=made.script.replace("expect 1", "expect 2"))
    failure = play.run(wrong, tmp_path)
    assert failure is not None
    assert failure.kind == "machine code differs"


def test_a_failing_program_is_made_as_small_as_it_goes() -> None:
    noise = [_port(number) for number in range(20)]
    culprit = t.Assign(_spec(), "=", t.Literal(t.Bits(9), 0x4D))
    body = (*noise[:9], t.If(t.Literal(t.BOOL, 1), (noise[9], culprit, noise[10]), ()), *noise[11:])

    def fails(program: t.Program) -> bool:
        return any(
            "0x4d" in line for each in program.ingress.body for line in write.statement(each)
        )

    small = shrink.shrunk(_program(*body), fails)
    assert small.ingress.body == (t.Block((culprit,)),)
    assert small.packets == ()


def test_a_packet_that_depends_on_an_open_value_is_not_played() -> None:
    decide = t.If(t.Name("open", t.BOOL), (_port(2),), ())
    program = _program(_port(1), t.Declare("open", t.BOOL, None), decide)
    with pytest.raises(UndefinedError):
        Machine(program).send(program.packets[0])
    assert play.defined(program).packets == ()


def _spec() -> t.Expression:
    return t.Member(t.Name("std", STANDARD), "egress_spec", t.Bits(9))


def _port(number: int) -> t.Statement:
    return t.Assign(_spec(), "=", t.Literal(t.Bits(9), number))


def _program(*body: t.Statement) -> t.Program:
    """A program of one header whose ingress has this body, and one packet for it."""
    header = t.HeaderType("base_t", (("f0", t.Bits(8)),))
    headers = t.StructType("headers_t", (("base", header),))
    metadata = t.StructType("metadata_t", ())
    base = t.Member(t.Name("hdr", headers), "base", header)
    state = t.State("start", (t.Extract(base),), (), (t.Branch(None, "accept"),))
    names = (("hdr", headers), ("meta", metadata), ("std", STANDARD))
    parameters = tuple(t.Parameter(name, "inout", type_) for name, type_ in names)
    return t.Program(
        (header,),
        headers,
        metadata,
        (),
        (),
        (state,),
        t.Control("ingress", parameters, body=body),
        t.Control("egress", parameters),
        (t.Packet(0, b"\x05\x06"),),
    )
