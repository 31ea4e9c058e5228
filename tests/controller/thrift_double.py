"""A Thrift server with prepared answers, which remembers its calls.

It reads calls by an own small decoder, so that a mistake of the client's encoding shows.
"""

import contextlib
import socket
import struct
import threading


class ThriftDouble:
    """Serves one connection after the other; `answers` are the fields of results, by method."""

    def __init__(self, answers, kind=2, port=0):
        self._answers = answers
        self._kind = kind
        self.calls = []
        self._server = socket.create_server(("127.0.0.1", port))
        self.port = self._server.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        # Closing alone would not wake a thread that waits for a connection.
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join(10)

    def _serve(self):
        # Closing the server ends this.
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                # A client leaves when it has seen enough, which is no mistake of either side.
                with (
                    contextlib.suppress(EOFError, ConnectionError),
                    connection,
                    connection.makefile("rb") as stream,
                ):
                    while True:
                        self._answer(connection, stream)

    def _answer(self, connection, stream):
        version, length = unpack(stream, "!Ii")
        assert version == 0x80010001, "a call in the strict protocol"
        name = stream.read(length).decode()
        (sequence,) = unpack(stream, "!i")
        self.calls.append((name, *arguments(stream)))
        method = name.partition(":")[2]
        head = struct.pack("!Ii", 0x80010000 | self._kind, len(method)) + method.encode()
        connection.sendall(head + struct.pack("!i", sequence) + self._answers[method] + b"\0")


def unpack(stream, form):
    data = stream.read(struct.calcsize(form))
    if not data:
        raise EOFError
    return struct.unpack(form, data)


def arguments(stream):
    """The values of a call's fields, which must be numbered from 1."""
    found = []
    while (kind := unpack(stream, "!b")[0]) != 0:
        (number,) = unpack(stream, "!h")
        assert number == len(found) + 1
        if kind == 11:
            found.append(stream.read(unpack(stream, "!i")[0]).decode())
        else:
            found.append(unpack(stream, {8: "!i", 10: "!q"}[kind])[0])
    return found


def result(kind, data):
    """A method's result: field 0."""
    return struct.pack("!bh", kind, 0) + data


def number(value):
    return result(8, struct.pack("!i", value))
