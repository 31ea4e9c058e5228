"""Access to the glass, and calls through its socket."""

import json
import socket
import struct
import threading
from http.client import HTTPConnection

import pytest
from google.protobuf import descriptor_pb2
from google.rpc import status_pb2
from vitrine.v1 import router_pb2
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from controller.toolchain import ROOT
from labs.glass import __main__ as main
from labs.glass import addresses, relay, server, sources
from tests.glass.browser import DEADLINE_S
from tests.glass.router_double import Flood
from tests.glass.serving import glass_of_double
from topo import wait

HEAD = struct.Struct(">BI")
DESCRIBE = "/vitrine.v1.Router/Describe"
CONFIGURE = "/vitrine.v1.Router/Configure"


def get(glass, path, host=None):
    """Status, headers and body of a file."""
    connection = HTTPConnection("127.0.0.1", glass.port, timeout=DEADLINE_S)
    connection.request("GET", path, headers={"Host": host or f"127.0.0.1:{glass.port}"})
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()


def token_of(url):
    return url.partition("#")[2]


def opened(glass, *, token=None, origin=None, host=None, at="127.0.0.1", **more):
    """A socket as a page opens it."""
    given = token_of(glass.url) if token is None else token
    address = f"ws://{at}:{glass.port}/socket?token={given}"
    own = f"{at}:{glass.port}"
    headers = {"Host": host} if host else {}
    return connect(address, origin=origin or f"http://{own}", additional_headers=headers, **more)


def frame(kind, number, rest=b""):
    return HEAD.pack(kind, number) + rest


def named(text):
    return bytes([len(text)]) + text.encode()


def asked(socket, method, request, router="s2"):
    """The result of a call: the messages, and the last frame's kind and rest."""
    socket.send(frame(server.CALL, 1, named(router) + named(method)))
    socket.send(frame(server.SEND, 1, request.SerializeToString()))
    socket.send(frame(server.DONE, 1))
    messages = []
    while True:
        answer = socket.recv(timeout=DEADLINE_S)
        kind, number = HEAD.unpack_from(answer)
        assert number == 1
        if kind != server.MESSAGE:
            return messages, kind, answer[HEAD.size :]
        messages.append(answer[HEAD.size :])


@pytest.fixture
def running():
    with glass_of_double() as (glass, double):
        yield glass, double


def test_a_page_is_told_what_there_is_to_see(running):
    glass, _ = running
    with opened(glass) as socket:
        first = socket.recv(timeout=DEADLINE_S)
    assert HEAD.unpack_from(first) == (server.SCENE, 0)
    scene = json.loads(first[HEAD.size :])
    assert scene["world"] == "live"
    assert [each["name"] for each in scene["routers"]] == ["s2"]
    assert scene["about"] == {"router": "s2", "port": 2}
    assert not scene["readOnly"]


def test_messages_go_through_as_they_are(running):
    glass, double = running
    with opened(glass) as socket:
        socket.recv(timeout=DEADLINE_S)
        messages, kind, _ = asked(socket, DESCRIBE, router_pb2.DescribeRequest())
    (message,) = messages
    answer = router_pb2.DescribeResponse.FromString(message)
    assert kind == server.END
    assert answer.input == double.config_in_force.input


def test_a_refusal_comes_with_its_problems(running):
    glass, double = running
    double.refusal = router_pb2.Problem(place="port 2", found="0 b/s", advice="give more")
    with opened(glass) as socket:
        socket.recv(timeout=DEADLINE_S)
        messages, kind, rest = asked(socket, CONFIGURE, router_pb2.ConfigureRequest())
    assert (messages, kind) == ([], server.REFUSED)
    problem = router_pb2.Problem()
    assert status_pb2.Status.FromString(rest).details[0].Unpack(problem)
    assert problem == double.refusal


@pytest.mark.parametrize(
    ("router", "method", "said"),
    [("s2", "/vitrine.v1.Router/Dance", "no method"), ("s9", DESCRIBE, "no router 's9'")],
)
def test_what_there_is_not_is_refused(running, router, method, said):
    glass, _ = running
    with opened(glass) as socket:
        socket.recv(timeout=DEADLINE_S)
        _, kind, rest = asked(socket, method, router_pb2.DescribeRequest(), router)
    assert kind == server.REFUSED
    assert said in status_pb2.Status.FromString(rest).message


TRACE = "/vitrine.v1.Router/Trace"


def test_a_class_looks_and_changes_nothing():
    with (
        glass_of_double(host="0.0.0.0") as (glass, double),
        opened(glass, token=glass._looking_token) as socket,
    ):
        assert json.loads(socket.recv(timeout=DEADLINE_S)[HEAD.size :])["readOnly"]
        # The router traces for one client at a time: a class must not keep it from the teacher.
        for method in (CONFIGURE, TRACE):
            _, kind, rest = asked(socket, method, router_pb2.ConfigureRequest())
            assert kind == server.REFUSED
            assert "may only look" in status_pb2.Status.FromString(rest).message
        assert double.configured == []
        # Reading calls pass.
        assert asked(socket, DESCRIBE, router_pb2.DescribeRequest())[1] == server.END


def test_the_page_that_steers_stays_on_the_machine():
    with glass_of_double(host="0.0.0.0") as (glass, double):
        assert glass.url.startswith(f"http://127.0.0.1:{glass.port}/#")
        with opened(glass) as socket:
            assert not json.loads(socket.recv(timeout=DEADLINE_S)[HEAD.size :])["readOnly"]
            assert asked(socket, CONFIGURE, router_pb2.ConfigureRequest())[1] == server.END
        assert len(double.configured) == 1
        # The same token from another address, which is how another machine would come.
        for at in addresses.reachable("0.0.0.0"):
            with pytest.raises(InvalidStatus) as refused, opened(glass, at=at):
                pass
            assert refused.value.response.status_code == 401
            with opened(glass, at=at, token=glass._looking_token) as socket:
                assert json.loads(socket.recv(timeout=DEADLINE_S)[HEAD.size :])["readOnly"]


def test_a_class_is_given_addresses_that_lead_here(monkeypatch):
    monkeypatch.setattr(addresses, "_ipv4", lambda: ["127.0.0.1", "169.254.3.4", "10.1.2.3"])
    with glass_of_double(host="0.0.0.0") as (glass, _):
        (url,) = glass.looking_urls
        assert url.startswith(f"http://10.1.2.3:{glass.port}/#")
        # The machine's own names are as good as its numbers; other names are not ours.
        assert get(glass, "/", host=f"localhost:{glass.port}")[0] == 200
        assert get(glass, "/", host=f"10.1.2.3:{glass.port}")[0] == 200
        assert get(glass, "/", host=f"evil.example:{glass.port}")[0] == 421
        assert get(glass, "/", host=f"1.2.3:{glass.port}")[0] == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_what_only_this_machine_reaches_is_not_open(host):
    with glass_of_double(host=host) as (glass, _):
        assert glass.looking_urls == []
        at = f"[{host}]" if ":" in host else host
        assert glass.url.startswith(f"http://{at}:{glass.port}/#")
        with opened(glass, at=at) as socket:
            assert not json.loads(socket.recv(timeout=DEADLINE_S)[HEAD.size :])["readOnly"]


def test_an_open_page_is_said_loudly(capsys):
    with glass_of_double() as (glass, _):
        main._say(glass)
        assert capsys.readouterr().out == f"The glass: {glass.url}\n"
    with glass_of_double(host="0.0.0.0") as (glass, _):
        main._say(glass)
        own, *framed = capsys.readouterr().out.splitlines()
        assert own == f"The glass: {glass.url}"
        urls = glass.looking_urls
    assert "OPEN TO THE NETWORK" in framed[1]
    assert framed[5:] == [f"For the class: {url}" for url in urls]
    # An empty line would end what a run hands on of it.
    assert all(line.strip() for line in framed)


def test_every_method_that_changes_something_is_known_as_such():
    # A new method counts as changing something until it is reviewed and listed as reading.
    reading = {name.rpartition("/")[2] for name in relay.METHODS if name in relay.READING}
    assert reading == {
        *("Describe", "Watch", "Read", "GetForwardingPipelineConfig", "Capabilities"),
        *("Look", "WatchHosts"),
    }


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"token": "wrong"}, 401),
        ({"token": ""}, 401),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://localhost:1"}, 403),
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1:1"}, 421),
    ],
)
def test_a_socket_is_for_the_page_with_its_token_alone(running, given, status):
    glass, _ = running
    with pytest.raises(InvalidStatus) as refused, opened(glass, **given):
        pass
    assert refused.value.response.status_code == status


def test_files_are_those_of_the_page_and_no_others(running):
    glass, _ = running
    status, headers, body = get(glass, "/")
    assert status == 200
    assert b"js/main.js" in body
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert get(glass, "/js/main.js")[1]["Content-Type"] == "text/javascript"
    for path in ("/../README.md", "/%2e%2e/README.md", "/js", "/nothing", "//etc/passwd"):
        assert get(glass, path)[0] == 404, path
    assert get(glass, "/", host="evil.example")[0] == 421


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"GET /a\0b HTTP/1.1", 400),
        (b"GET /\xff HTTP/1.1", 400),
        (b"GET //[ HTTP/1.1", 400),
        (b"GET /" + b"a" * 5000 + b" HTTP/1.1", 404),
        (b"GET /source?file=x HTTP/1.1\r\nAuthorization: Bearer \xff", 401),
        (b"POST / HTTP/1.1", None),
        (b"\0\xff", None),
    ],
    ids=["zero byte", "high byte", "no host", "long", "token", "method", "noise"],
)
def test_what_is_no_request_fills_no_terminal(running, line, status, caplog):
    glass, _ = running
    with socket.create_connection(("127.0.0.1", glass.port), timeout=DEADLINE_S) as client:
        client.sendall(line + f"\r\nHost: 127.0.0.1:{glass.port}\r\n\r\n".encode())
        answer = client.makefile("rb").read()
    assert (answer.split()[1] if answer else None) == (str(status).encode() if status else None)
    # By then the server has done with the first client, and logged what it logs.
    assert get(glass, "/schema")[0] == 200
    assert not caplog.records


def test_the_page_carries_no_address_of_elsewhere():
    pages = [file for file in server.PAGE.rglob("*") if file.suffix in (".js", ".css", ".html")]
    assert pages
    for file in pages:
        if "vendor" not in file.parts:
            text = file.read_text().replace("http://www.w3.org/2000/svg", "")
            assert "https://" not in text, file
            assert "http://" not in text, file


def test_the_schema_has_every_message_that_the_page_speaks(running):
    glass, _ = running
    found = descriptor_pb2.FileDescriptorSet.FromString(get(glass, "/schema")[2])
    names = {f"{file.package}.{each.name}" for file in found.file for each in file.message_type}
    assert {"vitrine.v1.WatchResponse", "p4.v1.WriteRequest", "google.rpc.Status"} <= names


def stands(double):
    """Whether its streams have waited for a second, after they had begun."""
    before = double.taken
    threading.Event().wait(1.0)
    return 0 < before == double.taken


def test_a_slow_page_holds_up_its_own_stream_and_keeps_no_other_page_waiting():
    """The backlog of a page that reads nothing is bounded: its router's stream blocks."""
    watch = router_pb2.WatchRequest(interval_ms=1, packets=True)
    with glass_of_double(double=Flood()) as (glass, double), socket.socket() as narrow:
        narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        narrow.connect(("127.0.0.1", glass.port))
        with opened(glass, sock=narrow, max_queue=1) as slow, opened(glass) as other:
            slow.send(frame(server.CALL, 1, named("s2") + named("/vitrine.v1.Router/Watch")))
            slow.send(frame(server.SEND, 1, watch.SerializeToString()))
            other.recv(timeout=DEADLINE_S)
            wait.until(lambda: stands(double), "a stream that waits for its reader", 120)
            for _ in range(5):
                assert asked(other, DESCRIBE, router_pb2.DescribeRequest())[1] == server.END


def test_sources_of_the_kit_are_read_with_the_token_and_nothing_else_is(running):
    glass, _ = running

    def source(file, token=None):
        connection = HTTPConnection("127.0.0.1", glass.port, timeout=DEADLINE_S)
        given = token_of(glass.url) if token is None else token
        headers = {"Host": f"127.0.0.1:{glass.port}", "Authorization": f"Bearer {given}"}
        connection.request("GET", f"/source?file={file}", headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read()

    # As compiled programs name their files.
    status, body = source(ROOT / "p4src/programs/../control/routing.p4")
    assert (status, body) == (200, (ROOT / "p4src/control/routing.p4").read_bytes())
    assert source(ROOT / "p4src/control/routing.p4", token="guessed")[0] == 401
    for lab, status in (("hol-blocking", 200), ("../docs", 404), ("", 404)):
        connection = HTTPConnection("127.0.0.1", glass.port, timeout=DEADLINE_S)
        headers = {
            "Host": f"127.0.0.1:{glass.port}",
            "Authorization": f"Bearer {token_of(glass.url)}",
        }
        connection.request("GET", f"/handout?lab={lab}", headers=headers)
        assert connection.getresponse().status == status
    for other in ("/etc/passwd", ROOT / "Makefile", ROOT / "p4src/../../x.p4", "", "%00.p4"):
        assert source(other)[0] == 404, other


def test_sources_beside_a_program_from_elsewhere_are_shown_and_no_others(tmp_path):
    own, stranger = tmp_path / "own", tmp_path / "stranger"
    for folder in (own / "lib", stranger):
        folder.mkdir(parents=True)
    for file in (own / "my.p4", own / "lib" / "more.p4", stranger / "their.p4", own / "notes.txt"):
        file.write_text(file.name)
    (own / "link.p4").symlink_to(stranger / "their.p4")
    folders = [str(own)]
    assert sources.text_of(str(own / "lib" / ".." / "my.p4"), folders) == b"my.p4"
    assert sources.text_of(str(own / "lib" / "more.p4"), folders) == b"more.p4"
    for other in (stranger / "their.p4", own / "notes.txt", own / "link.p4", own / "none.p4"):
        assert sources.text_of(str(other), folders) is None, other
    assert sources.text_of(str(own / "my.p4")) is None
    config = json.dumps({"actions": [{"source_info": {"filename": str(own / "my.p4")}}]})
    assert sources.of_program(config.encode(), folders) == {str(own / "my.p4"): "my.p4"}
