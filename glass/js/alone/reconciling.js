// The controllers of a scenario: they write what its routers begin with, and go on holding the
// primary's place while programs come and go.
//
// Entries follow a table that was renamed. Entries that do not fit a program are set aside, and tried again with the next one.

import { P4RUNTIME } from "../wire/calls.js";
import { fieldsOf, joined, lengthDelimited, varintField } from "../wire/fields.js";
import { decode } from "../wire/message.js";
import { actionWords, matchWords } from "../model/entries.js";
import { entriesOf } from "./carrying.js";
import { renamed, renamedTables } from "./renaming.js";

const SET_CONFIG = `/${P4RUNTIME}/SetForwardingPipelineConfig`, WRITE = `/${P4RUNTIME}/Write`;
// Fields of SetForwardingPipelineConfigRequest and of WriteRequest, and values of the first one's action
// and of the second one's atomicity.
//
// A field that is put behind a message counts, or replaces what the message had.
const DEVICE = 1, ACTION = 4, CONFIG = 5, ATOMICITY = 5;
const VERIFY_AND_COMMIT = 3, RECONCILE_AND_COMMIT = 5, ROLLBACK_ON_ERROR = 1;
// A router's answer to an entry that exists already.
const ALREADY_EXISTS = 6;

export class Reconciling {
  constructor(calls) {
    this.calls = calls;
    // By device: the request that loads, without a program; and the writes that do not fit the program,
    // in the order in which they were tried, as WriteRequests of one update.
    this.loads = new Map();
    this.aside = new Map();
    // And the P4Info of the program in force, and what has become of the tables of the program that was written for.
    this.infos = new Map();
    this.renamed = new Map();
    // Tables and actions of all programs that there were, by their numbers: to say what is set aside.
    this.tables = new Map();
    this.actions = new Map();
    // The swap that began last.
    this.last = Promise.resolve();
  }

  // A bid for the primary's place; its stream stays open.
  open(bytes) {
    return new Promise((resolve, reject) => {
      const call = this.calls.way.open("", `/${P4RUNTIME}/StreamChannel`, { next: () => resolve(), ended: reject });
      call.send(bytes);
    });
  }

  // `originals` are the programs that what is written was written for, where they are others.
  load(bytes, configs, originals) {
    const device = deviceOf(bytes), original = originals.get(device);
    this.loads.set(device, bytes);
    this.infos.set(device, this.infoOf(configs.get(device)));
    if (original) this.renamed.set(device, renamedTables(this.infoOf(original), this.infos.get(device)));
    return this.set(device, VERIFY_AND_COMMIT, configs.get(device));
  }

  infoOf(config) {
    const info = decode(this.calls.schema.message("p4.v1.ForwardingPipelineConfig"), config).p4info;
    for (const each of info.tables) this.tables.set(each.preamble.id, each);
    for (const each of info.actions) this.actions.set(each.preamble.id, each);
    return info;
  }

  set(device, action, config) {
    return this.calls.way.call("", SET_CONFIG, joined([
      this.loads.get(device), varintField(ACTION, action), lengthDelimited(CONFIG, config)]));
  }

  // Writes as much as fits, and sets the rest aside.
  async write(bytes) {
    try {
      await this.calls.way.call("", WRITE, joined([bytes, varintField(ATOMICITY, ROLLBACK_ON_ERROR)]));
    } catch (error) {
      if (!error.status) throw error;
      // Nothing of it was written.
      const { updates, ...head } = decode(this.calls.schema.message("p4.v1.WriteRequest"), bytes);
      const tables = this.renamed.get(head.device_id) ?? new Map();
      await this.tryEach(head.device_id, updates.map((each) => ({ ...head, updates: [renamed(each, tables)] })));
    }
  }

  // One at a time: an entry that does not fit delays no other. Resolves to the number of entries that fit.
  async tryEach(device, requests) {
    const rest = this.aside.get(device) ?? [];
    let fitted = 0;
    for (const request of requests) {
      try {
        await this.calls.call("", P4RUNTIME, "Write", request);
        fitted += 1;
      } catch (error) {
        if (error.code === undefined) throw error;
        // Another entry is in its place, written since or brought by the program.
        if (error.code !== ALREADY_EXISTS) rest.push(request);
      }
    }
    this.aside.set(device, rest);
    return fitted;
  }

  // Another program with the entries of the one before, as far as they fit. Resolves to how many entries
  // came back that had been set aside.
  swap(device, config) {
    const swapped = this.last.catch(() => {}).then(() => this.swapNow(device, config));
    this.last = swapped;
    return swapped;
  }

  // One swap comes after the other.
  async swapNow(device, config) {
    const aside = this.aside.get(device) ?? [], info = this.infoOf(config);
    const tables = renamedTables(this.infos.get(device), info);
    this.aside.set(device, []);
    try {
      // Without the tables that have other names now the router would forget their entries.
      if (tables.size) throw new Renamed();
      await this.set(device, RECONCILE_AND_COMMIT, config);
    } catch (error) {
      if (!error.status && !(error instanceof Renamed)) throw error;
      try {
        const updates = await entriesOf(this.calls, device);
        // With a program that cannot be loaded at all this rejects, and the old one stays.
        await this.set(device, VERIFY_AND_COMMIT, config);
        await this.tryEach(device, updates.map((each) => ({ ...this.headOf(device), updates: [renamed(each, tables)] })));
      } catch (refused) {
        this.aside.set(device, aside);
        throw refused;
      }
    }
    this.infos.set(device, info);
    return this.tryEach(device, aside);
  }

  // The sender of a write: the device, role and election id of the loaded program.
  headOf(device) {
    const type = this.calls.schema.message("p4.v1.SetForwardingPipelineConfigRequest");
    const { device_id, role, election_id } = decode(type, this.loads.get(device));
    return { device_id, role, election_id };
  }

  // [{device, words}] of the entries that are set aside: what was deleted does not count.
  get asideEntries() {
    return [...this.aside].flatMap(([device, requests]) => requests.flatMap(({ updates }) => updates)
      .filter(({ type }) => type !== "DELETE").map(({ entity }) => ({ device, words: this.wordsOf(entity) })));
  }

  wordsOf({ table_entry: entry, entity }) {
    const info = entry && this.tables.get(entry.table_id);
    if (!info) return (entity ?? "an entry").replaceAll("_", " ");
    const keys = entry.is_default_action ? "else" : matchWords(info, entry).join(", ");
    return `${info.preamble.alias}: ${keys}: ${actionWords(entry, this.actions)}`;
  }
}

class Renamed extends Error {}

function deviceOf(bytes) {
  for (const { number, value } of fieldsOf(bytes)) if (number === DEVICE) return value;
  return 0;
}
