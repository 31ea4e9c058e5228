// Tables with their entries: read, added, changed and deleted. Each act goes through the log, where it
// stands as text and can be taken back.

import { actionOf, actionWords, entryAct, hitKeyOf, matchWords, needsPriority, readEntry } from "../model/entries.js";
import { meterRate } from "../model/cells.js";
import { P4RUNTIME } from "../wire/calls.js";
import { count } from "../words.js";
import { element, setText, table } from "./dom.js";

// A page that shows more entries than this is no help to anybody.
const SHOWN_MAX = 200;

export class TablesPanel {
  constructor(glass, panel) {
    this.glass = glass;
    this.panel = panel;
    this.list = element("div", { tabindex: 0, role: "region", "aria-label": "Tables" });
    this.when = element("p", { class: "faint", role: "status" });
    const again = element("button", { type: "button", onclick: () => this.read() }, "Read again");
    // The form of each table, with its edited text, however often entries are read.
    this.places = new Map();
    this.node = element("div", {}, element("div", { class: "row" }, panel.isRecorded ? this.when : again), this.list);
  }

  entered() {
    this.places.clear();
    this.list.replaceChildren();
  }

  async read() {
    const { model } = this.glass;
    const turn = this.turn = {};
    try {
      const { p4info, coverage } = await this.panel.of(model);
      setText(this.when, this.panel.readWords);
      const entries = await this.entries(model, p4info);
      // It is read anew, or another router is shown.
      if (turn !== this.turn || model !== this.glass.model) return;
      this.actions = new Map(p4info.actions.map((each) => [each.preamble.id, each]));
      this.meters = new Map(p4info.direct_meters.map((each) => [each.direct_table_id, each]));
      const open = new Set([...this.list.querySelectorAll("details[open]")].map((each) => each.dataset.table));
      const held = this.list.contains(document.activeElement) ? document.activeElement : undefined;
      this.list.replaceChildren(...p4info.tables.filter((each) => each.match_fields.length).map((info) =>
        this.table(info, entries.filter((each) => each.table_id === info.preamble.id), coverage, open)));
      this.focus(held);
    } catch (error) {
      if (turn === this.turn) this.list.replaceChildren(refused(error));
    }
  }

  buttonOf(info) {
    return this.list.querySelector(`details[data-table="${CSS.escape(info.preamble.alias)}"] > button`);
  }

  // The keyboard stays where it was: in a form, or at the button with the same words.
  focus(held) {
    if (!held) return;
    const words = held.getAttribute("aria-label") ?? held.textContent;
    const same = [...this.list.querySelectorAll("button")].find((each) => (each.getAttribute("aria-label") ?? each.textContent) === words);
    (held.isConnected ? held : same)?.focus();
  }

  // All entries, and the default of each table.
  async entries(model, p4info) {
    const found = await read(this.glass.calls, model, [{ table_entry: { counter_data: {}, meter_config: {} } }]);
    const asked = p4info.tables.filter((each) => each.match_fields.length)
      .map((each) => ({ table_entry: { table_id: each.preamble.id, is_default_action: true } }));
    const defaults = await read(this.glass.calls, model, asked).catch(() => []);
    return [...found, ...defaults].map((each) => each.table_entry);
  }

  table(info, entries, coverage, open) {
    const own = entries.filter((each) => !each.is_default_action);
    const hasCounters = own.some((each) => each.counter_data), hasMeters = own.some((each) => each.meter_config);
    const meter = this.meters.get(info.preamble.id);
    // Without counters of their own: how many of the packets that were followed hit each.
    const followed = hasCounters ? undefined : coverage.entries.get(info.preamble.name);
    const counted = (entry) => [
      ...(hasCounters ? [count(entry.counter_data?.packet_count ?? 0), count(entry.counter_data?.byte_count ?? 0)] : []),
      ...(hasMeters ? [meterWords(meter, entry.meter_config)] : []),
      ...(followed ? [count(followed.get(hitKeyOf(info, entry)) ?? 0)] : []),
    ];
    const head = [...info.match_fields.map((each) => each.name.replace(/^(hdr|meta)\./, "")), ...(needsPriority(info) ? ["priority"] : []), "action",
                  ...(hasCounters ? ["packets", "bytes"] : []), ...(hasMeters ? ["meter"] : []), ...(followed ? ["followed"] : []), ""];
    const rows = own.slice(0, SHOWN_MAX).map((entry) => [
      ...matchWords(info, entry), ...(needsPriority(info) ? [entry.priority] : []), actionWords(entry, this.actions),
      ...counted(entry), "",
    ]);
    const standard = entries.find((each) => each.is_default_action);
    if (standard) rows.push([...info.match_fields.map(() => "else"), ...(needsPriority(info) ? [""] : []), actionWords(standard, this.actions),
                             ...(hasCounters ? ["", ""] : []), ...(hasMeters ? [""] : []), ...(followed ? [""] : []), ""]);
    const hits = [...coverage.hits].filter(([key]) => key.startsWith(`${info.preamble.name} `)).reduce((sum, [, times]) => sum + times, 0);
    const tried = coverage.steps.get(info.preamble.name) ?? 0;
    const made = table(`${count(own.length)} of ${count(info.size)} entries${tried ? `; of ${count(tried)} packets that were followed ${count(hits)} hit` : ""}`, head, rows);
    if (!this.places.has(info.preamble.id)) this.places.set(info.preamble.id, element("div", {}));
    const place = this.places.get(info.preamble.id);
    if (!this.glass.scene.readOnly) {
      const all = [...own.slice(0, SHOWN_MAX), ...(standard ? [standard] : [])];
      [...made.querySelectorAll("tbody tr")].forEach((row, index) => row.lastChild.append(...this.buttons(info, all[index], place)));
    }
    return element("details", { "data-table": info.preamble.alias, open: open.has(info.preamble.alias) },
      element("summary", {}, `${info.preamble.alias}, ${count(own.length)}`), element("div", { class: "wide" }, made),
      own.length > SHOWN_MAX ? element("p", { class: "faint" }, `The first ${SHOWN_MAX} are shown.`) : "",
      this.glass.scene.readOnly ? "" : element("button", { type: "button", onclick: () => place.replaceChildren(this.form(info, undefined, place)) },
                                               `Add an entry to ${info.preamble.alias}`),
      place);
  }

  buttons(info, entry, place) {
    const words = entry.is_default_action ? "the default" : `the entry ${matchWords(info, entry).join(", ")}`;
    const button = (text, label, onclick) => element("button", { type: "button", "aria-label": `${label} ${words}`, title: label, onclick }, text);
    const change = button("✎", "Change", () => place.replaceChildren(this.form(info, entry, place)));
    if (entry.is_default_action) return [change];
    return [change, button("✕", "Delete", () => this.act("DELETE", info, entry, entry, place))];
  }

  // A new entry, or `before` with another action.
  form(info, before, place) {
    const text = (label, value, isFixed) => {
      const input = element("input", { type: "text", value, readonly: isFixed });
      return { input, node: element("label", { class: "field" }, label, input) };
    };
    const words = before && !before.is_default_action ? matchWords(info, before) : [];
    const fields = before?.is_default_action ? []
      : info.match_fields.map((each, index) => text(`${each.name} (${each.match_type.toLowerCase()})`, words[index] ?? "", Boolean(before)));
    const priority = needsPriority(info) && !before?.is_default_action ? text("priority", String(before?.priority ?? 10), Boolean(before)) : undefined;
    const choices = info.action_refs.filter((each) => (before?.is_default_action ? each.scope !== "TABLE_ONLY" : each.scope !== "DEFAULT_ONLY"))
      .map((each) => this.actions.get(each.id));
    const known = before && actionOf(before, this.actions);
    const action = element("select", { onchange: () => params.replaceChildren(...given().map((each) => each.node)) },
      ...choices.map((each) => element("option", { value: each.preamble.id, selected: each === known?.info }, each.preamble.alias)));
    const params = element("div", {});
    let inputs = [];
    const chosen = () => choices.find((each) => String(each.preamble.id) === action.value);
    const given = () => (inputs = chosen().params.map((each) =>
      text(`${each.name} (${each.bitwidth} bits)`, known?.info === chosen() ? known.params.find((one) => one.name === each.name).text : "")));
    params.replaceChildren(...given().map((each) => each.node));
    const send = () => {
      try {
        const entry = readEntry(info, { matches: fields.map((each) => each.input.value), priority: priority?.input.value, action: chosen(),
                                        params: inputs.map((each) => each.input.value), isDefault: before?.is_default_action });
        this.act(before ? "MODIFY" : "INSERT", info, entry, before, place);
      } catch (error) {
        say(place, error);
      }
    };
    const title = before ? `Change an entry of ${info.preamble.alias}` : `A new entry of ${info.preamble.alias}`;
    return element("form", { "aria-label": title, onsubmit: (event) => {
      event.preventDefault();
      send();
    } }, element("fieldset", {}, element("legend", {}, title), ...fields.map((each) => each.node), priority?.node,
      element("label", { class: "field" }, "action", action), params,
      element("div", { class: "row" }, element("button", { type: "submit", class: "main" }, before ? "Change" : "Add"),
        element("button", { type: "button", onclick: () => place.replaceChildren() }, "Leave it"))));
  }

  // An entry in words, for lessons: {table, matches: {field: text}, action, params: {name: text}, priority}.
  async insert({ table: name, matches, action, params, priority }) {
    const { p4info } = await this.panel.of(this.glass.model);
    this.actions = new Map(p4info.actions.map((each) => [each.preamble.id, each]));
    const info = p4info.tables.find((each) => each.preamble.alias === name);
    const found = p4info.actions.find((each) => each.preamble.alias === action);
    const entry = readEntry(info, {
      matches: info.match_fields.map((each) => matches[each.name] ?? ""), action: found,
      params: found.params.map((each) => params[each.name]), priority,
    });
    const { act, undo } = entryAct("INSERT", info, entry, this.actions);
    return this.glass.side.handles.act(act, undefined, undo);
  }

  async act(kind, info, entry, before, place) {
    const { handles } = this.glass.side;
    const { act, undo } = entryAct(kind, info, entry, this.actions, before);
    if (!await handles.act(act, place, undo)) return;
    place.replaceChildren();
    await this.read();
    // A form that is done leads back to where it was opened.
    if (document.activeElement === document.body) this.buttonOf(info)?.focus();
  }
}

function refused(error) {
  return element("p", { class: "refused", role: "alert" }, error.message);
}

function say(place, error) {
  place.querySelector(".refused")?.remove();
  place.append(refused(error));
}

// The rates of an entry's own meter.
function meterWords(meter, config) {
  return config ? `${meterRate(meter, config.cir)} to ${meterRate(meter, config.pir)}` : "";
}

// All that a Read answers.
export function read(calls, model, entities) {
  return new Promise((resolve, reject) => {
    const found = [];
    const call = calls.open(model.name, P4RUNTIME, "Read", { device_id: model.deviceId, entities }, {
      next: ({ entities: more }) => found.push(...more),
      ended: (error) => (error ? reject(error) : resolve(found)),
    });
    call.done();
  });
}
