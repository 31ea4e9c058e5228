"""Hands the page to browsers, and opens a socket to each of them.

Who may come: the address that is printed carries a token, and without it a socket is refused. The
page itself is no secret. A browser's request must name this server as its host, so that no other
site's name leads here, and a socket must come from this server's own page.

On an address that others reach there are two tokens: the one for them opens pages that look and
change nothing, the other is taken from this machine alone and opens one that steers.

What goes through a socket are frames of bytes. The first byte says what a frame is, the next four
which call it belongs to, by a number that the page chooses:

    from the page   CALL     length and name of the router, length and name of the method
                    SEND     a message for the router
                    DONE     no more messages; the call goes on until the router has answered
                    CANCEL   the call is of no interest any more
    to the page     SCENE    what there is to see, as JSON; of no call: first, and whenever it
                             is another network
                    MESSAGE  a message of the router
                    END      the router has said all
                    REFUSED  the call has ended with this google.rpc.Status
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import json
import logging
import mimetypes
import secrets
import struct
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.http11 import Request, Response

from labs.glass import addresses, arrivals, handouts, looking, relay, sources
from labs.glass.refusals import RefusedError
from labs.glass.relay import Relay, Requests
from labs.glass.scene import Scene
from topo import wait

PAGE = (Path(__file__).resolve().parents[2] / "glass").resolve()

CALL, SEND, DONE, CANCEL = range(1, 5)
SCENE, MESSAGE, END, REFUSED = range(1, 5)
# The addressee of calls of vitrine.v1.World; no router has such a name.
WORLD = "@world"
_HEAD = struct.Struct(">BI")
# Nothing that a page sends is longer: a program's source at most.
_FRAME_BYTES_MAX = 16 << 20
# Bytes buffered per page for slow routers: one message of the greatest length.
_WAITING_BYTES_MAX = _FRAME_BYTES_MAX
# Frames buffered per page; TCP slows the page down beyond that.
_FRAMES_MAX = 1
# Calls per page. A slow page delays its own calls only, and routers count the samples it misses.
_CALLS_MAX = 64
# A page that is behind by more is not slow but gone. A ping waits behind the messages that the page
# has not read yet, so a busy machine answers late.
_GONE_S = 120
# A page that does not answer when its socket is closed is cut off after this.
_CLOSE_S = 2
# The time between two checks whether another network is up.
_LOOK_S = 0.5

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
# Types that mimetypes of an old distribution does not know.
_TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".svg": "image/svg+xml",
}


class Glass:
    """One page's server.

    async with Glass(lambda: scene) as glass:
        print(glass.url)
    """

    def __init__(
        self,
        scene: Callable[[], Scene],
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        arrival_timeout_s: float = arrivals.TIMEOUT_S,
    ) -> None:
        """`scene` returns the present scene; pages are notified when it changes.

        On another address than the machine's own, anybody who is given the address may look. A
        connection that has not sent its request after `arrival_timeout_s` is closed.
        """
        self._arrival_timeout_s = arrival_timeout_s
        self._arrivals = arrivals.Arrivals(arrivals.ARRIVALS_MAX, arrivals.ARRIVALS_OF_CLIENT_MAX)
        self._scene, self._host, self._port = scene, host, port
        self._is_open = not addresses.is_own(host)
        self._token = secrets.token_urlsafe(18)
        self._looking_token = secrets.token_urlsafe(18) if self._is_open else ""
        self._schema = relay.schema()
        self._places = looking.Places(looking.WATCHES_MAX)
        self._reads = looking.Reads()
        self._looking: Counter[str] = Counter()
        self._server: Server | None = None

    @property
    def port(self) -> int:
        """The port that it listens on."""
        assert self._server is not None
        return next(iter(self._server.sockets)).getsockname()[1]

    @property
    def url(self) -> str | None:
        """The address of a page that steers, on this machine; None if only others can connect.

        The token is behind the #, which browsers do not send.
        """
        host = addresses.own_of(self._host) if self._is_open else self._host
        return self._url(host, self._token) if host else None

    @property
    def looking_urls(self) -> list[str]:
        """The addresses of pages that only look, one for each address of this machine."""
        if not self._is_open:
            return []
        hosts = addresses.reachable(self._host)
        return [self._url(each, self._looking_token) for each in hosts]

    def _url(self, host: str, token: str) -> str:
        return f"http://{addresses.in_url(host)}:{self.port}/#{token}"

    async def __aenter__(self) -> Glass:
        arrivals.make_room_when_exhausted(self._arrivals, asyncio.get_running_loop())
        self._server = await serve(
            self._talk,
            self._host,
            self._port,
            process_request=self._answer,
            max_size=_FRAME_BYTES_MAX,
            max_queue=_FRAMES_MAX,
            compression=None,
            open_timeout=self._arrival_timeout_s,
            create_connection=arrivals.counting(self._arrivals),
            logger=_log(),
            ping_timeout=_GONE_S,
            close_timeout=_CLOSE_S,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    # ---- HTTP ------------------------------------------------------------------------------------

    def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """A file, a refusal, or None: let the socket be opened."""
        if not (request.path.isascii() and request.path.isprintable()):
            return _plain(HTTPStatus.BAD_REQUEST, "An address consists of printable characters.")
        hosts = request.headers.get_all("Host")
        if len(hosts) != 1 or not self._is_own(hosts[0]):
            return _plain(HTTPStatus.MISDIRECTED_REQUEST, "This server has another name.")
        try:
            way = urlsplit(request.path)
        except ValueError:
            return _plain(HTTPStatus.BAD_REQUEST, "This is no address.")
        if way.path == "/source":
            file = parse_qs(way.query).get("file", [""])[0]
            folders = self._scene().folders
            return self._text(connection, request, lambda: sources.text_of(file, folders))
        if way.path == "/handout":
            lab = parse_qs(way.query).get("lab", [""])[0]
            return self._text(connection, request, lambda: handouts.text_of(lab))
        if way.path != "/socket":
            return self._file(way.path)
        # A page of another site can open a socket here, but cannot hide where it comes from.
        origins = request.headers.get_all("Origin")
        if len(origins) != 1 or origins[0] != f"http://{hosts[0]}":
            return _plain(HTTPStatus.FORBIDDEN, "Only the glass's own page may open a socket.")
        token = parse_qs(way.query).get("token", [""])[0]
        if self._may_steer(connection, token):
            return None
        if not self._may_look(token):
            return _plain(HTTPStatus.UNAUTHORIZED, "The address lacks its token.")
        if refusal := self._crowded(_client(connection)):
            return _plain(HTTPStatus.SERVICE_UNAVAILABLE, refusal)
        connection.protocol.max_message_size = looking.FRAME_BYTES_MAX
        return None

    def _crowded(self, client: str) -> str | None:
        """Why there is no place for one more page that only looks, if there is none."""
        if self._looking.total() >= looking.PAGES_MAX:
            return f"{looking.PAGES_MAX} pages look already, the most there may be."
        if self._looking[client] >= looking.PAGES_OF_CLIENT_MAX:
            return (
                f"{looking.PAGES_OF_CLIENT_MAX} pages of {client} look already, the most there "
                "may be of one address. Close one of them."
            )
        return None

    def _may_look(self, token: str) -> bool:
        return self._is_open and _is_same(token, self._looking_token)

    def _may_steer(self, connection: ServerConnection, token: str) -> bool:
        peer = connection.remote_address[0]
        return _is_same(token, self._token) and addresses.is_own(peer)

    def _text(
        self, connection: ServerConnection, request: Request, read: Callable[[], bytes | None]
    ) -> Response:
        """A P4 source of the kit, or the handout of a lab."""
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if not (self._may_look(token) or self._may_steer(connection, token)):
            return _plain(HTTPStatus.UNAUTHORIZED, "The request lacks the token.")
        text = read()
        if text is None:
            return _plain(HTTPStatus.NOT_FOUND, "There is no such text.")
        return _response(HTTPStatus.OK, "text/plain; charset=utf-8", text)

    def _is_own(self, host: str) -> bool:
        name, _, port = host.rpartition(":")
        if port != str(self.port):
            return False
        if addresses.is_own(name := name.removeprefix("[").removesuffix("]")):
            return True
        # A number cannot be a foreign DNS name; any other name could lead here from anywhere.
        return self._is_open and (name == self._host or _is_number(name))

    def _file(self, path: str) -> Response:
        if path == "/schema":
            return _response(HTTPStatus.OK, "application/octet-stream", self._schema)
        wanted = (PAGE / (path.lstrip("/") or "index.html")).resolve()
        if not wanted.is_relative_to(PAGE) or not _is_file(wanted):
            return _plain(HTTPStatus.NOT_FOUND, "There is no such file.")
        kind = _TYPES.get(wanted.suffix) or mimetypes.guess_type(wanted.name)[0]
        return _response(HTTPStatus.OK, kind or "application/octet-stream", wanted.read_bytes())

    # ---- the socket ------------------------------------------------------------------------------

    async def _talk(self, socket: ServerConnection) -> None:
        """One page, until it goes away."""
        assert socket.request is not None, "it was answered"
        token = parse_qs(urlsplit(socket.request.path).query).get("token", [""])[0]
        read_only = not self._may_steer(socket, token)
        way = Relay(read_only=read_only, places=self._places, reads=self._reads)
        calls, client = _Calls(socket, way), _client(socket)
        self._looking[client] += int(read_only)
        if isinstance(socket, arrivals.Connection):
            socket.has_arrived()
        showing = asyncio.create_task(self._show(socket, way))
        try:
            async for frame in socket:
                if isinstance(frame, bytes) and len(frame) >= _HEAD.size:
                    calls.take(frame)
        except ConnectionClosed:
            pass
        except _TooMuchError as error:
            await socket.close(CloseCode.POLICY_VIOLATION, str(error))
        finally:
            self._looking -= Counter({client: int(read_only)})
            showing.cancel()
            await asyncio.gather(showing, return_exceptions=True)
            await calls.end()
            await way.close()

    async def _show(self, socket: ServerConnection, way: Relay) -> None:
        """Tells a page what there is to see, and again when that changes."""
        with contextlib.suppress(ConnectionClosed):
            async for scene in wait.changes(self._scene, _LOOK_S):
                addresses = {each.name: each.address for each in scene.routers}
                world = scene.world_address or scene.hosts_address
                way.leads_to({**addresses, WORLD: world}, {WORLD: scene.hosts_key})
                words = json.dumps(scene.told(read_only=way.is_read_only)).encode()
                await socket.send(_HEAD.pack(SCENE, 0) + words)


class _TooMuchError(Exception):
    """A page wants more at once than any page needs; the text says what."""


class _Calls:
    """The calls of one page that are under way."""

    def __init__(self, socket: ServerConnection, way: Relay) -> None:
        self._socket, self._way = socket, way
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._requests: dict[int, Requests] = {}

    def take(self, frame: bytes) -> None:
        """A frame of the page; _TooMuchError ends the page."""
        kind, number = _HEAD.unpack_from(frame)
        rest = frame[_HEAD.size :]
        if kind == CALL and number not in self._tasks:
            if len(self._tasks) >= _CALLS_MAX:
                raise _TooMuchError(f"more than {_CALLS_MAX} calls at once")
            router, rest = _text(rest)
            method, _ = _text(rest)
            requests = self._requests[number] = Requests(method)
            self._tasks[number] = asyncio.create_task(self._run(number, router, method, requests))
        elif kind == SEND and number in self._requests:
            self._requests[number].put(rest)
            if sum(each.waiting_bytes for each in self._requests.values()) > _WAITING_BYTES_MAX:
                raise _TooMuchError(f"more than {_WAITING_BYTES_MAX >> 20} MiB wait for routers")
        elif kind == DONE and number in self._requests:
            self._requests[number].end()
        elif kind == CANCEL and number in self._tasks:
            self._tasks[number].cancel()

    async def end(self) -> None:
        """Cancels the calls of a page that has gone."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, number: int, router: str, method: str, requests: Requests) -> None:
        try:
            with contextlib.suppress(ConnectionClosed):
                try:
                    answers = self._way.call(router, method, requests)
                    # The call's resources are free when it ends, not when it is collected.
                    async with contextlib.aclosing(answers):
                        async for message in answers:
                            await self._send(MESSAGE, number, message)
                    await self._send(END, number, b"")
                except RefusedError as refused:
                    await self._send(REFUSED, number, refused.status)
        finally:
            del self._tasks[number], self._requests[number]

    async def _send(self, kind: int, number: int, rest: bytes) -> None:
        await self._socket.send(_HEAD.pack(kind, number) + rest)


def _log() -> logging.Logger:
    """Errors of the server.

    A broken request is none of them: anybody could fill the terminal with those.
    """
    log = logging.getLogger("vitrine.glass")
    log.addFilter(_is_our_error)
    return log


def _is_our_error(record: logging.LogRecord) -> bool:
    return record.msg != "opening handshake failed"


def _client(connection: ServerConnection) -> str:
    return arrivals.client_of(connection.remote_address[0])


def _is_same(token: str, wanted: str) -> bool:
    # A header may have any bytes.
    return hmac.compare_digest(token.encode(errors="replace"), wanted.encode())


def _is_file(path: Path) -> bool:
    # The name may be too long for any file.
    with contextlib.suppress(OSError):
        return path.is_file()
    return False


def _is_number(name: str) -> bool:
    with contextlib.suppress(ValueError):
        ipaddress.ip_address(name)
        return True
    return False


def _text(data: bytes) -> tuple[str, bytes]:
    """A length, and as many bytes of text; then the rest."""
    length = data[0] if data else 0
    return data[1 : 1 + length].decode(errors="replace"), data[1 + length :]


def _plain(status: HTTPStatus, sentence: str) -> Response:
    return _response(status, "text/plain; charset=utf-8", f"{sentence}\n".encode())


def _response(status: HTTPStatus, kind: str, body: bytes) -> Response:
    headers = Headers(
        {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(body)), "Connection": "close"}
    )
    return Response(status.value, status.phrase, headers, body)
