// Where the page begins that has a recording in it, opened from a disk.

import { Glass } from "./page/glass.js";
import { WORLD_NAME } from "./page/hosts_watch.js";
import { applyTheme } from "./page/theme.js";
import { sayWhy } from "./page/whole.js";
import { Calls } from "./wire/calls.js";
import { decode } from "./wire/message.js";
import { RecordedWay } from "./wire/recorded_way.js";
import { readSchema } from "./wire/schema.js";
import { entries, unpack } from "./wire/tape.js";

const page = document.getElementById("page");

async function begin() {
  applyTheme();
  try {
    const tape = await unpack(document.getElementById("tape").textContent);
    const list = [...entries(tape)];
    const scene = JSON.parse(new TextDecoder().decode(list.find((each) => each.kind === "scene").message));
    const schema = readSchema(list.find((each) => each.kind === "schema").message);
    const way = new RecordedWay(list, scene.routers.map((each) => each.name), schema);
    const calls = new Calls(way, schema);
    const glass = new Glass(page, calls, scene, { play: (models, hosts) => play(models, hosts, list, calls) });
    way.align(calls.clocks);
    way.nowPs = () => glass.player.timePs;
    follow(glass, list, calls);
    // In the first picture it becomes known how long the recording is.
    requestAnimationFrame(() => open(glass.player));
    addEventListener("hashchange", () => open(glass.player));
    // For tests and for the curious.
    window.vitrine = glass;
  } catch (error) {
    sayWhy(page, "broken", error);
  }
}

// The address may name an instant, in seconds, at which time then stands: inside.html#at=1.234
function open(player) {
  const [, at] = /^#at=(\d+(?:\.\d+)?)$/.exec(location.hash) ?? [];
  if (at === undefined) return;
  player.pause();
  player.seek(Number(at) * 1e12);
}

// Puts the messages of each router into its model, and those of hosts into theirs.
function play(models, hosts, list, { clocks, schema }) {
  const described = schema.message("vitrine.v1.DescribeResponse"), watched = schema.message("vitrine.v1.WatchResponse");
  const watchedHosts = schema.message("vitrine.v1.WatchHostsResponse");
  for (const { kind, router, message } of list) {
    const model = models[router];
    const read = (type, name = model.name) => clocks.align(name, decode(type, message));
    if (kind === "describe") model.samples.describe(read(described));
    else if (kind === "samples") model.take({ ...read(watched), start: undefined });
    else if (kind === "packets") model.takePackets(read(watched));
    else if (kind === "hosts") hosts.take(read(watchedHosts, WORLD_NAME));
  }
}

// The packets that were followed through the program, of each router.
function follow({ models, side }, list, { clocks, schema }) {
  const type = schema.message("vitrine.v1.TraceResponse");
  const names = [...models.keys()];
  for (const { kind, router, message } of list) {
    if (kind !== "trace") continue;
    const { steps } = clocks.align(names[router], decode(type, message));
    side.followed(models.get(names[router]), steps);
  }
}

begin();
