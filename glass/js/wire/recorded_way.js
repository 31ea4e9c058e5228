// A way to routers that are gone: what they answered while they were recorded, as of an instant.

import { decode, encode } from "./message.js";

const CONFIG = "/p4.v1.P4Runtime/GetForwardingPipelineConfig", READ = "/p4.v1.P4Runtime/Read";
// The instant before a reading, in bytes.
const INSTANT_BYTES = 8;
const CELLS = { counter_entry: "counter_id", meter_entry: "meter_id", register_entry: "register_id" };

export class RecordedWay {
  // `names` are the routers', in the order in which the recording numbers them.
  constructor(entries, names, schema) {
    this.schema = schema;
    this.names = names;
    this.programs = new Map();
    // By router: [{timePs, entities}], rising.
    this.readings = new Map(names.map((name) => [name, []]));
    this.sources = new Map();
    // Answers are as of this instant.
    this.nowPs = () => Infinity;
    for (const { kind, router, message } of entries) this.take(kind, names[router], message);
  }

  take(kind, name, message) {
    if (kind === "program") this.programs.set(name, message);
    if (kind === "sources") {
      for (const [file, text] of Object.entries(JSON.parse(new TextDecoder().decode(message)))) this.sources.set(file, text);
    }
    if (kind !== "entries") return;
    const timePs = Number(new DataView(message.buffer, message.byteOffset).getBigUint64(0));
    const type = this.schema.message("p4.v1.ReadResponse");
    this.readings.get(name).push({ timePs, entities: decode(type, message.subarray(INSTANT_BYTES)).entities });
  }

  // Moves instants onto the common clock.
  align(clocks) {
    for (const [name, all] of this.readings) for (const each of all) each.timePs += clocks.aheadPs(name);
  }

  // The entries of tables: the last reading that is not later, else the first one.
  reading(name) {
    const all = this.readings.get(name) ?? [];
    return all.findLast((each) => each.timePs <= this.nowPs()) ?? all[0];
  }

  async call(name, method) {
    if (method === CONFIG && this.programs.has(name)) return this.programs.get(name);
    throw new Error(method === CONFIG ? "the recording has none" : "a recording cannot be asked for that");
  }

  open(name, method, { next, ended }) {
    const asked = [];
    const answer = () => {
      const reading = this.reading(name);
      if (method !== READ || !reading) return ended(new Error("it is not in the recording"));
      const found = reading.entities.filter((each) => asked.some((wanted) => isAsked(wanted, each)));
      next(encode(this.schema.message("p4.v1.ReadResponse"), { entities: found }));
      return ended();
    };
    return {
      send: (bytes) => asked.push(...decode(this.schema.message("p4.v1.ReadRequest"), bytes).entities),
      done: () => queueMicrotask(answer),
      cancel: () => {},
    };
  }

  async source(file) {
    if (!this.sources.has(file)) throw new Error("the recording has no such source");
    return this.sources.get(file);
  }
}

// Whether the page requests an entity, as far as it requests any.
function isAsked(wanted, { kind, entity, ...found }) {
  const name = Object.keys(CELLS).find((each) => wanted[each] && found[each]);
  if (name) return wanted[name][CELLS[name]] === found[name][CELLS[name]];
  const [asks, has] = [wanted.table_entry, found.table_entry];
  if (!asks || !has) return false;
  return asks.is_default_action === has.is_default_action && (!asks.table_id || asks.table_id === has.table_id);
}
