"""The page reads and writes the same bytes as Python's protobuf."""

import random

import pytest
from google.protobuf import json_format
from vitrine.v1 import router_pb2

from labs.glass import relay
from tests.glass.browser import needs_browser, page_of, serve_modules

MESSAGES = (
    router_pb2.DescribeResponse,
    router_pb2.WatchResponse,
    router_pb2.ConfigureRequest,
    router_pb2.TraceResponse,
    router_pb2.LineCounters,
)
EDGES = {
    "uint": (0, 1, 127, 128, 2**32 - 1, 2**32, 2**35 + 7, 2**53 - 1),
    "sint": (0, -1, 1, -(2**31), 2**31 - 1, -(2**52) + 1, 2**52 - 1),
}


def any_message(kind, roll, depth=0):
    """A message with anything in it that a page can hold."""
    message = kind()
    for field in message.DESCRIPTOR.fields:
        choice = field.containing_oneof
        if choice is not None and message.WhichOneof(choice.name):
            continue
        if roll.random() < 0.3:
            continue
        repeated = field.label == field.LABEL_REPEATED
        for _ in range(roll.randrange(1, 3) if repeated else 1):
            if field.type == field.TYPE_MESSAGE:
                if depth > 4:
                    continue
                inner = any_message(field.message_type._concrete_class, roll, depth + 1)
                target = getattr(message, field.name)
                (target.add() if repeated else target).CopyFrom(inner)
                continue
            value = any_value(field, roll)
            if repeated:
                getattr(message, field.name).append(value)
            else:
                setattr(message, field.name, value)
    return message


def any_value(field, roll):
    if field.type == field.TYPE_ENUM:
        return roll.choice([each.number for each in field.enum_type.values])
    if field.type == field.TYPE_BOOL:
        return roll.random() < 0.5
    if field.type == field.TYPE_STRING:
        return roll.choice(["", "s1", "Zürich → 東京", "<b>&amp;"])
    if field.type == field.TYPE_BYTES:
        return roll.randbytes(roll.randrange(40))
    signed = field.type in (field.TYPE_INT64, field.TYPE_SINT64, field.TYPE_INT32)
    values = EDGES["sint" if signed else "uint"]
    small = field.type in (field.TYPE_UINT32, field.TYPE_INT32)
    return roll.choice([each for each in values if not small or -(2**31) <= each < 2**32])


# The message that a page reads, as in protobuf's JSON; and the bytes that it writes of it.
READ_AND_WRITE = """
async ({schema, name, bytes}) => {
  const { readSchema } = await import("/glass/js/wire/schema.js");
  const { decode, encode } = await import("/glass/js/wire/message.js");
  const from = (text) => Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  window.schema ??= readSchema(from(schema));
  const type = window.schema.message(name);
  const read = decode(type, from(bytes));
  const shown = (type, object) => Object.fromEntries([...type.byName.values()].map((field) => {
    const one = (value) => field.kind === "message" ? shown(field.type, value)
      : field.kind === "bytes" ? btoa(String.fromCharCode(...value)) : value;
    const value = object[field.name];
    return [field.name, value === undefined ? null : field.repeated ? value.map(one) : one(value)];
  }));
  return { shown: shown(type, read), bytes: btoa(String.fromCharCode(...encode(type, read))) };
}
"""


def shown(message):
    """The same of Python's message."""
    found = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if field.label == field.LABEL_REPEATED:
            found[field.name] = [one(field, each) for each in value]
        else:
            tracked = field.has_presence if hasattr(field, "has_presence") else has(message, field)
            is_set = not tracked or message.HasField(field.name)
            found[field.name] = one(field, value) if is_set else None
    return found


def has(message, field):
    """Whether a field knows that it is unset."""
    return field.containing_oneof is not None or field.type == field.TYPE_MESSAGE


def one(field, value):
    if field.type == field.TYPE_MESSAGE:
        return shown(value)
    if field.type == field.TYPE_ENUM:
        return field.enum_type.values_by_number[value].name
    return base64_of(value) if field.type == field.TYPE_BYTES else value


def base64_of(value):
    return json_format.base64.b64encode(value).decode()


@needs_browser
@pytest.mark.parametrize("kind", MESSAGES, ids=lambda kind: kind.DESCRIPTOR.name)
def test_any_message_is_read_and_written_as_it_is(chromium, kind):
    with page_of(chromium) as page:
        serve_modules(page)
        for seed in range(15):
            message = any_message(kind, random.Random(seed))
            given = {
                "schema": base64_of(relay.schema()),
                "name": kind.DESCRIPTOR.full_name,
                "bytes": base64_of(message.SerializeToString()),
            }
            found = page.evaluate(READ_AND_WRITE, given)
            assert found["shown"] == shown(message), seed
            written = json_format.base64.b64decode(found["bytes"])
            assert kind.FromString(written) == message, seed
