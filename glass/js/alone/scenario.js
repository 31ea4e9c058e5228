// A scenario set up in a world of the page's own: the messages that labs/scenarios wrote down, and
// programs that are compiled here.
//
// A scenario is what labs/scenarios/script.py writes, with `files`: the texts that somebody has
// changed, by their names. All others are the kit's.

import { P4RUNTIME, WORLD } from "../wire/calls.js";
import { decode } from "../wire/message.js";
import { Reconciling } from "./reconciling.js";

const SET_CONFIG = `/${P4RUNTIME}/SetForwardingPipelineConfig`, WRITE = `/${P4RUNTIME}/Write`;
const CHANNEL = `/${P4RUNTIME}/StreamChannel`, BUILD = `/${WORLD}/Build`;
// How far time passes between two words about how far it is.
const STEP_PS = 100e9;

// A program that does not compile.
export class Faulty extends Error {
  constructor(name, said) {
    super(`${name} has mistakes`);
    Object.assign(this, { name, said });
  }
}

export class Running {
  // `calls` are those of a Calls, `kit` the texts by their names.
  constructor({ engine, calls, kit, scenario }) {
    Object.assign(this, { engine, calls, scenario });
    this.files = { ...kit, ...scenario.files };
    // By program: what the compiler said last, and whether it is in force.
    this.compiled = new Map();
    this.controllers = new Reconciling(engine.way);
    // What was done in it before it was shared: [instant, method, base64] of each.
    this.acts = scenario.acts ?? [];
    this.reachedPs = 0;
  }

  // The programs that routers run, by name, with the numbers of their devices.
  get programs() {
    const found = new Map();
    for (const [device, name] of Object.entries(this.scenario.programs)) {
      if (!found.has(name)) found.set(name, []);
      found.get(name).push(Number(device));
    }
    return found;
  }

  // {said, config}: what the compiler has to say of a program as the texts are now.
  async compile(name) {
    const found = await this.engine.compile(JSON.stringify({ main: name, files: this.files }));
    this.compiled.set(name, found);
    return found;
  }

  // What the language service says about a place: `question` is {ask, file, at, ...} of a program.
  edit(program, question) {
    return this.engine.edit(JSON.stringify({ ...question, main: program, files: this.files }));
  }

  // What came of a packet test of a program, by its name.
  test(program, test) {
    return this.engine.test(JSON.stringify({ main: program, test, files: this.files }));
  }

  // A packet that comes in by a port, as the parser of a program sees it.
  dissect(program, port, frame) {
    return this.engine.dissect(JSON.stringify({ main: program, port, frame, files: this.files }));
  }

  // The network as it was asked for: a vitrine.v1.BuildRequest.
  get build() {
    return decode(this.calls.schema.message("vitrine.v1.BuildRequest"), bytesOf(this.scenario.build));
  }

  // Builds the network, programs its routers and lets it settle; `onTime(ps)` tells how far it is.
  async begin(onTime = () => {}) {
    const { scenario } = this;
    const configs = new Map();
    for (const [name, devices] of this.programs) {
      const { said, config } = await this.compile(name);
      if (!config) throw new Faulty(name, said);
      for (const device of devices) configs.set(device, config);
    }
    await this.say(BUILD, bytesOf(scenario.build), configs);
    for (const [method, message] of scenario.said) await this.say(method, bytesOf(message), configs);
    await this.pass(scenario.settled_ps, onTime);
    for (const [instantPs, method, message] of this.acts) {
      await this.pass(instantPs, onTime);
      await this.say(method, bytesOf(message), configs);
    }
  }

  // Lets time pass until an instant, unless it is over.
  async pass(untilPs, onTime) {
    while (this.reachedPs < untilPs) {
      const time_ps = Math.min(untilPs, this.reachedPs + STEP_PS);
      this.reachedPs = (await this.calls.call("", WORLD, "Advance", { time_ps })).time_ps;
      onTime(this.reachedPs);
    }
  }

  async say(method, bytes, configs) {
    try {
      if (method === CHANNEL) await this.controllers.open(bytes);
      else if (method === SET_CONFIG) await this.controllers.load(bytes, configs);
      else if (method === WRITE) await this.controllers.write(bytes);
      else await this.engine.way.call("", method, bytes);
    } catch (error) {
      throw this.calls.refusal(error);
    }
  }

  // Puts a program in force that has been compiled, at each of its routers; entries go along. What
  // could not go along is told, a sentence each.
  async swap(name, config) {
    const remarks = [];
    for (const device of this.programs.get(name)) {
      try {
        const words = (error) => this.calls.refusal(error).message;
        remarks.push(...await this.controllers.swap(device, config, words));
      } catch (error) {
        throw this.calls.refusal(error);
      }
    }
    return [...new Set(remarks)];
  }

  // The text of a file, by the name that the compiled program has for it: includes are found from the
  // file that names them.
  async source(file) {
    const parts = [];
    for (const part of file.split("/")) {
      if (part === "..") parts.pop();
      else if (part !== ".") parts.push(part);
    }
    const text = this.files[parts.join("/")];
    if (text === undefined) throw new Error(`${file} is part of the compiler`);
    return text;
  }

  // What the glass is told of it.
  get scene() {
    const { scenario } = this;
    return {
      world: "virtual", title: scenario.title, lesson: scenario.lesson, pace: scenario.pace,
      readOnly: false, isDriven: true, hasHosts: true, tellsHosts: true, began: "0", network: scenario.network,
      about: scenario.about,
      routers: scenario.network.routers.map(({ name, deviceId }) => ({ name, deviceId, address: "" })),
    };
  }
}

// The scenario of what was shared: `base` is the kit's of that name, if there is one.
export function scenarioOf({ base: name, files, acts, own }, base, schema) {
  if (!own) return { ...base, files, acts };
  const { topology } = decode(schema.message("vitrine.v1.BuildRequest"), bytesOf(own.build));
  const network = networkOf(topology ?? { hosts: [], routers: [], cables: [] });
  const devices = network.routers.map((each) => String(each.deviceId)).sort();
  if (!network.routers.some((each) => each.name === own.about.router) || String(Object.keys(own.programs).sort()) !== String(devices)) {
    throw new Error("This scenario is damaged: each router of its network needs a program, and it has to be about one of them.");
  }
  return { ...own, name, own, network, files, acts, group: "", lesson: "" };
}

// What a drawing needs of a topology; as `network_of` in labs/glass/scene.py.
function networkOf({ hosts, routers, cables }) {
  return {
    hosts: hosts.map(({ name, addresses }) => ({ name, addresses: addresses.map((each) => each.split("/")[0]) })),
    routers: routers.map(({ name, device_id: deviceId }) => ({ name, deviceId })),
    cables: cables.map(({ one, other }) => [one, other].map((end) => ({ node: end?.node, port: end?.port ?? 0 }))),
  };
}

export function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
}
