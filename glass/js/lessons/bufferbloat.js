// Bufferbloat: what a long queue before a slow line costs those who share it.

import * as acts from "../model/acts.js";
import { lineShare, pingTime } from "../model/measures.js";

const PORT = 2;
const PAGE_BYTES = 177_669;
// The line is as good as full where a download runs.
const FULL = 0.9;
// Toward the home: what belongs to a page, and ping.
const INTERACTIVE = [{ "hdr.ipv4.protocol": "1" }, { "hdr.ipv4.protocol": "6", "meta.l4.src": "80" }];

export const bufferbloat = {
  name: "bufferbloat",
  title: "What does a long queue cost?",
  question: "The line to the home h2 carries 1.5 Mb/s, and 100 packets may wait for it. Why does everything else take "
    + "so long while a download runs?",
  claim: {
    title: "How long a ping takes",
    measure: pingTime,
    place: "by h1, the median of those that were answered",
    cases: [["empty", "On the empty line"], ["long", "Download, room for 100 packets"], ["short", "Download, room for 20"],
            ["own", "Download in a queue of its own"]],
    caseOf: ({ ports }, sources, timePs) => {
      const { queues } = ports.find((each) => each.port === PORT).config;
      if (!(lineShare(PORT).read(sources, timePs) >= FULL)) return queues.length === 1 && queues[0].limit.packets === 100 ? "empty" : undefined;
      if (queues.length > 1) return "own";
      return queues[0].limit.packets < 100 ? "short" : "long";
    },
  },
  steps: [
    {
      title: "The empty line",
      text: ["Five pings a second, and nothing else. Each takes the 20 ms of the cable, and two frames' time on the line."],
      button: "Start a ping",
      type: "h1 ping -i 0.2 h2 &",
      charts: ["depth", "pings"],
      act: async ({ world, player }) => {
        await world.startPing("h1", "h2");
        player.setPace(0.2);
        player.play();
      },
    },
    {
      title: "A download",
      text: ["TCP sends until packets are lost. They are lost when the queue is full: so it fills the queue, whatever its length."],
      button: "Start the download",
      type: "h1 iperf3 -c h2 -t 600 &",
      charts: ["depth", "pings", "windows"],
      act: async ({ world, player }, state) => {
        state.download = await world.startTcp("h1", "h2", "reno");
        player.setPace(1);
        player.play();
      },
    },
    {
      title: "Who waits?",
      text: ["Watch the curve of the pings follow the depth of the queue: each ping stands behind all that is there."],
      ask: "A frame has 1514 bytes. How long does a packet wait behind 100 of them at 1.5 Mb/s? Compare with the curve.",
      picture: true,
    },
    {
      title: "A page",
      text: ["The home fetches a page of 178 kB from the same server. Its packets are another colour; see where they stand."],
      button: "Fetch a page",
      type: "h2 wget 10.0.1.1",
      act: ({ world }) => world.fetchPage("h2", "h1", PAGE_BYTES).then(() => true),
    },
    {
      title: "How long did it take?",
      text: ["Drag the bar of time from its first packet to its last one."],
      ask: "How many round trips does a page take at least, and how long is one now?",
    },
    {
      title: "A shorter queue",
      text: ["20 packets instead of 100: the download loses packets earlier and keeps less in the queue."],
      button: "Limit the queue to 20 packets",
      act: (glass) => glass.side.handles.act(acts.queueLimit(PORT, 0, 1, { packets: 20, bytes: 0 })),
    },
    {
      title: "Is it paid for?",
      text: ["Look at the line to h2: is it still busy all the time? Fetch the page again, with step 4, and watch what it loses."],
      ask: "What has become better, and what has become worse?",
    },
    {
      title: "A queue of its own",
      text: ["Two classes that are served in turn, a frame each: the download fills its own queue, and pings and pages pass it.",
             "The bars behind the queues are what deficit round robin has left for each of them."],
      button: "Two classes in turn",
      charts: ["pings", "flows", "depth"],
      act: async ({ side }) => {
        const { handles, program } = side;
        const isDone = await handles.act(acts.queueCount(PORT, 2)) && await handles.act(acts.scheduler(PORT, "DRR", [1, 1]))
          && await handles.act(acts.queueLimit(PORT, 0, 2, { packets: 100, bytes: 0 }));
        if (!isDone) return false;
        for (const matches of INTERACTIVE) {
          const rule = { table: "ipv4_classes", matches: { "hdr.ipv4.dst_addr": "10.0.2.0 &&& 255.255.255.0", ...matches }, action: "set_class",
                         params: { class_num: "1" }, priority: "10" };
          if (!await program.tables.insert(rule)) return false;
        }
        return true;
      },
    },
    {
      title: "What did the long queue buy?",
      text: ["The line was equally busy with each of the three. Fetch the page once more."],
      ask: "What is a queue before a line good for, and how long need it be?",
      picture: true,
    },
  ],
};
