// Queue management: who is dropped or marked before the queue is full.

import * as acts from "../model/acts.js";
import { waitIn } from "../model/measures.js";

const PORT = 2;
const manage = (kind, parameters) => ({ side }) => side.handles.act(acts.queueManagement(PORT, 0, 1, kind, parameters));

export const queueManagement = {
  name: "queue-management",
  title: "When should a queue say stop?",
  question: "Two downloads share a line of 10 Mb/s with room for 200 packets. TCP slows down when it is told to. When, and how, "
    + "should the queue tell it?",
  claim: {
    title: "How long packets wait",
    measure: waitIn(PORT, 0),
    place: "at the queue of port 2, the median",
    cases: [["none", "Until it is full"], ["codel", "CoDel"], ["pie", "PIE"], ["red", "RED"], ["ecn_step", "Marks for DCTCP"]],
    caseOf: ({ ports }) => ports.find((each) => each.port === PORT).config.queues[0].aqm?.kind ?? "none",
  },
  steps: [
    {
      title: "When it is full",
      text: ["Tail drop: who comes when 200 packets wait is dropped, at the wall on the left. Nobody is told before."],
      button: "Let time pass faster",
      charts: ["depth", "delays", "windows"],
      act: ({ player }) => {
        player.setPace(1);
        player.play();
      },
    },
    {
      title: "What is the queue for?",
      text: ["Look at the depth over some seconds. A queue is to take up bursts; one that never empties takes up nothing."],
      ask: "How long does a packet wait in 200 packets of 1514 bytes at 10 Mb/s? Compare with the waiting times.",
      picture: true,
    },
    {
      title: "CoDel",
      text: ["Drops at the head, once packets have waited more than 5 ms for 100 ms. Above the queue stands when the next one is due."],
      button: "Manage it with CoDel",
      act: manage("codel", {}),
    },
    {
      title: "Faster and faster",
      text: ["Slow down (−) while packets wait too long, and watch the time from drop to drop."],
      ask: "Why does CoDel drop more often the longer it lasts, rather than more at once?",
    },
    {
      title: "PIE",
      text: ["Drops arrivals at random, with a probability that follows the delay: up while it is above 15 ms, down below."],
      button: "Manage it with PIE",
      act: manage("pie", {}),
    },
    {
      title: "RED",
      text: ["Looks at a moving average of the depth, the triangle below the queue: nothing below the first wall, more and more up to "
             + "the second."],
      button: "Manage it with RED",
      act: manage("red", { profiles: [{ min: 20, max: 60, max_ppm: 100_000 }] }),
    },
    {
      title: "Which is slower?",
      text: ["Go back on the bar of time and compare what the three did to the depth."],
      ask: "RED's average lags behind the depth. When is that good, and when not?",
      picture: true,
    },
    {
      title: "Marking instead of dropping",
      text: ["DCTCP asks for marks and answers to how many there are. Each packet that comes while 20 wait is marked: CE rises where it "
             + "leaves, and nothing is lost."],
      button: "Mark from 20 packets, with DCTCP",
      charts: ["depth", "delays", "marking", "windows"],
      type: "h1 iperf3 -c h2 -C dctcp -t 600 &",
      act: async (glass) => {
        const { world } = glass;
        // The downloads of before make way.
        for (const app of await world.bulks()) await world.stop(app);
        for (let flow = 0; flow < 2; flow++) await world.startTcp("h1", "h2", "dctcp");
        return manage("ecn_step", { threshold: { packets: 20 } })(glass);
      },
    },
    {
      title: "What has it cost?",
      text: ["Look at the depth, at the line to h2 and at the losses."],
      ask: "Why may this queue be so short? What would happen to a flow that does not answer to marks?",
      picture: true,
    },
  ],
};
