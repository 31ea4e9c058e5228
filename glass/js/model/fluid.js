// Generalised processor sharing: what an ideal scheduler would have sent that serves all backlogged classes at once,
// each in proportion to its weight, and bit by bit.

// Below this a class has nothing left: bytes are divided.
const NOTHING = 1e-6;

// `arrivals` are steps of equal or different length: [{seconds, bytes: [of each class]}]. Resolves to what each class
// was sent in all by the end of each step: [[of each class], ...]. `held` is what waits at the beginning.
export function fluidService({ weights, bytesPerSecond, held, arrivals }) {
  const backlog = [...held], sent = weights.map(() => 0);
  return arrivals.map(({ seconds, bytes }) => {
    // Bytes that arrive within a step count from its beginning: an error of at most one step's arrivals.
    bytes.forEach((each, class_) => (backlog[class_] += each));
    serve(backlog, sent, weights, bytesPerSecond * seconds);
    return [...sent];
  });
}

// A class that is emptied leaves its share to the others.
function serve(backlog, sent, weights, capacity) {
  let left = capacity;
  for (;;) {
    const busy = weights.map((_, class_) => class_).filter((class_) => backlog[class_] > NOTHING);
    if (!busy.length || left <= NOTHING) return;
    const sum = busy.reduce((all, class_) => all + weights[class_], 0);
    // Until the next class is empty, or the step is over.
    const round = Math.min(left / sum, ...busy.map((class_) => backlog[class_] / weights[class_]));
    for (const class_ of busy) {
      backlog[class_] -= round * weights[class_];
      sent[class_] += round * weights[class_];
    }
    left -= round * sum;
  }
}
