// The program of a router: its lines with how often traced packets ran them, and its tables.

import { Coverage, Program } from "../model/program.js";
import { P4RUNTIME } from "../wire/calls.js";
import { count } from "../words.js";
import { element, table } from "./dom.js";

export class ProgramPanel {
  constructor(glass) {
    this.glass = glass;
    this.known = new Map();
    this.code = element("div", { class: "code", tabindex: 0, role: "region", "aria-label": "Lines of the program" });
    this.tables = element("div", { tabindex: 0, role: "region", "aria-label": "Tables" });
    this.said = element("p", { class: "faint" });
    this.node = element("div", {},
      element("h2", {}, "Tables"),
      element("div", { class: "row" }, element("button", { type: "button", onclick: () => this.readTables() }, "Read entries")),
      this.tables,
      element("h2", {}, "Lines that ran"), this.said, this.code);
  }

  // {program, p4info, coverage} of a router; read once.
  async of(model) {
    if (!this.known.has(model.name)) this.known.set(model.name, this.read(model));
    return this.known.get(model.name);
  }

  async read(model) {
    try {
      const { config } = await this.glass.calls.call(model.name, P4RUNTIME, "GetForwardingPipelineConfig",
        { device_id: model.deviceId, response_type: "ALL" });
      if (!config) throw new Error("no program is loaded.");
      const json = JSON.parse(new TextDecoder().decode(config.p4_device_config));
      return { program: new Program(json), p4info: config.p4info, coverage: new Coverage() };
    } catch (error) {
      this.known.delete(model.name);
      throw error;
    }
  }

  // What a traced packet ran counts.
  async cover(model, steps) {
    const { program, coverage } = await this.of(model);
    for (const step of steps) if (step.kind === "program") coverage.take(step, program);
    await this.show();
  }

  async show() {
    const { model } = this.glass;
    try {
      const { program, coverage } = await this.of(model);
      this.said.textContent = coverage.counts.size ? "How often the packets that were followed ran each line."
        : "Follow a packet (click one, then Follow) to see which lines it runs.";
      let file = "";
      const rows = program.lines().flatMap((line) => {
        const times = coverage.counts.get(`${line.file}:${line.line}`);
        const row = element("div", { class: times ? "ran" : "" },
          element("span", { class: "number" }, String(line.line)),
          element("span", { class: "times" }, times ? `${times} ×` : ""), line.text);
        if (line.file === file) return [row];
        file = line.file;
        return [element("h3", {}, file), row];
      });
      this.code.replaceChildren(...rows);
    } catch (error) {
      this.said.textContent = `The program cannot be read: ${error.message}`;
    }
  }

  async readTables() {
    const { glass } = this;
    const { model } = glass;
    try {
      const { p4info } = await this.of(model);
      const entries = await this.entries(model);
      this.tables.replaceChildren(...p4info.tables.filter((each) => each.match_fields.length)
        .map((each) => this.table(each, p4info, entries.filter((entry) => entry.table_id === each.preamble.id), model)));
    } catch (error) {
      this.tables.replaceChildren(element("p", { class: "refused", role: "alert" }, error.message));
    }
  }

  entries(model) {
    return new Promise((resolve, reject) => {
      const found = [];
      const call = this.glass.calls.open(model.name, P4RUNTIME, "Read",
        { device_id: model.deviceId, entities: [{ table_entry: { counter_data: {} } }] }, {
          next: ({ entities }) => found.push(...entities.map((each) => each.table_entry)),
          ended: (error) => (error ? reject(error) : resolve(found)),
        });
      call.done();
    });
  }

  table(info, p4info, entries, model) {
    const actions = new Map(p4info.actions.map((each) => [each.preamble.id, each]));
    const rows = entries.map((entry) => {
      const row = [
        info.match_fields.map((field) => matchWords(field, entry.match.find((each) => each.field_id === field.id))).join(", "),
        actionWords(entry.action?.action, actions),
      ];
      if (entry.counter_data) row.push(count(entry.counter_data.packet_count));
      return row;
    });
    const head = [info.match_fields.map((each) => each.name).join(", "), "action", ...(entries[0]?.counter_data ? ["packets"] : [])];
    const made = table(`${info.preamble.alias}, ${entries.length} of ${info.size} entries`, head, rows);
    if (!this.glass.scene.readOnly) {
      [...made.querySelectorAll("tbody tr")].forEach((row, index) => row.append(element("td", {},
        element("button", { type: "button", "aria-label": `Delete the entry ${row.firstChild.textContent}`, title: "Delete",
                              onclick: () => this.remove(model, entries[index], row) }, "✕"))));
    }
    return made;
  }

  async remove(model, entry, row) {
    const { table_id, match, priority } = entry;
    try {
      await this.glass.side.handles.steeringOf(model).write([{ type: "DELETE", entity: { table_entry: { table_id, match, priority } } }]);
      row.remove();
    } catch (error) {
      row.lastChild.append(element("p", { class: "refused", role: "alert" }, error.message));
    }
  }
}

// A value of P4Runtime, by its field: an address as an address, else a number.
function bytesWords(field, bytes) {
  const value = bytes.reduce((sum, each) => sum * 256n + BigInt(each), 0n);
  if (field.bitwidth === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".");
  if (field.bitwidth === 48) return value.toString(16).padStart(12, "0").match(/../g).join(":");
  return field.bitwidth > 64 ? `0x${value.toString(16)}` : String(value);
}

function matchWords(field, match) {
  if (!match) return "any";
  const told = match[match.field_match_type];
  switch (match.field_match_type) {
    case "lpm": return `${bytesWords(field, told.value)}/${told.prefix_len}`;
    case "ternary": return `${bytesWords(field, told.value)} & ${bytesWords(field, told.mask)}`;
    case "range": return `${bytesWords(field, told.low)} to ${bytesWords(field, told.high)}`;
    default: return bytesWords(field, told.value);
  }
}

function actionWords(action, actions) {
  const info = actions.get(action?.action_id);
  if (!info) return "a group or member of a profile";
  const given = info.params.map((param) => {
    const value = action.params.find((each) => each.param_id === param.id);
    return `${param.name} = ${value ? bytesWords(param, value.value) : "?"}`;
  });
  return `${info.preamble.alias}(${given.join(", ")})`;
}
