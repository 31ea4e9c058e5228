"""gRPC over TLS, with certificates made for the test: under our own flags and the drop-in's."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc
from vitrine.v1 import router_pb2

from controller.router_service import RouterStub
from tests.control.batches import METADATA_BYTES, errors_of, primary
from tests.control.conftest import PROGRAM, compile_program, running_switch
from topo import wait

from .switch import PROMPT_S, dropin, free_port, refusal, running

DEADLINE_S = 60.0


@dataclass(frozen=True)
class Pair:
    """A certificate and its key."""

    certificate: Path
    key: Path

    @property
    def bytes(self) -> dict[str, bytes]:
        return {
            "private_key": self.key.read_bytes(),
            "certificate_chain": self.certificate.read_bytes(),
        }


@dataclass(frozen=True)
class Certificates:
    """Two authorities; the first has signed the server's certificate and a client's."""

    authority: Pair
    stranger: Pair
    server: Pair
    client: Pair
    # Signed by the other authority.
    strange_client: Pair
    # A client whose certificate names roles.
    collector: Pair


def _openssl(*words: str | Path) -> None:
    run = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def _authority(folder: Path, name: str) -> Pair:
    pair = Pair(folder / f"{name}.pem", folder / f"{name}.key")
    _openssl(
        *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
        *("-subj", f"/CN={name}", "-days", "1", "-keyout", pair.key, "-out", pair.certificate),
    )
    return pair


def _signed(folder: Path, name: str, authority: Pair, units: str = "") -> Pair:
    pair = Pair(folder / f"{name}.pem", folder / f"{name}.key")
    request, extra = folder / f"{name}.csr", folder / f"{name}.ext"
    extra.write_text("subjectAltName = DNS:localhost, IP:127.0.0.1\nbasicConstraints = CA:FALSE\n")
    _openssl(
        *("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
        *("-subj", f"/CN={name}{units}", "-keyout", pair.key, "-out", request),
    )
    _openssl(
        *("x509", "-req", "-in", request, "-CA", authority.certificate, "-CAkey", authority.key),
        *("-CAcreateserial", "-days", "1", "-extfile", extra, "-out", pair.certificate),
    )
    return pair


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    folder = tmp_path_factory.mktemp("certificates")
    authority, stranger = _authority(folder, "authority"), _authority(folder, "stranger")
    return Certificates(
        authority=authority,
        stranger=stranger,
        server=_signed(folder, "server", authority),
        client=_signed(folder, "client", authority),
        strange_client=_signed(folder, "strange-client", stranger),
        collector=_signed(folder, "collector", authority, "/OU=networks/OU=role:stats"),
    )


def _is_answered(port: int, **credentials: bytes) -> bool:
    """Whether a call over TLS gets an answer."""
    secure = grpc.ssl_channel_credentials(**credentials)
    with grpc.secure_channel(f"localhost:{port}", secure) as channel:
        stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        try:
            request = p4runtime_pb2.CapabilitiesRequest()
            return bool(stub.Capabilities(request, timeout=DEADLINE_S).p4runtime_api_version)
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.UNAVAILABLE, error
            return False


def _is_answered_in_plain_text(port: int) -> bool:
    with grpc.insecure_channel(f"localhost:{port}") as channel:
        stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
        try:
            stub.Capabilities(p4runtime_pb2.CapabilitiesRequest(), timeout=DEADLINE_S)
            return True
        except grpc.RpcError:
            return False


def _flags(port: int, server: Pair) -> list[str]:
    flags = ["--no-p4", "--grpc", f"127.0.0.1:{port}"]
    return [*flags, "--tls-cert", str(server.certificate), "--tls-key", str(server.key)]


def test_a_controller_that_knows_the_authority_is_answered(
    tmp_path: Path, certificates: Certificates
):
    port, log = free_port(), tmp_path / "log"
    with running(*_flags(port, certificates.server), port=port, log=log):
        trusted = certificates.authority.certificate.read_bytes()
        assert _is_answered(port, root_certificates=trusted)
        assert "(TLS)" in log.read_text()
        # One who knows another authority only does not talk to us, and plain text is not spoken.
        strange = certificates.stranger.certificate.read_bytes()
        assert not _is_answered(port, root_certificates=strange)
        assert not _is_answered_in_plain_text(port)


def _check_mutual(port: int, certificates: Certificates) -> None:
    trusted = certificates.authority.certificate.read_bytes()
    assert _is_answered(port, root_certificates=trusted, **certificates.client.bytes)
    assert not _is_answered(port, root_certificates=trusted)
    assert not _is_answered(port, root_certificates=trusted, **certificates.strange_client.bytes)


def test_what_a_client_takes_of_metadata_is_heard_within_tls(
    tmp_path: Path, certificates: Certificates
):
    count = 1000
    compiled = compile_program(PROGRAM, tmp_path)
    trusted = certificates.authority.certificate.read_bytes()
    secure = grpc.ssl_channel_credentials(root_certificates=trusted)
    option = ("grpc.max_metadata_size", METADATA_BYTES + 100 * count)
    server = certificates.server
    flags = ["--tls-cert", str(server.certificate), "--tls-key", str(server.key)]
    with (
        running_switch(tmp_path, *flags) as switch,
        primary(switch.address, compiled, option, credentials=secure) as controller,
        pytest.raises(grpc.RpcError) as failed,
    ):
        # Entries that are not there: one error for each, which 8 KiB would not hold.
        controller.write(controller.batch(p4runtime_pb2.Update.DELETE, range(count)))
    assert len(errors_of(failed.value)) == count


def test_asked_for_certificates_of_clients_it_answers_those_with_one(
    tmp_path: Path, certificates: Certificates
):
    port = free_port()
    flags = [*_flags(port, certificates.server), "--tls-client-ca"]
    flags.append(str(certificates.authority.certificate))
    with running(*flags, port=port, log=tmp_path / "log"):
        _check_mutual(port, certificates)


@contextmanager
def _connected(port: int, authority: Pair, client: Pair) -> Iterator[grpc.Channel]:
    trusted = authority.certificate.read_bytes()
    secure = grpc.ssl_channel_credentials(root_certificates=trusted, **client.bytes)
    with grpc.secure_channel(f"localhost:{port}", secure) as channel:
        yield channel


def _bid(channel: grpc.Channel, role: str) -> p4runtime_pb2.StreamMessageResponse:
    """The switch's answer to a controller that wants to lead a role with election id 7."""
    request = p4runtime_pb2.StreamMessageRequest()
    request.arbitration.election_id.low = 7
    if role:
        request.arbitration.role.name = role
    sent = threading.Event()

    def requests() -> Iterator[p4runtime_pb2.StreamMessageRequest]:
        yield request
        sent.wait(DEADLINE_S)

    stub = p4runtime_pb2_grpc.P4RuntimeStub(channel)
    try:
        return next(stub.StreamChannel(requests(), timeout=DEADLINE_S))
    finally:
        sent.set()


def _refusal(call: Callable[[], object]) -> str:
    with pytest.raises(grpc.RpcError) as refused:
        call()
    assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED, refused.value
    return str(refused.value.details())


def test_a_certificate_that_names_roles_lets_its_bearer_take_no_other(
    tmp_path: Path, certificates: Certificates
):
    port = free_port()
    flags = [*_flags(port, certificates.server), "--tls-client-ca"]
    flags.append(str(certificates.authority.certificate))
    only_stats = "is not for this controller: its certificate lets it take role `stats`"
    with running(*flags, port=port, log=tmp_path / "log"):
        with _connected(port, certificates.authority, certificates.collector) as channel:
            assert _bid(channel, "stats").arbitration.status.code == 0
            assert _refusal(lambda: _bid(channel, "")) == f"the default role {only_stats}"
            assert _refusal(lambda: _bid(channel, "meters")) == f"role `meters` {only_stats}"
            # Nor does it help to know the election id of that role's primary.
            switch = p4runtime_pb2_grpc.P4RuntimeStub(channel)
            router = RouterStub(channel)
            election_id = {"low": 7}
            write = p4runtime_pb2.WriteRequest(election_id=election_id)
            load = p4runtime_pb2.SetForwardingPipelineConfigRequest(election_id=election_id)
            for call in (
                lambda: switch.Write(write, timeout=DEADLINE_S),
                lambda: switch.SetForwardingPipelineConfig(load, timeout=DEADLINE_S),
                lambda: router.configure(router_pb2.ConfigureRequest(), timeout=DEADLINE_S),
                lambda: router.add_port(router_pb2.AddPortRequest(), timeout=DEADLINE_S),
                lambda: router.remove_port(router_pb2.RemovePortRequest(), timeout=DEADLINE_S),
            ):
                assert _refusal(call) == f"the default role {only_stats}"
            # A program says what each role may do, so that to load one is to have them all.
            load.role = "stats"
            refusal = _refusal(lambda: switch.SetForwardingPipelineConfig(load, timeout=DEADLINE_S))
            assert refusal == f"loading a program needs the default role, which {only_stats}"
            # Looking is for every controller.
            router.describe(router_pb2.DescribeRequest(), timeout=DEADLINE_S)
        with _connected(port, certificates.authority, certificates.client) as channel:
            assert _bid(channel, "").arbitration.status.code == 0
            assert _bid(channel, "meters").arbitration.status.code == 0


def _drop_in_files(certificates: Certificates) -> list[str]:
    files = {
        "--grpc-server-cert": certificates.server.certificate,
        "--grpc-server-key": certificates.server.key,
        "--grpc-server-cacert": certificates.authority.certificate,
    }
    return [word for flag, file in files.items() for word in (flag, str(file))]


def test_the_drop_in_flags_do_the_same(tmp_path: Path, certificates: Certificates):
    port = free_port()
    behind = ["--grpc-server-ssl", "--grpc-server-with-client-auth", *_drop_in_files(certificates)]
    log = tmp_path / "log"
    with dropin("--no-p4", port=port, log=log, folder=tmp_path, behind=behind):
        _check_mutual(port, certificates)


def test_without_ssl_the_drop_in_ignores_certificates_and_says_so(
    tmp_path: Path, certificates: Certificates
):
    port, log = free_port(), tmp_path / "log"
    behind = _drop_in_files(certificates)
    with dropin("--no-p4", port=port, log=log, folder=tmp_path, behind=behind):
        assert _is_answered_in_plain_text(port)
        said = "certificates have no effect: --grpc-server-ssl is missing"
        wait.until(lambda: said in log.read_text(), "the log's word on it", PROMPT_S)


def test_files_that_do_not_do_are_named(tmp_path: Path, certificates: Certificates):
    def refused(certificate: Path, key: Path) -> str:
        status, message = refusal(*_flags(0, Pair(certificate, key)))
        assert status == 1
        return message

    server, client = certificates.server, certificates.client
    missing, rubbish = tmp_path / "missing.pem", tmp_path / "rubbish.pem"
    rubbish.write_text("this is no certificate\n")
    assert "missing.pem: No such file" in refused(missing, server.key)
    assert "rubbish.pem" in refused(rubbish, server.key)
    assert "rubbish.pem" in refused(server.certificate, rubbish)
    # Another client's key.
    assert client.key.name in refused(server.certificate, client.key)
    status, message = refusal("--no-p4", "--tls-cert", str(server.certificate))
    assert status == 2 and "--tls-key" in message
