"""What a user can change of a lab, read from the environment: `make lab LAB=... RATE=5mbit`.

Each value is checked here as far as it can be without knowing the lab; `Lab` checks the rest.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from controller import settings
from controller.decider import Decider
from controller.toolchain import Toolchain
from labs import classes
from labs.errors import SettingError
from labs.hint import meant
from labs.world import World
from topo import units
from topo.errors import UnitError

NS_PER_S = 1_000_000_000

# Every setting that some lab takes, with the word that `make labs` says about it.
KNOWN = {
    "RATE": "the bottleneck's rate, such as 5mbit",
    "QUEUE": "packets that the bottleneck's queue holds",
    "DURATION": "seconds for which a flow runs",
    "CONGESTION": "the TCP of long flows: reno, cubic, bbr; WORLD=virtual also my_tcp.py:MyTcp",
    "ARBITER": "a Python class beside the built-in arbiters: my_arbiter.py:MyArbiter",
    "SCHEDULER": "a Python class beside the built-in schedulers: my_scheduler.py:MyScheduler",
    "AQM": "a Python class beside the built-in queue management: my_aqm.py:MyAqm",
}
# What else can stand behind `make lab` and `make run`.
OTHERS = ("LAB", "QUICK", "PROGRAM", "WORLD", "SEEDS", "TOOLCHAIN", "GRPC")
QUEUE_PACKETS_MAX = 100_000
ALGORITHMS = ("reno", "cubic", "bbr")
# Those that hosts in virtual time have.
VIRTUAL_ALGORITHMS = (*ALGORITHMS, "bbr3", "dctcp", "prague")
# A few show that a number has a spread, and roughly how wide that is.
SEEDS, SEEDS_MAX = 3, 1000
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)")
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


@dataclass(frozen=True)
class Settings:
    """None: what the lab itself says."""

    rate_bps: int | None = None
    queue_packets: int | None = None
    seconds: int | None = None
    congestion: str | None = None
    # Python classes that are tried beside what is built in, by their whole paths.
    arbiter: str | None = None
    scheduler: str | None = None
    aqm: str | None = None
    # A shortened run that still measures, for tests.
    quick: bool = False
    toolchain: Toolchain = Toolchain.VITRINE
    # The P4 program of all routers, as the user named it.
    program: str | None = None
    world: World = World.LIVE
    # How many times all of it is done, each time with other dice; only the virtual world has them.
    seeds: int = 1

    def changed(self) -> dict[str, str]:
        """What differs from the lab's own settings, by the names that are written in commands."""
        words = {
            "RATE": None if self.rate_bps is None else rate_word(self.rate_bps),
            "QUEUE": None if self.queue_packets is None else str(self.queue_packets),
            "DURATION": None if self.seconds is None else str(self.seconds),
            "CONGESTION": self.congestion,
            "ARBITER": self.arbiter,
            "SCHEDULER": self.scheduler,
            "AQM": self.aqm,
            "QUICK": "1" if self.quick else None,
            "TOOLCHAIN": None if self.toolchain is Toolchain.VITRINE else self.toolchain.value,
            "PROGRAM": self.program,
            "WORLD": None if self.world is World.LIVE else self.world.value,
            "SEEDS": None if self.seeds in (1, SEEDS) else str(self.seeds),
        }
        return {name: word for name, word in words.items() if word is not None}

    def slug(self) -> str:
        """The same as a part of a file's name: `rate-5mbit-queue-50`, or `default`."""
        words = [
            # Of a path the name alone: it is to be a part of another one.
            name if name == "QUICK" else f"{name}-{_short(name, word)}"
            for name, word in self.changed().items()
        ]
        return "-".join(words).lower() or "default"

    def document(self) -> dict[str, str | int | bool | None]:
        """As it stands in results.json."""
        named = {"toolchain": self.toolchain.value, "world": self.world.value}
        return {**asdict(self), **named}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Settings:
        """What `document` has made."""
        named = {
            "toolchain": Toolchain(document["toolchain"]),
            # Runs that were kept before there was another world do not name theirs.
            "world": World(document.get("world", World.LIVE.value)),
        }
        return cls(**{**document, **named})

    @classmethod
    def from_environment(
        cls,
        taken: Collection[str] = tuple(KNOWN),
        environment: Mapping[str, str] = os.environ,
        *,
        others: Collection[str] = OTHERS,
    ) -> Settings:
        """Reads QUICK and the settings in `taken`; one that the lab does not take is an error.

        `others`: what else can stand behind the command.
        """
        refuse_unknown(
            (*KNOWN, *others),
            environment,
            listed=(*(name for name in KNOWN if name in taken), *others),
        )
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
            try:
                value = parse(f"{text} {unit}" if unit and text.isdigit() else text)
            except UnitError as error:
                raise SettingError(f"{name}={text}: {error}") from error
            if value == 0:
                raise SettingError(f"{name} is 0, and nothing would get through: give more.")
            return value

        world = World.chosen(environment)
        quick = environment.get("QUICK", "") not in ("", "0")
        duration_ns = given("DURATION", "", _duration_ns)
        queue_packets = given("QUEUE", "packets", units.packets)
        if queue_packets is not None and queue_packets > QUEUE_PACKETS_MAX:
            raise SettingError(
                f"QUEUE={environment['QUEUE']}: a queue of the kit holds at most "
                f"{QUEUE_PACKETS_MAX:,} packets."
            )
        return cls(
            rate_bps=given("RATE", "", units.rate_bps),
            queue_packets=queue_packets,
            # iperf3 counts whole seconds; a part of one is rounded up.
            seconds=None if duration_ns is None else -(-duration_ns // NS_PER_S),
            congestion=_algorithm(environment.get("CONGESTION"), world),
            arbiter=classes.named("ARBITER", environment.get("ARBITER"), world),
            scheduler=classes.named("SCHEDULER", environment.get("SCHEDULER"), world),
            aqm=classes.named("AQM", environment.get("AQM"), world),
            quick=quick,
            toolchain=_toolchain(environment, world),
            program=environment.get("PROGRAM") or None,
            world=world,
            seeds=_seeds(environment.get("SEEDS"), world, quick),
        )


def _duration_ns(text: str) -> int:
    """`20` and `0.5` are seconds; `10 min` and whatever else has a unit are what they say."""
    match = _DURATION.fullmatch(text.strip())
    factor = {"": NS_PER_S, "min": 60 * NS_PER_S}.get(match[2]) if match else None
    if match and factor:
        return round(Fraction(match[1]) * factor)
    try:
        return units.span_ns(text)
    except UnitError:
        raise UnitError(
            "write seconds, such as 20, or a number with its unit, such as '20 s' or '10 min'."
        ) from None


def _short(name: str, word: str) -> str:
    """What a folder's name says of a setting: of a path, what it leads to."""
    if name == "PROGRAM":
        return Path(word).stem
    return word.rpartition("/")[2].replace(":", "-")


def rate_word(bps: int) -> str:
    """A rate as RATE takes it, without a blank: 1.5mbit."""
    for unit, factor in (("gbit", 10**9), ("mbit", 10**6), ("kbit", 10**3)):
        if bps >= factor:
            return f"{bps / factor:.6g}{unit}"
    return f"{bps}bit"


def algorithms(world: World) -> list[str]:
    """The TCPs that hosts of a world have."""
    if world is World.VIRTUAL:
        return list(VIRTUAL_ALGORITHMS)
    # What the kernel has loaded; the three of the labs can be loaded when they are needed.
    loaded = _AVAILABLE.read_text().split() if _AVAILABLE.exists() else []
    return list(dict.fromkeys((*ALGORITHMS, *loaded)))


def _algorithm(name: str | None, world: World) -> str | None:
    if not name:
        return None
    decider = Decider.parse(name, Path.cwd())
    if decider is not None:
        return classes.checked("CONGESTION", name, decider, world)
    names = algorithms(world)
    who = "the virtual world" if world is World.VIRTUAL else "this machine"
    if name in names:
        return name
    hint = meant(name.lower(), names)
    raise SettingError(f"CONGESTION={name}: {who} has no such TCP: {hint}")


def _toolchain(environment: Mapping[str, str], world: World) -> Toolchain:
    chosen = Toolchain.chosen(environment)
    if world is World.VIRTUAL and chosen is not Toolchain.VITRINE:
        raise SettingError(
            f"TOOLCHAIN={chosen.value}: the virtual world has our own routers only. Leave "
            "TOOLCHAIN or WORLD out."
        )
    return chosen


def _seeds(text: str | None, world: World, quick: bool) -> int:
    if not text:
        return SEEDS if world is World.VIRTUAL and not quick else 1
    if world is not World.VIRTUAL:
        raise SettingError(
            "SEEDS: chance has no seed in the live world. Leave SEEDS out, or say WORLD=virtual."
        )
    if not text.isdigit() or not 1 <= int(text) <= SEEDS_MAX:
        raise SettingError(f"SEEDS={text}: expected a number from 1 to {SEEDS_MAX}.")
    return int(text)


def refuse_unknown(
    known: Collection[str],
    environment: Mapping[str, str] = os.environ,
    *,
    listed: Collection[str] | None = None,
) -> None:
    """A setting that is misspelt would change nothing, and nobody would notice.

    `known` are those of the command, `listed` those that are worth saying of them.
    """
    if found := settings.mistake(known, environment, listed=listed, common=KNOWN):
        raise SettingError(found)
