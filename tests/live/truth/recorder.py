"""Every frame at a host's interface, both ways, into a file: length (4 bytes) and bytes of each.

    python -m tests.live.truth.recorder INTERFACE FILE

Runs in the host until SIGTERM, and then prints how many frames the kernel could not keep for it.
"""

from __future__ import annotations

import select
import signal
import socket
import struct
import sys
from pathlib import Path

ETH_P_ALL = 3
SOL_PACKET, PACKET_STATISTICS = 263, 6
SO_RCVBUFFORCE = 33
FRAME_BYTES_MAX = 1 << 17
WAIT_S = 0.1


def main(interface: str, file: Path) -> None:
    """Records until SIGTERM, and then the frames that have arrived by then."""
    ending = []
    signal.signal(signal.SIGTERM, lambda *_: ending.append(True))
    with (
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)) as listener,
        file.open("wb") as out,
    ):
        listener.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        listener.bind((interface, ETH_P_ALL))
        print("recording", flush=True)
        while True:
            last = bool(ending)
            if select.select([listener], [], [], WAIT_S)[0]:
                frame = listener.recv(FRAME_BYTES_MAX)
                out.write(struct.pack("!I", len(frame)) + frame)
            elif last:
                break
        _, dropped = struct.unpack("II", listener.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        print(f"dropped {dropped}", flush=True)


def read(file: Path) -> list[bytes]:
    """The frames of a file."""
    data, frames, offset = file.read_bytes(), [], 0
    while offset < len(data):
        (length,) = struct.unpack_from("!I", data, offset)
        frames.append(data[offset + 4 : offset + 4 + length])
        offset += 4 + length
    return frames


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
