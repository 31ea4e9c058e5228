"""Every option of the command, once: its words, what it says in a help, how it is completed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from vitrine.command import names

Names = Callable[[], Sequence[str]]


@dataclass(frozen=True)
class Option:
    """A word of a command line, in argparse's terms."""

    words: tuple[str, ...]
    help: str
    more: dict[str, Any] = field(default_factory=dict)
    completed: Names | None = None

    @property
    def key(self) -> str:
        """The name of its value: `no_glass` of `--no-glass`."""
        return str(self.more.get("dest") or self.words[0].lstrip("-").replace("-", "_"))

    @property
    def is_positional(self) -> bool:
        """Whether it stands by itself, without dashes."""
        return not self.words[0].startswith("-")

    @property
    def is_switch(self) -> bool:
        """Whether it takes no value."""
        return self.more.get("action") == "store_true"

    def saying(self, text: str, **more: Any) -> Option:
        """The same option where its help has to say something else."""
        return replace(self, help=text, more={**self.more, **more})


def _value(*words: str, text: str, metavar: str, of: Names | None = None, **more: Any) -> Option:
    return Option(words, text, {"metavar": metavar, **more}, of)


def _switch(*words: str, text: str) -> Option:
    return Option(words, text, {"action": "store_true"})


# ---- what a lab or a network is made of ----------------------------------------------------------

LAB = _value(
    "lab", text="its name, as `vitrine labs` lists it", metavar="LAB", of=names.labs, nargs="?"
)
RATE = _value("--rate", text="the bottleneck's rate, such as 5mbit", metavar="RATE")
QUEUE = _value("--queue", text="limit of the bottleneck's queue, in packets", metavar="PACKETS")
DURATION = _value("--duration", text="how long a flow runs: 20, '90 s', 10min", metavar="TIME")
CONGESTION = _value(
    "--congestion",
    "--cc",
    text="TCP of the long flows: reno, cubic, bbr; in virtual time also bbr3, dctcp, prague, or a "
    "class of yours, my_tcp.py:MyTcp",
    metavar="NAME",
    of=lambda: ("reno", "cubic", "bbr", "bbr3", "dctcp", "prague"),
)
ARBITER = _value(
    "--arbiter", text="a Python class beside the built-in arbiters", metavar="FILE:CLASS"
)
SCHEDULER = _value(
    "--scheduler", text="a Python class beside the built-in schedulers", metavar="FILE:CLASS"
)
AQM = _value("--aqm", text="a Python class beside the built-in AQMs", metavar="FILE:CLASS")
QUICK = _switch("--quick", text="a shortened run that still measures")
SEEDS = _value("--seeds", text="how many runs, each with its own seed (virtual)", metavar="N")
WORLD = _value(
    "--world",
    text="live (Linux hosts, needs root) or virtual (virtual time); else what this machine can do",
    metavar="WORLD",
    of=lambda: ("live", "virtual"),
)
WORLD_OR_BOTH = WORLD.saying("live, virtual, or both and a report of the two")
TOOLCHAIN = _value(
    "--toolchain",
    text="the compiler and switch: vitrine or p4lang",
    metavar="NAME",
    of=lambda: ("vitrine", "p4lang"),
)
TOOLCHAIN_OR_BOTH = TOOLCHAIN.saying("whose compiler and switch: vitrine, p4lang, or both")
PROGRAM = _value("--program", text="a P4 program for all routers, such as my.p4", metavar="FILE")
GRPC = _value(
    "--grpc",
    text="unix or tcp: the routers' sockets; tcp is open to every user of this machine",
    metavar="HOW",
    of=lambda: ("unix", "tcp"),
)
DOMAIN = _value("--domain", text="the network's telemetry, as a YAML file", metavar="FILE")
TOPOLOGY = _value(
    "topology", text="a topology file; else the first lab's network", metavar="FILE", nargs="?"
)
ALL = _switch("--all", text="every lab, and whether each band is met")

# ---- the page in the browser ---------------------------------------------------------------------

NO_GLASS = _switch("--no-glass", text="do not serve the page")
SHARE = _value(
    "--share",
    text="an address, such as 0.0.0.0, with a read-only page for a class",
    metavar="ADDRESS",
)
OPEN = _switch("--open", text="open the page where there is a desktop")
LESSON = _value(
    "--lesson", text="the lab whose lesson appears beside the view", metavar="LAB", of=names.labs
)

# ---- a router that is up -------------------------------------------------------------------------

ROUTER = _value(
    "--router",
    text="its name, HOST:PORT[/DEVICE] or unix:FILE; else the first that is up",
    metavar="NAME",
    of=names.routers,
    default="",
)
FLOW = _value(
    "--flow", text="such as '10.0.1.1:*->10.0.2.1:80'; * is any", metavar="FLOW", default="*->*"
)
COUNT = _value("--count", text="how many packets", metavar="N", default="3")
JSON = _switch("--json", text="print one JSON object per line")
LISTEN = _value(
    "--listen", text="host:port, or :port on loopback", metavar="WHERE", default=":9464"
)

# ---- runs that are kept --------------------------------------------------------------------------

RUN = _value("run", text="a run, or a lab for its latest", metavar="RUN", of=names.runs)
RUNS = _value("runs", text="two runs of one lab", metavar="RUN", of=names.runs, nargs=2)

# ---- sweeps --------------------------------------------------------------------------------------

SWEEP = _value(
    "sweep", text="a sweep of the kit, or a file", metavar="SWEEP", of=names.sweeps, nargs="?"
)
JOBS = _value("--jobs", text="how many processes; else one per processor", metavar="N")
CLUSTER = _value("--cluster", text="a Dask scheduler, tcp://HOST:8786", metavar="ADDRESS")

# ---- the scoreboard of telemetry -----------------------------------------------------------------

SYSTEMS = _value(
    "systems",
    text="systems, or your own files; else all",
    metavar="SYSTEM",
    of=names.telemetry,
    nargs="*",
)
WORKLOAD = _value("--workload", text="one workload; else all", metavar="NAME", of=names.workloads)
LOST = _value(
    "--lost", text="the share of telemetry that is lost, such as '10 %%'", metavar="SHARE"
)
BELIEVED = _switch(
    "--believed", text="also draw the true queue of one seed, and what each system believed"
)
REPLAYED = _switch(
    "--replay", text="also write a page that replays one seed, with what each system believed"
)
SCORES = _value(
    "--out", text="where the table and the figures go", metavar="FOLDER", default="out/score"
)

# ---- the course ----------------------------------------------------------------------------------

EXERCISE = _value("exercise", text="its name", metavar="EXERCISE", of=names.exercises)
STUDENT = _value("--student", text="your name; else you are asked", metavar="NAME", default="")
CASE = _value("--case", text="only this case", metavar="NAME", default="")
FOLDER = _value("--folder", text="its folder, instead of work/EXERCISE", metavar="FOLDER")
LIVE = _switch("--live", text="on live routers and real TCP; needs root")
PAGES = _switch("--pages", text="write a page of every network, not only of failed cases")
SUBMISSIONS = _value("submissions", text="a folder of folders or zip files", metavar="FOLDER")
OUT = _value("out", text="where the points and pages go", metavar="OUT")
SECRET = _value("--secret", text="any word, for new random scenarios", metavar="WORD", default="")
PAGE = _switch("--page", text="as a web page that checks by itself, with nothing installed")
UNSAFE = _switch("--unsafe", text="run submissions without a sandbox")
WHEEL = _value("wheel", text="the address of the kit's wheel", metavar="WHEEL")

# ---- words of programs that parse them by themselves ---------------------------------------------

WORDS = _value("words", text="as the program takes them", metavar="...", nargs="...")
