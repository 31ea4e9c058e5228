"""Networks that stay up for all the tests of a file."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from controller import routers
from controller.session import Session
from labs.hol_blocking.lab import CONGESTED, HolBlocking
from labs.settings import Settings
from labs.worlds.live import network as lab_network
from tests.live import isolation
from tests.topo.examples import loaded
from topo import wait
from topo.live import LiveNetwork
from topo.process import Process

LISTEN_PORT = 5201


@contextlib.contextmanager
def programmed(text: str, folder: Path) -> Iterator[tuple[LiveNetwork, dict[str, Session]]]:
    """The network of a topology's text, its routers programmed; what it leaves is in `folder`."""
    with (
        isolation.run_folder(),
        lab_network.programmed(loaded(text, folder), logs=folder) as network,
    ):
        yield network


@contextlib.contextmanager
def hol_blocking(folder: Path) -> Iterator[LiveNetwork]:
    """The network of the lab with one FIFO at its input."""
    with isolation.run_folder():
        lab = HolBlocking(Settings(quick=True))
        (fifo,) = [run for run in lab.runs() if run.name == "fifo"]
        with lab_network.programmed(lab.topology(fifo), logs=folder) as (live, _):
            routers.look_at("s2", CONGESTED)
            yield live


def begin_flows(live: LiveNetwork) -> list[Process]:
    """The three flows of that lab; the programs that send."""
    senders = []
    for number, (source, target) in enumerate((("h1", "h4"), ("h2", "h4"), ("h3", "h5"))):
        port = str(LISTEN_PORT + number)
        listening = live.host(target).start(
            ["iperf3", "-s", "-1", "-p", port, "--forceflush"], live.logs / f"to-{source}.log"
        )
        wait.until(
            lambda log=listening.log: "listening" in log.read_text(), "a listening iperf3", 10
        )
        argv = ["iperf3", "-c", str(live.host(target).address), "-p", port, "-t", "600"]
        senders.append(live.host(source).start(argv, live.logs / f"from-{source}.log"))
    return senders
