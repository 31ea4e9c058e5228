// Sends what handles do, as the primary controller of a role of the page's own.
//
// The router's controller keeps the role that it has: who is primary in one role does not disturb
// another. Of several pages the one that acted last is primary.

import { P4RUNTIME, ROUTER } from "../wire/calls.js";

const ROLE = "glass";

export class Steering {
  constructor(calls, model) {
    this.calls = calls;
    this.model = model;
    this.electionId = undefined;
  }

  // Changes the router's queues and lines; rejects with a Refusal that has the router's sentence.
  async configure(request) {
    const electionId = await this.primary();
    return this.calls.call(this.model.name, ROUTER, "Configure", {
      device_id: this.model.deviceId, role: ROLE, election_id: { high: 0, low: electionId }, ...request,
    });
  }

  // AddPort or RemovePort.
  async changePorts(method, request) {
    const electionId = await this.primary();
    return this.calls.call(this.model.name, ROUTER, method, {
      device_id: this.model.deviceId, role: ROLE, election_id: { high: 0, low: electionId }, ...request,
    });
  }

  // Tables, counters, registers: the updates of a P4Runtime WriteRequest.
  async write(updates) {
    const electionId = await this.primary();
    return this.calls.call(this.model.name, P4RUNTIME, "Write", {
      device_id: this.model.deviceId, role: ROLE, election_id: { high: 0, low: electionId }, updates,
    });
  }

  // The election id with which this page is primary of its role.
  primary() {
    if (!this.bid) this.bid = this.become();
    return this.bid;
  }

  become() {
    // Later is higher, so the last page to act wins.
    const electionId = Date.now();
    return new Promise((resolve, reject) => {
      const lose = () => {
        this.bid = undefined;
      };
      const stream = this.calls.open(this.model.name, P4RUNTIME, "StreamChannel", undefined, {
        next: ({ arbitration }) => {
          if (!arbitration) return;
          if (arbitration.status?.code) lose();
          resolve(electionId);
        },
        ended: (error) => {
          lose();
          reject(error ?? new Error("the router has ended the stream of its controllers"));
        },
      });
      stream.send({ arbitration: {
        device_id: this.model.deviceId, role: { name: ROLE }, election_id: { high: 0, low: electionId },
      } });
    });
  }
}
