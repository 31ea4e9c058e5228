// The way to a world through the glass's server: frames of bytes in a WebSocket.
//
// Whatever carries messages has these two functions, and nothing above knows which one it is:
//
//   call(router, method, bytes) -> Promise of bytes            rejects with a Refusal
//   open(router, method, {next, ended}) -> {send, done, cancel}
//        next(bytes) for each message; ended(undefined or Refusal) once, at the end
//
// The frames are described at the top of labs/glass/server.py.

const CALL = 1, SEND = 2, DONE = 3, CANCEL = 4;
const SCENE = 1, MESSAGE = 2, END = 3;
const HEAD_BYTES = 5;
const text = new TextEncoder();

// A call that came to nothing: the bytes of a google.rpc.Status.
export class Refused extends Error {
  constructor(bytes) {
    super("the call was refused");
    this.status = bytes;
  }
}

export class Lost extends Error {}

// Resolves to {way, scene} when the server has said what there is to see.
export function connect(address, onLost) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    const way = new SocketWay(socket);
    let isOpen = false;
    socket.onmessage = ({ data }) => {
      const frame = new Uint8Array(data);
      const view = new DataView(data);
      if (frame[0] === SCENE) {
        isOpen = true;
        resolve({ way, scene: JSON.parse(new TextDecoder().decode(frame.subarray(HEAD_BYTES))) });
      } else {
        way.take(frame[0], view.getUint32(1), frame.subarray(HEAD_BYTES));
      }
    };
    socket.onclose = () => {
      way.end();
      if (isOpen) onLost();
      else reject(new Lost("the server does not let this page in"));
    };
  });
}

class SocketWay {
  constructor(socket) {
    this.socket = socket;
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
    if (this.socket.readyState !== WebSocket.OPEN) return;
    const frame = new Uint8Array(HEAD_BYTES + bytes.length);
    frame[0] = kind;
    new DataView(frame.buffer).setUint32(1, number);
    frame.set(bytes, HEAD_BYTES);
    this.socket.send(frame);
  }

  take(kind, number, rest) {
    const listener = this.calls.get(number);
    if (!listener) return;
    if (kind === MESSAGE) return void listener.next(rest);
    this.calls.delete(number);
    listener.ended(kind === END ? undefined : new Refused(rest));
  }

  // The socket has closed.
  end() {
    for (const listener of this.calls.values()) listener.ended(new Lost("the server has gone away"));
    this.calls.clear();
  }
}

function named(name) {
  const bytes = text.encode(name);
  return [bytes.length, ...bytes];
}
