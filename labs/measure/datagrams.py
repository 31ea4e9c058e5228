"""Bursts of datagrams: when they went out, and how many arrived."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bursts:
    """What one sender of bursts sent, and what arrived of it."""

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
