"""Bursts of datagrams: when they went out, and how many arrived."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bursts:
    """The datagrams that one sender of bursts sent, and those that arrived."""

    source: str
    target: str
    # When each burst went out.
    sent_s: tuple[float, ...]
    sent: int
    received: int

    @property
    def lost(self) -> int:
        """Datagrams that did not arrive."""
        return self.sent - self.received
