"""Reasons for drops, in the words of the proto file."""

from __future__ import annotations

import functools

from vitrine.v1 import router_pb2


@functools.cache
def reason_name(number: int) -> str:
    """A reason for drops in the words of the proto file."""
    # The name is looked up in a descriptor, which a thousand samples a second would feel.
    return router_pb2.DropReason.Name(number)
