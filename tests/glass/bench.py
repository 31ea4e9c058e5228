"""How smoothly the page draws: python -m tests.glass.bench [--seconds 20] [--packets 5000]

A recording made here is played in Chromium: eight ports whose queues hold the packets, all of them
in sight, while packets come and leave all the time. Told are the lengths of frames (from one
picture to the next, as the browser grants them) and of the page's own work in each, both at the
95th percentile; and how the page's memory grows while it plays on.

Without a display Chromium draws in software, so the frames are the machine's as much as the page's;
what else runs on the machine shows, too. Make a quiet one for numbers to keep.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from vitrine.v1 import router_pb2 as pb

from labs import routers
from labs.glass import tape
from tests.glass.browser import browser, page_of
from tests.glass.router_double import head

PORTS = 8
FLOWS = 8
LENGTH = 1514
# Between two packets of a line at 1 Gb/s.
GAP_PS = LENGTH * 8 * 1000
# A picture is granted 60 times a second.
FRAME_MS = 1000 / 60
SPAN_PS = 40_000_000_000
# The whole span is played in a minute of the viewer's.
PACE = 6e-4


def main(arguments: list[str]) -> int:
    """Returns the exit status: 1 if the page's own work takes longer than a frame."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--packets", type=int, default=5000)
    parser.add_argument("--ports", type=int, default=PORTS)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "inside.html"
        recording(chosen.packets, chosen.ports).write(file)
        found = measured(file, chosen.seconds)
    print(json.dumps(found, indent=2))
    print(
        f"{found['packets']} packets in sight: a frame takes {found['frame_p95_ms']:.1f} ms at the "
        f"95th percentile, of which the page works {found['work_p95_ms']:.1f} ms; software "
        f"rendering, load {os.getloadavg()[0]:.1f}."
    )
    return int(found["work_p95_ms"] > FRAME_MS)


def recording(packets: int, ports: int = PORTS) -> tape.Tape:
    """A tape of a router whose queues hold so many packets together, all the time."""
    each = packets // ports
    told = tape.Tape("a bench")
    network = {"hosts": [], "cables": [], "routers": [{"name": "s1", "deviceId": 1}]}
    told.begin(routers.Up({"s1": ""}, network=network))
    told.take(tape.Entry(tape.DESCRIBE, 0, configuration(ports, each).SerializeToString(), 0))
    events = list(happening(ports, each))
    for at in range(0, len(events), 500):
        message = pb.WatchResponse(events=events[at : at + 500])
        if at == 0:
            message.start.SetInParent()
        entry = tape.Entry(tape.PACKETS, 0, message.SerializeToString(), events[at].time_ps)
        told.entries.append(entry)
    return told


def configuration(ports: int, limit: int) -> pb.DescribeResponse:
    answer = pb.DescribeResponse()
    for number in range(1, ports + 1):
        port = answer.ports.add(port=number)
        port.config.rate_bps = 1_000_000_000
        port.config.queue_count = 1
        port.config.queues.add(limit=pb.Limit(packets=limit))
    answer.input.queueing = pb.NONE
    answer.buffer.SetInParent()
    return answer


def happening(ports: int, each: int) -> Iterator[pb.Event]:
    """Every queue is full from the beginning, and for each packet that leaves another comes."""
    number = 0
    heads = [head(f"10.0.{flow}.1", "10.0.9.1", 40000 + flow) for flow in range(FLOWS)]
    waiting: dict[int, list[int]] = {port: [] for port in range(1, ports + 1)}
    for port, queue in waiting.items():
        for _ in range(each):
            number += 1
            queue.append(number)
            place = pb.QueueRef(port=port)
            inside = pb.PacketInside(
                input=port, length_bytes=LENGTH, head=heads[number % FLOWS], queued=place
            )
            yield pb.Event(packet=pb.PacketEvent(packet=number, inside=inside))
    for now in range(GAP_PS, SPAN_PS, GAP_PS):
        for port, queue in waiting.items():
            number += 1
            gone = queue.pop(0)
            queue.append(number)
            place = pb.QueueRef(port=port)
            received = pb.PacketReceived(
                port=port % ports + 1, length_bytes=LENGTH, head=heads[number % FLOWS]
            )
            sent = pb.PacketTransmitted(port=port, length_bytes=LENGTH, until_ps=now + GAP_PS)
            for packet, step in (
                (gone, {"departed": pb.PacketDeparted(queue=place)}),
                (gone, {"transmitted": sent}),
                (number, {"received": received}),
                (number, {"queued": place}),
            ):
                yield pb.Event(time_ps=now, packet=pb.PacketEvent(packet=packet, **step))


# Frames as the browser grants them, and what the page itself did in each.
_COUNT = """
async (seconds) => {
  const { player } = vitrine;
  player.seek(player.startPs);
  player.play();
  const frames = [], works = [];
  let last, most = 0;
  const end = performance.now() + seconds * 1000;
  await new Promise((done) => {
    const frame = (now) => {
      if (last !== undefined) frames.push(now - last);
      last = now;
      works.push(vitrine.frameMs);
      most = Math.max(most, vitrine.model.insides.at(player.timePs).packets.size);
      if (player.timePs >= player.toldPs) player.seek(player.startPs);
      if (now < end) requestAnimationFrame(frame);
      else done();
    };
    requestAnimationFrame(frame);
  });
  const p95 = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length * 0.95)];
  return {
    packets: most, pictures: frames.length, frame_p95_ms: p95(frames), work_p95_ms: p95(works),
  };
}
"""


def measured(file: Path, seconds: float) -> dict[str, float]:
    """What a page with this recording needs."""
    with browser() as chromium, page_of(chromium, viewport={"width": 1600, "height": 1000}) as page:
        page.goto(file.as_uri())
        page.wait_for_function("() => window.vitrine?.player.toldPs > 0")
        page.evaluate(f"vitrine.player.setPace({PACE})")
        # Once to warm up: everything is compiled and decoded by then.
        page.evaluate(_COUNT, 3)
        before = _heap_bytes(page)
        found = page.evaluate(_COUNT, seconds)
        return {**found, "heap_before_bytes": before, "heap_after_bytes": _heap_bytes(page)}


def _heap_bytes(page: object) -> int:
    session = page.context.new_cdp_session(page)  # type: ignore[attr-defined]
    session.send("HeapProfiler.collectGarbage")
    return int(session.send("Runtime.getHeapUsage")["usedSize"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
