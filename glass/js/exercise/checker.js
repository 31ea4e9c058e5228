// Runs checks in a worker. Python starts once, in the background; it is restarted after a stopped or failed check.

import { unpack } from "../wire/tape.js";

export class Checker {
  // `parts`: {script, wasm, library, lock, kit, programs, network}; all bytes. `onState(sentence)` reports progress.
  constructor(parts, onState) {
    Object.assign(this, { parts, onState });
    // The last request, done or not: the worker takes one at a time.
    this.last = Promise.resolve();
    this.start();
  }

  start() {
    this.address = URL.createObjectURL(new Blob([this.parts.script], { type: "text/javascript" }));
    this.worker = new Worker(this.address);
    this.hasStarted = false;
    this.isReady = new Promise((resolve, reject) => Object.assign(this, { resolveReady: resolve, rejectReady: reject }));
    this.isReady.then(() => this.onState("Python is ready."), (error) => this.onState(error.message));
    this.worker.onerror = (event) => this.fail(event.message || "The browser did not start the worker.");
    this.worker.onmessage = ({ data }) => this.receive(data);
    this.worker.postMessage({ begin: this.parts });
  }

  // The student's numbers: {own: sentence}, empty if the exercise has none.
  own(student) {
    return this.ask({ own: student });
  }

  // Checks the files. `tell(verdict)` is called for each case; resolves to the points, rejects if stopped.
  check(request, tell) {
    return this.ask({ check: request }, tell);
  }

  // The output of a command line: {output, errors}.
  run(request) {
    return this.ask({ run: request });
  }

  ask(message, tell = () => {}) {
    const send = async () => {
      await this.isReady;
      return new Promise((resolve, reject) => {
        this.asked = { tell, resolve, reject };
        this.worker.postMessage(message);
      });
    };
    this.last = this.last.then(send, send);
    return this.last;
  }

  // Ends the check in progress. The next one waits until Python has started again.
  stop(sentence = "You stopped the check.") {
    this.end(sentence);
    this.start();
  }

  // A worker that failed once cannot be trusted; one that never started would fail again.
  fail(sentence) {
    if (this.hasStarted) this.stop(sentence);
    else this.end(sentence);
  }

  receive(data) {
    if (data.ready) {
      this.hasStarted = true;
      this.resolveReady();
    } else if (data.verdict) this.asked?.tell(data.verdict);
    else if (data.done) {
      this.asked?.resolve(data.done);
      this.asked = undefined;
    } else if (data.broken) this.fail(data.broken);
  }

  end(sentence) {
    this.worker.terminate();
    URL.revokeObjectURL(this.address);
    this.rejectReady(new Error(sentence));
    this.asked?.reject(new Error(sentence));
    this.asked = undefined;
  }
}

// Loads python.js beside the page: {script, wasm, library, lock}. It is a script because a page opened from a disk
// can load nothing else.
export function loadPython(document, name) {
  return new Promise((resolve, reject) => {
    globalThis.vitrinePython = async (packed) => {
      const found = await Promise.all(Object.entries(packed).map(async ([key, text]) => [key, await unpack(text)]));
      resolve(Object.fromEntries(found));
    };
    const script = document.createElement("script");
    script.onerror = () => reject(new Error(`${name} is missing. Put it beside this page; checks need it.`));
    script.src = name;
    document.head.append(script);
  });
}
