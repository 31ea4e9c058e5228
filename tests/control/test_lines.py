"""Cables set and read back on a real switch, through the client that labs use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from controller.errors import RequestError
from controller.lines import UNLIMITED, BurstyLoss, Cable, Line, Lines, LineState, Sender, Stalls
from controller.session import Session
from tests.control.conftest import DEVICE_ID

# The switch of these tests has one port: the controller's.
PORT = 510


@pytest.fixture
def lines(switch_address: str) -> Iterator[Lines]:
    with Session.connect(switch_address, device_id=DEVICE_ID, election_id=1) as session:
        yield Lines(session)


def test_a_cable_is_clear_and_its_sender_has_the_ports_rate_until_somebody_sets_it(lines):
    state = lines.read([PORT])[PORT]
    assert state.cable == Cable(Sender(), Line(), Line())
    assert state.receive == state.transmit == LineState(*[0] * 11)


def test_what_is_set_on_a_cable_reads_back_and_the_rest_stays(lines):
    transmit = Line(delay_us=10_000, loss=0.0001)
    lines.configure({PORT: Cable(transmit=transmit)})
    sender = Sender(rate_bps=10_000_000_000, backlog_bytes_max=1_000_000)
    receive = Line(
        delay_us=0.5,
        jitter_us=250,
        stalls=Stalls(share=0.05, max_us=1200),
        reorder=True,
        loss=BurstyLoss(turns_bad=0.001, turns_good=0.1),
        corruption=1e-9,
        duplication=1,
    )
    lines.configure({PORT: Cable(sender=sender, receive=receive)})
    assert lines.read()[PORT].cable == Cable(sender, receive, transmit)
    lines.configure({PORT: Cable(Sender(UNLIMITED), Line(), Line())})
    assert lines.read()[PORT].cable == Cable(Sender(UNLIMITED), Line(), Line())


def test_a_share_that_is_a_percentage_is_refused_before_anything_is_sent(lines):
    with pytest.raises(ValueError, match=r"from 0 to 1, not 5; 0\.01 % is 0\.0001"):
        lines.configure({PORT: Cable(transmit=Line(loss=5))})


def test_a_line_that_never_turns_good_is_refused_with_its_place(lines):
    forever_bad = Line(loss=BurstyLoss(turns_bad=0.1, turns_good=0))
    with pytest.raises(RequestError, match="port 510, transmit line, loss: .*never good again"):
        lines.configure({PORT: Cable(transmit=forever_bad)})
    assert lines.read()[PORT].cable.transmit == Line()
