"""Calls that a router or this server refuses."""

from __future__ import annotations

from google.rpc import status_pb2


class RefusedError(Exception):
    """A refused call, as google.rpc.Status: what a router itself would answer with."""

    def __init__(self, code: int, message: str, packed: bytes = b"") -> None:
        super().__init__(message)
        self.status = packed or status_pb2.Status(code=code, message=message).SerializeToString()
