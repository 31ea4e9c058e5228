// Flows of a live network that another program has started: only routers report their packets, and hosts' kernels their
// connections. Pure.

import { PROTOCOL } from "./flows.js";

// A flow without a report for this long does not pass any more.
const PASSES_PS = 3e12;

// Those that pass at an instant and that none of the applications `apps` ({host, app, kind}) sends.
export function passing(flows, hosts, apps, timePs) {
  const fromPs = timePs - PASSES_PS;
  const growing = new Set([...hosts.series(fromPs, timePs, (each) => each.bytes_acked)]
    .filter(([, { ys }]) => ys.at(-1) > ys[0]).map(([number]) => number));
  return flows.list.filter((each) => each && ((each.seenPs > fromPs && each.seenPs < Infinity) || growing.has(each.number))
    && !apps.some((app) => sends(app, each, flows)));
}

// Whether an application sends a flow. Which way is the way there may not be known yet.
function sends({ host, app = {}, kind = Object.keys(app)[0] }, flow, flows) {
  const [from, to] = [flows.name(flow.source), flows.name(flow.target)];
  if (from !== host && to !== host) return false;
  const { protocol } = flow;
  if (kind === "ping") return protocol === PROTOCOL.ICMP && isAt(flows.name(app.ping?.to), from, to);
  if (protocol !== (kind === "datagram_source" ? PROTOCOL.UDP : PROTOCOL.TCP)) return false;
  const peer = app.bulk?.to ?? app.datagram_source?.to;
  return !peer || (isAt(flows.name(peer.host), from, to) && [flow.sourcePort, flow.targetPort].includes(peer.port));
}

// An unknown name may be any of them.
const isAt = (name, ...names) => name === undefined || names.includes(name);
