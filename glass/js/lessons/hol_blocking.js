// Head-of-line blocking: who waits behind whom, and what VOQs do about it.

import * as acts from "../model/acts.js";

const SLOW = 2e-3;

export const holBlocking = {
  name: "hol-blocking",
  title: "Who waits behind whom?",
  question: "Three senders share input 1 of s2. Two of them send to h4, whose line is slow; the third "
    + "sends to h5, whose line has room. Why does the third one get less than its line could carry?",
  steps: [
    {
      title: "Look at input 1",
      text: [
        "Each mark is a packet, in the colour of its flow. They leave their queue at the right.",
        "The output queue to h4 is full. The packet at the head of input 1 is for h4, so it has to wait.",
        "Those with a sharp edge are for h5. Its line sends nothing, and still they stand there: this is "
        + "head-of-line blocking.",
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
        return glass.side.handles.useVoqs();
      },
    },
    {
      title: "What has changed?",
      text: ["Look at the line to h5, and at the curve of its flow. The line to h4 carries what it did before."],
      ask: "How much does the flow to h5 get now, and why not more?",
      picture: true,
    },
    {
      title: "Is a faster crossbar enough?",
      text: ["Back to one FIFO, but with a crossbar that is twice as fast as the lines."],
      button: "FIFO, speedup 2",
      act: (glass) => {
        const stage = glass.side.handles.stageOf("FIFO");
        return glass.side.handles.act(acts.inputStage({ ...stage, speedup: { over: 2, under: 1 } }, "FIFO, speedup 2"));
      },
    },
    {
      title: "And now?",
      text: ["The head still waits, because it waits for room behind the crossbar and not for the crossbar."],
      ask: "When would a speedup of 2 help?",
    },
  ],
};
