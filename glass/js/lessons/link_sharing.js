// Link sharing: the share of a line that each flow gets, and the discipline that decides it.

import * as acts from "../model/acts.js";
import { flowShare } from "../model/measures.js";

const PORT = 3;
const shareOfOne = flowShare("h1", "h2");
// h2 sends as good as nothing.
const ALONE = 0.99;

export const linkSharing = {
  name: "link-sharing",
  title: "Who gets how much?",
  question: "h1 and h2 share a line of 20 Mb/s. How can they share it as agreed, and use what the other leaves?",
  claim: {
    title: "How much of the line h1 gets",
    measure: shareOfOne,
    place: "behind s1, as a share of h1 and h2 together",
    cases: [["FIFO", "One queue for both"], ["DRR", "Two classes, 3:7"], ["alone", "The same, h2 cut off"], ["strict", "Strict priority"]],
    caseOf: ({ ports }, sources, timePs) => {
      const { queues, scheduler: { groups } } = ports.find((each) => each.port === PORT).config;
      if (queues.length === 1) return "FIFO";
      if (groups?.length > 1) return "strict";
      return shareOfOne.read(sources, timePs) > ALONE ? "alone" : groups?.[0]?.discipline;
    },
  },
  steps: [
    {
      title: "One queue for both",
      text: ["Two flows in one queue, and nobody has agreed on anything. Watch how their shares wander."],
      button: "Let time pass faster",
      charts: ["flows", "depth", "windows"],
      act: ({ player }) => {
        player.setPace(0.5);
        player.play();
      },
    },
    {
      title: "Who decides?",
      text: ["The queue serves whoever comes first. What each of them gets is a matter of who sends more."],
      ask: "What would a third flow of h2's do to the share of h1?",
    },
    {
      title: "70 % and 30 %",
      text: ["h1's packets go into class 1, all others into class 0. Deficit round robin grants them 7 and 3 frames a turn.",
             "The bar behind a queue is what is left of the grant; the blue line shows whose turn it is."],
      button: "Two classes, 3:7",
      act: async ({ side, player }) => {
        const { handles, program } = side;
        const isDone = await handles.act(acts.queueCount(PORT, 2)) && await handles.act(acts.scheduler(PORT, "DRR", [3, 7]))
          && await handles.act(acts.queueLimit(PORT, 1, 2, { packets: 0, bytes: 50_000 }))
          && await program.tables.insert({ table: "ipv4_classes", matches: { "hdr.ipv4.src_addr": "10.0.1.0 &&& 255.255.255.0" },
                                           action: "set_class", params: { class_num: "1" }, priority: "10" });
        player.setPace(0.005);
        return isDone;
      },
    },
    {
      title: "Follow the deficit",
      text: ["Step with the arrow keys. A class is granted its bytes when its turn comes, and sends while they cover its next packet."],
      ask: "Why is the deficit of a class never more than its grant and one packet?",
      picture: true,
    },
    {
      title: "Like rulers",
      text: ["Faster again: look at the shares of the two flows."],
      button: "Let time pass faster",
      act: ({ player }) => {
        player.setPace(0.5);
        player.play();
      },
    },
    {
      title: "One pauses",
      text: ["A share that nobody uses is not lost: cut h2's cable and see who takes it."],
      button: "Cut h2's cable",
      type: "link h2 s1 down",
      act: async ({ world }) => {
        await world.cut({ node: "h2" });
      },
    },
    {
      title: "And comes back",
      text: ["Once it is mended, watch how long it takes until 70 and 30 are back."],
      button: "Mend the cable",
      type: "link h2 s1 up",
      act: async ({ world }) => {
        await world.mend({ node: "h2" });
      },
    },
    {
      title: "Strict priority",
      text: ["Now h1's class always goes first."],
      button: "Strict priority",
      act: ({ side }) => side.handles.act(acts.scheduler(PORT, "strict", [1, 1])),
    },
    {
      title: "What is left?",
      text: ["Look at h2's flow, and at its queue."],
      ask: "For what kind of traffic is strict priority safe?",
      picture: true,
    },
  ],
};
