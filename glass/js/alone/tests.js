// The packet tests of a program: run all of them, and what came of each.

import { element, setText } from "../page/dom.js";

// tests/router/ipv4.stf is one of programs/router.p4.
export function isTest(name) {
  return name.endsWith(".stf");
}

export function testsOf(program, names) {
  const stem = stemOf(program);
  return names.filter((name) => isTest(name) && name.split("/").at(-2) === stem).sort();
}

// A name that no test has yet.
export function newName(program, names) {
  let number = 1;
  while (names.includes(`tests/${stemOf(program)}/packet-${number}.stf`)) number++;
  return `tests/${stemOf(program)}/packet-${number}.stf`;
}

function stemOf(program) {
  return program.split("/").at(-1).replace(/\.p4$/, "");
}

export class Tests {
  // goTo(name, line) shows a line of a test.
  constructor(goTo) {
    this.goTo = goTo;
    this.said = element("p", { class: "outcome", role: "status" });
    this.list = element("ul", { class: "findings", "aria-label": "What came of the tests" });
    this.clear();
  }

  // Nothing was run.
  clear() {
    this.turn = undefined;
    this.results = undefined;
    setText(this.said, "");
    this.list.replaceChildren();
  }

  // Runs the tests of a program as the texts are now.
  async run(running, program) {
    const turn = this.turn = {};
    const names = testsOf(program, Object.keys(running.files));
    setText(this.said, `${names.length === 1 ? "One test is" : `${names.length} tests are`} run …`);
    const results = [];
    for (const name of names) {
      const told = await running.test(program, name);
      if (turn !== this.turn) return;
      results.push({ name, ...told });
    }
    this.results = results;
    this.tell();
  }

  tell() {
    const refused = this.results.find((each) => each.refused);
    const failed = this.results.filter((each) => each.problems?.length);
    const all = this.results.length;
    setText(this.said, refused ? `Nothing was tested: ${refused.refused}.`
      : failed.length ? `${failed.length} of ${all} tests fail.` : all === 1 ? "The test passes." : `All ${all} tests pass.`);
    this.said.className = `outcome ${refused || failed.length ? "bad" : "good"}`;
    this.list.replaceChildren(...failed.flatMap(({ name, problems }) => problems.map(({ line, text }) => {
      const [first, ...more] = text.split("\n");
      return element("li", { class: "error" },
        element("button", { type: "button", onclick: () => this.goTo(name, line) }, `${name}${line ? `:${line}` : ""}: ${first}`),
        more.length ? element("pre", { tabindex: 0 }, more.join("\n")) : "");
    })));
  }

  // The problems to underline in a test.
  problemsOf(name) {
    return this.results?.find((each) => each.name === name)?.problems?.filter((each) => each.line) ?? [];
  }
}
