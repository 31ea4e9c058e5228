"""Errors around a network, each in one sentence that says what to do."""

from __future__ import annotations


class TopologyError(Exception):
    """The base of all errors of this package; its text is one sentence for the user."""


class UnitError(TopologyError):
    """A quantity has no unit, an unknown one, or is no number."""


class ModelError(TopologyError):
    """A topology contradicts itself or names something that is not there.

    `way` leads to the part that is wrong, as in the file: ("hosts", "h1", "gateway").
    """

    def __init__(self, text: str, way: tuple[str, ...] = ()) -> None:
        super().__init__(text)
        self.way = way


class MachineError(TopologyError):
    """The machine lacks something that a live network needs."""


class StaleRunError(MachineError):
    """An earlier run is still there."""


class DeadlineError(TopologyError):
    """Something that was waited for did not happen in time."""


class ProcessError(TopologyError):
    """A process did not start, or ended when it should not have."""
