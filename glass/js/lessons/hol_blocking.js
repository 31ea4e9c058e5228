// Head-of-line blocking: who waits behind whom, and what VOQs do about it.

import * as acts from "../model/acts.js";
import { lineShare } from "../model/measures.js";
import { RATE_WINDOW_PS } from "../model/samples.js";

const SLOW = 2e-3;
const VICTIM = 3;
// After a change of the input stage the network runs on for this long at once: then the effect is
// complete, and rates belong to the setting in force.
const EFFECT_PS = RATE_WINDOW_PS + 100e9;

const isFaster = ({ speedup }) => Boolean(speedup) && speedup.over !== speedup.under;

// The effect of a change, as it stays; real time passes by itself.
const take = async (glass, isDone) => {
  if (isDone && glass.scene.isDriven) await glass.jump(EFFECT_PS);
  return isDone;
};

export const holBlocking = {
  name: "hol-blocking",
  title: "Who waits behind whom?",
  question: "Three senders share input 1 of s2. Two of them send to h4, whose line is slow; the third "
    + "sends to h5, whose line has room. Why does the third one get less than its line could carry?",
  claim: {
    title: "How much of its line the flow to h5 gets",
    measure: lineShare(VICTIM),
    port: VICTIM,
    place: "at port 3 of s2, whose line carries 50 Mb/s",
    cases: [["FIFO", "One FIFO at input 1"], ["VOQ", "Virtual output queues"], ["FASTER", "One FIFO, speedup 2"]],
    caseOf: ({ input }) => (input.queueing === "FIFO" && isFaster(input) ? "FASTER" : input.queueing),
  },
  steps: [
    {
      title: "Look at input 1",
      text: [
        "Each mark is a packet, in the colour of its flow. They leave their queue at the right.",
        "More is sent to h4 than its line carries, so its output queue is full. Whenever the packet at the head of input 1 "
        + "is for h4, it waits for room there, and all packets behind it wait, too.",
        "The outlined packets are for h5. Its line sends nothing meanwhile, and yet they wait: this is "
        + "head-of-line blocking. The number above is what it costs.",
      ],
      button: "Slow down to see it",
      act: async (glass) => {
        const { handles } = glass.side;
        if (handles.about.input.queueing !== "FIFO" && !await handles.useFifos()) return false;
        glass.player.setPace(SLOW / 4);
        glass.player.play();
        return true;
      },
    },
    {
      title: "Find the cause",
      text: ["Step with the arrow keys. Watch what happens whenever a packet for h5 reaches the head."],
      ask: "What does a packet for h5 wait for?",
      picture: true,
    },
    {
      title: "Give every output its own queue",
      text: ["Virtual output queues: at input 1 one queue for each output. Nobody stands behind a packet for "
        + "another output any more; an arbiter, iSLIP, matches inputs with outputs."],
      button: "Switch to VOQ",
      act: (glass) => {
        glass.player.setPace(SLOW);
        glass.player.play();
        return glass.side.handles.useVoqs().then((isDone) => take(glass, isDone));
      },
    },
    {
      title: "What has changed?",
      text: ["The line to h5 is full. Compare the two numbers above; the line to h4 carries what it did before."],
      ask: "How much does the flow to h5 get now, and why not more?",
      picture: true,
    },
    {
      title: "Is a faster crossbar enough?",
      text: ["Back to one FIFO, but with a crossbar that is twice as fast as the lines."],
      button: "FIFO, speedup 2",
      act: (glass) => {
        const stage = acts.stageOf(glass.side.handles.about, "FIFO");
        glass.player.play();
        return glass.side.handles.act(acts.inputStage({ ...stage, speedup: { over: 2, under: 1 } }, "FIFO, speedup 2"))
          .then((isDone) => take(glass, isDone));
      },
    },
    {
      title: "And now?",
      text: ["The head still waits, because it waits for room behind the crossbar and not for the crossbar."],
      ask: "When would a speedup of 2 help?",
    },
    {
      title: "How much can FIFOs carry?",
      text: [
        "Another crossbar: cells come to all inputs at random, for any output, and no output is slower than the others. "
        + "Now heads wait only for each other.",
        "Dashed lines are theory: Karol, Hluchyj and Morgan computed in 1987 that FIFOs carry 2 − √2 of the lines, however "
        + "long they are.",
      ],
      panel: "load",
      ask: "What happens to the wait near 58.6 %, and why do output queues not care?",
    },
  ],
};
