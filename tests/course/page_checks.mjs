// page_checks.mjs ENGINE PYODIDE KIT PROGRAMS NETWORK: checks submissions as the page of an exercise does, with the
// page's own engine. Standard input has one JSON request; for each of its submissions a line of JSON comes out.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [engine, folder, kit, programs, network] = process.argv.slice(2);
const { startPython } = await import(pathToFileURL(engine).href);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`).href);
const compiled = (file) => WebAssembly.compile(readFileSync(file));

const pyodide = await loadPyodide({ indexURL: folder, stdout: console.error });
const python = startPython(pyodide, {
  kit: new Uint8Array(readFileSync(kit)), programs: await compiled(programs), network: await compiled(network),
});
// The stack of an exception would be Pyodide's whole source.
process.on("uncaughtException", (error) => {
  process.stderr.write(`${error.message}\n`, () => process.exit(1));
});
for (const { run, ...request } of JSON.parse(readFileSync(0, "utf8"))) {
  const verdicts = [];
  const answer = run ? python.run({ ...request, line: run }) : python.check(request, (verdict) => verdicts.push(verdict));
  process.stdout.write(`${JSON.stringify({ ...answer, verdicts })}\n`);
}
