// A shared buffer: one memory for all outputs, and the limit on each one's part of it.

import * as acts from "../model/acts.js";
import { lossAt } from "../model/measures.js";

const PORTS = [5, 6, 7, 8], VICTIM = 5;

const PART_BYTES = 50_000;

// One act a port: those that one refuses leave the rest as it is.
const eachPort = (...made) => async ({ side }) => {
  for (const port of PORTS) for (const make of made) if (!await side.handles.act(make(port))) return false;
  return true;
};
const claim = (alpha, title) => (port) => acts.bufferShare(port, 0, 1, { alpha, minimum_bytes: 0 }, title);
const limit = (bytes) => (port) => acts.queueLimit(port, 0, 1, { packets: 0, bytes });

export const sharedBuffer = {
  name: "shared-buffer",
  title: "Who may take how much?",
  question: "All outputs of s1 share 200 kB. h4 floods h8 without end; four times a second h1, h2 and h3 send 20 packets each to h5, "
    + "whose line is idle. Why are they lost?",
  claim: {
    title: "How much of each burst is lost",
    measure: lossAt(VICTIM),
    place: "at port 5, of two bursts",
    cases: [["all", "Whoever comes gets"], ["1", "Thresholds, alpha = 1"], ["8", "Thresholds, alpha = 8"], ["parts", "50 kB for each"]],
    caseOf: ({ ports }) => {
      const { share, limit } = ports.find((each) => each.port === VICTIM).config.queues[0];
      if (share?.alpha?.over) return String(share.alpha.over / share.alpha.under);
      return limit.bytes === PART_BYTES ? "parts" : "all";
    },
  },
  steps: [
    {
      title: "Whoever comes gets",
      text: ["The queue to h8 is the flood's. The queue to h5 is empty between two bursts: see what falls when one comes."],
      button: "Let time pass faster",
      charts: ["buffer", "flows", { counter: "port 5 / counters / counters / departed / packets" }],
      act: ({ player }) => {
        player.setPace(0.2);
        player.play();
      },
    },
    {
      title: "Locked out",
      text: ["The burst is lost at port 5. Its own queue is short, and its limit is 200 kB."],
      ask: "Who is to blame, and at which port would you look for him?",
      picture: true,
    },
    {
      title: "As much as is free",
      text: ["Dynamic thresholds: no queue may hold more than alpha times what is free at this moment. Alpha is 1."],
      button: "Thresholds, alpha = 1",
      act: eachPort(claim({ over: 1, under: 1 }, "alpha 1")),
    },
    {
      title: "Where does it stand?",
      text: ["Nobody tells the flood's queue of the others, and still it leaves room."],
      ask: "Alone the flood's queue Q stands where Q = alpha (B - Q). Compute Q, and compare with the picture.",
      picture: true,
    },
    {
      title: "A larger part",
      text: ["With alpha = 8 a queue may hold eight times what is free."],
      button: "Thresholds, alpha = 8",
      act: eachPort(claim({ over: 8, under: 1 }, "alpha 8")),
    },
    {
      title: "What is left for a burst?",
      text: ["Look at the flood's queue, and at what the next bursts lose."],
      ask: "Which alpha is better for the flood, which for the burst, and who pays in memory that stays empty?",
    },
    {
      title: "Fixed parts",
      text: ["A quarter of the memory for each output, whatever the others do."],
      button: "50 kB for each",
      act: eachPort(claim(undefined, "no threshold"), limit(PART_BYTES)),
    },
    {
      title: "What do they cost?",
      text: ["A burst has 91 kB. With fixed parts it would lose as much if it were alone."],
      ask: "When are fixed parts the right choice?",
      picture: true,
    },
  ],
};
