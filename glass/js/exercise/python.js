// Python and its surroundings in a page: the kit's packages, the programs vitrine-p4c and vitrine-sim, and
// networks. This runs in browsers and in Node.

import { Engine } from "../wire/engine.js";
import { Ended, run } from "./programs.js";

// The folder of the kit's packages in Pyodide's file system.
const KIT = "/kit";
const OUTPUT_BYTES_MAX = 32 << 20;
// The limits for loading a class and for one decision, as in switch/crates/sim/src/outside/child.rs.
const BEGIN_LIMIT_S = 20, DECISION_LIMIT_S = 5;
const SIGINT = 2, AGAIN_S = 0.5;

// `pyodide` has started; `kit` is a zip of packages; `programs` and `network` are compiled modules. Returns
// {own(student) -> text, check(request, tell) -> points, run(request) -> texts}: see course/page/requests.py.
export function startPython(pyodide, { kit, programs, network }) {
  const alarm = new Alarm();
  pyodide.setInterruptBuffer(alarm);
  pyodide.unpackArchive(kit, "zip", { extractDir: KIT });
  pyodide.runPython(`import sys; sys.path.insert(0, "${KIT}")`);
  pyodide.registerJsModule("vitrine_page", {
    run: (words, seconds, makeDecider) => runProgram(pyodide, programs, alarm, { words: words.toJs(), seconds, makeDecider }),
    network: (seconds) => new Network(network, seconds),
  });
  const requests = pyodide.pyimport("course.page.requests");
  return {
    run: (request) => JSON.parse(requests.run(JSON.stringify(request))),
    own: (student) => requests.own(student),
    check: (request, tell) => JSON.parse(requests.check(JSON.stringify(request), (text) => tell(JSON.parse(text)))),
  };
}

function runProgram(pyodide, module, alarm, { words, seconds, makeDecider }) {
  const until = performance.now() + seconds * 1000;
  let written = 0;
  const watch = (bytes) => {
    written += bytes;
    if (written > OUTPUT_BYTES_MAX) throw new Ended(`It wrote more than ${OUTPUT_BYTES_MAX >> 20} MB, and was ended.`);
    if (performance.now() > until) throw new Ended(`It had not come to an end after ${seconds} s.`);
  };
  const pipes = [];
  const decider = () => {
    const pipe = new DeciderPipe(makeDecider(), alarm);
    pipes.push(pipe);
    return pipe;
  };
  try {
    const done = run(module, words, { fs: pyodide.FS, decider, watch });
    return pyodide.toPy({ status: done.status ?? -1, output: done.output, errors: done.errors, why: done.why ?? "" });
  } finally {
    for (const pipe of pipes) pipe.close();
  }
}

// A class of the submission, behind a buffer of Python's: see course/page/decider.py.
class DeciderPipe {
  constructor(proxy, alarm) {
    this.proxy = proxy;
    this.alarm = alarm;
    this.limitS = BEGIN_LIMIT_S;
    this.buffer = proxy.buffer.getBuffer("u8");
    this.answerBytes = 0;
  }

  // Takes frames; the last one may be a question.
  write = (bytes) => {
    this.bytes().set(bytes);
    this.alarm.set(this.limitS);
    try {
      this.answerBytes = this.proxy.exchange(bytes.length);
    } finally {
      this.alarm.stop();
    }
    this.limitS = DECISION_LIMIT_S;
  };

  read = () => this.bytes().slice(0, this.answerBytes);

  // When Python's memory grows, old views of it become empty.
  bytes() {
    if (!this.buffer.data.length) {
      this.buffer.release();
      this.buffer = this.proxy.buffer.getBuffer("u8");
    }
    return this.buffer.data;
  }

  close() {
    this.buffer.release();
    this.proxy.destroy();
  }
}

// Pyodide's interrupt buffer, which Python polls while it runs: a signal's number, or 0. SIGINT when time is up.
class Alarm {
  constructor() {
    this.until = Infinity;
  }

  set(seconds) {
    this.until = performance.now() + seconds * 1000;
  }

  stop() {
    this.until = Infinity;
  }

  // A class that catches the signal receives it again after AGAIN_S.
  get 0() {
    if (performance.now() <= this.until) return 0;
    this.set(AGAIN_S);
    return SIGINT;
  }

  set 0(taken) { /* Pyodide clears the signal; only the clock decides. */ }
}

// A network in virtual time, driven by course/page/channel.py.
class Network {
  constructor(module, seconds) {
    this.until = performance.now() + seconds * 1000;
    this.engine = new Engine(new WebAssembly.Instance(module, {}));
  }

  take(frame) {
    this.engine.take(frame.toJs());
  }

  // Whether the network was given up: endlessly recirculated packets keep a router busy.
  get isLate() {
    return performance.now() > this.until;
  }

  // Works until there are frames to read, nothing to do, or no time left; returns the frames.
  work() {
    for (;;) {
      const wait = this.engine.work(() => performance.now(), () => true);
      const frames = this.engine.frames();
      if (frames.length || wait !== 0 || this.isLate) return frames;
    }
  }
}
