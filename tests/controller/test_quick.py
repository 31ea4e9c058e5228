"""Messages that are read quickly have what the protobuf runtime reads in them."""

import random
import sys

import pytest
from google.protobuf.descriptor import FieldDescriptor
from vitrine.v1 import router_pb2, world_pb2

from controller import quick

KINDS = [
    router_pb2.WatchResponse,
    router_pb2.DescribeResponse,
    world_pb2.WatchHostsResponse,
    world_pb2.LookResponse,
]
TEXTS = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)


@pytest.fixture(autouse=True)
def slow_runtime(monkeypatch):
    """As on a machine whose runtime is not compiled."""
    monkeypatch.setattr(quick.api_implementation, "Type", lambda: "python")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.DESCRIPTOR.name)
def test_a_message_is_read_as_the_runtime_reads_it(kind):
    parse = quick.parser(kind)
    for seed in range(40):
        message = kind()
        fill(message, random.Random(seed), depth=0)
        assert_same(message, parse(message.SerializeToString()))


def test_long_columns_are_read_without_numpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    message = world_pb2.DatagramSourceReport(volleys_ps=[each * 10**9 for each in range(300)])
    read = quick.parser(type(message))(message.SerializeToString())
    assert read.volleys_ps == list(message.volleys_ps)


def fill(message, chance, depth):
    for field in message.DESCRIPTOR.fields:
        if chance.random() < 0.4 or depth > 5:
            continue
        # Columns of numbers are long, and are read in another way then.
        long = 300 if field.message_type is None and field.type not in TEXTS else 3
        for _ in range(chance.choice([1, 2, long]) if repeated(field) else 1):
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                inner = getattr(message, field.name)
                inner = inner.add() if repeated(field) else inner
                inner.SetInParent()
                fill(inner, chance, depth + 1)
            elif repeated(field):
                getattr(message, field.name).append(value(field, chance))
            else:
                setattr(message, field.name, value(field, chance))


def value(field, chance):
    if field.type == FieldDescriptor.TYPE_STRING:
        return chance.choice(["", "h1", "\N{SNOWMAN}" * 100])
    if field.type == FieldDescriptor.TYPE_BYTES:
        return chance.randbytes(chance.randrange(300))
    if field.type == FieldDescriptor.TYPE_BOOL:
        return chance.random() < 0.5
    if field.type == FieldDescriptor.TYPE_ENUM:
        return chance.choice(field.enum_type.values).number
    bits = 63 if field.cpp_type in (field.CPPTYPE_UINT64, field.CPPTYPE_INT64) else 31
    number = chance.getrandbits(chance.randrange(1, bits + 1))
    is_signed = field.cpp_type in (field.CPPTYPE_INT64, field.CPPTYPE_INT32)
    return -number if is_signed and chance.random() < 0.5 else number


def repeated(field):
    return field.label == FieldDescriptor.LABEL_REPEATED


def assert_same(message, read):
    for oneof in message.DESCRIPTOR.oneofs:
        assert read.WhichOneof(oneof.name) == message.WhichOneof(oneof.name)
    for field in message.DESCRIPTOR.fields:
        wanted, found = getattr(message, field.name), getattr(read, field.name)
        if repeated(field):
            pairs = list(zip(wanted, found, strict=True))
        else:
            if field.message_type is not None or field.containing_oneof is not None:
                assert read.HasField(field.name) == message.HasField(field.name)
            pairs = [(wanted, found)]
        for one, other in pairs:
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                assert_same(one, other)
            else:
                assert one == other, field.full_name


def test_the_fields_of_a_message_are_told_by_number_as_they_stand():
    message = router_pb2.DescribeResponse(time_ps=1 << 40, epoch_offset_ns=-1)
    message.ports.add(port=300, device="veth")
    message.ports.add()
    ports = [each.SerializeToString() for each in message.ports]
    told = [(1, 1 << 40), *((2, port) for port in ports), (6, 1)]
    assert list(quick.fields(message.SerializeToString())) == told
