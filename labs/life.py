"""The life of a packet in a router as text: parser, tables, actions with source lines, queue, end.

packet 1  10.0.1.1:40000 > 10.0.2.1:80, TCP, 74 bytes, came in at port 1
  parser   start, parse_ethernet, parse_ipv4, parse_tcp
  if       yes: hdr.ipv4.isValid()                            control/routing.p4:126
  table    ingress.routing.ipv4_lpm: entry 2                  control/routing.p4:96
             hdr.ipv4.dst_addr = 10.0.2.1
  action   ingress.routing.set_next_hop(port = 2)             control/routing.p4:40
             hdr.ipv4.ttl: 64 -> 63
  queue    port 2, class 0: waited 96.9 ms behind 12 packets
  sent     by port 2, 97.1 ms after it came

`Sources` knows where in the P4 program a name stands; the compiler has written that down.
"""

from __future__ import annotations

import ipaddress
import json
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from controller.reasons import reason_name
from controller.trace import Bytes, Step
from topo.units import counted

PS_PER_MS = 1_000_000_000
PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17}
_NAMES = {number: name.upper() for name, number in PROTOCOLS.items()}
# Offsets in a frame: Ethernet's type, then IPv4 without options.
_ETHERTYPE, _IHL, _PROTOCOL, _SOURCE, _TARGET, _SOURCE_PORT, _TARGET_PORT = (
    12,
    14,
    23,
    26,
    30,
    34,
    36,
)
_WIDTH = 79
# A port as v1model has it for packets that are dropped.
_DROP_PORT = 511


class FlowError(ValueError):
    """A flow that cannot be read."""


def patterns(flow: str) -> list[Bytes]:
    """The marks of a flow's frames: `10.0.1.1:*->10.0.2.1:80`, `udp *->10.0.2.1`."""
    words = flow.split(maxsplit=1)
    found = [Bytes(_ETHERTYPE, b"\x08\x00")]
    if words and words[0].lower() in PROTOCOLS:
        found.append(Bytes(_PROTOCOL, bytes([PROTOCOLS[words[0].lower()]])))
        flow = words[1] if len(words) > 1 else ""
    ends = [end.strip() for end in flow.split("->")]
    if len(ends) != 2:
        raise FlowError(
            f"--flow {flow}: expected SOURCE->TARGET, such as 10.0.1.1:*->10.0.2.1:80; * is any."
        )
    places = ((_SOURCE, _SOURCE_PORT), (_TARGET, _TARGET_PORT))
    for end, (address_at, port_at) in zip(ends, places, strict=True):
        address, _, port = end.partition(":")
        if address not in ("", "*"):
            try:
                found.append(Bytes(address_at, ipaddress.IPv4Address(address).packed))
            except ValueError:
                raise FlowError(f"--flow: {address!r} is not an IPv4 address.") from None
        if port not in ("", "*"):
            if not port.isdigit() or int(port) > 0xFFFF:
                raise FlowError(f"--flow: {port!r} is not a port.")
            # Ports are there only behind a header without options.
            found += [Bytes(_IHL, b"\x45"), Bytes(port_at, int(port).to_bytes(2, "big"))]
    return found


@dataclass(frozen=True)
class Sources:
    """The places of the names of a compiled program in its text, and the text there."""

    lines: Mapping[str, str] = field(default_factory=dict)
    fragments: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, program: bytes) -> Sources:
        """Of BMv2 JSON; of anything else nothing is known."""
        try:
            document = json.loads(program)
        except ValueError:
            return cls()
        named: list[tuple[str, Mapping[str, Any]]] = []
        for pipeline in document.get("pipelines", []):
            for each in (*pipeline["tables"], *pipeline["conditionals"]):
                named.append((each["name"], each.get("source_info") or {}))
        for action in document.get("actions", []):
            # An action's first statement: the compiler notes lines of statements.
            infos = [each.get("source_info") or {} for each in action.get("primitives", [])]
            named.append((action["name"], next(filter(None, infos), {})))
        return cls(
            {name: _place(info) for name, info in named if info},
            {name: info.get("source_fragment", "") for name, info in named},
        )


def _place(info: Mapping[str, Any]) -> str:
    """`control/routing.p4:126` of p4src/programs/../control/routing.p4."""
    *folders, name = str(info["filename"]).split("/")
    near = folders[-1] if folders else ""
    return f"{near}/{name}:{info['line']}".lstrip("/")


@dataclass
class Life:
    """The knowledge about one packet until now."""

    # As the router counts.
    packet: int
    sources: Sources
    # The names of packets, by the router's numbers; a new packet gets the next number.
    numbers: dict[int, int] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    # Of the terminal.
    width: int = _WIDTH

    @property
    def number(self) -> int:
        """As the router reports it."""
        return self._called(self.packet)

    def _called(self, packet: int) -> int:
        return self.numbers.setdefault(packet, len(self.numbers) + 1)

    def lines(self) -> Iterator[str]:
        """All of it, for a terminal of 80 columns."""
        states: list[str] = []
        began_ps = self.steps[0].time_ps
        times: Counter[str] = Counter()
        for step in self.steps:
            times[step.kind] += 1
            if step.kind == "program" and step.message.WhichOneof("kind") == "parser_state":  # type: ignore[attr-defined]
                states.append(step.message.parser_state)  # type: ignore[attr-defined]
                continue
            if states and step.kind != "program":
                yield from self._parser(states)
            if states and step.kind == "program" and _ends_parser(step.message):
                yield from self._parser(states)
            yield from self._told(step, began_ps, times[step.kind])

    def _told(self, step: Step, began_ps: int, times: int) -> Iterator[str]:
        message: Any = step.message
        after = _span(step.time_ps - began_ps)
        match step.kind:
            case "received":
                yield f"packet {self.number}  {frame_words(message.frame)}, at port {message.port}"
            case "copied":
                original = getattr(message, "from")
                yield f"packet {self.number}  a copy of packet {self._called(original)}"
            case "program":
                yield from self._program(message)
            case "departed":
                waited = _span(step.time_ps - message.enqueued_ps)
                where = f"port {message.queue.port}, class {getattr(message.queue, 'class')}"
                behind = _packets(message.enqueue_depth_packets)
                yield self._line("queue", f"{where}: waited {waited} behind {behind}")
            case "transmitted":
                yield self._line("sent", f"by port {message.port}, {after} after it came")
            case "dropped":
                reason = reason_name(int(message)).lower().replace("_", " ")
                yield self._line("dropped", f"{reason}, {after} after it came")
            case "replicated_by":
                yield self._line("copied", f"its copies go on instead of it: group {message}")
            case "resubmitted" | "recirculated":
                yield self._line(
                    step.kind,
                    f"it goes through ingress again, {step.kind} {times} times"
                    if times > 1
                    else "it goes through ingress again",
                )
            case "digest_list":
                yield self._line("digest", f"to the controller, list {message}")

    def _program(self, message: Any) -> Iterator[str]:
        kind = message.WhichOneof("kind")
        step: Any = getattr(message, kind) if kind else None
        match kind:
            case "parser_done" if step.error != "NoError":
                yield self._line("parser", f"stopped with {step.error}")
            case "control":
                yield f"  -- {step} --"
            case "table":
                # Statements outside of actions are compiled to tables without a key.
                if step.key.values or not step.key.name.startswith("tbl_"):
                    hit = _entry(step) if step.HasField("entry") else "no entry"
                    yield self._line("table", f"{step.key.name}: {hit}", self._at(step.key.name))
                    yield from _values(step.key.values)
            case "action":
                fragment = self.sources.fragments.get(step.name, "")
                given = ", ".join(f"{each.name} = {_number(each)}" for each in step.values)
                is_named = "." in step.name or step.name == "NoAction"
                text = f"{step.name}({given})" if is_named else fragment or step.name
                yield self._line("action" if is_named else "do", text, self._at(step.name))
            case "condition":
                text = self.sources.fragments.get(step.name) or step.name
                answer = "yes" if step.holds else "no"
                yield self._line("if", f"{answer}: {text}", self._at(step.name))
            case "field":
                before, after = (_value(step.field, each) for each in (step.before, step.after))
                yield f"             {step.field}: {before} -> {after}"
            case "queue_read":
                given = ", ".join(f"{each.name} = {each.value}" for each in step.inputs.values)
                found = ", ".join(f"{each.name} = {each.value}" for each in step.outputs)
                yield self._line("queues", f"{step.inputs.name}({given}): {found}")
            case "checksum":
                if step.verified and step.computed != step.found:
                    yield self._line("checksum", f"{step.name} is wrong")
            case "log" | "assertion_failed":
                yield self._line(kind.partition("_")[0], str(step))

    def _at(self, name: str) -> str:
        return self.sources.lines.get(name, "")

    def _parser(self, states: list[str]) -> Iterator[str]:
        text = f"  parser   {', '.join(states)}"
        yield from textwrap.wrap(text, self.width, subsequent_indent=" " * 11)
        states.clear()

    def _line(self, head: str, text: str, place: str = "") -> str:
        """The event, and on the right its place; cut where it does not fit."""
        room = self.width - 11 - (len(place) + 2 if place else 0)
        text = " ".join(text.split())
        text = text if len(text) <= room else f"{text[: room - 1]}…"
        return f"  {head:<8} {text:<{room}}  {place}".rstrip() if place else f"  {head:<8} {text}"

    def as_data(self) -> dict[str, Any]:
        """The same for programs: {packet, steps: [{time_ps, kind, ...}]}, each where it stands."""
        return {"packet": self.number, "steps": [self._step_data(step) for step in self.steps]}

    def _step_data(self, step: Step) -> dict[str, Any]:
        message: Any = step.message
        told = {"time_ps": step.time_ps, "kind": step.kind}
        if step.kind == "copied":
            return {**told, "of": self._called(getattr(message, "from"))}
        if step.kind == "dropped":
            return {**told, "reason": reason_name(int(message))}
        if step.kind != "program":
            return {**told, **_data(message)}
        kind = message.WhichOneof("kind")
        what: Any = getattr(message, kind)
        name = what.key.name if kind == "table" else getattr(what, "name", "")
        place = {"place": self.sources.lines[name]} if name in self.sources.lines else {}
        return {**told, "kind": kind, **_data(what), **place}


def _ends_parser(message: Any) -> bool:
    return message.WhichOneof("kind") in ("parser_done", "control")


def _values(values: Sequence[Any]) -> Iterator[str]:
    for each in values:
        yield f"             {each.name} = {_number(each)}"


def _number(each: Any) -> str:
    return _value(each.name, str(each.value))


def _value(name: str, value: str) -> str:
    """A value for people: of an address's field an address, of a port's what it means."""
    if value.isdigit() and name.endswith(("src_addr", "dst_addr", ".sender", "src_mac", "dst_mac")):
        number = int(value)
        if "ipv4" in name:
            return str(ipaddress.IPv4Address(number))
        if number >> 48 == 0:
            return number.to_bytes(6, "big").hex(":")
    if name.endswith("egress_spec") and value == str(_DROP_PORT):
        return f"{value} (drop)"
    return value


def _packets(count: int) -> str:
    return "nobody" if count == 0 else counted(count, "packet")


def _span(span_ps: int) -> str:
    return f"{span_ps / PS_PER_MS:.3f} ms"


def frame_words(frame: bytes) -> str:
    """`10.0.1.1:40000 > 10.0.2.1:80, TCP, 74 bytes`."""
    length = f"{len(frame)} bytes"
    if frame[_ETHERTYPE : _ETHERTYPE + 2] != b"\x08\x00" or len(frame) < _SOURCE_PORT:
        return f"frame of type 0x{frame[12:14].hex()}, {length}"
    source, target = (str(ipaddress.IPv4Address(frame[at : at + 4])) for at in (_SOURCE, _TARGET))
    protocol = frame[_PROTOCOL]
    name = _NAMES.get(protocol, f"protocol {protocol}")
    if protocol in (PROTOCOLS["tcp"], PROTOCOLS["udp"]) and frame[_IHL] == 0x45:
        ports = (int.from_bytes(frame[at : at + 2], "big") for at in (_SOURCE_PORT, _TARGET_PORT))
        source, target = (
            f"{address}:{port}" for address, port in zip((source, target), ports, strict=True)
        )
    return f"{source} > {target}, {name}, {length}"


def _entry(step: Any) -> str:
    """The entry that was hit, by its match for each key: `entry 10.0.1.0/24`."""
    if not step.matches:
        return f"entry {step.entry}"
    asked = zip(step.key.values, step.matches, strict=True)
    words = ", ".join(_asked(key.name, match) for key, match in asked)
    return f"entry {words}{f', priority {step.priority}' if step.priority else ''}"


def _asked(name: str, match: str) -> str:
    """Its numbers for people, but for the length of a prefix."""
    return re.sub(r"(?<!/)\b\d+", lambda found: _value(name, found[0]), match)


def _data(message: Any) -> dict[str, Any]:
    """A message as JSON has it: bytes as hexadecimal digits, {name: value} for named values."""
    if not hasattr(message, "DESCRIPTOR"):
        return {"value": message}
    told: dict[str, Any] = {}
    for each in message.DESCRIPTOR.fields:
        if each.has_presence and not message.HasField(each.name):
            continue
        value = getattr(message, each.name)
        if each.name == "values":
            told["values"] = {one.name: one.value for one in value}
        elif each.type == each.TYPE_BYTES:
            told[each.name] = value.hex()
        elif each.type == each.TYPE_MESSAGE:
            told[each.name] = _data(value)
        else:
            told[each.name] = (
                list(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
            )
    return told
