// Cells of counters, meters and registers that are set by hand: what is written, and the same as text.
// Pure.

import { count, rate } from "../words.js";
import { integerOf, readValue } from "./entries.js";

const BITS_A_BYTE = 8;

// The editable values of a cell, in words: {name: [label, initial value]}.
export function fieldsOf(kind, info) {
  if (kind === "Register") return { value: [`value (${widthOf(info)} bits)`, "0"] };
  if (kind === "Counter") return { packets: ["packets", "0"], bytes: ["bytes", "0"] };
  const unit = isOfPackets(info) ? "packets/s" : "bit/s";
  const burst = isOfPackets(info) ? "packets" : "bytes";
  return { cir: [`committed rate (${unit})`, "1000"], cburst: [`committed burst (${burst})`, "1500"],
           pir: [`peak rate (${unit})`, "1000"], pburst: [`peak burst (${burst})`, "1500"] };
}

// The act that sets a cell to what was written, and the one that sets it back to the entity that was there.
export function cellAct(kind, info, index, written, before) {
  if (!/^\s*\d+\s*$/.test(index) || Number(index) >= info.size) throw new Error(`cell: write a number from 0 to ${info.size - 1}`);
  const place = { index: Number(index) };
  const act = (entity, title) => ({ title, updates: [{ type: "MODIFY", entity }], yaml: "", ...wordsOf(kind, info, entity) });
  const title = `${info.preamble.alias}: cell ${place.index} set`;
  return { act: act(entityOf(kind, info, place, written), title),
           undo: before && act(restored(kind, info, place, before), `Undone: ${title}`) };
}

export const entityAt = (kind, info, index) => ({
  Counter: { counter_entry: { counter_id: info.preamble.id, index: { index } } },
  Meter: { meter_entry: { meter_id: info.preamble.id, index: { index } } },
  Register: { register_entry: { register_id: info.preamble.id, index: { index } } },
}[kind]);

function entityOf(kind, info, { index }, written) {
  const entity = entityAt(kind, info, index);
  if (kind === "Register") {
    const bits = { name: info.preamble.alias, bitwidth: widthOf(info) };
    entity.register_entry.data = { bitstring: readValue(bits, written.value) };
  } else if (kind === "Counter") {
    entity.counter_entry.data = { packet_count: whole("packets", written.packets), byte_count: whole("bytes", written.bytes) };
  } else {
    // P4Runtime counts the bytes of a rate, people the bits.
    const rate = (name) => (isOfPackets(info) ? whole(name, written[name]) : Math.round(whole(name, written[name]) / BITS_A_BYTE));
    entity.meter_entry.config = { cir: rate("cir"), cburst: whole("cburst", written.cburst), pir: rate("pir"), pburst: whole("pburst", written.pburst) };
  }
  return entity;
}

function restored(kind, info, { index }, before) {
  const entity = entityAt(kind, info, index);
  if (kind === "Register") entity.register_entry.data = { bitstring: before.register_entry.data.bitstring };
  else if (kind === "Counter") entity.counter_entry.data = before.counter_entry.data;
  // Without rates a meter lets everything pass: it has none again.
  else if (before.meter_entry.config) {
    const { cir, cburst, pir, pburst } = before.meter_entry.config;
    entity.meter_entry.config = { cir, cburst, pir, pburst };
  }
  return entity;
}

function wordsOf(kind, { preamble: { alias, name } }, entity) {
  if (kind === "Register") {
    const { index, data } = entity.register_entry;
    return { python: `session.modify([Register("${alias}", ${index.index}, ${integerOf(data.bitstring)})])` };
  }
  if (kind === "Counter") {
    const { index, data } = entity.counter_entry;
    return { python: "", shell: [`ce = counter_entry["${name}"](index=${index.index})`, `ce.packet_count = ${data?.packet_count ?? 0}`,
                                 `ce.byte_count = ${data?.byte_count ?? 0}`, "ce.modify()"].join("\n") };
  }
  const { index, config } = entity.meter_entry;
  if (!config) return { python: "", shell: `me = meter_entry["${name}"](index=${index.index})\nme.modify()` };
  const rates = [config.cir, config.cburst, config.pir, config.pburst];
  return { python: `session.modify([Meter("${alias}", ${index.index}, ${rates.join(", ")})])` };
}

const widthOf = (info) => info.type_spec?.bitstring?.bit?.bitwidth ?? info.type_spec?.bitstring?.int?.bitwidth ?? 32;
const isOfPackets = (info) => info.spec?.unit === "PACKETS";

// A rate of a meter. One that counts bytes is shown as lines are: in bits.
export function meterRate(info, perSecond) {
  return isOfPackets(info) ? `${count(perSecond)} packets/s` : rate(perSecond * BITS_A_BYTE);
}

function whole(name, text) {
  if (!/^\s*\d+\s*$/.test(text)) throw new Error(`${name}: write a whole number`);
  return Number(text);
}
