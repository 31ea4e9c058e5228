"""`make trace`: follows packets of a flow through a router that runs, and prints their lives.

ROUTER is a name or HOST:PORT, FLOW as `10.0.1.1:*->10.0.2.1:80`, COUNT how many packets; with
FORM=json each packet is a line of JSON, with its copies inside. Anybody may look: this neither
becomes a controller nor disturbs one.
"""

from __future__ import annotations

import json
import os
import sys

import grpc
from p4.v1 import p4runtime_pb2, p4runtime_pb2_grpc

from controller import device, reader, routers
from controller.connection import REQUEST_DEADLINE_S
from controller.errors import ControllerError
from controller.session import Session
from controller.trace import Follow, trace
from labs.errors import SettingError
from labs.family import Families
from labs.life import FlowError, Sources, patterns
from labs.settings import refuse_unknown
from topo.units import counted

COUNT = 3
FORMS = ("text", "json")


@reader.ends_unread
def main() -> int:
    """Returns the exit status."""
    try:
        refuse_unknown(("ROUTER", "FLOW", "COUNT", "FORM"))
        form = os.environ.get("FORM") or FORMS[0]
        if form not in FORMS:
            raise SettingError(f"FORM={form}: there are {' and '.join(FORMS)}.")
        count = _count(os.environ.get("COUNT") or str(COUNT))
        follow = Follow(patterns=patterns(os.environ.get("FLOW") or "*->*"), packets_max=count)
        address = routers.address_of(os.environ.get("ROUTER", ""))
        with Session.observe(address) as session:
            what = f"{counted(count, 'packet')} through {routers.called(address)}"
            _follow(session, follow, form, what)
    except (ControllerError, FlowError, SettingError) as error:
        print(f"vitrine: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise SettingError(f"COUNT={text}: expected how many packets to follow, such as {COUNT}.")
    return int(text)


def _follow(session: Session, follow: Follow, form: str, what: str) -> None:
    """Prints each packet with its copies when all have ended, so that none mix."""
    families = Families(_sources(session))
    ended = 0
    with trace(session, [follow]) as steps:
        # What is sent from now on is followed.
        print(f"following {what}; Ctrl-C ends", file=sys.stderr, flush=True)
        for step in steps:
            family = families.take(step)
            if family is None:
                continue
            if form == "json":
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


if __name__ == "__main__":
    sys.exit(main())
