// The worker in which Python runs, and the checks of an exercise with it. It is a text of the page's own,
// behind those of Pyodide, engine.js, programs.js and python.js.
//
// Messages of the page: {begin: {wasm, library, lock, kit, programs, network}}, all bytes; {check: request},
// {run: request}. Messages to it: {ready}, {own: sentence}, {verdict}, {done: answer}, {broken: sentence}.

// What Pyodide loads by itself, and nothing else: there is no network behind this.
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
    const pyodide = await scope.loadPyodide({ indexURL: "https://page.invalid/" });
    const [compiledPrograms, compiledNetwork] = await Promise.all([WebAssembly.compile(programs), WebAssembly.compile(network)]);
    python = startPython(pyodide, { kit, programs: compiledPrograms, network: compiledNetwork });
  };
  scope.onmessage = async ({ data }) => {
    try {
      if (data.begin) {
        await begin(data.begin);
        scope.postMessage({ ready: true });
      } else if (data.check) {
        scope.postMessage({ own: python.own(data.check.student) });
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
