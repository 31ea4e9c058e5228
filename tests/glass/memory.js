// The memory of a page with two routers and their hosts, filled for longer than there is room.

import { Flows } from "../../glass/js/model/flows.js";
import { Hosts } from "../../glass/js/model/hosts.js";
import * as memory from "../../glass/js/model/memory.js";
import { RouterModel } from "../../glass/js/model/router.js";
import { decode, encode } from "../../glass/js/wire/message.js";
import { readSchema } from "../../glass/js/wire/schema.js";
import { Router } from "./endurance.js";

const CHUNK_MS = 20;

// Fills until each router has reported this many events; the remembered data stay in `window.kept`.
export function fill(schema, eventsWanted) {
  const known = readSchema(Uint8Array.from(atob(schema), (each) => each.charCodeAt(0)));
  const flows = new Flows(), shares = memory.sharesOf(2);
  const models = ["s1", "s2"].map((name, index) => new RouterModel(name, index, flows, shares));
  const hosts = new Hosts(flows, shares.hosts);
  window.kept = { models, hosts };
  for (const model of models) {
    model.knowsPackets = true;
    const router = new Router();
    for (let ms = CHUNK_MS, events = 0; events < eventsWanted; ms += CHUNK_MS) {
      const time_ps = Math.round(ms * 1e9), told = router.until(ms);
      events += told.length;
      model.take(through(known.message("vitrine.v1.WatchResponse"), { events: told, sample: router.sample(time_ps), complete_until_ps: time_ps }));
      hosts.take(through(known.message("vitrine.v1.WatchHostsResponse"), {
        sample: { time_ps, hosts: [1, 2, 3].map((host) => ({ host: `h${host}`, connections: [{ local: "10.0.1.1:1", peer: `10.0.2.${host}:2`, bytes_sent: 2 ** 40 }] })) },
      }));
    }
  }
  flows.shrink();
  return {
    packets: models.map(({ insides }) => insides.bytes),
    curves: models.map(({ insides }) => insides.tracks.reduce((sum, each) => sum + 24 * each.times.length, 0)), steps: models.map(({ insides }) => insides.steps.length),
    samples: models.map(({ samples }) => samples.list.length * memory.sizeOf(samples.list.at(-1))),
    hosts: hosts.samples.length * memory.sizeOf(hosts.samples.at(-1)), notes: models.map(({ notes }) => notes.length),
  };
}

const through = (type, message) => decode(type, encode(type, message));
