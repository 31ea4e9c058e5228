// A scenario set up in a world of the page's own: the messages that labs/scenarios wrote down, and
// programs that are compiled here.
//
// A scenario is the output of labs/scenarios/script.py, with `files`: the edited texts by their names. All other texts
// are the kit's.

import { P4RUNTIME, WORLD } from "../wire/calls.js";
import { decode } from "../wire/message.js";
import { Reconciling } from "./reconciling.js";

const SET_CONFIG = `/${P4RUNTIME}/SetForwardingPipelineConfig`, WRITE = `/${P4RUNTIME}/Write`;
const CHANNEL = `/${P4RUNTIME}/StreamChannel`, BUILD = `/${WORLD}/Build`;
// How far time passes between two words about how far it is.
const STEP_PS = 100e9;
// The last part of the time in which a network settles is watched: its rates are known when it is first seen.
export const WATCHED_PS = 600e9;

// A program that does not compile.
export class Faulty extends Error {
  constructor(name, said) {
    super(`${name} has mistakes`);
    Object.assign(this, { name, said });
  }
}

export class Running {
  // `calls` are those of a Calls, `kit` the texts by their names; `alter(running)` changes the network before any
  // time passes.
  constructor({ engine, calls, kit, scenario, alter }) {
    Object.assign(this, { engine, calls, kit, scenario, alter });
    this.files = { ...kit, ...scenario.files };
    // Texts that are part of the compiler and have been looked at, by name.
    this.given = new Map();
    // By program: what the compiler said last, and whether it is in force.
    this.compiled = new Map();
    this.controllers = new Reconciling(calls);
    // The acts of the scenario before it was shared: [instant, method, base64] of each.
    this.acts = scenario.acts ?? [];
    this.reachedPs = 0;
    // The acts that these programs do not allow: the router's sentences.
    this.refused = [];
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

  // The kit's version of an edited program, for which the entries were written.
  async original(name, files) {
    if (!(name in this.kit) || files.every((each) => this.files[each] === this.kit[each])) return undefined;
    return (await this.engine.compile(JSON.stringify({ main: name, files: this.kit }))).config;
  }

  // The language service's answer about a place: `question` is {ask, file, at, ...} of a program.
  edit(program, question) {
    return this.engine.edit(JSON.stringify({ ...question, main: program, files: this.files }));
  }

  // The result of a packet test of a program, by the test's name.
  test(program, test) {
    return this.engine.test(JSON.stringify({ main: program, test, files: this.files }));
  }

  // A packet that comes in by a port, as the parser of a program sees it.
  dissect(program, port, frame) {
    return this.engine.dissect(JSON.stringify({ main: program, port, frame, files: this.files }));
  }

  // The network as requested: a vitrine.v1.BuildRequest.
  get build() {
    return decode(this.calls.schema.message("vitrine.v1.BuildRequest"), bytesOf(this.scenario.build));
  }

  // Builds the network, programs its routers and lets it settle until an instant; calls
  // `onTime(ps)` as it gets there. Entries that do not fit a changed program are set aside.
  async begin(onTime = () => {}, untilPs = this.scenario.settled_ps) {
    const { scenario } = this;
    const configs = new Map(), originals = new Map();
    for (const [name, devices] of this.programs) {
      const { said, config } = await this.compile(name);
      if (!config) throw new Faulty(name, said);
      const original = await this.original(name, said.files);
      for (const device of devices) {
        configs.set(device, config);
        if (original) originals.set(device, original);
      }
    }
    await this.say(BUILD, bytesOf(scenario.build), configs);
    for (const [method, message] of scenario.said) await this.say(method, bytesOf(message), configs, originals);
    await this.alter?.(this);
    await this.pass(untilPs, onTime);
    for (const [instantPs, method, message] of this.acts) {
      await this.pass(instantPs, onTime);
      await this.act(method, bytesOf(message));
    }
  }

  // Repeats one act: a refused act delays no other.
  async act(method, bytes) {
    try {
      await this.say(method, bytes);
    } catch (error) {
      if (error.code === undefined) throw error;
      this.refused.push(error.message);
    }
  }

  // The failures with these programs, a sentence each.
  get remarks() {
    const count = this.controllers.asideEntries.length;
    const aside = count ? [`${count === 1 ? "One entry does" : `${count} entries do`} not fit and ${count === 1 ? "is" : "are"} set aside.`] : [];
    return [...aside, ...this.refused.map((each) => `What was done in it is not done again where it is refused: ${each}.`)];
  }

  // The entries that are set aside, each as a line.
  get aside() {
    const nameOf = (device) => this.scenario.network.routers.find(({ deviceId }) => deviceId === device)?.name ?? `router ${device}`;
    return this.controllers.asideEntries.map(({ device, words }) => `${nameOf(device)}, ${words}`);
  }

  // Lets time pass until an instant, unless it is over.
  async pass(untilPs, onTime) {
    while (this.reachedPs < untilPs) {
      const time_ps = Math.min(untilPs, this.reachedPs + STEP_PS);
      this.reachedPs = (await this.calls.call("", WORLD, "Advance", { time_ps })).time_ps;
      onTime(this.reachedPs);
    }
  }

  async say(method, bytes, configs, originals) {
    try {
      if (method === CHANNEL) await this.controllers.open(bytes);
      else if (method === SET_CONFIG) await this.controllers.load(bytes, configs, originals);
      else if (method === WRITE) await this.controllers.write(bytes);
      else await this.engine.way.call("", method, bytes);
    } catch (error) {
      throw this.calls.refusal(error);
    }
  }

  // Puts a program in force that has been compiled, at each of its routers; entries go along. Resolves to
  // how many came back that had been set aside before.
  async swap(name, config) {
    let back = 0;
    for (const device of this.programs.get(name)) {
      try {
        back += await this.controllers.swap(device, config);
      } catch (error) {
        throw this.calls.refusal(error);
      }
    }
    return back;
  }

  // The text of a file, by the name that the compiled program has for it: includes are found from the
  // file that names them.
  async source(file) {
    const parts = [];
    for (const part of file.split("/")) {
      if (part === "..") parts.pop();
      else if (part !== ".") parts.push(part);
    }
    const name = parts.join("/");
    await this.look([...this.programs.keys()][0], name);
    const text = this.text(name);
    if (text === undefined) throw new Error(`there is no text ${file}`);
    return text;
  }

  // A text by its name, as far as it is known here.
  text(name) {
    return this.files[name] ?? this.given.get(name);
  }

  // Asks the compiler for a text of its own.
  async look(program, name) {
    if (this.text(name) !== undefined) return;
    const found = await this.edit(program, { ask: "text", file: name });
    if (found) this.given.set(name, found.text);
  }

  get isThere() {
    return this.engine.isThere;
  }

  // The scene of the scenario, for the glass.
  get scene() {
    const { scenario } = this;
    return {
      world: "virtual", title: scenario.title, lesson: scenario.lesson, pace: scenario.pace,
      readOnly: false, isDriven: true, hasHosts: true, tellsHosts: true, began: "0", network: scenario.network,
      about: scenario.about, settledPs: scenario.settled_ps,
      routers: scenario.network.routers.map(({ name, deviceId }) => ({ name, deviceId, address: "" })),
    };
  }
}

// The scenario of a share: `base` is the kit's scenario of that name, if there is one.
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

// The network of a topology, for drawing; as `network_of` in labs/glass/scene.py.
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
