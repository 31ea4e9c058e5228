"""A client of gRPC as a process of another user: what it hears at a socket, line by line.

    python -m tests.process.stranger PATH USER-ID

It calls three times, opens a stream, and then does nothing until its channel is idle.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IDLE = "idle"


def heard(path: Path, user: int) -> list[str]:
    """The answer to a client of that user's; only root can find out."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.process.stranger", path, str(user)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return run.stdout.splitlines()


def main() -> None:
    path, user = sys.argv[1], int(sys.argv[2])
    # While files that the user may not read can be.
    import grpc
    from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

    os.setgroups([])
    os.setgid(user)
    os.setuid(user)

    def say(call: Callable[[], object]) -> None:
        try:
            call()
            print("let in")
        except grpc.RpcError as error:
            print(error.code().name, error.details())

    options = [("grpc.default_authority", "localhost")]
    with grpc.insecure_channel(f"unix:{path}", options) as channel:
        stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        for _ in range(3):
            say(lambda: stub.Capabilities(p4runtime_pb2.CapabilitiesRequest(), timeout=10))
        nothing = iter([p4runtime_pb2.StreamMessageRequest()])
        say(lambda: next(stub.StreamChannel(nothing, timeout=10)))
        gone = threading.Event()
        states = grpc.ChannelConnectivity
        channel.subscribe(lambda state: gone.set() if state is states.IDLE else None)
        print(IDLE if gone.wait(20) else "its connection stays")


if __name__ == "__main__":
    main()
