"""A check of each network's purpose, by the folder that it is in."""

from __future__ import annotations

from collections.abc import Callable

from tests.conformance.isolated.prompt import Network

from .examples import EXAMPLES
from .exercises import EXERCISES
from .networks import Described


def check_of(network: Described) -> Callable[[Network], str]:
    """The check of a network; one without any must at least start and program its switches."""
    check = {**EXAMPLES, **EXERCISES}.get(network.folder, _starts)
    return lambda running: check(running, network)


def _starts(network: Network, _described: Described) -> str:
    network.ask("net")
    return "starts"
