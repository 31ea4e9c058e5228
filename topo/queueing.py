"""Queues, schedulers, AQM, buffer and input stage as people write them in YAML.

The same words serve topology files and the `qos` application:

    rate: 1 Gb/s
    queue: 100 packets                    # every queue's limit; also 64 kB, or both in braces
    aqm: codel                            # every queue's; or {codel: {target: 5 ms}}
    queues:                               # single classes; 0 is the lowest
      1: {limit: 30 kB, shaper: 2 Mb/s}
    scheduler: {drr: {0: 3, 1: 7}}        # strict | drr | wrr | wfq | a list of groups | hierarchy

Where the name of an arbiter or an AQM may stand, a Python class may too, `my.py:MyAqm`, and `by`
names one that schedules.

docs/topologies.md is the reference.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextvars import ContextVar
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from controller.decider import Decider
from controller.queueing import (
    AQM_KINDS,
    CLASS_COUNT_MAX,
    ETHERNET_FRAME_BYTES,
    OFF,
    Aqm,
    Arbiter,
    BitShaper,
    BufferShare,
    Discipline,
    Group,
    Groups,
    Hierarchy,
    InputQueueing,
    InputStage,
    Leaf,
    Limit,
    Node,
    Off,
    PacketShaper,
    Parameter,
    PortSettings,
    QueueOrder,
    QueueSettings,
    RouterSettings,
    Scheduler,
    Shaper,
)
from topo import units
from topo.document import Place

T = TypeVar("T")

# The keys of a port that are about its queues; a reader of ports may add keys of its own.
PORT_KEYS = frozenset(
    {
        *("rate", "overhead", "limit", "shaper", "classes", "scheduler", "queue", "aqm", "queues"),
        *("share", "order", "utilisation_window"),
    }
)

# The keys of a router that are about all of its ports.
ROUTER_KEYS = frozenset({"buffer", "input"})

_DISCIPLINES = {each.value: each for each in Discipline}
_ORDERS = {each.value: each for each in QueueOrder}


def router_settings(
    fields: Mapping[str, Place], ports: Mapping[int, PortSettings] | None = None
) -> RouterSettings:
    """The settings of a router; keys that are not in `ROUTER_KEYS` are left alone."""
    return RouterSettings(
        ports=ports or {},
        buffer_bytes=_given(fields, "buffer", _buffer_bytes),
        input=_given(fields, "input", input_stage),
    )


def port_settings(fields: dict[str, Place]) -> PortSettings:
    """The settings of one port; keys that are not in `PORT_KEYS` are left alone."""
    queues = {
        _class(place, key): _queue(place)
        for key, place in (fields["queues"].entries() if "queues" in fields else {}).items()
    }
    queue_count = _given(fields, "classes", lambda it: it.whole(low=1, high=CLASS_COUNT_MAX))
    scheduler = _given(fields, "scheduler", lambda it: scheduler_of(it, queue_count))
    if queue_count is None:
        # The classes that are spoken of must exist, and then those below them do.
        spoken_of = {*queues, *_classes_of(scheduler)}
        queue_count = max(spoken_of) + 1 if spoken_of else None
    return PortSettings(
        rate_bps=_given(fields, "rate", lambda it: it.parse(units.rate_bps)),
        overhead_bytes=_given(fields, "overhead", lambda it: it.parse(units.size_bytes)),
        limit=_given(fields, "limit", limit),
        shaper=_given(fields, "shaper", _shaper),
        queue_count=queue_count,
        scheduler=scheduler,
        every_queue=_every_queue(fields),
        queues=queues,
        utilisation_window_ns=_given(
            fields, "utilisation_window", lambda it: it.parse(units.span_ns)
        ),
    )


def limit(place: Place) -> Limit:
    """`50 packets`, `64 kB`, or `{packets: 50, bytes: 64 kB}` where both must hold."""
    if place.is_mapping():
        fields = place.fields(optional={"packets", "bytes"})
        return Limit(
            packets=_given(fields, "packets", lambda it: it.whole(low=1)),
            bytes=_given(fields, "bytes", lambda it: it.parse(units.size_bytes)),
        )
    text = place.text()
    if text == "none":
        return Limit()
    found = (
        Limit(packets=place.parse(units.packets))
        if units.is_packets(text)
        else Limit(bytes=place.parse(_limit_bytes))
    )
    if 0 in (found.packets, found.bytes):
        place.refuse("is 0, and nothing would ever get through: give more, or `none` for no limit.")
    return found


def input_stage(place: Place) -> InputStage:
    """`none`, or a mapping with `queueing: fifo` or `voq`, the fabric's `rate` and arbiter."""
    queueing_names = {each.value: each for each in InputQueueing}
    if not place.is_mapping() and place.text() == InputQueueing.NONE.value:
        return InputStage(InputQueueing.NONE)
    fields = place.fields(
        required={"queueing", "rate"},
        optional={"limit", "voq_limit", "speedup", "arbiter", "iterations", "lossy"},
    )
    decider = decider_of(fields["arbiter"]) if "arbiter" in fields else None
    return InputStage(
        queueing=fields["queueing"].one_of(queueing_names),
        limit=_given(fields, "limit", limit),
        voq_limit=_given(fields, "voq_limit", limit),
        rate_bps=fields["rate"].parse(units.rate_bps),
        speedup=_given(fields, "speedup", lambda it: it.parse(units.ratio)) or Fraction(1),
        arbiter=_arbiter(fields) if decider is None else Arbiter.ISLIP,
        iterations=_given(fields, "iterations", lambda it: it.whole(low=1, high=255)) or 1,
        lossy=_given(fields, "lossy", Place.flag) or False,
        decider=decider,
    )


def _arbiter(fields: Mapping[str, Place]) -> Arbiter:
    arbiters = {each.value: each for each in Arbiter}
    return _given(fields, "arbiter", lambda it: it.one_of(arbiters)) or Arbiter.ISLIP


# Files of classes that the user named on the command line, which may lie anywhere.
_TRUSTED: ContextVar[Collection[Path]] = ContextVar("trusted", default=())


@contextlib.contextmanager
def trusting(files: Collection[Path]) -> Iterator[None]:
    """In the block, documents may name these files of classes, wherever they are."""
    before = _TRUSTED.set(files)
    try:
        yield
    finally:
        _TRUSTED.reset(before)


def decider_of(place: Place) -> Decider | None:
    """The Python class that the value names, if it does; its file lies below the document's folder.

    A document may come from a stranger, and must not choose among all Python files of the machine.
    """
    found = Decider.parse(place.text(), place.folder)
    is_own = found is not None and found.file in _TRUSTED.get()
    if found is not None and not is_own and not found.file.is_relative_to(place.folder):
        place.refuse(
            f"names {found.file}, which is outside the folder of this file: copy the class there."
        )
    if found is not None and not found.file.is_file():
        place.refuse(f"names a file that is not there: {found.file}.")
    if found is not None and not found.name:
        place.refuse("names a file and no class: write my.py:MyClass.")
    return found


def scheduler_of(place: Place, queue_count: int | None) -> Scheduler:
    """`strict`, one group, a list of groups (the first is served first), or a hierarchy."""
    if place.is_list():
        groups = tuple(_group(each) for each in place.items())
        if len(groups) > 1 and any(group.decider is not None for group in groups):
            place.refuse("has a class (`by`) beside other groups: it decides for a whole port.")
        return Groups(groups)
    if place.is_mapping():
        parts = place.entries()
        if "hierarchy" in parts:
            tree = place.fields(required={"hierarchy"})["hierarchy"]
            return Hierarchy(_node("port", tree))
        return Groups((_group(place),))
    place.one_of({"strict": True})
    if queue_count is None:
        place.refuse("is strict, but among how many? Give the port's `classes` too.")
    return Groups.strict(queue_count)


def _buffer_bytes(place: Place) -> int:
    """A size, or `none`: every queue has a memory of its own."""
    return 0 if place.text() == "none" else place.parse(units.size_bytes)


def _every_queue(fields: dict[str, Place]) -> QueueSettings | None:
    if not fields.keys() & {"queue", "aqm", "share", "order"}:
        return None
    return QueueSettings(
        limit=_given(fields, "queue", limit),
        aqm=_given(fields, "aqm", _aqm),
        share=_given(fields, "share", _share),
        order=_given(fields, "order", _order),
    )


def _queue(place: Place) -> QueueSettings:
    fields = place.fields(optional={"limit", "shaper", "aqm", "share", "order"})
    return QueueSettings(
        limit=_given(fields, "limit", limit),
        shaper=_given(fields, "shaper", _shaper),
        aqm=_given(fields, "aqm", _aqm),
        share=_given(fields, "share", _share),
        order=_given(fields, "order", _order),
    )


def _order(place: Place) -> QueueOrder:
    """`arrival` or `rank`."""
    return place.one_of(_ORDERS)


def _shaper(place: Place) -> Shaper | Off:
    """`8 Mb/s`, `500 packets/s`, `off`, or a mapping of `rate`, `burst` and `catches_up`."""
    optional = {"burst", "catches_up"}
    fields = place.fields(required={"rate"}, optional=optional) if place.is_mapping() else {}
    rate = fields.get("rate", place)
    if not fields and rate.text() == OFF:
        return OFF
    if units.is_packet_rate(rate.text()):
        burst = _given(fields, "burst", lambda it: it.parse(units.packets))
        catches_up = bool(_given(fields, "catches_up", Place.flag))
        rate_pps = rate.parse(units.packet_rate_pps)
        return PacketShaper(rate_pps, 1 if burst is None else burst, catches_up)
    if "catches_up" in fields:
        fields["catches_up"].refuse("is for rates in packets/s")
    burst = _given(fields, "burst", lambda it: it.parse(units.size_bytes))
    return BitShaper(rate.parse(units.rate_bps), burst or 0)


def _share(place: Place) -> BufferShare:
    fields = place.fields(optional={"alpha", "minimum"})
    return BufferShare(
        alpha=_given(fields, "alpha", lambda it: it.parse(units.ratio)),
        minimum_bytes=_given(fields, "minimum", lambda it: it.parse(units.size_bytes)) or 0,
    )


# ---- AQM -----------------------------------------------------------------------------------------
# Kinds and parameters are those of the proto file. A parameter's name ends there in its unit, which
# says how it is read; people write the unit behind the number instead: `target: 5 ms` is
# `target_ns`.

_UNITS: Mapping[str, Callable[[str], int]] = {
    "_bps": units.rate_bps,
    "_bytes": units.size_bytes,
    "_ns": units.span_ns,
    "_packets": units.packets,
    "_ppm": units.share_ppm,
}


def _aqm(place: Place) -> Aqm | Decider | Off:
    """`off`, a kind by name, `{kind: {its parameters}}`, or a Python class."""
    if not place.is_mapping():
        decider = decider_of(place)
        if decider is not None:
            return decider
        named = [kind for kind, parameters in AQM_KINDS.items() if not _only_field(parameters)]
        kinds: dict[str, Aqm | Off] = {OFF: OFF, **{kind: Aqm(kind) for kind in named}}
        return place.one_of(kinds)
    parts = place.fields(optional=AQM_KINDS)
    if len(parts) != 1:
        *most, last = AQM_KINDS
        place.refuse(f"must name one kind of queue management: {', '.join(most)} or {last}.")
    ((kind, value),) = parts.items()
    parameters = AQM_KINDS[kind]
    only = _only_field(parameters)
    if only is not None:
        return Aqm(kind, **{only.name: _parameter(value, only)})
    # RED's profiles are the one thing that people write differently.
    return Aqm(kind, **(_red(value) if kind == "red" else _parameters(value, parameters)))


def _only_field(parameters: Descriptor) -> FieldDescriptor | None:
    """The one parameter of a kind that has no others: it stands for all, without its name."""
    return parameters.fields[0] if len(parameters.fields) == 1 else None


def _parameters(place: Place, parameters: Descriptor) -> dict[str, Parameter]:
    words = {_word(field): field for field in parameters.fields}
    given = place.fields(optional=words)
    return {words[word].name: _parameter(value, words[word]) for word, value in given.items()}


def _word(field: FieldDescriptor) -> str:
    """A parameter's name without its unit."""
    unit = next((unit for unit in _UNITS if field.name.endswith(unit)), "")
    return field.name.removesuffix(unit)


def _parameter(place: Place, field: FieldDescriptor) -> Parameter:
    """A parameter, by its type and by the unit in its name."""
    if field.message_type is not None:
        return limit(place) if field.message_type.name == "Limit" else place.parse(units.ratio)
    if field.type == FieldDescriptor.TYPE_BOOL:
        return place.flag()
    for unit, parser in _UNITS.items():
        if field.name.endswith(unit):
            return place.parse(parser)
    return place.whole()


def _red(place: Place) -> dict[str, Parameter]:
    """One profile in place, or several under `profiles`, lowest drop precedence first."""
    own = {"min", "max", "probability"}
    others = {
        _word(field): field
        for field in AQM_KINDS["red"].fields
        if field.name not in ("in_bytes", "profiles")
    }
    fields = place.fields(optional={*own, "profiles", *others})
    if "profiles" in fields and own & fields.keys():
        place.refuse("has both `profiles` and a profile of its own: choose one.")
    if "profiles" in fields:
        profiles = [
            _profile(each.fields(required={"min", "max"}, optional={"probability"}))
            for each in fields["profiles"].items()
        ]
    elif own & fields.keys():
        for key in sorted({"min", "max"} - fields.keys()):
            place.refuse(f"lacks {key!r}.")
        profiles = [_profile(fields)]
    else:
        profiles = []
    if len({in_bytes for _, in_bytes in profiles}) > 1:
        place.refuse("has profiles in packets and in bytes: use one of them for all.")
    given = {
        field.name: _parameter(fields[it], field) for it, field in others.items() if it in fields
    }
    if profiles:
        given["profiles"] = tuple(profile for profile, _ in profiles)
        given["in_bytes"] = any(in_bytes for _, in_bytes in profiles)
    return given


def _profile(fields: dict[str, Place]) -> tuple[dict[str, Parameter], bool]:
    """A profile and whether it counts bytes; its thresholds must count the same."""
    low, high = limit(fields["min"]), limit(fields["max"])
    in_bytes = low.packets is None
    if in_bytes is not (high.packets is None):
        fields["max"].refuse("and `min` must both be packets or both be bytes.")
    probability = _given(fields, "probability", lambda it: it.parse(units.share_ppm))
    profile: dict[str, Parameter] = {
        "min": (low.bytes if in_bytes else low.packets) or 0,
        "max": (high.bytes if in_bytes else high.packets) or 0,
        # Floyd's and Jacobson's own choice, as in the proto file.
        "max_ppm": 20_000 if probability is None else probability,
    }
    return profile, in_bytes


# ---- schedulers ----------------------------------------------------------------------------------


def _group(place: Place) -> Group:
    """`{drr: {0: 3, 1: 7}}`, `{wfq: ...}` or `{wrr: ...}`; for drr a `quantum` too.

    With `by: my.py:MyScheduler` that class decides in the discipline's place.
    """
    fields = place.fields(optional={*_DISCIPLINES, "quantum", "by"})
    named = sorted(fields.keys() & _DISCIPLINES.keys())
    if len(named) != 1:
        place.refuse(f"must name one discipline: {', '.join(_DISCIPLINES)}.")
    discipline = _DISCIPLINES[named[0]]
    if "quantum" in fields and discipline is not Discipline.DRR:
        fields["quantum"].refuse("belongs to drr only: the others do not count bytes a round.")
    weights = {
        _class(weight, key): weight.whole(low=1)
        for key, weight in fields[named[0]].entries().items()
    }
    quantum = _given(fields, "quantum", lambda it: it.parse(units.size_bytes))
    decider = decider_of(fields["by"]) if "by" in fields else None
    if "by" in fields and decider is None:
        fields["by"].refuse("is no Python class: write my.py:MyScheduler.")
    return Group(weights, discipline, quantum or ETHERNET_FRAME_BYTES, decider)


def _node(name: str, place: Place) -> Node:
    """A node: `rate`, `ceil`, and either `children` by name or the `class` it stands for."""
    fields = place.fields(
        required={"rate"},
        optional={"ceil", "burst", "ceil_burst", "children", "class", "priority", "quantum"},
    )
    if ("children" in fields) is ("class" in fields):
        place.refuse("must have either `children` or a `class`.")
    leaf = None
    if "class" in fields:
        leaf = Leaf(
            class_=fields["class"].whole(high=CLASS_COUNT_MAX - 1),
            priority=_given(fields, "priority", lambda it: it.whole(high=255)) or 0,
            quantum_bytes=_size(fields, "quantum"),
        )
    children = fields["children"].entries() if "children" in fields else {}
    rate_bps = fields["rate"].parse(units.rate_bps)
    ceil_bps = _given(fields, "ceil", lambda it: it.parse(units.rate_bps))
    return Node(
        name=name,
        rate_bps=rate_bps,
        # As in HTB: without a ceil of its own a class borrows nothing.
        ceil_bps=rate_bps if ceil_bps is None else ceil_bps,
        children=tuple(_node(name, child) for name, child in children.items()),
        leaf=leaf,
        burst_bytes=_size(fields, "burst"),
        ceil_burst_bytes=_size(fields, "ceil_burst"),
    )


def _classes_of(scheduler: Scheduler | None) -> set[int]:
    if isinstance(scheduler, Groups):
        return {class_ for group in scheduler.groups for class_ in group.weights}
    if isinstance(scheduler, Hierarchy):
        return _leaves(scheduler.root)
    return set()


def _leaves(node: Node) -> set[int]:
    own = {node.leaf.class_} if node.leaf else set()
    return own.union(*(_leaves(child) for child in node.children))


# ---- underneath ----------------------------------------------------------------------------------


def _class(place: Place, key: str) -> int:
    """A key that is a class."""
    if not (key.isascii() and key.isdigit() and int(key) < CLASS_COUNT_MAX):
        place.refuse(f"is no class: classes are 0 to {CLASS_COUNT_MAX - 1}.")
    return int(key)


def _size(fields: dict[str, Place], key: str) -> int:
    given = _given(fields, key, lambda it: it.parse(units.size_bytes))
    return ETHERNET_FRAME_BYTES if given is None else given


def _limit_bytes(text: str) -> int:
    """A size; the complaint speaks of both ways to write a limit."""
    try:
        return units.size_bytes(text)
    except units.UnitError:
        raise units.UnitError(
            f"{text!r} is not a limit: write a number and a unit, such as '50 packets' or '64 kB'."
        ) from None


def _given(fields: Mapping[str, Place], key: str, read: Callable[[Place], T]) -> T | None:
    """The result of `read` for a field, or None if the file does not have it."""
    return read(fields[key]) if key in fields else None
