"""A scenario as the page begins it, in a `vitrine-sim` process instead."""

import base64
import contextlib
import queue

import grpc
from p4.v1 import p4runtime_pb2
from vitrine.v1 import world_pb2

from controller.connection import CHANNEL_OPTIONS
from controller.toolchain import Toolchain
from labs.scenarios.recording import SET_CONFIG
from labs.scenarios.scenario import P4_SOURCES

CHANNEL, BUILD = "/p4.v1.P4Runtime/StreamChannel", "/vitrine.v1.World/Build"
ADVANCE = "/vitrine.v1.World/Advance"


@contextlib.contextmanager
def begun(address, scenario):
    """The channel to a world in which the scenario has settled."""
    with contextlib.ExitStack() as stack:
        channel = stack.enter_context(grpc.insecure_channel(address, options=CHANNEL_OPTIONS))
        ask(channel, BUILD, base64.b64decode(scenario["build"]))
        for method, text in scenario["said"]:
            message = base64.b64decode(text)
            if method == CHANNEL:
                stack.callback(_open(channel, message).cancel)
            elif method == SET_CONFIG:
                ask(channel, method, _with_program(scenario, message))
            else:
                ask(channel, method, message)
        settle = world_pb2.AdvanceRequest(time_ps=scenario["settled_ps"])
        ask(channel, ADVANCE, settle.SerializeToString())
        yield channel


def ask(channel, method, message):
    """One message in, one out, both as bytes."""
    return channel.unary_unary(method)(message)


def _open(channel, bid):
    """A controller's stream that stays open, once it is primary."""
    said = queue.SimpleQueue()
    said.put(bid)
    stream = channel.stream_stream(CHANNEL)(iter(said.get, None))
    next(iter(stream))
    return stream


def _with_program(scenario, message):
    request = p4runtime_pb2.SetForwardingPipelineConfigRequest.FromString(message)
    source = P4_SOURCES / scenario["programs"][str(request.device_id)]
    program, config = Toolchain.VITRINE.compiled(source)
    request.config.p4info.CopyFrom(program.message)
    request.config.p4_device_config = config
    return request.SerializeToString()
