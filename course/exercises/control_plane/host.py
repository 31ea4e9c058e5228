"""The process of one router's control plane: `host.py FOLDER`, a question and an answer a line.

The first question has the router's ports and static routes; each later one is a packet or a tick.
The answer has what the submission did with its switch meanwhile. What it prints goes to standard
error. Nothing but Python's own library is used here.
"""

import importlib
import json
import os
import signal
import sys
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

_SECONDS = 5


@dataclass(frozen=True)
class Port:
    """A port of the router."""

    number: int
    mac: bytes
    address: IPv4Address
    network: IPv4Network
    # The cost of the link there, and whether routers that speak link state may be there.
    cost: int
    routing: bool


class Switch:
    """A control plane's acts: it writes entries and sends frames."""

    def __init__(self) -> None:
        self.done: list[object] = []

    def insert(self, table: str, match: dict, action: str, **values: object) -> None:
        """An entry that was not there."""
        self._write("insert", table, match, action, values)

    def modify(self, table: str, match: dict, action: str, **values: object) -> None:
        """Another action for an entry that is there."""
        self._write("modify", table, match, action, values)

    def delete(self, table: str, match: dict) -> None:
        """The entry goes."""
        self._write("delete", table, match, "", {})

    def send(self, port: int, frame: bytes) -> None:
        """The frame leaves by the port as it is."""
        self.done.append({"port": int(port), "frame": bytes(frame).hex()})

    def _write(self, kind: str, table: str, match: dict, action: str, values: dict) -> None:
        self.done.append(
            {
                "kind": kind,
                "table": str(table),
                "match": {str(key): _plain(value) for key, value in match.items()},
                "action": str(action),
                "values": {name: _plain(value) for name, value in values.items()},
            }
        )


def _plain(value: object) -> object:
    """A value of an entry as JSON has it: a number, or a network as text."""
    if isinstance(value, bytes):
        return int.from_bytes(value, "big")
    if isinstance(value, IPv4Address):
        return int(value)
    return value if isinstance(value, int) else str(value)


def main() -> None:
    """Answers until there is no further question."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.path.insert(0, sys.argv[1])
    signal.signal(signal.SIGALRM, _late)
    switch = Switch()
    control: Any = None
    for line in sys.stdin:
        asked = json.loads(line)
        error = ""
        signal.alarm(_SECONDS)
        try:
            if control is None:
                control = _made(switch, asked)
            elif "frame" in asked:
                frame = bytes.fromhex(asked["frame"])
                control.packet_in(asked["now"], asked["port"], asked["reason"], frame)
            else:
                control.tick(asked["now"])
        except BaseException as raised:  # noqa: BLE001 - also of who calls sys.exit
            error = f"{type(raised).__name__}: {raised}{_where(raised)}"[:400]
        finally:
            signal.alarm(0)
        done, switch.done = switch.done, []
        print(json.dumps({"done": done, "error": error}), file=answers, flush=True)


def _made(switch: Switch, asked: dict) -> Any:
    ports = [
        Port(
            each["number"],
            bytes.fromhex(each["mac"]),
            IPv4Address(each["address"]),
            IPv4Network(each["network"]),
            each["cost"],
            each["routing"],
        )
        for each in asked["ports"]
    ]
    static = [(IPv4Network(network), IPv4Address(hop)) for network, hop in asked["static"]]
    control = importlib.import_module("control").Control
    return control(switch, IPv4Address(asked["router"]), ports, static)


def _where(raised: BaseException) -> str:
    """The line of the submission at which it happened."""
    trace, where = raised.__traceback__, ""
    while trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename).name
        if file != "host.py":
            where = f", {file} line {trace.tb_lineno}"
        trace = trace.tb_next
    return where


def _late(number: int, frame: object) -> None:
    raise TimeoutError(f"it had not returned after {_SECONDS} s")


if __name__ == "__main__":
    main()
