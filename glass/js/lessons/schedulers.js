// Schedulers: whose packet is next on a line, and what the others pay.

import * as acts from "../model/acts.js";
import { lineShare } from "../model/measures.js";

const PORT = 4, SMALL = 1;
// Classes: large packets, small ones, a ping.
const serve = (discipline) => ({ side }) => side.handles.act(acts.scheduler(PORT, discipline, [1, 1, 1]));

// More than one group is served strictly, the highest first; a hierarchy has no groups.
const disciplineOf = ({ groups }) => (groups?.length > 1 ? "strict" : groups?.[0]?.discipline);

export const schedulers = {
  name: "schedulers",
  title: "Whose packet is next?",
  question: "h1 sends frames of 66 bytes, h2 frames of 1514, and each sends more than the line of 2 Mb/s carries. h3 pings. "
    + "Each of them has a queue. What does each get?",
  claim: {
    title: "How much of the line the small packets get",
    measure: lineShare(PORT, SMALL),
    place: "at class 1 of port 4, whose line carries 2 Mb/s",
    cases: [["WRR", "A packet each (WRR)"], ["DRR", "Bytes each (DRR)"], ["WFQ", "Who would finish first (WFQ)"], ["strict", "Strict priority"]],
    caseOf: ({ ports }) => disciplineOf(ports.find((each) => each.port === PORT).config.scheduler),
  },
  steps: [
    {
      title: "A packet each",
      text: ["Weighted round robin takes a packet from each queue in turn. Class 0 has the large packets, class 1 the small ones, "
             + "class 2 the ping."],
      button: "Let time pass faster",
      charts: ["flows", "depth", "pings"],
      act: ({ player }) => {
        player.setPace(0.5);
        player.play();
      },
    },
    {
      title: "Is that fair?",
      text: ["Compare the two flows, and see above which part of the line the small packets get."],
      ask: "Which part of the line do frames of 66 bytes get, if one of them follows each frame of 1514?",
      picture: true,
    },
    {
      title: "Bytes each",
      text: ["Deficit round robin grants each queue the bytes of a full frame a turn, and keeps what a queue has not used."],
      button: "Deficit round robin",
      charts: ["service", "flows", "pings"],
      act: serve("DRR"),
    },
    {
      title: "Count them",
      text: ["Slow down (−) and step from packet to packet. The bar behind a queue is what is left of its grant."],
      ask: "How many small packets leave between two large ones, and why so many?",
      picture: true,
    },
    {
      title: "Who would finish first?",
      text: ["Weighted fair queueing sends the packet that a fluid server would finish first: shares as before, in smaller portions. "
             + "The number in a packet is how far its finish is ahead of virtual time, in bytes: slow down (−), and the smallest goes first."],
      button: "Weighted fair queueing",
      act: serve("WFQ"),
    },
    {
      title: "The ping",
      text: ["Compare the curve of the pings under the two."],
      ask: "Both divide the line alike. Why does a ping wait longer under deficit round robin?",
    },
    {
      title: "Strict priority",
      text: ["The highest class goes first: the ping, then the small packets. Look at what is left for h2."],
      button: "Strict priority",
      act: serve("strict"),
    },
    {
      title: "What is promised?",
      text: ["The ping still waits for the frame that is on the line when it comes."],
      ask: "How long is that at most? And who may be given strict priority without harm?",
      picture: true,
    },
  ],
};
