// One arbitration of the crossbar, phase by phase: who asks, whom outputs choose, whom inputs choose,
// and how pointers move. `arbitration` is an ArbitrationEvent; `before` are the pointers it began with.
//
//   phasesOf(arbitration)                 [{kind, round, words}] in the order in which they happen
//   shownIn(arbitration, before, phase)   what is to be seen when that phase is over

export function phasesOf(arbitration) {
  const { rounds, pointers } = arbitration;
  const found = [{ kind: "asks", round: 0, words: "requests" }];
  rounds.forEach(({ grants }, index) => {
    const round = rounds.length > 1 ? `, round ${index + 1}` : "";
    // Arbiters that match at once have no grants.
    if (grants.length) found.push({ kind: "grants", round: index, words: `grants${round}` });
    found.push({ kind: "accepts", round: index, words: `${grants.length ? "accepts" : "matches"}${round}` });
  });
  if (pointers.length) found.push({ kind: "pointers", round: rounds.length, words: "pointers move" });
  return found;
}

// {places: [{input, output, level, weight}], pointers: [{port, grant, accept}], moved: Set of ports}
//
// A place's level: "asks", "granted" in this round, "matched" in this or an earlier one. Pointers that
// have moved are in `moved`, as "grant 2" and "accept 1".
export function shownIn(arbitration, before, index) {
  const phases = phasesOf(arbitration);
  const phase = phases[Math.min(index, phases.length - 1)];
  const level = new Map();
  const key = ({ input, output }) => `${input} ${output}`;
  arbitration.rounds.forEach(({ grants, accepts }, round) => {
    const isOver = phase.kind === "pointers" || round < phase.round;
    if (round === phase.round && phase.kind !== "asks") for (const each of grants) level.set(key(each), "granted");
    if (isOver || (round === phase.round && phase.kind === "accepts")) for (const each of accepts) level.set(key(each), "matched");
  });
  const places = arbitration.asks.map((ask) => ({ ...ask, level: level.get(key(ask)) ?? "asks" }));
  const isMoved = phase.kind === "pointers";
  const pointers = isMoved || !before?.length ? arbitration.pointers : before;
  const moved = new Set();
  if (isMoved) {
    const earlier = new Map((before ?? []).map((each) => [each.port, each]));
    for (const { port, grant, accept } of pointers) {
      const was = earlier.get(port);
      if (was && was.grant !== grant) moved.add(`grant ${port}`);
      if (was && was.accept !== accept) moved.add(`accept ${port}`);
    }
  }
  return { places, pointers, moved, phase };
}

// The matrix of each round, as [{levelOf(input, output)}]: "asks", "granted", "matched" in it or
// "earlier"; "" otherwise. An arbitration without a match has one round of requests.
export function roundsOf({ asks, rounds }) {
  const key = (input, output) => `${input} ${output}`, matched = [];
  return (rounds.length ? rounds : [{ grants: [], accepts: [] }]).map(({ grants, accepts }) => {
    const level = new Map();
    const isFree = (ask) => !matched.some((each) => each.input === ask.input || each.output === ask.output);
    const all = [[asks.filter(isFree), "asks"], [grants, "granted"], [accepts, "matched"], [matched, "earlier"]];
    for (const [list, name] of all) for (const { input, output } of list) level.set(key(input, output), name);
    matched.push(...accepts);
    return { levelOf: (input, output) => level.get(key(input, output)) ?? "" };
  });
}

// Which phase is seen, where time shows it: none is shown shorter than eyes need.
//
// `since` and `until` are seconds of the viewer: since the arbitration, and until the next one.
const PHASE_S = 0.45, PHASE_LEAST_S = 0.08;

export function phaseAt(arbitration, since, until) {
  const last = phasesOf(arbitration).length - 1;
  const each = Math.min(PHASE_S, until / (last + 1));
  if (each < PHASE_LEAST_S) return last;
  return Math.min(last, Math.floor(since / each));
}

// The arbitration in sentences, for those who do not see it.
export function arbitrationWords(arbitration) {
  const pairs = (list) => list.map(({ input, output }) => `${input}→${output}`).join(", ") || "none";
  const rows = [["requests", pairs(arbitration.asks)]];
  arbitration.rounds.forEach(({ grants, accepts }, index) => {
    if (grants.length) rows.push([`grants of round ${index + 1}`, pairs(grants)]);
    rows.push([`${grants.length ? "accepts" : "matches"} of round ${index + 1}`, pairs(accepts)]);
  });
  for (const { port, grant, accept } of arbitration.pointers) {
    rows.push([`pointers of port ${port}`, `grant ${grant}, accept ${accept}`]);
  }
  return rows;
}
