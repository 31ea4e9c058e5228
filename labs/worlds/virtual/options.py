"""The words behind a host at the prompt: the options of ping and iperf3 that matter here.

    read(PING, "-c 3 h2".split())
    read(IPERF, "-c h2 -t 10 -C bbr -R".split())

What is not known is refused with a sentence; whatever these tools mean by a word is meant here too.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from controller.decider import Decider

IPERF_PORT = 5201
# iperf3's own, for UDP.
UDP_BPS = 1_048_576
UDP_BYTES = 1448
ALGORITHMS = ("bbr", "bbr3", "cubic", "dctcp", "prague", "reno")

# iperf3 counts bytes in 1024s and bits in 1000s.
_BINARY = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_DECIMAL = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}


class OptionError(Exception):
    """A command that cannot be read; its text is a sentence."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """A sentence instead of the end of the program."""
        raise OptionError(f"{self.prog}: {message}; {self.epilog}")


def _seconds(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise ValueError(text)
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


def _hops(text: str) -> int:
    value = _count(text)
    if value > 255:
        raise ValueError(text)
    return value


def _rate(text: str) -> int:
    return _scaled(text, _DECIMAL)


def _bytes(text: str) -> int:
    return _scaled(text, _BINARY)


def _scaled(text: str, factors: dict[str, int]) -> int:
    found = re.fullmatch(r"([\d.]+)([kmg]?)", text.lower())
    if found is None:
        raise ValueError(text)
    return round(float(found.group(1)) * factors[found.group(2)])


# argparse names these in its errors about values that do not fit.
for _reader, _name in (
    (_seconds, "number of seconds"),
    (_count, "number"),
    (_hops, "number of hops"),
    (_rate, "rate"),
):
    _reader.__name__ = _name
_bytes.__name__ = "length"


def _ping() -> _Parser:
    parser = _Parser(
        prog="ping", add_help=False, epilog="it knows -c COUNT, -i SECONDS, -s BYTES and -t HOPS"
    )
    parser.add_argument("target")
    parser.add_argument("-c", dest="count", type=_count)
    parser.add_argument("-i", dest="interval_s", type=_seconds, default=1.0)
    parser.add_argument("-s", dest="payload_bytes", type=_bytes, default=56)
    parser.add_argument("-t", dest="hop_limit", type=_hops, default=0)
    # Names are never looked up here.
    parser.add_argument("-n", action="store_true")
    return parser


def _traceroute() -> _Parser:
    parser = _Parser(prog="traceroute", add_help=False, epilog="it knows -q COUNT and -m HOPS")
    parser.add_argument("target")
    parser.add_argument("-q", dest="count", type=_count, default=3)
    parser.add_argument("-m", dest="hops", type=_hops, default=30)
    # Names are never looked up here, and requests are those of ping.
    parser.add_argument("-n", action="store_true")
    parser.add_argument("-I", action="store_true")
    return parser


def _congestion(text: str) -> str:
    decider = Decider.parse(text, Path.cwd())
    if decider is not None:
        return str(decider)
    if text and text not in ALGORITHMS:
        raise argparse.ArgumentTypeError(
            f"invalid choice: {text!r} (choose from {', '.join(ALGORITHMS)}, or FILE.py:CLASS)"
        )
    return text


def _iperf() -> _Parser:
    parser = _Parser(
        prog="iperf3",
        add_help=False,
        epilog="it knows -c HOST, -t SECONDS, -n BYTES, -C ALGORITHM, -R, -P FLOWS, -b RATE, "
        "-u, -l BYTES, -i SECONDS and -p PORT; and -s, with or without -D",
    )
    parser.add_argument("-c", dest="target")
    parser.add_argument("-s", dest="is_server", action="store_true")
    # A server runs beside everything else anyway.
    parser.add_argument("-D", dest="is_daemon", action="store_true")
    parser.add_argument("-t", dest="seconds", type=_seconds)
    parser.add_argument("-n", dest="length_bytes", type=_bytes)
    parser.add_argument("-C", dest="congestion", type=_congestion, default="")
    parser.add_argument("-R", dest="is_reverse", action="store_true")
    parser.add_argument("-P", dest="connections", type=_count, default=1)
    parser.add_argument("-b", dest="rate_bps", type=_rate)
    parser.add_argument("-u", dest="is_udp", action="store_true")
    parser.add_argument("-l", dest="datagram_bytes", type=_bytes, default=UDP_BYTES)
    parser.add_argument("-i", dest="interval_s", type=_seconds, default=1.0)
    parser.add_argument("-p", dest="port", type=_count, default=IPERF_PORT)
    return parser


PING, TRACEROUTE, IPERF = _ping(), _traceroute(), _iperf()


def read(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """The options in these words."""
    return parser.parse_args(words)
