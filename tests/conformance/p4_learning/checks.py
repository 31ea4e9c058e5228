"""What each network is about, as something to see happen: by the folder that it is in."""

from __future__ import annotations

from collections.abc import Callable

from tests.conformance.isolated.prompt import Network

from .examples import EXAMPLES
from .exercises import EXERCISES
from .networks import Described

# What networks cannot do here, by name.
_DIRECT_METER = (
    "its commands set the rates of a direct meter as of an array, which no entry hears of"
)
_EXPECTED = {
    "examples/meter/p4app_direct.json": _DIRECT_METER,
    "examples/meter/network_direct.py": _DIRECT_METER,
}


def check_of(network: Described) -> Callable[[Network], str]:
    """The check of a network; one without any must at least start and program its switches."""
    check = {**EXAMPLES, **EXERCISES}.get(network.folder, _starts)
    return lambda running: check(running, network)


def expected(network: Described) -> str | None:
    """Why a network cannot pass, if it cannot."""
    return _EXPECTED.get(network.name)


def _starts(network: Network, _described: Described) -> str:
    network.ask("net")
    return "starts"
