// The worker that runs Python and the checks. Its script is Pyodide, engine.js, programs.js, python.js and this file,
// joined (course/page/handout.py).
//
// Messages from the page: {begin: {wasm, library, lock, kit, programs, network}}, all bytes; {own: student},
// {check: request}, {run: request}. Messages to the page: {ready}, {verdict}, {done: answer}, {broken: sentence}.

// Serves the files that Pyodide fetches, from memory. Nothing is fetched from a network.
function serveFiles(scope, files) {
  scope.fetch = async (address) => {
    const name = String(address).split("/").at(-1);
    if (!(name in files)) throw new TypeError(`The page has no ${name}.`);
    return new Response(files[name], { headers: { "Content-Type": name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream" } });
  };
}

function serveChecks(scope) {
  let python;
  const begin = async ({ wasm, library, lock, kit, programs, network }) => {
    serveFiles(scope, { "pyodide.asm.wasm": wasm, "python_stdlib.zip": library, "pyodide-lock.json": lock });
    // Only names count: `serveFiles` answers whatever the folder.
    const pyodide = await scope.loadPyodide({ indexURL: "page:///" });
    const [compiledPrograms, compiledNetwork] = await Promise.all([WebAssembly.compile(programs), WebAssembly.compile(network)]);
    python = startPython(pyodide, { kit, programs: compiledPrograms, network: compiledNetwork });
  };
  scope.onmessage = async ({ data }) => {
    try {
      if (data.begin) {
        await begin(data.begin);
        scope.postMessage({ ready: true });
      } else if (data.own !== undefined) {
        scope.postMessage({ done: { own: python.own(data.own) } });
      } else if (data.check) {
        const checked = python.check(data.check, (verdict) => scope.postMessage({ verdict }));
        scope.postMessage({ done: checked });
      } else if (data.run) {
        scope.postMessage({ done: python.run(data.run) });
      }
    } catch (error) {
      scope.postMessage({ broken: String(error.message ?? error) });
    }
  };
}

if (typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope) serveChecks(self);
