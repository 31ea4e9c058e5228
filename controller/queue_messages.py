"""The values of `queueing` as messages of `vitrine.v1`, in both directions.

Going out, what is None stays unset, and the service leaves it as it is. Coming in, every field of a
configuration is set, because the service describes the whole; so what was read can be sent back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from vitrine.v1 import router_pb2

from controller.queueing import (
    OFF,
    Aqm,
    Arbiter,
    BitShaper,
    BufferShare,
    Codel,
    Discipline,
    EcnStep,
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
    Pie,
    PortSettings,
    QueueSettings,
    Red,
    RedProfile,
    Scheduler,
    Shaper,
)

_DISCIPLINES: Mapping[Discipline, int] = {
    Discipline.DRR: router_pb2.DRR,
    Discipline.WFQ: router_pb2.WFQ,
    Discipline.WRR: router_pb2.WRR,
}
_ARBITERS: Mapping[Arbiter, int] = {
    Arbiter.ISLIP: router_pb2.ISLIP,
    Arbiter.LQF: router_pb2.LQF,
    Arbiter.OCF: router_pb2.OCF,
    Arbiter.PIM: router_pb2.PIM,
    Arbiter.RANDOM: router_pb2.RANDOM,
    Arbiter.ROUND_ROBIN: router_pb2.ROUND_ROBIN,
    Arbiter.WAVEFRONT: router_pb2.WAVEFRONT,
}
_QUEUEINGS: Mapping[InputQueueing, int] = {
    InputQueueing.NONE: router_pb2.NONE,
    InputQueueing.FIFO: router_pb2.FIFO,
    InputQueueing.VOQ: router_pb2.VOQ,
}


# ---- going out -----------------------------------------------------------------------------------


def port_message(settings: PortSettings, classes: Iterable[int]) -> router_pb2.PortConfig:
    """A port's changes; `classes` are those it will have, for what holds for every queue."""
    message = router_pb2.PortConfig(
        rate_bps=settings.rate_bps,
        overhead_bytes=settings.overhead_bytes,
        queue_count=settings.queue_count,
        utilisation_window_ns=settings.utilisation_window_ns,
    )
    if settings.limit is not None:
        message.limit.CopyFrom(limit_message(settings.limit))
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
    return router_pb2.Limit(packets=limit.packets or 0, bytes=limit.bytes or 0)


def input_message(stage: InputStage) -> router_pb2.InputStage:
    """The input stage, whole."""
    message = router_pb2.InputStage(
        queueing=_QUEUEINGS[stage.queueing],
        rate_bps=stage.rate_bps,
        speedup=_ratio_message(stage.speedup),
        arbiter=_ARBITERS[stage.arbiter] if stage.arbiter else router_pb2.ARBITER_UNSPECIFIED,
        iterations=stage.iterations,
        lossy=stage.lossy,
    )
    if stage.limit is not None:
        message.limit.CopyFrom(limit_message(stage.limit))
    if stage.voq_limit is not None:
        message.voq_limit.CopyFrom(limit_message(stage.voq_limit))
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
    )


def _queue_message(class_: int, settings: QueueSettings) -> router_pb2.QueueConfig:
    # `class` is a word of Python, so the field of that name is reached this way.
    message = router_pb2.QueueConfig(**{"class": class_})
    if settings.limit is not None:
        message.limit.CopyFrom(limit_message(settings.limit))
    if settings.shaper is not None:
        message.shaper.CopyFrom(_shaper_message(settings.shaper))
    if settings.aqm is not None:
        message.aqm.CopyFrom(_aqm_message(settings.aqm))
    if settings.share is not None:
        message.share.minimum_bytes = settings.share.minimum_bytes
        if settings.share.alpha is not None:
            message.share.alpha.CopyFrom(_ratio_message(settings.share.alpha))
    return message


def _shaper_message(shaper: Shaper | Off) -> router_pb2.Shaper:
    message = router_pb2.Shaper()
    if isinstance(shaper, BitShaper):
        message.bits.rate_bps, message.bits.burst_bytes = shaper.rate_bps, shaper.burst_bytes
    elif isinstance(shaper, PacketShaper):
        message.packets.rate_pps = shaper.rate_pps
        message.packets.burst_packets = shaper.burst_packets
    return message


def _aqm_message(aqm: Aqm | Off) -> router_pb2.Aqm:
    if isinstance(aqm, Codel):
        codel = router_pb2.Codel(
            target_ns=aqm.target_ns,
            interval_ns=aqm.interval_ns,
            mtu_bytes=aqm.mtu_bytes,
            ecn=aqm.ecn,
        )
        return router_pb2.Aqm(codel=codel)
    if isinstance(aqm, EcnStep):
        step = router_pb2.EcnStep(threshold=limit_message(aqm.threshold))
        return router_pb2.Aqm(ecn_step=step)
    if isinstance(aqm, Pie):
        pie = router_pb2.Pie(
            target_ns=aqm.target_ns,
            update_ns=aqm.update_ns,
            burst_ns=aqm.burst_ns,
            alpha=_ratio_message(aqm.alpha) if aqm.alpha is not None else None,
            beta=_ratio_message(aqm.beta) if aqm.beta is not None else None,
            ecn_below_ppm=aqm.ecn_below_ppm,
            mean_packet_bytes=aqm.mean_packet_bytes,
            ecn=aqm.ecn,
        )
        return router_pb2.Aqm(pie=pie)
    if isinstance(aqm, Red):
        red = router_pb2.Red(
            in_bytes=aqm.in_bytes,
            profiles=[
                router_pb2.RedProfile(min=each.min, max=each.max, max_ppm=each.max_ppm)
                for each in aqm.profiles
            ],
            weight_ppm=aqm.weight_ppm,
            gentle=aqm.gentle,
            mean_packet_bytes=aqm.mean_packet_bytes,
            ecn=aqm.ecn,
        )
        return router_pb2.Aqm(red=red)
    return router_pb2.Aqm()


def _scheduler_message(scheduler: Scheduler) -> router_pb2.Scheduler:
    if isinstance(scheduler, Hierarchy):
        return router_pb2.Scheduler(hierarchy=_node_message(scheduler.root))
    message = router_pb2.Scheduler()
    for group in scheduler.groups:
        quantum = group.quantum_bytes if group.discipline is Discipline.DRR else 0
        added = message.groups.add(discipline=_DISCIPLINES[group.discipline], quantum_bytes=quantum)
        for class_, weight in sorted(group.weights.items()):
            added.members.add(weight=weight, **{"class": class_})
    return message


def _node_message(node: Node) -> router_pb2.Node:
    message = router_pb2.Node(
        name=node.name,
        rate_bps=node.rate_bps,
        ceil_bps=node.ceil_bps,
        burst_bytes=node.burst_bytes,
        ceil_burst_bytes=node.ceil_burst_bytes,
        children=[_node_message(child) for child in node.children],
    )
    if node.leaf is not None:
        leaf = {"class": node.leaf.class_, "priority": node.leaf.priority}
        message.leaf.CopyFrom(router_pb2.Leaf(quantum_bytes=node.leaf.quantum_bytes, **leaf))
    return message


def _ratio_message(ratio: Fraction) -> router_pb2.Ratio:
    return router_pb2.Ratio(over=ratio.numerator, under=ratio.denominator)


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
    queueings = {number: name for name, number in _QUEUEINGS.items()}
    arbiters = {number: name for name, number in _ARBITERS.items()}
    if queueings[message.queueing] is InputQueueing.NONE:
        return InputStage(InputQueueing.NONE)
    return InputStage(
        queueing=queueings[message.queueing],
        limit=_limit(message.limit),
        voq_limit=_limit(message.voq_limit),
        rate_bps=message.rate_bps,
        speedup=_ratio(message.speedup) or Fraction(1),
        arbiter=arbiters.get(message.arbiter),
        iterations=message.iterations or 1,
        lossy=message.lossy,
    )


def _limit(message: router_pb2.Limit) -> Limit:
    return Limit(message.packets or None, message.bytes or None)


def _queue(message: router_pb2.QueueConfig) -> QueueSettings:
    alpha = _ratio(message.share.alpha) if message.share.HasField("alpha") else None
    return QueueSettings(
        limit=_limit(message.limit),
        shaper=_shaper(message.shaper),
        aqm=_aqm(message.aqm),
        share=BufferShare(alpha, message.share.minimum_bytes),
    )


def _shaper(message: router_pb2.Shaper) -> Shaper | Off:
    kind = message.WhichOneof("kind")
    if kind == "bits":
        return BitShaper(message.bits.rate_bps, message.bits.burst_bytes)
    if kind == "packets":
        return PacketShaper(message.packets.rate_pps, message.packets.burst_packets)
    return OFF


def _aqm(message: router_pb2.Aqm) -> Aqm | Off:
    kind = message.WhichOneof("kind")
    if kind == "codel":
        codel = message.codel
        return Codel(codel.target_ns, codel.interval_ns, codel.mtu_bytes, codel.ecn)
    if kind == "ecn_step":
        return EcnStep(_limit(message.ecn_step.threshold))
    if kind == "pie":
        pie = message.pie
        return Pie(
            target_ns=pie.target_ns,
            update_ns=pie.update_ns,
            burst_ns=pie.burst_ns,
            alpha=_ratio(pie.alpha),
            beta=_ratio(pie.beta),
            ecn_below_ppm=pie.ecn_below_ppm,
            mean_packet_bytes=pie.mean_packet_bytes,
            ecn=pie.ecn,
        )
    if kind == "red":
        red = message.red
        return Red(
            profiles=tuple(RedProfile(each.min, each.max, each.max_ppm) for each in red.profiles),
            in_bytes=red.in_bytes,
            weight_ppm=red.weight_ppm,
            gentle=red.gentle,
            mean_packet_bytes=red.mean_packet_bytes,
            ecn=red.ecn,
        )
    return OFF


def _scheduler(message: router_pb2.Scheduler) -> Scheduler:
    if message.HasField("hierarchy"):
        return Hierarchy(_node(message.hierarchy))
    disciplines = {number: name for name, number in _DISCIPLINES.items()}
    return Groups(
        tuple(
            Group(
                weights={getattr(member, "class"): member.weight for member in group.members},
                discipline=disciplines[group.discipline],
                quantum_bytes=group.quantum_bytes,
            )
            for group in message.groups
        )
    )


def _node(message: router_pb2.Node) -> Node:
    leaf = None
    if message.HasField("leaf"):
        body = message.leaf
        leaf = Leaf(getattr(body, "class"), body.priority, body.quantum_bytes)
    return Node(
        name=message.name,
        rate_bps=message.rate_bps,
        ceil_bps=message.ceil_bps,
        children=tuple(_node(child) for child in message.children),
        leaf=leaf,
        burst_bytes=message.burst_bytes,
        ceil_burst_bytes=message.ceil_burst_bytes,
    )


def drop_mirror(message: router_pb2.DropMirror) -> int | Off:
    """The mirror of drops as the service describes it."""
    return message.clone_session if message.HasField("clone_session") else OFF


def _ratio(message: router_pb2.Ratio) -> Fraction | None:
    return Fraction(message.over, message.under) if message.under else None
