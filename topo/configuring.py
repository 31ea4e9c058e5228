"""The configuration of each router of a network in virtual time, beside its program."""

from __future__ import annotations

from controller.lines import Lines
from controller.queues import Queues
from controller.session import Session
from topo.cables import cable
from topo.model import Switch


def configure(switch: Switch, session: Session) -> None:
    """Gives a router its queues and cables."""
    Queues(session).configure(switch.settings)
    Lines(session).configure({port.number: cable(port) for port in switch.ports})
