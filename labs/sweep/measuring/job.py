"""One row of a sweep that is to be: all that it depends on, and a key made of exactly that.

Two jobs with one key have the same outcome, so a row that is on disk need not be measured again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property

from labs.expression import Value
from labs.sweep.measuring.versions import Versions
from labs.sweep.measuring.work import Work


@dataclass(frozen=True)
class Job:
    """A point of a sweep with one seed, for the so-many-th time."""

    values: Mapping[str, Value]
    seed: int
    # From 1.
    repetition: int
    work: Work
    # The versions that it must be measured with.
    versions: Versions

    @cached_property
    def key(self) -> str:
        """The same for the same experiment, whatever its name and its worker."""
        parts = [self.work.KIND, asdict(self.work), self.seed, self.repetition]
        text = json.dumps([*parts, asdict(self.versions)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def __str__(self) -> str:
        words = [f"{name}={value}" for name, value in self.values.items()]
        words.append(f"seed={self.seed}")
        if self.repetition > 1:
            words.append(f"repetition={self.repetition}")
        return " ".join(words)
