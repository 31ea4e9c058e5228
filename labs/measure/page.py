"""The duration of the fetch of a web page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fetch:
    """One fetch: from the first SYN to the last byte."""

    start_s: float
    first_byte_s: float
    end_s: float
    received_bytes: int

    @property
    def seconds(self) -> float:
        """How long the reader of the page waited for all of it."""
        return self.end_s - self.start_s
