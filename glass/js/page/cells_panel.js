// Counters, meters and registers that belong to no table: their cells that are not zero.

import { count, rate } from "../words.js";
import { element, table } from "./dom.js";
import { read } from "./tables_panel.js";

const SHOWN_MAX = 256;

export class CellsPanel {
  constructor(glass, panel) {
    this.glass = glass;
    this.panel = panel;
    this.node = element("div", { tabindex: 0, role: "region", "aria-label": "Counters, meters and registers" });
  }

  entered() {
    this.node.replaceChildren();
  }

  // What has been read already is read again.
  wrote() {
    for (const button of this.node.querySelectorAll("button[data-read]")) button.click();
  }

  async show() {
    const { p4info } = await this.panel.of(this.glass.model);
    const parts = [
      ...p4info.counters.map((each) => this.part("Counter", each, () => ({ counter_entry: { counter_id: each.preamble.id } }), counterRow)),
      ...p4info.meters.map((each) => this.part("Meter", each, () => ({ meter_entry: { meter_id: each.preamble.id } }), meterRow)),
      ...p4info.registers.map((each) => this.part("Register", each, () => ({ register_entry: { register_id: each.preamble.id } }), registerRow)),
    ];
    const { readWords } = this.panel;
    if (readWords) parts.unshift(element("p", { class: "faint" }, readWords));
    this.node.replaceChildren(...(parts.length ? parts
      : [element("p", { class: "faint" }, "This program has none but those of its tables.")]));
  }

  part(kind, info, entity, rowOf) {
    const place = element("div", { class: "wide" });
    const button = element("button", { type: "button", "data-read": "", onclick: async () => {
      try {
        const cells = await read(this.glass.calls, this.glass.model, [entity()]);
        const rows = cells.map((each) => rowOf(each, info)).filter(Boolean);
        const head = { Counter: ["cell", "packets", "bytes"], Meter: ["cell", "committed", "peak"], Register: ["cell", "value"] }[kind];
        place.replaceChildren(table(`${count(rows.length)} of ${count(cells.length)} cells are not zero`, head, rows.slice(0, SHOWN_MAX)));
      } catch (error) {
        place.replaceChildren(element("p", { class: "refused", role: "alert" }, error.message));
      }
    } }, `Read ${info.preamble.alias}`);
    return element("div", {}, element("h3", {}, `${kind} ${info.preamble.alias}, ${count(info.size)} cells`), button, place);
  }
}

const cell = (index) => String(index?.index ?? 0);

function counterRow({ counter_entry: { index, data } }) {
  return data?.packet_count || data?.byte_count ? [cell(index), count(data.packet_count), count(data.byte_count)] : undefined;
}

// A meter counts packets, or bytes, which are shown as lines have them: in bits.
function meterRow({ meter_entry: { index, config } }, { spec }) {
  const say = (each) => (spec?.unit === "PACKETS" ? `${count(each)} packets/s` : rate(each * 8));
  return config ? [cell(index), say(config.cir), say(config.pir)] : undefined;
}

function registerRow({ register_entry: { index, data } }) {
  const bytes = data?.bitstring ?? [];
  const value = [...bytes].reduce((sum, each) => sum * 256n + BigInt(each), 0n);
  return value ? [cell(index), String(value)] : undefined;
}
