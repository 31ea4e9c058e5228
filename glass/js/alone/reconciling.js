// The controllers of a scenario: they have written what its routers begin with, and go on holding the
// primary's place while programs come and go.
//
// Messages stay bytes, as they were written down. A field that is put behind a message counts, or
// replaces what the message had: so a program and an action are added to a request.

import { P4RUNTIME } from "../wire/calls.js";
import { fieldsOf, joined, lengthDelimited, varintField } from "../wire/fields.js";

const SET_CONFIG = `/${P4RUNTIME}/SetForwardingPipelineConfig`, WRITE = `/${P4RUNTIME}/Write`;
// Fields of SetForwardingPipelineConfigRequest and of WriteRequest, and values of the first one's action.
const DEVICE = 1, ACTION = 4, CONFIG = 5, UPDATES = 4;
const VERIFY_AND_COMMIT = 3, RECONCILE_AND_COMMIT = 5;

export class Reconciling {
  constructor(way) {
    this.way = way;
    // By device: the request that loads, without a program; and what was written into tables.
    this.loads = new Map();
    this.written = new Map();
  }

  // A bid for the primary's place; its stream stays open.
  open(bytes) {
    return new Promise((resolve, reject) => {
      const call = this.way.open("", `/${P4RUNTIME}/StreamChannel`, { next: () => resolve(), ended: reject });
      call.send(bytes);
    });
  }

  load(bytes, configs) {
    const device = deviceOf(bytes);
    this.loads.set(device, bytes);
    return this.set(device, VERIFY_AND_COMMIT, configs.get(device));
  }

  write(bytes) {
    const device = deviceOf(bytes);
    this.written.set(device, [...(this.written.get(device) ?? []), bytes]);
    return this.way.call("", WRITE, bytes);
  }

  set(device, action, config) {
    return this.way.call("", SET_CONFIG, joined([
      this.loads.get(device), varintField(ACTION, action), lengthDelimited(CONFIG, config)]));
  }

  // Another program with the entries of the one before. Where not all of them fit, those that the
  // scenario began with are written anew, as far as they fit; resolves to what became of them, in
  // sentences, or to none. `words` makes a sentence of a refusal.
  async swap(device, config, words) {
    try {
      await this.set(device, RECONCILE_AND_COMMIT, config);
      return [];
    } catch (refused) {
      // With a program that cannot be loaded at all this rejects, and the old one stays.
      await this.set(device, VERIFY_AND_COMMIT, config);
      const lost = await this.rewrite(device);
      return [`The entries of the program before do not all fit: ${words(refused)}. Those of the scenario were `
        + `written anew${lost ? `, but for ${lost} that do not fit` : ""}.`];
    }
  }

  // How many of the entries do not fit.
  async rewrite(device) {
    let lost = 0;
    for (const bytes of this.written.get(device) ?? []) {
      const fields = [...fieldsOf(bytes)];
      const head = fields.filter((each) => each.number !== UPDATES).map((each) => each.whole);
      // Each on its own: one that does not fit holds up no other.
      for (const { whole } of fields.filter((each) => each.number === UPDATES)) {
        await this.way.call("", WRITE, joined([...head, whole])).catch(() => (lost += 1));
      }
    }
    return lost;
  }
}

function deviceOf(bytes) {
  for (const { number, value } of fieldsOf(bytes)) if (number === DEVICE) return value;
  return 0;
}
