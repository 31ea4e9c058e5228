"""What the log shows as text does the same as the handle did."""

import base64
from fractions import Fraction

from google.protobuf import json_format
from vitrine.v1 import router_pb2

from apps import qos_file
from controller import lines, queue_messages, queueing
from controller.queueing import RouterSettings
from labs.glass import relay
from tests.glass.browser import browser, needs_browser, page_of, serve_modules
from tests.glass.test_codec import base64_of

# Each handle once at least, as the page calls it.
ACTS = """
async (schema) => {
  const acts = await import("/glass/js/model/acts.js");
  const { readSchema } = await import("/glass/js/wire/schema.js");
  const { encode } = await import("/glass/js/wire/message.js");
  const bytes = Uint8Array.from(atob(schema), (each) => each.charCodeAt(0));
  const type = readSchema(bytes).message("vitrine.v1.ConfigureRequest");
  const packets = (count) => ({ packets: count, bytes: 0 });
  const stage = { queueing: "VOQ", rate_bps: 1e8, arbiter: "ROUND_ROBIN", iterations: 2,
                  voq_limit: packets(30), speedup: { over: 3, under: 2 }, lossy: true };
  return [
    acts.lineRate(2, 12_500_000), acts.queueCount(2, 3),
    acts.queueLimit(2, 1, 2, packets(50)), acts.queueLimit(2, 0, 2, { packets: 50, bytes: 64_000 }),
    acts.portLimit(3, { packets: 0, bytes: 64_000 }),
    acts.queueManagement(2, 0, 2, "codel"), acts.queueManagement(2, 0, 2, ""),
    acts.queueManagement(2, 0, 2, "codel", { target_ns: 5e6, interval_ns: 1e8, ecn: false }),
    acts.queueManagement(2, 0, 2, "ecn_step", { threshold: { packets: 20 } }),
    acts.queueManagement(2, 0, 1, "red", { profiles: [{ min: 20, max: 60, max_ppm: 100_000 }] }),
    acts.queueManagement(2, 0, 2, "pie", { target_ns: 15e6, alpha: { over: 1, under: 8 } }),
    acts.portShaper(2, 8e6), acts.portShaper(2, 0), acts.queueShaper(2, 1, 2, 2e6),
    acts.scheduler(2, "strict", [1, 1, 1]), acts.scheduler(2, "DRR", [3, 7]),
    acts.scheduler(2, "WFQ", [1, 2]),
    acts.sharedBuffer(1_000_000), acts.sharedBuffer(0),
    acts.inputStage(stage), acts.inputStage({ queueing: "NONE" }),
    acts.inputStage({ queueing: "FIFO", rate_bps: 1e8, limit: packets(100), arbiter: "ISLIP" }),
  ].map(({ title, request, yaml, python }) => ({
    title, yaml, python, bytes: btoa(String.fromCharCode(...encode(type, request))),
  }));
}
"""


class _Told:
    """Takes what the Python line would have configured."""

    def __init__(self, _session):
        pass

    def configure(self, settings):
        return settings if isinstance(settings, RouterSettings) else RouterSettings(settings)


def request_of(settings):
    """What a session sends for these settings."""
    request = router_pb2.ConfigureRequest()
    if settings.buffer_bytes is not None:
        request.buffer.size_bytes = settings.buffer_bytes
    if settings.input is not None:
        request.input.CopyFrom(queue_messages.input_message(settings.input))
    for number, port in settings.ports.items():
        config = queue_messages.port_message(port, port.queues)
        request.ports.add(port=number, config=config)
    return request


def normal(request):
    """Without what says nothing: a speedup of one, and one round."""
    text = json_format.MessageToDict(request, preserving_proto_field_name=True)
    stage = text.get("input", {})
    if stage.get("speedup") == {"over": 1, "under": 1}:
        del stage["speedup"]
    if stage.get("iterations") == 1:
        del stage["iterations"]
    if stage.get("queueing", "NONE") == "NONE" and "input" in text:
        text["input"] = {}
    return text


@needs_browser
def test_yaml_and_python_say_what_the_handle_did(tmp_path):
    with browser() as chromium, page_of(chromium) as page:
        serve_modules(page)
        acts = page.evaluate(ACTS, base64_of(relay.schema()))
    names = {**vars(queueing), "Fraction": Fraction, "Queues": _Told, "session": None}
    assert len(acts) > 20
    for act in acts:
        bytes_ = base64.b64decode(act["bytes"])
        wanted = normal(router_pb2.ConfigureRequest.FromString(bytes_))
        file = tmp_path / "act.yaml"
        file.write_text(act["yaml"])
        by_python = request_of(eval(act["python"], names))
        assert normal(by_python) == wanted, act
        by_yaml = normal(request_of(qos_file.load(file).router))
        # A file that speaks of classes says how many there are; the handle leaves them as they are.
        for told in (by_yaml, wanted):
            for port in told.get("ports", []):
                if not act["title"].endswith("queues"):
                    port["config"].pop("queue_count", None)
        assert by_yaml == wanted, act


# Of each handle of a cable, with what it says in words.
CABLES = """
async () => {
  const acts = await import("/glass/js/model/acts.js");
  const { readStalls, stallsYaml } = await import("/glass/js/model/amounts.js");
  const stalls = readStalls("5 % up to 1.2 ms");
  const bursty = { turns_bad_ppb: 1e7, turns_good_ppb: 5e8, while_bad_ppb: 1e9, while_good_ppb: 0 };
  const whole = { delay_ns: 2e6, jitter: { max_ns: 1e5, reorder: true }, stalls, loss: { bursty },
                  duplication_ppb: 1e6 };
  return [acts.cable(3, "transmit", { stalls }, `stalls: ${stallsYaml(stalls)}`),
          acts.cable(3, "receive", whole, "delay: 2 ms")].map(({ yaml, python }) => [yaml, python]);
}
"""


@needs_browser
def test_the_lines_of_cables_say_what_their_handles_did():
    with browser() as chromium, page_of(chromium) as page:
        serve_modules(page)
        (yaml, stalls), (_, whole) = page.evaluate(CABLES)
    # As topology files have it.
    assert yaml == "ports: {3: {stalls: {share: 5 %, max: 1.2 ms}}}"
    names = {**vars(lines), "Lines": _Cables, "session": None}
    late = lines.Stalls(share=0.05, max_us=1200)
    assert eval(stalls, names) == {3: lines.Cable(transmit=lines.Line(stalls=late))}
    loss = lines.BurstyLoss(turns_bad=0.01, turns_good=0.5, while_bad=1, while_good=0)
    line = lines.Line(2000, 100, late, reorder=True, loss=loss, duplication=0.001)
    assert eval(whole, names) == {3: lines.Cable(receive=line)}


class _Cables(_Told):
    """Takes what the Python line would have set of cables."""

    def configure(self, settings):
        return settings
