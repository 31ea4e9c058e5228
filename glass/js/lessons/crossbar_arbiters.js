// Crossbar arbiters: three inputs want one output, and the arbiter decides which is next.

import * as acts from "../model/acts.js";
import { pingTime } from "../model/measures.js";
import { arbiterName } from "../words.js";

const decideBy = (arbiter) => ({ side, player }) => {
  const { handles } = side;
  player.setPace(0.2);
  player.play();
  return handles.act(acts.inputStage({ ...handles.about.input, arbiter }, `Arbiter: ${arbiterName(arbiter)}`));
};

export const crossbarArbiters = {
  name: "crossbar-arbiters",
  title: "Who may cross?",
  question: "Two TCP flows and a ping come in by three inputs, and all want output 4. The crossbar is no faster than that "
    + "output's line, so in each slot one of them crosses. Who, and what does the ping pay?",
  claim: {
    title: "How long a ping takes",
    measure: pingTime,
    place: "by h3, the median of those that were answered",
    cases: [["ISLIP", "A turn each (iSLIP)"], ["OCF", "Oldest cell first"], ["LQF", "Longest queue first"]],
    caseOf: ({ input }) => input.arbiter,
  },
  steps: [
    {
      title: "A turn each",
      text: ["Two inputs have long queues, the third has a ping now and then. The arbiter is iSLIP."],
      button: "Slow down to see it",
      charts: ["depth", "pings", "flows"],
      act: ({ player }) => {
        player.setPace(2e-4);
        player.play();
      },
    },
    {
      title: "Follow the pointer",
      text: ["Let a step lead to slots (S) and press the right arrow: requests, a grant, an accept. The output's pointer then "
             + "moves behind the input that crossed."],
      ask: "How many packets of others can cross between the arrival of a ping and its turn?",
      picture: true,
    },
    {
      title: "Oldest first",
      text: ["Now the packet that has waited longest crosses. Watch the curve of the pings for a while."],
      button: "Oldest cell first",
      charts: ["pings", "depth", "flows"],
      act: decideBy("OCF"),
    },
    {
      title: "As in one queue",
      text: ["The ping waits until everything that came before it has crossed, from all inputs."],
      ask: "Both flows' queues hold up to 60 packets of 1514 bytes before a line of 20 Mb/s. How long is that? Compare with the curve.",
    },
    {
      title: "Longest first",
      text: ["Now the longest queue crosses. No other rule carries more traffic of any pattern."],
      button: "Longest queue first",
      act: decideBy("LQF"),
    },
    {
      title: "Who is never served?",
      text: ["Look at the queue of input 3, and at the line to h4: it is as busy as before."],
      ask: "The rule carries all that can be carried, and the ping is not answered. Why is that no contradiction?",
      picture: true,
    },
    {
      title: "A turn again",
      text: ["Back to iSLIP: see what becomes of the pings that wait."],
      button: "Back to iSLIP",
      act: decideBy("ISLIP"),
    },
    {
      title: "What does a turn buy?",
      text: ["All three rules kept this line busy. They differ in who waits."],
      ask: "Which of the three would you build into a router, and what is its price?",
    },
  ],
};
