// Who sees the queue: telemetry systems beside the true queue, in a recording of `vitrine score --replay`.

const goTo = ({ player }, timePs) => {
  player.pause();
  player.seek(timePs);
};

// The first build-up of which this holds for some system, and that system.
function find({ systems }, holds) {
  const places = systems[0].buildups.keys();
  for (const place of places) {
    const system = systems.find((each) => each.buildups[place] && holds(each.buildups[place]));
    if (system) return { system, buildup: system.buildups[place] };
  }
  return undefined;
}

export const whoSeesTheQueue = {
  name: "who-sees-the-queue",
  title: "Who sees the queue?",
  question: "A router's queue fills, and is empty again a few milliseconds later or sooner. Telemetry systems watch it, each in its own way. "
    + "Which of them know that it was full, when, and because of whom?",
  steps: [
    {
      title: "The queue itself",
      text: ["The blue area of the track “Who knows of it” is the true depth of the queue; above the dotted line it is a build-up. "
             + "Below it each system has a row. Let time pass, a thousand times slower than it did."],
      button: "Play from the beginning",
      act: ({ player }) => {
        player.setPace(1e-3);
        player.seek(0);
        player.play();
      },
    },
    {
      title: "Known, but when?",
      text: ["Time stands in the middle of the first build-up. A green bar is a claim that is right, and the dark stroke at "
             + "it is the instant at which the system's controller knew. A dashed frame is a build-up that a system does not know of."],
      button: "Go to the first build-up",
      act: (glass) => {
        const { buildups } = glass.scene.beliefs;
        if (!buildups.length) throw new Error("The queue of this recording was never deep: record another workload.");
        const [{ crossedPs, endPs }] = glass.scene.beliefs.systems[0].buildups;
        goTo(glass, Math.round((crossedPs + endPs) / 2));
      },
    },
    {
      title: "How late?",
      text: ["Point at the track: the words beside it say who knew at that instant."],
      ask: "How long after the depth crossed the dotted line did the fastest system know, and how long the slowest? Why do they differ?",
    },
    {
      title: "Missed",
      text: ["Here a build-up is over, and the system whose frame is dashed never learns of it."],
      button: "Show one that was missed",
      act: (glass) => {
        const found = find(glass.scene.beliefs, ({ knownPs }) => knownPs === null);
        if (!found) throw new Error("No system of this recording has missed a build-up: record the workload adversary with polling-1ms.");
        goTo(glass, found.buildup.endPs + 1e6);
      },
    },
    {
      title: "Why it was missed",
      text: ["Look at the router above, and let it run on from here at the slowest pace."],
      ask: "What does the system that missed it look at, and at which instants? What traffic would hide from each of the others?",
      picture: true,
    },
    {
      title: "Because of whom?",
      text: ["Open “As a table” below the track: it has the flows that each system blames, with their packets. "
             + "The picture shows the packets themselves."],
      ask: "Go to a peak and compare: which systems name the flows that fill the queue, and which name flows that only wait in it?",
      picture: true,
    },
    {
      title: "What does it cost?",
      text: ["`vitrine score` prints what each system costs: bytes for each packet of the queue, memory, and steps of the program."],
      ask: "Which system would you run on a switch with a thousand such queues, and what would you give up?",
    },
  ],
};
