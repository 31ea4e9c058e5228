// The P4 program that a router runs, from its compiled form: where every step stands in the source,
// and which step leads to which.

import { hitKey } from "./entries.js";

// Names of steps to {file, line, text}.
export class Program {
  constructor(json) {
    this.json = json;
    this.places = new Map();
    this.bodies = new Map();
    this.tables = [];
    // Tables that are statements, by their actions.
    this.statements = new Map();
    // Whole names of source files, by the short ones that are shown.
    this.files = new Map();
    for (const action of json.actions ?? []) {
      const [first] = action.primitives.filter((each) => each.source_info);
      if (first) this.place(action.name, first.source_info);
      // Every statement of an action runs when the action does.
      this.bodies.set(action.name, action.primitives.filter((each) => each.source_info).map((each) => this.placeOf(each.source_info)));
    }
    for (const pipeline of json.pipelines ?? []) {
      for (const each of pipeline.conditionals) this.place(each.name, each.source_info);
      for (const each of pipeline.tables) {
        this.place(each.name, each.source_info);
        this.tables.push(each.name);
        // A statement of a control is a table of its own to the compiler; only its action is reported.
        const [action] = each.actions ?? [];
        if (each.name === `tbl_${action}`) this.statements.set(action, each.name);
      }
    }
  }

  // [{name, width}] of a header; without a width where it varies.
  fieldsOf(name) {
    this.headers ??= new Map((this.json.headers ?? []).map((each) => [each.name, each.header_type]));
    const type = this.json.header_types?.find((each) => each.name === this.headers.get(name));
    return type?.fields.map(([field, width]) => ({ name: field, width: typeof width === "number" ? width : undefined }));
  }

  place(name, info) {
    if (info) this.places.set(name, this.placeOf(info));
  }

  placeOf(info) {
    const file = shortName(info.filename);
    this.files.set(file, info.filename);
    return { file, line: info.line, text: info.source_fragment };
  }

  // Everything that may run: [{file, line, text}], each line once, in the order of files and lines.
  lines() {
    const found = new Map();
    const all = [...this.places.values(), ...[...this.bodies.values()].flat()];
    for (const each of all) found.set(`${each.file}:${each.line}`, each);
    return [...found.values()].sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  }

  // {nodes, edges} of `ingress` or `egress`.
  controlGraph(name) {
    const pipeline = this.json.pipelines?.find((each) => each.name === name);
    if (!pipeline) return { nodes: [], edges: [] };
    const edges = [], end = `${name} ends`;
    const edge = (from, to, label) => edges.push({ from, to: to ?? end, label });
    for (const each of pipeline.conditionals) {
      edge(each.name, each.true_next, "yes");
      edge(each.name, each.false_next, "no");
    }
    for (const each of pipeline.tables) {
      const next = Object.entries(each.next_tables);
      const places = new Set(next.map(([, to]) => to));
      // Where all actions lead to the same, one line says it.
      if (places.size <= 1) edge(each.name, next[0]?.[1] ?? each.base_default_next, "");
      else for (const to of places) edge(each.name, to, next.filter(([, at]) => at === to).map(([action]) => lastOf(action)).join(", "));
    }
    const all = [...pipeline.conditionals.map((each) => this.node(each.name, "condition")),
                 ...pipeline.tables.map((each) => this.node(each.name, each.key.length ? "table" : "statement"))];
    const first = all.find((each) => each.id === pipeline.init_table);
    return reachable(first ? [first, ...all.filter((each) => each !== first), { id: end, label: end, kind: "end" }] : [], edges);
  }

  parserGraph() {
    const [parser] = this.json.parsers ?? [];
    if (!parser) return { nodes: [], edges: [] };
    const edges = parser.parse_states.flatMap((state) => state.transitions.map(({ value, next_state: next, mask }) => ({
      from: state.name, to: next ?? "accept", label: value === null ? "" : mask ? `${value} &&& ${mask}` : value,
    })));
    const states = parser.parse_states.map(({ name }) => ({ id: name, label: name, kind: "state" }));
    const first = states.find((each) => each.id === parser.init_state);
    return reachable([first, ...states.filter((each) => each !== first), { id: "accept", label: "accept", kind: "end" }], edges);
  }

  node(name, kind) {
    const text = this.places.get(name)?.text ?? name;
    const said = text.replace(/\s+/g, " ");
    const labels = { table: lastOf(name), condition: said === name ? name : `if (${said})`, statement: said };
    return { id: name, label: labels[kind], kind };
  }
}

const lastOf = (name) => name.slice(name.lastIndexOf(".") + 1);

// Omits the nodes that no edge leads to.
function reachable(nodes, edges) {
  if (!nodes.length) return { nodes, edges: [] };
  const seen = new Set([nodes[0].id]);
  for (const id of seen) for (const { from, to } of edges) if (from === id) seen.add(to);
  return { nodes: nodes.filter((each) => seen.has(each.id)), edges: edges.filter((each) => seen.has(each.from)) };
}

// "control/routing.p4" of "/home/me/vitrine/p4src/programs/../control/routing.p4".
function shortName(file) {
  const parts = [];
  for (const part of file.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.slice(-2).join("/");
}

// Counts of the lines and steps that ran, and of the entries that were hit, from traces.
export class Coverage {
  constructor() {
    this.counts = new Map();
    this.steps = new Map();
    this.hits = new Map();
    // By table and then by entry, as `hitKey` names it.
    this.entries = new Map();
    this.packets = 0;
  }

  take(step, program) {
    const { kind } = step.program ?? {};
    const told = step.program?.[kind];
    if (kind === "parser_state") return bump(this.steps, told);
    const name = { table: told?.key?.name, action: told?.name, condition: told?.name }[kind];
    if (!name) return undefined;
    bump(this.steps, name);
    if (program.statements.has(name)) bump(this.steps, program.statements.get(name));
    if (kind === "table" && told.entry !== undefined) {
      bump(this.hits, `${name} ${told.entry}`);
      if (!this.entries.has(name)) this.entries.set(name, new Map());
      if (told.matches?.length) bump(this.entries.get(name), hitKey(told.matches, told.priority));
    }
    const places = [program.places.get(name), ...(kind === "action" ? program.bodies.get(name) ?? [] : [])];
    for (const line of new Set(places.filter(Boolean).map((each) => `${each.file}:${each.line}`))) bump(this.counts, line);
    return undefined;
  }
}

function bump(counts, key) {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
