// The way to a world: calls and messages as frames of bytes, whatever carries these.
//
//   call(router, method, bytes) -> Promise of bytes            rejects with a Refused
//   open(router, method, {next, ended}) -> {send, done, cancel}
//        next(bytes) for each message; ended(undefined or Refused) once, at the end
//   source(file) -> Promise of text                            optional: of a P4 program
//
// The frames are described at the top of labs/glass/server.py; nothing above knows of them.

const CALL = 1, SEND = 2, DONE = 3, CANCEL = 4;
const MESSAGE = 2, END = 3;
export const HEAD_BYTES = 5;
const text = new TextEncoder();

// A call that came to nothing: the bytes of a google.rpc.Status.
export class Refused extends Error {
  constructor(bytes) {
    super("the call was refused");
    this.status = bytes;
  }
}

// The connection that carried the frames is closed.
export class Lost extends Error {}

export class FrameWay {
  // `carry(frame)` takes a frame away; what comes back is handed to `take`.
  constructor(carry) {
    this.carry = carry;
    this.calls = new Map();
    this.last = 0;
  }

  call(router, method, bytes) {
    return new Promise((resolve, reject) => {
      let answer;
      const call = this.open(router, method, {
        next: (message) => (answer = message),
        ended: (refused) => (refused ? reject(refused) : resolve(answer ?? new Uint8Array(0))),
      });
      call.send(bytes);
      call.done();
    });
  }

  open(router, method, listener) {
    const number = ++this.last;
    if (this.lost) {
      listener.ended(this.lost);
      return { send() {}, done() {}, cancel() {} };
    }
    this.calls.set(number, listener);
    this.write(CALL, number, [...named(router), ...named(method)]);
    return {
      send: (bytes) => this.write(SEND, number, bytes),
      done: () => this.write(DONE, number, []),
      cancel: () => {
        this.calls.delete(number);
        this.write(CANCEL, number, []);
      },
    };
  }

  write(kind, number, bytes) {
    if (this.lost) return;
    const frame = new Uint8Array(HEAD_BYTES + bytes.length);
    frame[0] = kind;
    new DataView(frame.buffer).setUint32(1, number);
    frame.set(bytes, HEAD_BYTES);
    this.carry(frame);
  }

  take(frame) {
    const kind = frame[0], rest = frame.subarray(HEAD_BYTES);
    const number = new DataView(frame.buffer, frame.byteOffset).getUint32(1);
    const listener = this.calls.get(number);
    if (!listener) return;
    if (kind === MESSAGE) return void listener.next(rest);
    this.calls.delete(number);
    listener.ended(kind === END ? undefined : new Refused(rest));
  }

  // The page has closed the network: calls that are waiting are dropped without an answer.
  forget() {
    this.lost = new Lost("The network has been closed.");
    this.calls.clear();
  }

  // No frame comes or goes any more, and why.
  end(sentence) {
    this.lost = new Lost(sentence);
    for (const listener of this.calls.values()) listener.ended(this.lost);
    this.calls.clear();
  }
}

function named(name) {
  const bytes = text.encode(name);
  return [bytes.length, ...bytes];
}
