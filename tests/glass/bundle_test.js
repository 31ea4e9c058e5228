// Packets of files and messages as JSON: what was written is read, and nothing else is.

import { unzip, zipOf } from "../../glass/js/alone/zip.js";
import { fromJson, toJson } from "../../glass/js/wire/json.js";
import { decode, encode } from "../../glass/js/wire/message.js";
import { Enum, Type } from "../../glass/js/wire/schema.js";
import { holds, same } from "./check.js";

const bytes = (text) => new TextEncoder().encode(text);

async function refusal(act) {
  try {
    await act();
  } catch (error) {
    return error.message;
  }
  return "";
}

export async function files_come_out_as_they_went_in() {
  const files = [["scenario.json", bytes("{}")], ["texts/a/b.p4", bytes("control ".repeat(1000))], ["empty", bytes("")], ["ü", bytes("é")]];
  const zip = await zipOf(files);
  holds(zip.length < 2000, "it is packed");
  same([...await unzip(zip, 1 << 20)].map(([name, each]) => [name, new TextDecoder().decode(each)]),
       files.map(([name, each]) => [name, new TextDecoder().decode(each)]));
  same(await zipOf(files), zip, "the same files make the same packet");
}

export async function what_is_none_or_unpacks_to_too_much_is_refused() {
  const zip = await zipOf([["a", new Uint8Array(1 << 20)]]);
  holds(/too large/.test(await refusal(() => unzip(zip, 1000))), "a bomb");
  holds(/no packet of files/.test(await refusal(() => unzip(bytes("rubbish".repeat(10)), 1000))), "rubbish");
  for (let at = 0; at < zip.length; at += 7) {
    const spoilt = zip.slice();
    spoilt[at] ^= 0xff;
    const said = await refusal(() => unzip(spoilt, 2 << 20));
    holds(said === "" || /packet of files/.test(said), `${at}: ${said}`);
  }
}

function types() {
  const colour = new Enum(), inner = new Type("Inner"), outer = new Type("Outer");
  colour.add("RED", 0);
  colour.add("BLUE", 1);
  inner.add({ name: "mac", number: 1, kind: "bytes" });
  inner.add({ name: "rate_bps", number: 2, kind: "uint64", optional: true });
  outer.add({ name: "name", number: 1, kind: "string" });
  outer.add({ name: "list", number: 2, kind: "message", repeated: true, type: inner });
  outer.add({ name: "colour", number: 3, kind: "enum", type: colour });
  outer.add({ name: "on", number: 4, kind: "bool" });
  return outer;
}

export function a_message_is_the_same_after_it_was_json() {
  const type = types();
  const message = { name: "s1", list: [{ mac: Uint8Array.of(2, 0, 255), rate_bps: 0 }, {}], colour: "BLUE" };
  const told = toJson(type, decode(type, encode(type, message)));
  same(told, { name: "s1", list: [{ mac: "0200ff", rate_bps: 0 }, {}], colour: "BLUE" });
  same([...encode(type, fromJson(type, JSON.parse(JSON.stringify(told))))], [...encode(type, message)]);
}

export async function what_is_not_of_the_type_is_refused_with_its_place() {
  const type = types();
  for (const [told, wanted] of [
    [{ nam: "s1" }, "Outer.nam: there is no such field"],
    [{ list: {} }, "Outer.list: a list is expected"],
    [{ list: [{ mac: "0" }] }, "Outer.list[0].mac: a text of pairs of digits is expected"],
    [{ list: [{ rate_bps: 1.5 }] }, "Outer.list[0].rate_bps: a whole number is expected"],
    [{ colour: "GREEN" }, "Outer.colour: one of RED, BLUE is expected"],
    [[], "Outer: an object is expected"],
  ]) same(await refusal(() => fromJson(type, told)), wanted);
}
