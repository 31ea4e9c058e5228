"""`vitrine top`: shows the insides of a router that runs.

Anybody may read, so this neither becomes a controller nor disturbs one. It outlives networks: when
a router goes away it waits, and goes on with the next one. Without a terminal it prints one screen
and ends.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import time

from controller import routers
from controller.errors import ControllerError, NotYoursError
from controller.lines import Lines
from controller.queues import Queues
from controller.session import Session
from labs.text import blocks_of
from labs.top.monitor import Moment, Monitor
from labs.top.screen import Choice, busiest, draw, pressed
from labs.top.terminal import Terminal
from topo import wait

INTERVAL_S = 0.1
# The configuration changes seldom; it is read anew this often.
SETTINGS_INTERVAL_S = 1.0
# How long one attempt to reach a router lasts while it is waited for.
RETRY_S = 0.5


class Router:
    """The router that is looked at."""

    def __init__(self, address: str, deadline_s: float) -> None:
        self.address = address
        self._session = Session.observe(address, deadline_s=deadline_s)
        self._queues = Queues(self._session)
        self._lines = Lines(self._session)
        self._monitor = Monitor()
        try:
            self._settings = self._queues.settings()
        except ControllerError:
            self.close()
            raise
        self._read_s = time.monotonic()

    def look(self) -> Moment:
        """The router at this instant."""
        if time.monotonic() - self._read_s > SETTINGS_INTERVAL_S:
            self._settings = self._queues.settings()
            self._read_s = time.monotonic()
        sample = self._queues.read()
        return self._monitor.take(sample, self._settings, self._lines.read())

    def close(self) -> None:
        """Ends the connection."""
        self._session.channel.close()


def show(router: str) -> None:
    """Until `q` or Ctrl-C; without a terminal, once."""
    with contextlib.suppress(KeyboardInterrupt):
        if sys.stdin.isatty() and sys.stdout.isatty():
            with Terminal() as terminal:
                _Watching(terminal, router).run()
        else:
            _print_once(routers.address_of(router))


class _Watching:
    """One router after the other in a terminal, until `q`."""

    def __init__(self, terminal: Terminal, name: str) -> None:
        # A name that is none is refused at once; a router that is not up yet is waited for.
        self._address = routers.address_of(name) if name else ""
        self._terminal = terminal
        self._router: Router | None = None
        self._blocks = blocks_of(sys.stdout)
        self._is_ended = False

    def run(self) -> None:
        """Returns when the user has seen enough."""
        while not self._is_ended:
            address = self._address or routers.up().first
            try:
                self._router = Router(address, RETRY_S)
                self._watch(self._router)
            except NotYoursError:
                raise
            except ControllerError:
                self._wait()
            finally:
                if self._router is not None:
                    self._router.close()
                    self._router = None

    def _wait(self) -> None:
        """Says that it waits for a router; the key q ends it."""
        whom = f"the router at {self._address}" if self._address else "a network"
        self._terminal.draw([f"waiting for {whom}", "It is shown as soon as it is up.   q quit"])
        if self._terminal.key(RETRY_S) == "q":
            self._is_ended = True

    def _watch(self, router: Router) -> None:
        """Shows one router until it goes away or another one is wanted."""
        about, moment = routers.having(router.address), router.look()
        choice = Choice(port=_first_port(router.address, moment))
        next_s = time.monotonic()
        # Until the user has named a router, what is shown follows what the lab is about; another
        # network that comes up is not this one's business.
        while self._address or routers.having(router.address) == about:
            width, height = self._terminal.size
            self._terminal.draw(
                draw(
                    moment,
                    choice,
                    title=routers.called(router.address),
                    width=width,
                    height=height,
                    blocks=self._blocks,
                )
            )
            next_s = max(next_s + INTERVAL_S, time.monotonic())
            while (left_s := next_s - time.monotonic()) > 0:
                key = self._terminal.key(left_s)
                if key == "q":
                    self._is_ended = True
                    return
                if key == "r":
                    self._address = _next_router(router.address)
                    return
                if key is not None:
                    choice = pressed(choice, key, moment)
                    break
            # Time goes on in the router; what is shown stands still while paused.
            seen = router.look()
            moment = moment if choice.paused else seen


def _next_router(address: str) -> str:
    """The address of the next router of the network; the same one if there is no other."""
    known = list(routers.having(address).routers.values()) or [address]
    return known[(known.index(address) + 1) % len(known)] if address in known else known[0]


def _first_port(address: str, moment: Moment) -> int | None:
    """The port that the present run is about, or else the busiest."""
    up = routers.having(address)
    is_about = up.routers.get(up.router) == address
    return up.port if is_about and up.port is not None else busiest(moment)


def _print_once(address: str) -> None:
    router = Router(address, RETRY_S * 4)
    try:
        router.look()
        # Rates need a second look.
        wait.holds_within(lambda: False, INTERVAL_S * 3)
        moment = router.look()
    finally:
        router.close()
    size = shutil.get_terminal_size((80, 40))
    lines = draw(
        moment,
        Choice(port=_first_port(address, moment)),
        title=routers.called(address),
        width=size.columns,
        height=size.lines,
        blocks=blocks_of(sys.stdout),
        styled=False,
    )
    print("\n".join(line.rstrip() for line in lines))
