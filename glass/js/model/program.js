// The P4 program that a router runs, from its compiled form: where every step stands in the source.

// Names of steps to {file, line, text}.
export class Program {
  constructor(json) {
    this.places = new Map();
    this.tables = [];
    for (const action of json.actions ?? []) {
      const [first] = action.primitives.filter((each) => each.source_info);
      if (first) this.place(action.name, first.source_info);
      // Every statement of an action runs when the action does.
      this.statements(action.name, action.primitives);
    }
    for (const pipeline of json.pipelines ?? []) {
      for (const each of pipeline.conditionals) this.place(each.name, each.source_info);
      for (const each of pipeline.tables) {
        this.place(each.name, each.source_info);
        this.tables.push(each.name);
      }
    }
  }

  place(name, info) {
    if (!info) return;
    this.places.set(name, { file: shortName(info.filename), line: info.line, text: info.source_fragment });
  }

  statements(name, primitives) {
    this.bodies ??= new Map();
    const places = primitives.filter((each) => each.source_info).map(({ source_info: info }) =>
      ({ file: shortName(info.filename), line: info.line, text: info.source_fragment }));
    this.bodies.set(name, places);
  }

  // Everything that may run: [{file, line, text}], each line once, in the order of files and lines.
  lines() {
    const found = new Map();
    const all = [...this.places.values(), ...[...(this.bodies?.values() ?? [])].flat()];
    for (const each of all) found.set(`${each.file}:${each.line}`, each);
    return [...found.values()].sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  }
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

// Which lines ran, and how often, by what Trace told.
export class Coverage {
  constructor() {
    this.counts = new Map();
  }

  take(step, program) {
    const told = step.program?.[step.program.kind];
    const name = { table: told?.key?.name, action: told?.name, condition: told?.name }[step.program?.kind];
    if (!name) return;
    const places = [program.places.get(name), ...(step.program.kind === "action" ? program.bodies.get(name) ?? [] : [])];
    for (const line of new Set(places.filter(Boolean).map((each) => `${each.file}:${each.line}`))) {
      this.counts.set(line, (this.counts.get(line) ?? 0) + 1);
    }
  }
}
