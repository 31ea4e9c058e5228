"""The options of a lab, as values: `vitrine run LAB --rate 5mbit`.

Each is checked here as far as possible without knowing the lab; `Lab` checks the rest.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from controller.decider import Decider
from controller.toolchain import Toolchain
from labs import classes
from labs.errors import SettingError
from labs.hint import meant
from labs.world import World
from topo import units
from topo.errors import UnitError

NS_PER_S = 1_000_000_000

# The options that some lab takes.
KNOWN = ("rate", "queue", "duration", "congestion", "arbiter", "scheduler", "aqm")
# Those that every lab takes.
OTHERS = ("quick", "program", "world", "seeds", "toolchain", "grpc")
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
        """The settings that differ from the lab's own, by option name."""
        words = {
            "rate": None if self.rate_bps is None else rate_word(self.rate_bps),
            "queue": None if self.queue_packets is None else str(self.queue_packets),
            "duration": None if self.seconds is None else str(self.seconds),
            "congestion": self.congestion,
            "arbiter": self.arbiter,
            "scheduler": self.scheduler,
            "aqm": self.aqm,
            "quick": "" if self.quick else None,
            "toolchain": None if self.toolchain is Toolchain.VITRINE else self.toolchain.value,
            "program": self.program,
            "world": None if self.world is World.LIVE else self.world.value,
            "seeds": None if self.seeds in (1, SEEDS) else str(self.seeds),
        }
        return {name: word for name, word in words.items() if word is not None}

    def slug(self) -> str:
        """The same as a part of a file's name: `rate-5mbit-queue-50`, or `default`."""
        words = [
            # Of a path the name alone: it is to be a part of another one.
            f"{name}-{_short(name, word)}" if word else name
            for name, word in self.changed().items()
        ]
        return "-".join(words).lower() or "default"

    def words(self, without: Collection[str] = ()) -> list[str]:
        """The same as on a command line: `--rate 5mbit`, `--quick`."""
        changed = {name: word for name, word in self.changed().items() if name not in without}
        return [
            f"--{name} {shlex.quote(word)}" if word else f"--{name}"
            for name, word in changed.items()
        ]

    def document(self) -> dict[str, str | int | bool | None]:
        """As it stands in results.json."""
        named = {"toolchain": self.toolchain.value, "world": self.world.value}
        return {**asdict(self), **named}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Settings:
        """The object of a `document`."""
        named = {
            "toolchain": Toolchain(document["toolchain"]),
            # Runs that were kept before there was another world do not name theirs.
            "world": World(document.get("world", World.LIVE.value)),
        }
        return cls(**{**document, **named})

    @classmethod
    def chosen(cls, given: Mapping[str, str | bool | None], taken: Collection[str]) -> Settings:
        """The settings of these options; an option that the lab does not take is an error."""
        for name in KNOWN:
            if given.get(name) and name not in taken:
                known = ", ".join(f"--{each}" for each in sorted(taken)) or "none"
                raise SettingError(f"--{name}: this lab has no such option; it takes: {known}.")

        def text(name: str) -> str | None:
            return str(given.get(name) or "") or None

        def parsed(name: str, unit: str, parse: Callable[[str], int]) -> int | None:
            word = text(name)
            if not word:
                return None
            # `--queue 20` needs no unit: its help says what is counted.
            try:
                value = parse(f"{word} {unit}" if unit and word.isdigit() else word)
            except UnitError as error:
                raise SettingError(f"--{name} {word}: {error}") from error
            if value == 0:
                raise SettingError(f"--{name} is 0, and nothing would get through: give more.")
            return value

        world = World.named(text("world"))
        quick = bool(given.get("quick"))
        duration_ns = parsed("duration", "", _duration_ns)
        queue_packets = parsed("queue", "packets", units.packets)
        if queue_packets is not None and queue_packets > QUEUE_PACKETS_MAX:
            raise SettingError(
                f"--queue {given['queue']}: a queue holds at most {QUEUE_PACKETS_MAX:,} packets."
            )
        return cls(
            rate_bps=parsed("rate", "", units.rate_bps),
            queue_packets=queue_packets,
            # iperf3 counts whole seconds; a part of one is rounded up.
            seconds=None if duration_ns is None else -(-duration_ns // NS_PER_S),
            congestion=_algorithm(text("congestion"), world),
            arbiter=classes.named("arbiter", text("arbiter"), world),
            scheduler=classes.named("scheduler", text("scheduler"), world),
            aqm=classes.named("aqm", text("aqm"), world),
            quick=quick,
            toolchain=_toolchain(text("toolchain"), world),
            program=text("program"),
            world=world,
            seeds=_seeds(text("seeds"), world, quick),
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
    """A setting's part in a folder's name: of a path, its last part."""
    if name == "program":
        return Path(word).stem
    return word.rpartition("/")[2].replace(":", "-")


def rate_word(bps: int) -> str:
    """A rate as `--rate` takes it, without a blank: 1.5mbit."""
    for unit, factor in (("gbit", 10**9), ("mbit", 10**6), ("kbit", 10**3)):
        if bps >= factor:
            return f"{bps / factor:.6g}{unit}"
    return f"{bps}bit"


def algorithms(world: World) -> list[str]:
    """The TCPs that hosts of a world have."""
    if world is World.VIRTUAL:
        return list(VIRTUAL_ALGORITHMS)
    # The algorithms that the kernel has loaded; the three of the labs can be loaded on demand.
    loaded = _AVAILABLE.read_text().split() if _AVAILABLE.exists() else []
    return list(dict.fromkeys((*ALGORITHMS, *loaded)))


def _algorithm(name: str | None, world: World) -> str | None:
    if not name:
        return None
    decider = Decider.parse(name, Path.cwd())
    if decider is not None:
        return classes.checked("congestion", name, decider, world)
    names = algorithms(world)
    who = "the virtual world" if world is World.VIRTUAL else "this machine"
    if name in names:
        return name
    hint = meant(name.lower(), names)
    raise SettingError(f"--congestion {name}: {who} has no such TCP: {hint}")


def _toolchain(name: str | None, world: World) -> Toolchain:
    chosen = Toolchain.named(name)
    if world is World.VIRTUAL and chosen is not Toolchain.VITRINE:
        raise SettingError(
            f"--toolchain {chosen.value}: the virtual world has our own routers only. Leave "
            "--toolchain or --world out."
        )
    return chosen


def _seeds(text: str | None, world: World, quick: bool) -> int:
    if not text:
        return SEEDS if world is World.VIRTUAL and not quick else 1
    if world is not World.VIRTUAL:
        raise SettingError(
            "--seeds: the live world has no seed. Leave --seeds out, or say --world virtual."
        )
    if not text.isdigit() or not 1 <= int(text) <= SEEDS_MAX:
        raise SettingError(f"--seeds {text}: expected a number from 1 to {SEEDS_MAX}.")
    return int(text)
