// Counters, meters and registers that belong to no table: their cells that are not zero, and a form that
// sets one. That goes through the log, where it can be taken back.

import { cellAct, entityAt, fieldsOf, meterRate } from "../model/cells.js";
import { integerOf } from "../model/entries.js";
import { count } from "../words.js";
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

  // Reads the cells that were read before again.
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
    return element("div", {}, element("h3", {}, `${kind} ${info.preamble.alias}, ${count(info.size)} cells`), button, place,
                   this.glass.side.handles ? this.form(kind, info) : "");
  }

  form(kind, info) {
    const field = (label, value) => {
      const input = element("input", { type: "text", value });
      return { input, node: element("label", { class: "field" }, label, input) };
    };
    const place = field("cell", "0");
    const fields = Object.entries(fieldsOf(kind, info)).map(([name, [label, value]]) => ({ name, ...field(label, value) }));
    const form = element("form", { "aria-label": `Set a cell of ${info.preamble.alias}`, onsubmit: (event) => {
      event.preventDefault();
      this.set(kind, info, place.input.value, Object.fromEntries(fields.map(({ name, input }) => [name, input.value])), form);
    } }, place.node, ...fields.map(({ node }) => node), element("div", { class: "row" }, element("button", { type: "submit" }, "Set")));
    return element("details", {}, element("summary", {}, `Set a cell of ${info.preamble.alias}`), form);
  }

  async set(kind, info, index, written, form) {
    form.querySelector(".refused")?.remove();
    const { glass } = this;
    try {
      // Checked before the first read.
      cellAct(kind, info, index, written);
      const [before] = await read(glass.calls, glass.model, [entityAt(kind, info, Number(index))]);
      const { act, undo } = cellAct(kind, info, index, written, before);
      if (await glass.side.handles.act(act, form, undo)) this.wrote();
    } catch (error) {
      form.append(element("p", { class: "refused", role: "alert" }, error.message));
    }
  }
}

const cell = (index) => String(index?.index ?? 0);

function counterRow({ counter_entry: { index, data } }) {
  return data?.packet_count || data?.byte_count ? [cell(index), count(data.packet_count), count(data.byte_count)] : undefined;
}

function meterRow({ meter_entry: { index, config } }, info) {
  return config ? [cell(index), meterRate(info, config.cir), meterRate(info, config.pir)] : undefined;
}

function registerRow({ register_entry: { index, data } }) {
  const value = integerOf(data?.bitstring ?? []);
  return value ? [cell(index), String(value)] : undefined;
}
