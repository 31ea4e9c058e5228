"""Errors of multicast groups."""

from __future__ import annotations

from thrift_interface import I32, Enumeration, Failure, own


class McOperationErrorCode(Enumeration):
    """An error of a group or a node."""

    TABLE_FULL = 1
    INVALID_MGID = 2
    INVALID_MGRP_HANDLE = 3
    INVALID_L1_HANDLE = 4
    ERROR = 5


class InvalidMcOperation(Failure):
    """A group or a node refuses."""

    FIELDS = ((1, "code", I32),)


__all__ = own(globals())
