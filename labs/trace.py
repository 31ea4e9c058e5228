"""`vitrine trace`: follows packets of a flow through a router that runs, and prints their lives.

As JSON each packet is a line, with its copies inside. Anybody may look: this neither becomes a
controller nor disturbs one.
"""

from __future__ import annotations

import contextlib
import json
import sys

import grpc
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from controller import device, routers
from controller.connection import REQUEST_DEADLINE_S
from controller.session import Session
from controller.trace import Follow, trace
from labs.family import Families
from labs.life import Sources, patterns
from topo.units import counted


def follow(router: str, flow: str, count: int, *, as_json: bool) -> None:
    """Prints packets until `count` of them have ended, or Ctrl-C."""
    wanted = Follow(patterns=patterns(flow), packets_max=count)
    address = routers.address_of(router)
    with contextlib.suppress(KeyboardInterrupt), Session.observe(address) as session:
        what = f"{counted(count, 'packet')} through {routers.called(address)}"
        _follow(session, wanted, what, as_json=as_json)


def _follow(session: Session, follow: Follow, what: str, *, as_json: bool) -> None:
    """Prints each packet with its copies when all have ended, so that none mix."""
    families = Families(_sources(session))
    ended = 0
    with trace(session, [follow]) as steps:
        # Packets sent from now on are followed.
        print(f"following {what}; Ctrl-C ends", file=sys.stderr, flush=True)
        for step in steps:
            family = families.take(step)
            if family is None:
                continue
            if as_json:
                print(json.dumps(family.as_data()), flush=True)
            else:
                print("\n".join(family.lines()), end="\n\n", flush=True)
            ended += family.life.steps[0].kind == "received"
            if ended >= follow.packets_max:
                return


def _sources(session: Session) -> Sources:
    """Where the names of the program that runs there stand in its text."""
    request = p4runtime_pb2.GetForwardingPipelineConfigRequest(
        device_id=device.find_id(session.channel, session.address),
        response_type=p4runtime_pb2.GetForwardingPipelineConfigRequest.ALL,
    )
    stub = p4runtime_pb2_grpc.P4RuntimeStub(session.channel)
    try:
        answer = stub.GetForwardingPipelineConfig(request, timeout=REQUEST_DEADLINE_S)
    except grpc.RpcError:
        return Sources()
    return Sources.of(answer.config.p4_device_config)
