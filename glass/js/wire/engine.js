// The module in which compiler and network are (switch/crates/page), and the worker that owns it.
//
// Messages of the page: {begin: bytes of the module}, {frame}, {ask: "compile", "edit", "test" or
// "dissect", request, id},
// {beat: number}. Messages to it: {ready}, {frames}, {answer, id}, {beat}, {broken: sentence}.
// It works in slices, so whatever the network does it hears what the page says.

const SLICE_MS = 12;
// As the module is linked (vm/page.sh).
const MEMORY_BYTES_MAX = 1 << 30;
const text = new TextDecoder();

export class Engine {
  constructor(instance) {
    this.exports = instance.exports;
    this.exports.begin();
  }

  static async of(bytes) {
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return new Engine(instance);
  }

  take(frame) {
    this.put(frame);
    this.exports.take();
  }

  // Works until `isOver()`, or until there is nothing to do: after how many milliseconds to go on; -1:
  // after the next frame.
  work(clock, isOver) {
    let wait = 0;
    do wait = this.exports.work(clock()); while (wait === 0 && !isOver());
    return wait;
  }

  // Every frame that waits for the page.
  frames() {
    const found = [];
    for (let length = this.exports.next_frame(); length; length = this.exports.next_frame()) {
      found.push(this.bytes(this.exports.outbox(), length));
    }
    return found;
  }

  // {said: what is to be said, config: bytes of a ForwardingPipelineConfig, undefined with errors}
  compile(request) {
    this.put(new TextEncoder().encode(request));
    const length = this.exports.compile();
    const all = this.bytes(this.exports.outbox(), this.exports.outbox_length());
    const config = all.length > length ? all.slice(length) : undefined;
    return { said: JSON.parse(text.decode(all.subarray(0, length))), config };
  }

  // The language service's answer about a place of a program (switch/crates/page/src/editing.rs).
  edit(request) {
    return this.answer("edit", request);
  }

  // The result of a packet test (testing.rs there).
  test(request) {
    return this.answer("test", request);
  }

  // A packet as a program's parser sees it (dissecting.rs there).
  dissect(request) {
    return this.answer("dissect", request);
  }

  answer(ask, request) {
    this.put(new TextEncoder().encode(request));
    const length = this.exports[ask]();
    return JSON.parse(text.decode(this.bytes(this.exports.outbox(), length)));
  }

  // The cause of a failure, as a sentence.
  why(error) {
    const words = text.decode(this.bytes(this.exports.last_words(), this.exports.last_words_length()));
    // A mistake leaves words behind; what finds no memory stops without any.
    const isRefusedMemory = !words && error.message.includes("unreachable");
    if (isRefusedMemory || this.exports.memory.buffer.byteLength > 0.9 * MEMORY_BYTES_MAX) {
      return "It wants more memory than a page may use (1 GB).";
    }
    return `That is a mistake of Vitrine's: ${words || error.message}.`;
  }

  put(bytes) {
    const at = this.exports.inbox(bytes.length);
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
  }

  // A copy: the module's memory moves when it grows.
  bytes(at, length) {
    return new Uint8Array(this.exports.memory.buffer, at, length).slice();
  }
}

// Lets a worker serve a page.
function serve(scope) {
  let engine, timer;
  // A message to oneself comes at once, where a timer waits for 4 ms.
  const again = new MessageChannel();
  let isDue = false;
  const soon = () => {
    if (isDue) return;
    isDue = true;
    again.port2.postMessage(0);
  };
  again.port1.onmessage = () => {
    isDue = false;
    guard(() => go());
  };

  function go() {
    clearTimeout(timer);
    const until = performance.now() + SLICE_MS;
    const wait = engine.work(() => performance.now(), () => performance.now() >= until);
    const frames = engine.frames();
    if (frames.length) scope.postMessage({ frames }, frames.map((each) => each.buffer));
    if (wait === 0) soon();
    else if (wait > 0) timer = setTimeout(soon, wait);
  }

  function guard(act) {
    try {
      act();
    } catch (error) {
      scope.postMessage({ broken: engine ? engine.why(error) : error.message });
      scope.close();
    }
  }

  const ASKS = new Set(["compile", "edit", "test", "dissect"]);
  const answerTo = ({ ask, request }) => (ASKS.has(ask) ? engine[ask](request) : undefined);

  scope.onmessage = async ({ data }) => {
    if (data.begin) {
      try {
        engine = await Engine.of(data.begin);
        scope.postMessage({ ready: true });
      } catch (error) {
        scope.postMessage({ broken: `This browser cannot run it: ${error.message}.` });
      }
    } else if (data.frame) {
      guard(() => engine.take(data.frame));
      soon();
    } else if (data.ask) {
      guard(() => scope.postMessage({ answer: answerTo(data), id: data.id }));
    } else if (data.beat) {
      scope.postMessage({ beat: data.beat });
    }
  };
}

if (typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope) serve(self);
