// Frames to a worker of the page's own, which has compiler and network in it (engine.js).

import { FrameWay, Lost } from "./frames.js";

// A worker that is silent for `SILENT_BEATS_MAX` beats is ended: a packet's way through a router takes microseconds.
const BEAT_MS = 1000;
const SILENT_BEATS_MAX = 10;

// `engine` is the text of engine.js, `wasm` the bytes of the module. Resolves to
// {way, compile(request) -> Promise of {said, config}, edit, test and dissect(request) -> Promise of an
// answer, isThere, end()};
// onLost(sentence) when it breaks off.
export function startWorker({ engine, wasm }, onLost) {
  return new Promise((resolve, reject) => {
    // Chromium begins no worker that is a module from a page on a disk.
    const script = engine.replace(/^export /gm, "");
    const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    const worker = new Worker(address);
    const way = new FrameWay((frame) => worker.postMessage({ frame }, [frame.buffer]));
    const asked = new Map();
    let last = 0, silentBeats = 0, isReady = false, isThere = true;

    const lose = (sentence) => {
      stop();
      way.end(sentence);
      for (const { reject: refuse } of asked.values()) refuse(new Lost(sentence));
      asked.clear();
      if (isReady) onLost(sentence);
      else reject(new Lost(sentence));
    };
    const beat = setInterval(() => {
      // Counted, not timed: a page that slept has heard nothing, either.
      if (++silentBeats > SILENT_BEATS_MAX) {
        lose(`It did not come to an end within ${SILENT_BEATS_MAX} seconds, and was stopped.`);
      }
      worker.postMessage({ beat: 1 });
    }, BEAT_MS);
    const stop = () => {
      isThere = false;
      clearInterval(beat);
      worker.terminate();
      URL.revokeObjectURL(address);
    };
    // A page that ends it waits for no answer any more, and nothing of the page is held for one.
    const end = () => {
      stop();
      way.forget();
      asked.clear();
    };
    const ask = (what, request) => new Promise((fulfil, refuse) => {
      if (!isThere) return void refuse(new Lost("The network has stopped."));
      asked.set(++last, { resolve: fulfil, reject: refuse });
      worker.postMessage({ ask: what, request, id: last });
    });
    const asks = Object.fromEntries(["compile", "edit", "test", "dissect"].map((what) => [what, (request) => ask(what, request)]));

    worker.onerror = (event) => lose(event.message || "The browser let no worker begin.");
    worker.onmessage = ({ data }) => {
      silentBeats = 0;
      if (data.frames) data.frames.forEach((frame) => way.take(frame));
      else if (data.id) {
        asked.get(data.id)?.resolve(data.answer);
        asked.delete(data.id);
      } else if (data.broken) lose(data.broken);
      else if (data.ready) {
        isReady = true;
        resolve({ way, ...asks, end, get isThere() { return isThere; } });
      }
    };
    // The bytes go along, not a copy of them.
    worker.postMessage({ begin: wasm });
  });
}
