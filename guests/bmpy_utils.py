"""Connects to switches over Thrift, and asks them for their program."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any, TextIO

from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.protocol.TMultiplexedProtocol import TMultiplexedProtocol
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import TBufferedTransport, TTransportException


def thrift_connect(
    thrift_ip: str,
    thrift_port: int,
    services: list[tuple[str | None, Any]],
    out: TextIO = sys.stdout,
) -> list[Any]:
    """Connect, and make a client for each service, which is its name and its class; ends the
    program if nobody listens.
    """
    transport = TBufferedTransport(TSocket(thrift_ip, thrift_port))
    protocol = TBinaryProtocol(transport)
    clients = [
        None if name is None else client(TMultiplexedProtocol(protocol, name))
        for name, client in services
    ]
    try:
        transport.open()
    except TTransportException:
        out.write(f"Could not connect to thrift client on port {thrift_port}\n")
        out.write("Make sure the switch is running and that you have the right port\n")
        sys.exit(1)
    return clients


def thrift_connect_standard(thrift_ip: str, thrift_port: int, out: TextIO = sys.stdout) -> Any:
    """Connect to the service `standard` alone."""
    from bm_runtime.standard import Standard

    return thrift_connect(thrift_ip, thrift_port, [("standard", Standard.Client)], out)[0]


def check_JSON_md5(client: Any, json_src: str, out: TextIO = sys.stdout) -> None:  # noqa: N802
    """Warn if a file is not the program that the switch runs."""
    found = hashlib.md5(Path(json_src).read_bytes()).digest()
    running = client.bm_get_config_md5()
    if found != running:
        out.write("**********\nWARNING: the switch runs another program than that of this file\n")
        out.write(f"{'switch md5':<15}: {running.hex()}\n{'CLI input md5':<15}: {found.hex()}\n")
        out.write("**********\n")


def get_json_config(
    standard_client: Any = None, json_path: str | None = None, out: TextIO = sys.stdout
) -> str:
    """Give the program as JSON: that of a file, or else that of the switch."""
    if json_path:
        if standard_client is not None:
            check_JSON_md5(standard_client, json_path, out)
        return Path(json_path).read_text(encoding="utf-8")
    out.write("Obtaining JSON from switch...\n")
    try:
        config: str = standard_client.bm_get_config()
    except Exception:  # noqa: BLE001 - whatever it is, there is no program
        out.write("Error when requesting JSON config from switch\n")
        sys.exit(1)
    out.write("Done\n")
    return config
