"""Options that the applications' command lines share: the router, and its owner."""

from __future__ import annotations

import argparse

from controller import simple_switch
from controller.errors import ConnectError
from controller.toolchain import Toolchain


def add_router(parser: argparse.ArgumentParser) -> None:
    """The option that names the router."""
    parser.add_argument(
        "--router",
        default="",
        metavar="NAME",
        help="or its address, HOST:PORT[/DEVICE] or unix:FILE; else the first that is up",
    )


def add_toolchain(parser: argparse.ArgumentParser) -> None:
    """The options that say whose switch the router is."""
    parser.add_argument(
        "--toolchain",
        default=Toolchain.VITRINE.value,
        metavar="NAME",
        help=f"{' or '.join(each.value for each in Toolchain)}, %(default)s",
    )
    parser.add_argument(
        "--thrift",
        metavar="HOST:PORT",
        help="where simple_switch serves Thrift, by which its queues are set; "
        f"without it the router's port plus {simple_switch.THRIFT_OFFSET}",
    )


def thrift_address(router: str, thrift: str | None) -> tuple[str, int]:
    """Where the router's queues are set, if it is a simple_switch."""
    host, _, port = (thrift or router).rpartition(":")
    if not (host and port.isdigit()):
        raise ConnectError(f"{thrift or router!r} is no address: write HOST:PORT.")
    return host, int(port) + (0 if thrift else simple_switch.THRIFT_OFFSET)
