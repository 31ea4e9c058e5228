// Cells that are set by hand: what is written, and the lines that say the same.

import { cellAct, fieldsOf, meterRate } from "../../glass/js/model/cells.js";
import { holds, same } from "./check.js";

const named = (id, alias, more) => ({ preamble: { id, alias, name: `ingress.${alias}` }, size: 8, ...more });
const REGISTER = named(3, "seen", { type_spec: { bitstring: { bit: { bitwidth: 16 } } } });
const PACKETS = named(4, "punts", { spec: { unit: "PACKETS" } }), BYTES = named(5, "rates", { spec: { unit: "BYTES" } });

export function a_register_is_set_and_set_back() {
  const before = { register_entry: { data: { bitstring: Uint8Array.from([1, 2]) } } };
  const { act, undo } = cellAct("Register", REGISTER, "3", { value: "0x1ff" }, before);
  const [{ type, entity }] = act.updates;
  same([type, entity.register_entry.register_id, entity.register_entry.index], ["MODIFY", 3, { index: 3 }]);
  same([...entity.register_entry.data.bitstring], [1, 255]);
  same(act.python, 'session.modify([Register("seen", 3, 511)])');
  same(undo.python, 'session.modify([Register("seen", 3, 258)])');
}

export function meters_are_shown_and_set_in_what_they_count() {
  same(meterRate(PACKETS, 1000), "1,000 packets/s");
  same(meterRate(BYTES, 1000), "8 kb/s");
  const written = { cir: "8000", cburst: "1500", pir: "16000", pburst: "3000" };
  const config = (info) => cellAct("Meter", info, "0", written).act.updates[0].entity.meter_entry.config;
  same(config(PACKETS), { cir: 8000, cburst: 1500, pir: 16000, pburst: 3000 });
  same(config(BYTES), { cir: 1000, cburst: 1500, pir: 2000, pburst: 3000 });
  holds(fieldsOf("Meter", BYTES).cir[0].includes("bit/s"), "bytes are told in bits");
  // A meter that had no rates has none again.
  same(cellAct("Meter", BYTES, "0", written, { meter_entry: {} }).undo.updates[0].entity.meter_entry.config, undefined);
}

export function what_is_no_cell_is_refused() {
  for (const [index, value, part] of [["8", "1", "0 to 7"], ["x", "1", "0 to 7"], ["1", "70000", "16 bits"], ["1", "much", "understood"]]) {
    let said = "";
    try {
      cellAct("Register", REGISTER, index, { value });
    } catch (error) {
      said = error.message;
    }
    holds(said.includes(part), `${index}, ${value}: ${said}`);
  }
}
