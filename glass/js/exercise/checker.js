// Checks in a worker. Python begins once, in the background, and is ended where a check does not end.

import { unpack } from "../wire/tape.js";

export class Checker {
  // `parts`: {script, wasm, library, lock, kit, programs, network}; all bytes. `onState(sentence)` says how far it is.
  constructor(parts, onState) {
    Object.assign(this, { parts, onState });
    this.start();
  }

  start() {
    this.address = URL.createObjectURL(new Blob([this.parts.script], { type: "text/javascript" }));
    this.worker = new Worker(this.address);
    this.isReady = new Promise((resolve, reject) => {
      this.become = resolve;
      this.fail = reject;
    });
    this.isReady.then(() => this.onState("Python is ready."), (error) => this.onState(error.message));
    this.worker.onerror = (event) => this.lose(event.message || "The browser let no worker begin.");
    this.worker.onmessage = ({ data }) => this.hear(data);
    this.worker.postMessage({ begin: this.parts });
  }

  // Checks the files: `tell({verdict})` or `tell({own})` hears of each; resolves to the points, rejects where
  // it was stopped.
  check(request, tell) {
    return this.ask({ check: request }, tell);
  }

  // What a command line prints: {output, errors}.
  run(request) {
    return this.ask({ run: request }, () => {});
  }

  async ask(message, tell) {
    await this.isReady;
    return new Promise((resolve, reject) => {
      this.asked = { tell, resolve, reject };
      this.worker.postMessage(message);
    });
  }

  // Ends a check that does not end. The next one waits until Python has begun again.
  stop(sentence = "You have stopped the check.") {
    this.lose(sentence);
    this.start();
  }

  hear(data) {
    if (data.ready) this.become();
    else if (data.verdict || data.own !== undefined) this.asked?.tell(data);
    else if (data.done) {
      this.asked?.resolve(data.done);
      this.asked = undefined;
    } else if (data.broken) this.lose(data.broken);
  }

  lose(sentence) {
    this.worker.terminate();
    URL.revokeObjectURL(this.address);
    this.fail(new Error(sentence));
    this.asked?.reject(new Error(sentence));
    this.asked = undefined;
  }
}

// What python.js beside the page brings: {script, wasm, library, lock}. It is a script because browsers let a page
// from a disk load nothing else.
export function loadPython(document, name) {
  return new Promise((resolve, reject) => {
    globalThis.vitrinePython = async (packed) => {
      const found = await Promise.all(Object.entries(packed).map(async ([key, text]) => [key, await unpack(text)]));
      resolve(Object.fromEntries(found));
    };
    const script = document.createElement("script");
    script.onerror = () => reject(new Error(`${name} is missing: it belongs beside this page. Nothing can be checked without it.`));
    script.src = name;
    document.head.append(script);
  });
}
