"""The text in the log has the same effect as the handle, and so has the text of Undo."""

import base64
from fractions import Fraction

from google.protobuf import json_format
from vitrine.v1 import router_pb2, world_pb2

from apps import qos_file
from controller import lines, queue_messages, queueing
from controller.queueing import RouterSettings
from labs.glass import relay
from labs.worlds.virtual import options
from tests.glass.browser import needs_browser, page_of, serve_modules
from tests.glass.test_codec import base64_of


def done_in(page, name, *given):
    """The result of this function of acts_done.js."""
    module = "async ([name, given]) => (await import('/tests/glass/acts_done.js'))[name](...given)"
    return page.evaluate(module, [name, given])


class _Told:
    """Takes what the Python line would have configured."""

    def __init__(self, _session):
        pass

    def configure(self, settings):
        return settings if isinstance(settings, RouterSettings) else RouterSettings(settings)


def request_of(settings):
    """The request that a session sends for these settings."""
    request = router_pb2.ConfigureRequest()
    if settings.buffer_bytes is not None:
        request.buffer.size_bytes = settings.buffer_bytes
    if settings.input is not None:
        request.input.CopyFrom(queue_messages.input_message(settings.input))
    if settings.drop_mirror is not None:
        request.drop_mirror.CopyFrom(queue_messages.drop_mirror_message(settings.drop_mirror))
    for number, port in settings.ports.items():
        config = queue_messages.port_message(port, port.queues)
        request.ports.add(port=number, config=config)
    return request


def normal(request):
    """Without what says nothing: a speedup of one, one round, losses of no frame."""
    text = json_format.MessageToDict(request, preserving_proto_field_name=True)
    stage = text.get("input", {})
    if stage.get("speedup") == {"over": 1, "under": 1}:
        del stage["speedup"]
    if stage.get("iterations") == 1:
        del stage["iterations"]
    if stage.get("queueing", "NONE") == "NONE" and "input" in text:
        text["input"] = {}
    for port in text.get("ports", []):
        for side in ("receive", "transmit"):
            line = port["config"].get("link", {}).get(side, {})
            for part in ("jitter", "stalls", "loss"):
                if line.get(part) == {}:
                    del line[part]
    return text


def told_by(python):
    """The request for all settings in these Python lines, one for each service."""
    names = {**vars(queueing), **vars(lines), "Fraction": Fraction, "session": None}
    names |= {"Queues": _Told, "Lines": _Cables}
    request = router_pb2.ConfigureRequest()
    for line in python.splitlines():
        told = eval(line, names)
        if isinstance(told, RouterSettings):
            request.MergeFrom(request_of(told))
            continue
        for number, cable in told.items():
            (port,) = [each for each in request.ports if each.port == number] or [
                request.ports.add(port=number)
            ]
            port.config.link.CopyFrom(lines._link_message(cable))
    return request


@needs_browser
def test_yaml_and_python_say_what_the_handle_did(chromium, tmp_path):
    with page_of(chromium) as page:
        serve_modules(page)
        acts = done_in(page, "configured", base64_of(relay.schema()))
    assert len(acts) > 70
    assert sum(not act["yaml"] for act in acts) == 4, "only mirrors of drops have no word in files"
    for act in acts:
        bytes_ = base64.b64decode(act["bytes"])
        wanted = normal(router_pb2.ConfigureRequest.FromString(bytes_))
        assert normal(told_by(act["python"])) == wanted
        # Only topology files have the settings of cables.
        if not act["yaml"] or any("link" in port["config"] for port in wanted.get("ports", [])):
            continue
        file = tmp_path / "act.yaml"
        file.write_text(act["yaml"])
        by_yaml = normal(request_of(qos_file.load(file).router))
        # A file that speaks of classes says how many there are; the handle leaves them as they are.
        for told in (by_yaml, wanted):
            for port in told.get("ports", []):
                if not act["title"].endswith("queues"):
                    port["config"].pop("queue_count", None)
        assert by_yaml == wanted, act


@needs_browser
def test_undo_leaves_alone_what_others_have_changed(chromium):
    with page_of(chromium) as page:
        serve_modules(page)
        limit, cable, stage, rate = done_in(page, "takenBack")
    (port,) = limit["ports"]
    assert port["config"] == {"queues": [{"class": 0, "limit": {"packets": 20}}]}
    (port,) = cable["ports"]
    assert port["config"] == {"link": {"transmit": {"delay_ns": 5, "corruption_ppb": 2e6}}}
    assert (stage["input"]["iterations"], stage["input"]["lossy"]) == (1, True)
    assert rate["ports"][0]["config"] == {"rate_bps": 1e6}


@needs_browser
def test_the_lines_of_cables_say_what_their_handles_did(chromium):
    with page_of(chromium) as page:
        serve_modules(page)
        (yaml, stalls), (_, whole) = done_in(page, "cables")
    # As topology files have it.
    assert yaml == "ports: {3: {stalls: {share: 5 %, max: 1.2 ms}}}"
    names = {**vars(lines), "Lines": _Cables, "session": None}
    late = lines.Stalls(share=0.05, max_us=1200)
    assert eval(stalls, names) == {3: lines.Cable(transmit=lines.Line(stalls=late))}
    loss = lines.BurstyLoss(turns_bad=0.01, turns_good=0.5, while_bad=1, while_good=0)
    line = lines.Line(2000, 100, late, reorder=True, loss=loss, duplication=0.001)
    assert eval(whole, names) == {3: lines.Cable(receive=line)}


@needs_browser
def test_the_lines_of_ports_that_come_and_go_do_what_was_done(chromium):
    with page_of(chromium) as page:
        serve_modules(page)
        told = done_in(page, "plugged")
    done = []

    class Ports:
        def __init__(self, _session):
            pass

        def add(self, port, device):
            done.append(("AddPort", port, device))

        def remove(self, port):
            done.append(("RemovePort", port, None))

    for each in told:
        first, _, others = each["python"].partition("\n")
        eval(first, {"Ports": Ports, "session": None})
        method, request = each["call"]
        assert done[-1] == (method, request["port"], request.get("device"))
        assert bool(others) == bool(request.get("config"))
    config = told_by(others).ports[0].config
    assert (config.rate_bps, config.queues[0].limit.packets) == (10_000_000, 30)
    assert config.link.transmit.delay_ns == 1_000_000


class _Cables(_Told):
    """Takes what the Python line would have set of cables."""

    def configure(self, settings):
        return settings


class _World:
    """Takes what Python lines do to a world, as requests."""

    def start(self, host, app):
        return world_pb2.StartRequest(host=host, app=app)

    def stop(self, app):
        return world_pb2.StopRequest(app=app)

    def fault(self, request):
        return request


@needs_browser
def test_the_lines_of_worlds_do_what_was_done(chromium):
    with page_of(chromium) as page:
        serve_modules(page)
        told = done_in(page, "worldly", base64_of(relay.schema()))
    names = {**vars(world_pb2), "world": _World()}
    assert len(told["calls"]) > 15
    for call in told["calls"]:
        kind = getattr(world_pb2, f"{call['method']}Request")
        wanted = kind.FromString(base64.b64decode(call["bytes"]))
        assert eval(call["python"], names) == wanted, call["python"]
    assert set(told["controls"]) == set(options.ALGORITHMS)


@needs_browser
def test_every_arbiter_and_discipline_of_the_service_can_be_chosen(chromium):
    with page_of(chromium) as page:
        serve_modules(page)
        told = done_in(page, "chosen", base64_of(relay.schema()))
    assert told["names"] == router_pb2.Arbiter.keys()[1:]
    assert told["disciplines"] == router_pb2.Discipline.keys()[1:]
    assert len({*told["said"]}) == len(told["names"])
