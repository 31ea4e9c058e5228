"""What a user can change of a lab, read from the environment: `make lab LAB=... RATE=5mbit`."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from controller.toolchain import Toolchain
from labs.errors import SettingError
from topo import units
from topo.errors import UnitError

NS_PER_S = 1_000_000_000

# Every setting that some lab takes, with the word that `make labs` says about it.
KNOWN = {
    "RATE": "the bottleneck's rate, such as 5mbit",
    "QUEUE": "packets that the bottleneck's queue holds",
    "DURATION": "seconds for which a flow runs",
    "CONGESTION": "the TCP of long flows: reno, cubic, bbr",
}


@dataclass(frozen=True)
class Settings:
    """None: what the lab itself says."""

    rate_bps: int | None = None
    queue_packets: int | None = None
    seconds: int | None = None
    congestion: str | None = None
    # A shortened run that still measures, for tests.
    quick: bool = False
    toolchain: Toolchain = Toolchain.VITRINE

    @classmethod
    def from_environment(
        cls, taken: Collection[str] = tuple(KNOWN), environment: Mapping[str, str] = os.environ
    ) -> Settings:
        """Reads QUICK and the settings in `taken`; one that the lab does not take is an error."""
        for name in KNOWN:
            if environment.get(name) and name not in taken:
                known = ", ".join(sorted(taken)) or "none"
                raise SettingError(
                    f"this lab has no setting {name}; it takes: {known}. Leave {name} out."
                )

        def given(name: str, unit: str, parse: Callable[[str], int]) -> int | None:
            text = environment.get(name)
            if not text:
                return None
            # `QUEUE=20` needs no unit: `make help` says what is counted.
            value = parse(f"{text} {unit}" if unit and text.isdigit() else text)
            if value == 0:
                raise UnitError(f"{name} is 0, and nothing would get through: give more.")
            return value

        duration_ns = given("DURATION", "s", units.span_ns)
        return cls(
            rate_bps=given("RATE", "", units.rate_bps),
            queue_packets=given("QUEUE", "packets", units.packets),
            # iperf3 counts whole seconds; a part of one is rounded up.
            seconds=None if duration_ns is None else -(-duration_ns // NS_PER_S),
            congestion=environment.get("CONGESTION") or None,
            quick=bool(environment.get("QUICK")),
            toolchain=Toolchain.chosen(environment),
        )
