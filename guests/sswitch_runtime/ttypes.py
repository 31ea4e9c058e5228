"""Structures and exceptions of the service `simple_switch`."""

from __future__ import annotations

from thrift_interface import I32, Enumeration, Failure, Structure, own


class MirroringSessionConfig(Structure):
    """Where the copies of a clone session go."""

    FIELDS = ((1, "port", I32), (2, "mgid", I32))


class MirroringOperationErrorCode(Enumeration):
    """An error of a clone session."""

    SESSION_NOT_FOUND = 1


class InvalidMirroringOperation(Failure):
    """A clone session refuses."""

    FIELDS = ((1, "code", I32),)


__all__ = own(globals())
