// Python in a page, and what the checks of an exercise find around it: the kit's packages, the programs
// vitrine-p4c and vitrine-sim, and networks. Nothing here knows whether it is in a browser.

import { Engine } from "../wire/engine.js";
import { Ended, run } from "./programs.js";

// Where the kit's packages are in Python's file system.
const KIT = "/kit";
const OUTPUT_BYTES_MAX = 32 << 20;
// How long a class may take to begin, and for one decision: those of switch/crates/sim/src/outside/child.rs.
const BEGIN_LIMIT_S = 20, DECISION_LIMIT_S = 5;
const SIGINT = 2, AGAIN_S = 0.5;

// `pyodide` is a Python that has started; `kit` a zip of packages; `programs` and `network` are compiled
// modules. Returns {own(student) -> text, check(request, tell) -> points, run(request) -> texts}: see course/page/desk.py.
export function startPython(pyodide, { kit, programs, network }) {
  const alarm = new Alarm();
  pyodide.setInterruptBuffer(alarm);
  pyodide.unpackArchive(kit, "zip", { extractDir: KIT });
  pyodide.runPython(`import sys; sys.path.insert(0, "${KIT}")`);
  pyodide.registerJsModule("vitrine_page", {
    run: (words, seconds, converse) => runProgram(pyodide, programs, alarm, { words: words.toJs(), seconds, converse }),
    network: (seconds) => new Network(network, seconds),
  });
  const desk = pyodide.pyimport("course.page.desk");
  return {
    run: (request) => JSON.parse(desk.run(JSON.stringify(request))),
    own: (student) => desk.own(student),
    check: (request, tell) => JSON.parse(desk.check(JSON.stringify(request), (text) => tell(JSON.parse(text)))),
  };
}

function runProgram(pyodide, module, alarm, { words, seconds, converse }) {
  const until = performance.now() + seconds * 1000;
  let written = 0;
  const watch = (bytes) => {
    written += bytes;
    if (written > OUTPUT_BYTES_MAX) throw new Ended(`It wrote more than ${OUTPUT_BYTES_MAX >> 20} MB, and was ended.`);
    if (performance.now() > until) throw new Ended(`It had not come to an end after ${seconds} s.`);
  };
  const talks = [];
  const insides = () => {
    const talk = new Talk(converse(), alarm);
    talks.push(talk);
    return talk;
  };
  try {
    const done = run(module, words, { fs: pyodide.FS, insides, watch });
    return pyodide.toPy({ status: done.status ?? -1, output: done.output, errors: done.errors, why: done.why ?? "" });
  } finally {
    for (const talk of talks) talk.end();
  }
}

// A class of the submission, asked through a buffer of Python's: see course/page/insides.py.
class Talk {
  constructor(proxy, alarm) {
    this.proxy = proxy;
    this.alarm = alarm;
    this.limitS = BEGIN_LIMIT_S;
    this.buffer = proxy.buffer.getBuffer("u8");
    this.said = 0;
  }

  // Frames, the last of which may be a question.
  say = (bytes) => {
    this.bytes().set(bytes);
    this.alarm.set(this.limitS);
    try {
      this.said = this.proxy.say(bytes.length);
    } finally {
      this.alarm.stop();
    }
    this.limitS = DECISION_LIMIT_S;
  };

  hear = () => this.bytes().slice(0, this.said);

  // Python's memory moves when it grows.
  bytes() {
    if (!this.buffer.data.length) {
      this.buffer.release();
      this.buffer = this.proxy.buffer.getBuffer("u8");
    }
    return this.buffer.data;
  }

  end() {
    this.buffer.release();
    this.proxy.destroy();
  }
}

// What Python looks at every now and then while it runs: the number of a signal, or 0. SIGINT when time is up.
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

  // A signal needs a moment to be handled; a class that holds it up gets another one after that.
  get 0() {
    if (performance.now() <= this.until) return 0;
    this.set(AGAIN_S);
    return SIGINT;
  }

  set 0(taken) { /* It is the clock that says when it is over. */ }
}

// A network in virtual time, whose time passes when it is asked for: see course/page/channel.py.
class Network {
  constructor(module, seconds) {
    this.until = performance.now() + seconds * 1000;
    this.engine = new Engine(new WebAssembly.Instance(module, {}));
  }

  take(frame) {
    this.engine.take(frame.toJs());
  }

  // Whether it was given up: packets that go round for ever keep a router busy.
  get isLate() {
    return performance.now() > this.until;
  }

  // Works until there is something to read, nothing to do, or no time left; frames, one after the other.
  work() {
    for (;;) {
      const wait = this.engine.work(() => performance.now(), () => true);
      const frames = this.engine.frames();
      if (frames.length || wait !== 0 || this.isLate) return frames;
    }
  }
}
