// Frames through a WebSocket, to the glass's server.

import { FrameWay, HEAD_BYTES, Lost } from "./frames.js";

const SCENE = 1;

// Resolves when the server has said what there is to see. `scene(way, scene)` is called with that, and
// again when there is something else to see; `lost()` when the server has gone.
//
// `source` reads a source file of a program, `handout` that of a lab.
export function connect(address, { scene, lost, source, handout }) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    const way = new FrameWay((frame) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(frame);
    });
    way.source = source;
    way.handout = handout;
    way.close = () => socket.close();
    let isOpen = false;
    socket.onmessage = ({ data }) => {
      const frame = new Uint8Array(data);
      if (frame[0] !== SCENE) return way.take(frame);
      isOpen = true;
      scene(way, JSON.parse(new TextDecoder().decode(frame.subarray(HEAD_BYTES))));
      return resolve();
    };
    socket.onclose = () => {
      way.end("the server has gone away");
      if (isOpen) lost();
      else reject(new Lost("the server does not let this page in"));
    };
  });
}
