// The depths at which the output queues of a router are full: what is told of them between two samples.

// A Watch takes no more.
const LEVELS_MAX = 256;
const FRAME_BYTES = 1514;

// [{port, class, packets or bytes}], as Watch takes them, of what Describe said.
export function fullLevels(about) {
  const found = about.ports.filter((each) => each.port < 510).flatMap(({ port, config }) =>
    (config.queues ?? []).flatMap(({ class: class_, limit }) => levelOf(port, class_, limit)));
  return found.slice(0, LEVELS_MAX);
}

// By bytes a queue is full where another full frame does not fit.
function levelOf(port, class_, limit) {
  if (limit?.packets) return [{ port, class: class_, packets: limit.packets }];
  if (limit?.bytes) return [{ port, class: class_, bytes: Math.max(1, limit.bytes - FRAME_BYTES + 1) }];
  return [];
}
