// The controllers of a scenario: they write what its routers begin with, and go on holding the
// primary's place while programs come and go.
//
// What does not fit a program is set aside, and tried again with the next one: a table that had another
// name for a while has its entries when it is called as before.

import { P4RUNTIME } from "../wire/calls.js";
import { fieldsOf, joined, lengthDelimited, varintField } from "../wire/fields.js";
import { decode } from "../wire/message.js";
import { entriesOf } from "./carrying.js";

const SET_CONFIG = `/${P4RUNTIME}/SetForwardingPipelineConfig`, WRITE = `/${P4RUNTIME}/Write`;
// Fields of SetForwardingPipelineConfigRequest and of WriteRequest, and values of the first one's action
// and of the second one's atomicity.
//
// A field that is put behind a message counts, or replaces what the message had.
const DEVICE = 1, ACTION = 4, CONFIG = 5, ATOMICITY = 5;
const VERIFY_AND_COMMIT = 3, RECONCILE_AND_COMMIT = 5, ROLLBACK_ON_ERROR = 1;
// What a router answers to an entry that is there already.
const ALREADY_EXISTS = 6;

export class Reconciling {
  constructor(calls) {
    this.calls = calls;
    // By device: the request that loads, without a program; and the writes that do not fit the program,
    // in the order in which they were tried, as WriteRequests of one update.
    this.loads = new Map();
    this.aside = new Map();
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

  load(bytes, configs) {
    const device = deviceOf(bytes);
    this.loads.set(device, bytes);
    return this.set(device, VERIFY_AND_COMMIT, configs.get(device));
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
      await this.tryEach(head.device_id, updates.map((each) => ({ ...head, updates: [each] })));
    }
  }

  // Each on its own: one that does not fit holds up no other. Resolves to how many did fit.
  async tryEach(device, requests) {
    const rest = this.aside.get(device) ?? [];
    let fitted = 0;
    for (const request of requests) {
      try {
        await this.calls.call("", P4RUNTIME, "Write", request);
        fitted += 1;
      } catch (error) {
        if (error.code === undefined) throw error;
        // Another one is in its place, which somebody has written since or the program brings along.
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
    const aside = this.aside.get(device) ?? [];
    this.aside.set(device, []);
    try {
      await this.set(device, RECONCILE_AND_COMMIT, config);
    } catch (error) {
      if (!error.status) throw error;
      try {
        const updates = await entriesOf(this.calls, device);
        // With a program that cannot be loaded at all this rejects, and the old one stays.
        await this.set(device, VERIFY_AND_COMMIT, config);
        await this.tryEach(device, updates.map((each) => ({ ...this.headOf(device), updates: [each] })));
      } catch (refused) {
        this.aside.set(device, aside);
        throw refused;
      }
    }
    return this.tryEach(device, aside);
  }

  // Who writes, as who has loaded.
  headOf(device) {
    const type = this.calls.schema.message("p4.v1.SetForwardingPipelineConfigRequest");
    const { device_id, role, election_id } = decode(type, this.loads.get(device));
    return { device_id, role, election_id };
  }

  // How many entries are set aside: what was deleted does not count.
  get asideCount() {
    const updates = [...this.aside.values()].flat().flatMap((each) => each.updates);
    return updates.filter((each) => each.type !== "DELETE").length;
  }
}

function deviceOf(bytes) {
  for (const { number, value } of fieldsOf(bytes)) if (number === DEVICE) return value;
  return 0;
}
