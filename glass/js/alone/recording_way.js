// A way that records each change and its instant: the script of a shared scenario.

import { fieldsOf } from "../wire/fields.js";
import { base64Of, CHANGING } from "./sharing.js";

const ADVANCE = "/vitrine.v1.World/Advance", CHANNEL = "/p4.v1.P4Runtime/StreamChannel";
// The instant, in an AdvanceResponse.
const TIME = 1;

export class RecordingWay {
  constructor(way, acts, reachedPs) {
    Object.assign(this, { way, acts: [...acts], reachedPs });
  }

  async call(router, method, bytes) {
    const answer = await this.way.call(router, method, bytes);
    if (method === ADVANCE) this.reachedPs = timeOf(answer) ?? this.reachedPs;
    // A refused call has changed nothing.
    else if (CHANGING.has(method)) this.keep(method, bytes);
    return answer;
  }

  open(router, method, listener) {
    const call = this.way.open(router, method, listener);
    if (method !== CHANNEL) return call;
    return { ...call, send: (bytes) => {
      this.keep(method, bytes);
      call.send(bytes);
    } };
  }

  keep(method, bytes) {
    this.acts.push([this.reachedPs, method, base64Of(bytes)]);
  }
}

function timeOf(answer) {
  for (const { number, value } of fieldsOf(answer)) if (number === TIME) return value;
  return undefined;
}
