"""A switch process without ports of its own, for tests that need the real thing but no network."""

import socket
from pathlib import Path

import pytest

from controller.addresses import socket_of
from tests.ports import free_port
from topo import wait
from topo.process import Process

ROOT = Path(__file__).parents[2]
SWITCH = ROOT / "build" / "bin" / "vitrine-switch"
PROGRAM = ROOT / "build" / "p4" / "router.json"
PROGRAM_INFO = ROOT / "build" / "p4" / "router.p4info.txtpb"

# For modules whose tests need it.
needed = pytest.mark.skipif(
    not (SWITCH.exists() and PROGRAM.exists()), reason="nothing is built: run `make build`"
)


class RealSwitch:
    """At a fixed address, with the controller's port only; can be ended and started again."""

    def __init__(self, folder, device_id=0, *, at_socket=False):
        self.port = free_port()
        self.address = f"unix:{folder}/s1.sock" if at_socket else f"127.0.0.1:{self.port}"
        self._device_id = device_id
        self._log = folder / "switch.log"
        self.start()

    def start(self):
        where = ["--grpc", self.address, "--device-id", str(self._device_id)]
        self._process = Process([str(SWITCH), "--no-p4", *where, "--cpu-port", "510"], self._log)
        wait.until(self._answers, "the switch's first answer", 60)

    def end(self):
        self._process.end()

    def _answers(self):
        path = socket_of(self.address)
        with socket.socket(socket.AF_UNIX if path else socket.AF_INET) as probe:
            return probe.connect_ex(str(path) if path else ("127.0.0.1", self.port)) == 0
