"""The values of `queueing` as messages of `vitrine.v1`, in both directions.

Going out, what is None stays unset, and the service leaves it as it is. Coming in, every field of a
configuration is set, because the service describes the whole; so what was read can be sent back.

Most values have the fields of their message, by the same names, so both directions walk the
message's descriptor. What people say differently from the messages is written out: groups of
classes, settings for every queue, a limit of 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from vitrine.v1 import router_pb2

from controller.decider import Decider
from controller.queueing import (
    OFF,
    SHAPER_KINDS,
    Aqm,
    Arbiter,
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
    PortSettings,
    QueueOrder,
    QueueSettings,
    Scheduler,
    Shaper,
)

# ---- any value whose fields are those of its message ---------------------------------------------


def fill(message: Message, values: Mapping[str, Any]) -> None:
    """Sets the fields of a message that are named; None leaves a field unset."""
    for name, value in values.items():
        if value is not None:
            _set(message, message.DESCRIPTOR.fields_by_name[name], value)


def _set(message: Message, field: FieldDescriptor, value: Any) -> None:
    place = getattr(message, field.name)
    if isinstance(value, (tuple, list)):
        for each in value:
            fill(place.add(), _values(each))
    elif field.message_type is not None:
        # A message without fields is set nevertheless.
        place.SetInParent()
        fill(place, _values(value))
    elif field.enum_type is not None:
        number = field.enum_type.values_by_name[_enum_name(value)].number
        setattr(message, field.name, number)
    else:
        setattr(message, field.name, value)


def _values(value: Any) -> Mapping[str, Any]:
    """A value's parts by the names of the proto file."""
    if isinstance(value, Limit):
        return {field.name: getattr(value, field.name) or 0 for field in fields(value)}
    if isinstance(value, Fraction):
        return {"over": value.numerator, "under": value.denominator}
    if is_dataclass(value):
        # `class` is a word of Python, so there it is called `class_`.
        return {field.name.rstrip("_"): getattr(value, field.name) for field in fields(value)}
    return value


def read(message: Message) -> dict[str, Any]:
    """The fields of a message that are set, by their names."""
    found: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        if field.has_presence and not message.HasField(field.name):
            continue
        value = getattr(message, field.name)
        if field.message_type is not None and not field.has_presence:
            found[field.name] = tuple(read(each) for each in value)
        elif field.message_type is not None:
            found[field.name] = _VALUES.get(field.message_type.name, read)(value)
        else:
            found[field.name] = value
    return found


def _limit(message: router_pb2.Limit) -> Limit:
    return Limit(**{field.name: getattr(message, field.name) or None for field in fields(Limit)})


def _ratio(message: router_pb2.Ratio) -> Fraction | None:
    return Fraction(message.over, message.under) if message.under else None


_VALUES = {"Limit": _limit, "Ratio": _ratio}


def _enum_name(value: Enum) -> str:
    return value.name


# ---- going out -----------------------------------------------------------------------------------


def port_message(settings: PortSettings, classes: Iterable[int]) -> router_pb2.PortConfig:
    """A port's changes; `classes` are its future ones, for settings of every queue."""
    message = router_pb2.PortConfig()
    same = ("rate_bps", "overhead_bytes", "limit", "queue_count", "utilisation_window_ns")
    fill(message, {name: getattr(settings, name) for name in same})
    if settings.shaper is not None:
        message.shaper.CopyFrom(_shaper_message(settings.shaper))
    if settings.scheduler is not None:
        message.scheduler.CopyFrom(_scheduler_message(settings.scheduler))
    queues = dict.fromkeys(classes, settings.every_queue) if settings.every_queue else {}
    for class_, queue in sorted({**queues, **settings.queues}.items()):
        merged = _merged(queue or QueueSettings(), settings.every_queue)
        message.queues.append(_queue_message(class_, merged))
    return message


def drop_mirror_message(clone_session: int | Off) -> router_pb2.DropMirror:
    """The mirror of drops; without a session there is none."""
    if isinstance(clone_session, int):
        return router_pb2.DropMirror(clone_session=clone_session)
    return router_pb2.DropMirror()


def limit_message(limit: Limit) -> router_pb2.Limit:
    """A limit; none is 0 there."""
    return router_pb2.Limit(**_values(limit))


def input_message(stage: InputStage) -> router_pb2.InputStage:
    """The input stage, whole."""
    message = router_pb2.InputStage()
    # A class that decides is no setting: it is invited (`World.invite`).
    fill(message, {name: it for name, it in _values(stage).items() if name != "decider"})
    return message


def _merged(queue: QueueSettings, every: QueueSettings | None) -> QueueSettings:
    """A queue's own settings, and where it has none, those of every queue."""
    if every is None:
        return queue
    return QueueSettings(
        limit=every.limit if queue.limit is None else queue.limit,
        shaper=every.shaper if queue.shaper is None else queue.shaper,
        aqm=every.aqm if queue.aqm is None else queue.aqm,
        share=every.share if queue.share is None else queue.share,
        order=every.order if queue.order is None else queue.order,
    )


def _queue_message(class_: int, settings: QueueSettings) -> router_pb2.QueueConfig:
    message = router_pb2.QueueConfig()
    fill(message, {"class": class_, "limit": settings.limit, "share": settings.share})
    if settings.shaper is not None:
        message.shaper.CopyFrom(_shaper_message(settings.shaper))
    if settings.aqm is not None:
        message.aqm.CopyFrom(_aqm_message(settings.aqm))
    if settings.order is not None:
        message.order = router_pb2.QueueOrder.Value(settings.order.name)
    return message


def _shaper_message(shaper: Shaper | Off) -> router_pb2.Shaper:
    message = router_pb2.Shaper()
    fill(message, {kind: shaper for kind, it in SHAPER_KINDS.items() if isinstance(shaper, it)})
    return message


def _aqm_message(aqm: Aqm | Decider | Off) -> router_pb2.Aqm:
    message = router_pb2.Aqm()
    if isinstance(aqm, Aqm):
        fill(message, {aqm.kind: aqm.parameters})
    return message


def _scheduler_message(scheduler: Scheduler) -> router_pb2.Scheduler:
    message = router_pb2.Scheduler()
    if isinstance(scheduler, Hierarchy):
        fill(message, {"hierarchy": scheduler.root})
        return message
    for group in scheduler.groups:
        members = [{"class": it, "weight": weight} for it, weight in sorted(group.weights.items())]
        quantum = group.quantum_bytes if group.discipline is Discipline.DRR else 0
        parts = {"discipline": group.discipline, "quantum_bytes": quantum, "members": members}
        fill(message.groups.add(), parts)
    return message


# ---- coming in -----------------------------------------------------------------------------------


def port_settings(message: router_pb2.PortConfig) -> PortSettings:
    """A port as the service describes it."""
    return PortSettings(
        rate_bps=message.rate_bps,
        overhead_bytes=message.overhead_bytes,
        limit=_limit(message.limit),
        shaper=_shaper(message.shaper),
        queue_count=message.queue_count,
        scheduler=_scheduler(message.scheduler),
        queues={getattr(queue, "class"): _queue(queue) for queue in message.queues},
        utilisation_window_ns=message.utilisation_window_ns,
    )


def input_stage(message: router_pb2.InputStage) -> InputStage:
    """The input stage as the service describes it."""
    queueing = InputQueueing[router_pb2.InputQueueing.Name(message.queueing)]
    if queueing is InputQueueing.NONE:
        return InputStage(queueing)
    arbiter = router_pb2.Arbiter.Name(message.arbiter)
    return InputStage(
        queueing=queueing,
        limit=_limit(message.limit),
        voq_limit=_limit(message.voq_limit),
        rate_bps=message.rate_bps,
        speedup=_ratio(message.speedup) or Fraction(1),
        arbiter=Arbiter.__members__.get(arbiter),
        iterations=message.iterations or 1,
        lossy=message.lossy,
    )


def drop_mirror(message: router_pb2.DropMirror) -> int | Off:
    """The mirror of drops as the service describes it."""
    return message.clone_session if message.HasField("clone_session") else OFF


def _queue(message: router_pb2.QueueConfig) -> QueueSettings:
    share = read(message.share)
    return QueueSettings(
        limit=_limit(message.limit),
        shaper=_shaper(message.shaper),
        aqm=_aqm(message.aqm),
        share=BufferShare(**share),
        order=QueueOrder.__members__.get(router_pb2.QueueOrder.Name(message.order)),
    )


def _shaper(message: router_pb2.Shaper) -> Shaper | Off:
    kind = message.WhichOneof("kind")
    return OFF if kind is None else SHAPER_KINDS[kind](**read(getattr(message, kind)))


def _aqm(message: router_pb2.Aqm) -> Aqm | Off:
    kind = message.WhichOneof("kind")
    return OFF if kind is None else Aqm(kind, **read(getattr(message, kind)))


def _scheduler(message: router_pb2.Scheduler) -> Scheduler:
    if message.HasField("hierarchy"):
        return Hierarchy(_node(read(message.hierarchy)))
    return Groups(
        tuple(
            Group(
                weights={getattr(member, "class"): member.weight for member in group.members},
                discipline=Discipline[router_pb2.Discipline.Name(group.discipline)],
                quantum_bytes=group.quantum_bytes,
            )
            for group in message.groups
        )
    )


def _node(parts: Mapping[str, Any]) -> Node:
    children = tuple(_node(child) for child in parts["children"])
    leaf = parts.get("leaf")
    if leaf is not None:
        leaf = Leaf(leaf["class"], leaf["priority"], leaf["quantum_bytes"])
    return Node(**{**parts, "children": children, "leaf": leaf})
