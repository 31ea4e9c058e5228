// A scenario as a packet of files that people can read and change:
//
//   scenario.json    its title, which router it is about, which program each router runs
//   topology.json    the network: a vitrine.v1.BuildRequest
// setup.json       the initial entries, queues and applications, as controllers and hosts received them
// script.json      later changes, each with its instant
//   texts/...        the programs with all that they include, and their packet tests
//
// Whatever the kit has with this name is taken from these files; what they do not have is the kit's.

import { P4RUNTIME, WORLD } from "../wire/calls.js";
import { fromJson, toJson } from "../wire/json.js";
import { decode, encode } from "../wire/message.js";
import { base64Of, checked, Unreadable } from "./sharing.js";
import { bytesOf } from "./scenario.js";
import { NoZip, unzip, zipOf } from "./zip.js";

const UNPACKED_BYTES_MAX = 16 << 20;
const TEXTS = "texts/";
const ABOUT = ["title", "summary", "pace", "about", "programs", "settled_ps"];

// The zip of a scenario with these texts, of which `names` go along, and these acts.
export function packed({ scenario, files, names, acts, schema }) {
  const json = (value) => new TextEncoder().encode(`${JSON.stringify(value, null, 1)}\n`);
  const told = Object.fromEntries(ABOUT.map((name) => [name, scenario[name]]));
  const said = (method, bytes) => ({ method, request: toJson(typeOf(schema, method), decode(typeOf(schema, method), bytesOf(bytes))) });
  return zipOf([
    ["scenario.json", json({ vitrine: 1, base: scenario.name, ...told })],
    ["topology.json", json(toJson(typeOf(schema, BUILD), decode(typeOf(schema, BUILD), bytesOf(scenario.build))))],
    ["setup.json", json(scenario.said.map(([method, bytes]) => said(method, bytes)))],
    ["script.json", json(acts.map(([atPs, method, bytes]) => ({ at_ps: atPs, ...said(method, bytes) })))],
    ...names.map((name) => [`${TEXTS}${name}`, new TextEncoder().encode(files[name])]),
  ]);
}

// Unpacks a bundle into the share that sharing.js encodes in an address. `kit` has the texts, `scenarios` the possible bases.
export async function unpacked(zip, { schema, kit, scenarios }) {
  let files;
  try {
    files = await unzip(zip, UNPACKED_BYTES_MAX);
  } catch (error) {
    if (error instanceof NoZip) throw new Unreadable(error.message);
    throw error;
  }
  const text = new TextDecoder();
  const read = (name) => {
    if (!files.has(name)) throw new Unreadable(`This packet of files is no scenario: ${name} is missing.`);
    try {
      return JSON.parse(text.decode(files.get(name)));
    } catch (error) {
      throw new Unreadable(`${name}: ${error.message}.`);
    }
  };
  const message = (method, told, place) => {
    try {
      return base64Of(encode(typeOf(schema, method), fromJson(typeOf(schema, method), told, place)));
    } catch (error) {
      throw new Unreadable(`${error.message}.`);
    }
  };
  const list = (name) => {
    const told = read(name);
    if (!Array.isArray(told)) throw new Unreadable(`${name}: a list is expected.`);
    return told.map((each, index) => [each, message(each?.method, each?.request, `${name}[${index}]`)]);
  };
  const { vitrine, base, ...told } = read("scenario.json");
  const texts = [...files].filter(([name]) => name.startsWith(TEXTS)).map(([name, bytes]) => [name.slice(TEXTS.length), text.decode(bytes)]);
  const own = {
    ...Object.fromEntries(ABOUT.map((name) => [name, told[name]])),
    build: message(BUILD, read("topology.json"), "topology.json"),
    said: list("setup.json").map(([each, bytes]) => [each.method, bytes]),
  };
  const known = scenarios.find((each) => each.name === base);
  return checked({
    vitrine, base, files: Object.fromEntries(texts.filter(([name, each]) => each !== kit[name])),
    acts: list("script.json").map(([each, bytes]) => [each.at_ps, each.method, bytes]),
    // One that is as the kit has it needs not to be carried.
    ...(known && isSame(known, own, schema) ? {} : { own }),
  });
}

const BUILD = `/${WORLD}/Build`;

function typeOf(schema, method) {
  const [, service, name] = /^\/(vitrine\.v1\.World|vitrine\.v1\.Router|p4\.v1\.P4Runtime)\/(\w+)$/.exec(method) ?? [];
  const stem = service === P4RUNTIME && name === "StreamChannel" ? "StreamMessage" : name;
  const type = `${service?.slice(0, service.lastIndexOf("."))}.${stem}Request`;
  if (!service || !schema.has(type)) throw new Error(`“${method}” is no method that is known here`);
  return schema.message(type);
}

// Messages of the same meaning can have other bytes.
function isSame(known, own, schema) {
  const plain = ({ build, said, ...rest }) => JSON.stringify([
    ABOUT.map((name) => rest[name]), normal(schema, BUILD, build), said.map(([method, bytes]) => [method, normal(schema, method, bytes)])]);
  return plain(known) === plain(own);
}

function normal(schema, method, bytes) {
  return toJson(typeOf(schema, method), decode(typeOf(schema, method), bytesOf(bytes)));
}
