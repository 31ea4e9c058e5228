"""Topology files: what is read, and where a mistake is said to be."""

from pathlib import Path

import pytest
import yaml

from controller.values import Mac
from topo.errors import ModelError
from topo.load import load

LAB = Path(__file__).parents[2] / "labs" / "bottleneck" / "topology.yaml"


@pytest.fixture
def document():
    return yaml.safe_load(LAB.read_text())


@pytest.fixture
def load_document(tmp_path):
    def write_and_load(document):
        path = tmp_path / "net.yaml"
        path.write_text(yaml.safe_dump(document))
        return load(path)

    return write_and_load


def test_the_first_lab_is_read_as_it_is_written():
    topology = load(LAB)
    assert [host.name for host in topology.hosts] == ["h1", "h2"]
    switch, port = topology.attachment("h2")
    assert (switch.name, port.number) == ("s1", 2)
    assert (port.rate_bps, port.queue_packets) == (10_000_000, 50)
    assert port.mac == Mac.parse("00:aa:00:00:00:02")
    assert topology.switch("s1").port(1).queue_packets is None


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (("hosts", "h1", "address"), "10.0.1/24", "hosts.h1.address: "),
        (("hosts", "h1", "gateway"), "10.0.9.1", "gateway 10.0.9.1 is outside its network"),
        (("hosts", "h1", "gateway"), "10.0.1.1", "cannot be the host's own address"),
        (("hosts", "h1", "mac"), "1:2", "hosts.h1.mac: '1:2' is no Ethernet address"),
        (
            ("hosts", "h1", "adress"),
            "x",
            "hosts.h1 has an unknown key 'adress'; there are: address",
        ),
        (("hosts", "h-1"), {}, "hosts.h-1 lacks 'address'"),
        (("switches", "s1", "grpc_port"), "9559", "grpc_port must be a whole number"),
        (("switches", "s1", "ports", 2, "rate"), 10, "ports.2.rate: '?10'? is not a rate"),
        (("switches", "s1", "ports", 2, "queue"), "50", "write a number and a unit"),
        (("links",), {}, "links must be a list"),
        (("links", 0), ["h1"], r"links\[0\] must have two ends, and has 1"),
        (("links", 0, 1), "s1", "say which port of the switch"),
        (("links", 0, 1), "s1:x", r"links\[0\]\[1\]: 's1:x' is no end of a link"),
        (("links", 0, 1), "s1:3", "s1 has no port 3"),
        (("links", 0, 1), "s2:1", "there is no switch 's2'"),
        (("links", 0, 1), "s1:2", "link end s1 port 2 is used 2 times"),
        (("links", 0, 0), "h1:1", "a host has one interface"),
        (("links", 0), ["s1:1", "s1:1"], "link end s1 port 1 is used 2 times"),
    ],
)
def test_a_mistake_is_refused_and_its_place_is_named(
    load_document, document, path, value, complaint
):
    *way, last = path
    place = document
    for step in way:
        place = place[step]
    place[last] = value
    with pytest.raises(ModelError, match=complaint):
        load_document(document)


def test_a_host_without_a_link_is_refused(load_document, document):
    del document["links"][1]
    with pytest.raises(ModelError, match="host h2 is on no link"):
        load_document(document)


def test_a_port_without_a_link_is_refused(load_document, document):
    document["switches"]["s1"]["ports"][3] = {"mac": "00:aa:00:00:00:03"}
    with pytest.raises(ModelError, match="port 3 of s1 is on no link"):
        load_document(document)


def test_two_hosts_with_one_address_are_refused(load_document, document):
    document["hosts"]["h2"] = {**document["hosts"]["h1"], "mac": "00:00:0a:00:02:01"}
    with pytest.raises(ModelError, match=r"address 10\.0\.1\.1 is used 2 times"):
        load_document(document)


def test_a_name_that_linux_could_not_take_is_refused(load_document, document):
    document["hosts"]["averylonghost"] = document["hosts"].pop("h2")
    with pytest.raises(ModelError, match="'averylonghost' is no name for a node"):
        load_document(document)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ModelError, match="none.yaml cannot be read: No such file"):
        load(tmp_path / "none.yaml")


def test_a_file_that_is_no_yaml_is_named(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("hosts: [")
    with pytest.raises(ModelError, match="bad.yaml is not YAML"):
        load(path)
