// A scenario in the module, driven without a page: what it tells on streams, as it tells it.

import { Calls } from "../../glass/js/wire/calls.js";
import { Engine } from "../../glass/js/wire/engine.js";
import { FrameWay } from "../../glass/js/wire/frames.js";
import { readSchema } from "../../glass/js/wire/schema.js";
import { bytesOf, Running } from "../../glass/js/alone/scenario.js";

// Works as long as there is something to do; messages are read meanwhile.
export async function engineOf(address) {
  const bytes = await (await fetch(address)).arrayBuffer();
  const engine = await Engine.of(bytes);
  const way = new FrameWay((frame) => {
    engine.take(frame);
    soon();
  });
  const channel = new MessageChannel();
  const soon = () => channel.port2.postMessage(0);
  channel.port1.onmessage = () => {
    const until = performance.now() + 20;
    const wait = engine.work(() => performance.now(), () => performance.now() >= until);
    engine.frames().forEach((frame) => way.take(frame));
    if (wait === 0) soon();
  };
  return { way, compile: async (request) => engine.compile(request) };
}

// {streams: messages in base64 of each stream, by its place in `streams`: [method, request]}
export async function told({ module, schema, kit, scenario, streams, advances }) {
  const engine = await engineOf(module);
  const calls = new Calls(engine.way, readSchema(bytesOf(schema)));
  await new Running({ engine, calls, kit, scenario }).begin();
  const found = streams.map(() => []);
  streams.forEach(([method, request], place) => {
    const call = engine.way.open("", method, {
      next: (message) => found[place].push(btoa(Array.from(message, (each) => String.fromCharCode(each)).join(""))),
      ended: () => found[place].push("ended"),
    });
    call.send(bytesOf(request));
  });
  for (const request of advances) await engine.way.call("", "/vitrine.v1.World/Advance", bytesOf(request));
  // Messages of the last instant are in flight.
  await new Promise((resolve) => setTimeout(resolve, 200));
  return found;
}

// {compileMs, packets, seconds} for `span_ps` of the network's time; packets are those that its routers sent.
export async function measured({ module, schema, kit, scenario, span_ps }) {
  const engine = await engineOf(module);
  const calls = new Calls(engine.way, readSchema(bytesOf(schema)));
  const running = new Running({ engine, calls, kit, scenario });
  await running.begin();
  const [program] = running.programs.keys();
  const began = performance.now();
  await running.compile(program);
  const compiled = performance.now();
  const before = await departed(calls);
  const start = performance.now();
  await calls.call("", "vitrine.v1.World", "Advance", { span_ps });
  const seconds = (performance.now() - start) / 1000;
  return { compileMs: compiled - began, packets: await departed(calls) - before, seconds };
}

async function departed(calls) {
  const { ports } = await calls.call("", "vitrine.v1.Router", "Describe", { device_id: 1 });
  return ports.reduce((sum, port) => sum + port.counters.counters.departed.packets, 0);
}
