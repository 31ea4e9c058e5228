// Where the page begins that has a recording in it, opened from a disk.

import { Glass } from "./page/glass.js";
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
    const glass = new Glass(page, new Calls(way, schema), scene, (models, hosts) => play(models, hosts, list, schema));
    way.nowPs = () => glass.player.timePs;
    follow(glass, list, schema);
    // For tests and for the curious.
    window.vitrine = glass;
  } catch (error) {
    sayWhy(page, "broken", error);
  }
}

// What each router told, into its model; what hosts told, into theirs.
function play(models, hosts, list, schema) {
  const described = schema.message("vitrine.v1.DescribeResponse"), watched = schema.message("vitrine.v1.WatchResponse");
  const watchedHosts = schema.message("vitrine.v1.WatchHostsResponse");
  for (const { kind, router, message } of list) {
    const model = models[router];
    if (kind === "describe") model.samples.describe(decode(described, message));
    else if (kind === "samples") model.take({ ...decode(watched, message), start: undefined });
    else if (kind === "packets") model.takePackets(decode(watched, message));
    else if (kind === "hosts") hosts.take(decode(watchedHosts, message));
  }
}

// The packets that were followed through the program, of each router.
function follow({ models, side }, list, schema) {
  const type = schema.message("vitrine.v1.TraceResponse");
  const names = [...models.keys()];
  for (const { kind, router, message } of list) {
    if (kind === "trace") side.followed(models.get(names[router]), decode(type, message).steps);
  }
}

begin();
