// Calls with messages instead of bytes, and refusals as sentences.

import { Clocks } from "./clocks.js";
import { decode, encode } from "./message.js";

export const ROUTER = "vitrine.v1.Router";
export const P4RUNTIME = "p4.v1.P4Runtime";
export const WORLD = "vitrine.v1.World";

// A router's refusal: one sentence, and the place of each problem.
export class Refusal extends Error {
  constructor(sentence, problems = [], code = 0) {
    super(sentence);
    this.code = code;
    this.problems = problems;
  }
}

export class Calls {
  constructor(way, schema) {
    this.way = way;
    this.schema = schema;
    this.clocks = new Clocks();
  }

  async call(router, service, name, request) {
    const [asks, gives] = this.types(service, name);
    try {
      const answer = await this.way.call(router, `/${service}/${name}`, encode(asks, request));
      return this.clocks.align(router, decode(gives, answer));
    } catch (error) {
      throw this.refusal(error);
    }
  }

  // listener: {next(message), ended(undefined or Refusal)}
  open(router, service, name, request, { next, ended }) {
    const [asks, gives] = this.types(service, name);
    const call = this.way.open(router, `/${service}/${name}`, {
      next: (bytes) => next(this.clocks.align(router, decode(gives, bytes))),
      ended: (error) => ended(error && this.refusal(error)),
    });
    if (request) {
      call.send(encode(asks, request));
    }
    return { ...call, send: (message) => call.send(encode(asks, message)) };
  }

  // The text of a source file of a program, by the name that the compiled program has for it.
  source(file) {
    return this.way?.source ? this.way.source(file) : Promise.reject(new Error("sources are not there"));
  }

  // The text of a lab's handout.
  handout(lab) {
    return this.way?.handout ? this.way.handout(lab) : Promise.reject(new Error("handouts are not there"));
  }

  types(service, name) {
    const file = service.slice(0, service.lastIndexOf("."));
    // The one call of P4Runtime whose messages are not named after it.
    const stem = name === "StreamChannel" ? "StreamMessage" : name;
    return ["Request", "Response"].map((end) => this.schema.message(`${file}.${stem}${end}`));
  }

  refusal(error) {
    if (!error.status) return error;
    const status = decode(this.schema.message("google.rpc.Status"), error.status);
    const problems = [];
    for (const { type_url: url, value } of status.details) {
      const name = url.slice(url.lastIndexOf("/") + 1);
      if (name === "vitrine.v1.Problem") problems.push(decode(this.schema.message(name), value));
    }
    const sentence = problems.length
      ? problems.map(({ place, found, advice }) => `${place}: ${found}; ${advice}`).join(". ")
      : status.message;
    return new Refusal(sentence, problems, status.code);
  }
}
