"""`make top`: attaches to a running router and shows its insides; ROUTER=host:port names it.

Anybody may read, so this neither becomes a controller nor disturbs one. Without a terminal it
prints one screen and ends.
"""

from __future__ import annotations

import os
import shutil
import sys
import time

from controller.connection import DEFAULT_ADDRESS
from controller.errors import ControllerError
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


class Router:
    """The router that is looked at."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._session = Session.observe(address)
        self._queues = Queues(self._session)
        self._monitor = Monitor()
        self._settings = self._queues.settings()
        self._read_s = time.monotonic()

    def look(self) -> Moment:
        """The router at this instant."""
        if time.monotonic() - self._read_s > SETTINGS_INTERVAL_S:
            self._settings = self._queues.settings()
            self._read_s = time.monotonic()
        return self._monitor.take(self._queues.read(), self._settings)

    def close(self) -> None:
        """Ends the connection."""
        self._session.channel.close()


def main() -> int:
    """Returns the exit status."""
    router = None
    try:
        router = Router(os.environ.get("ROUTER") or DEFAULT_ADDRESS)
        if sys.stdin.isatty() and sys.stdout.isatty():
            _watch(router)
        else:
            _print_once(router)
    except ControllerError as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    finally:
        if router is not None:
            router.close()
    return 0


def _watch(router: Router) -> None:
    moment = router.look()
    choice = Choice(port=busiest(moment))
    blocks = blocks_of(sys.stdout)
    with Terminal() as terminal:
        next_s = time.monotonic()
        while True:
            width, height = terminal.size
            terminal.draw(
                draw(
                    moment,
                    choice,
                    title=router.address,
                    width=width,
                    height=height,
                    blocks=blocks,
                )
            )
            next_s = max(next_s + INTERVAL_S, time.monotonic())
            while (left_s := next_s - time.monotonic()) > 0:
                key = terminal.key(left_s)
                if key == "q":
                    return
                if key is not None:
                    choice = pressed(choice, key, moment)
                    break
            # Time goes on in the router; what is shown stands still while paused.
            seen = router.look()
            moment = moment if choice.paused else seen


def _print_once(router: Router) -> None:
    router.look()
    # Rates need a second look.
    wait.holds_within(lambda: False, INTERVAL_S * 3)
    size = shutil.get_terminal_size((100, 40))
    moment = router.look()
    lines = draw(
        moment,
        Choice(port=busiest(moment)),
        title=router.address,
        width=size.columns,
        height=size.lines,
        blocks=blocks_of(sys.stdout),
        styled=False,
    )
    print("\n".join(line.rstrip() for line in lines))


if __name__ == "__main__":
    sys.exit(main())
