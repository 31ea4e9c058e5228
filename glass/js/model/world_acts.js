// Acts on hosts and cables of a network: calls of vitrine.v1.World, and the same as lines of Python or, of real hosts,
// of the prompt of `vitrine up`. Pure: `world.js` makes the calls.
//
// An act: {title, calls: [[method, request]], yaml, python, prompt}

import { number } from "./spoken.js";

// As in the World service's refusal of any other name.
export const CONTROLS = ["cubic", "reno", "bbr", "bbr3", "dctcp", "prague"];

// `schema` has the messages' types.
export function worldAct(schema, title, calls) {
  return { title, calls, yaml: "", python: calls.map(([method, request]) => callPython(schema, method, request)).join("\n") };
}

// `started`: what was started, {host, app}, by its number.
export function liveAct(title, calls, started) {
  const lines = calls.map(([method, request]) =>
    (method === "Start" ? startLine(request) : stopLine(started.get(request.app))));
  return { title, calls, yaml: "", python: "", prompt: lines.filter(Boolean).join("\n") };
}

function startLine({ host, app }) {
  const { bulk, datagram_source: source, ping } = app;
  if (ping) return `${host} ping -n -i ${ping.interval_ns / 1e9} ${ping.to} &`;
  const { port } = app.listener ?? app.datagram_sink ?? {};
  if (port) return `${host} iperf3 -s -p ${port} &`;
  const { to } = bulk ?? source;
  const client = `${host} iperf3 -c ${to.host} -p ${to.port} -t 86400`;
  if (source) return `${client} -u -b ${source.steady.rate_bps} -l 1400 &`;
  return `${client}${bulk.congestion_control ? ` -C ${bulk.congestion_control}` : ""}${bulk.connections > 1 ? ` -P ${bulk.connections}` : ""} &`;
}

// Of what was begun there: the host's shell finds it by its port.
function stopLine(known) {
  const to = known?.app?.bulk?.to ?? known?.app?.datagram_source?.to;
  if (to) return `${known.host} kill %?${to.port}`;
  return known?.app?.ping ? `${known.host} kill %?ping` : "";
}

export const start = (host, app) => ["Start", { host, app }];
export const stop = (app) => ["Stop", { app }];
export const cut = (end) => ["Fault", { cut: end }];
export const mend = (end) => ["Fault", { mend: end }];

function callPython(schema, method, request) {
  if (method === "Start") return `world.start("${request.host}", ${messagePython(schema.message("vitrine.v1.App"), request.app)})`;
  if (method === "Stop") return `world.stop(${request.app})`;
  return `world.fault(${messagePython(schema.message("vitrine.v1.FaultRequest"), request)})`;
}

// A message as the package's own classes write it: App(bulk=Bulk(to=Peer(host="h4", port=6001))).
function messagePython(type, value) {
  const parts = Object.entries(value).filter(([name, each]) => each !== undefined && type.byName.has(name))
    .map(([name, each]) => {
      const field = type.byName.get(name);
      const said = field.repeated ? `[${each.map((one) => valuePython(field, one)).join(", ")}]` : valuePython(field, each);
      // A field with the name of a word of Python can only be given in a dictionary.
      return name === "from" ? `**{"from": ${said}}` : `${name}=${said}`;
    });
  return `${type.name.replace("vitrine.v1.", "")}(${parts.join(", ")})`;
}

function valuePython(field, value) {
  if (field.kind === "message") return messagePython(field.type, value);
  if (field.kind === "string") return JSON.stringify(value);
  if (field.kind === "bool") return value ? "True" : "False";
  // Five digits and more read better so.
  return value < 10_000 ? String(value) : number(value);
}

// ---- applications --------------------------------------------------------------------------------

// Each is [the listener at the other end, the sender], `port` being the listener's; a ping needs no listener.
export const APPS = {
  TCP: ({ to, port, control, connections }) =>
    [{ listener: { port } }, { bulk: { to: { host: to, port }, congestion_control: control, connections: connections > 1 ? connections : undefined } }],
  UDP: ({ to, port, rate }) => datagrams(to, port, { steady: { rate_bps: rate } }),
  "UDP in bursts": ({ to, port, rate, datagrams: count }) => datagrams(to, port, { bursts: { rate_bps: rate, datagrams: count } }),
  "UDP at random": ({ to, port, rate }) => datagrams(to, port, { poisson: { rate_bps: rate } }),
  "UDP on and off": ({ to, port, rate, on, off }) => datagrams(to, port, { on_off: { rate_bps: rate, on_mean_ns: on, off_mean_ns: off } }),
  ping: ({ to, interval }) => [undefined, { ping: { to, interval_ns: interval } }],
  pages: ({ to, port, size, pause, control }) => {
    const exchange = { request_bytes: 100, response_bytes: size };
    // Until it is stopped: more pages than a run ever fetches.
    return [{ listener: { port, answers: exchange } },
            { page: { from: [{ host: to, port }], exchange, count: PAGES, pause_ns: pause, random_pause: true, congestion_control: control } }];
  },
  "many short transfers": ({ to, port, size, mean, control }) =>
    [{ listener: { port } }, { workload: { to: [{ host: to, port }], interval_mean_ns: mean, congestion_control: control,
                                           heavy_tail: { min_bytes: Math.max(1, Math.round(size / 10)), max_bytes: size * 10 } } }],
};

// The applications that programs of real hosts support.
export const LIVE_APPS = ["TCP", "UDP", "ping"];

const PAGES = 1_000_000;

function datagrams(to, port, pace) {
  return [{ datagram_sink: { port } }, { datagram_source: { to: { host: to, port }, ...pace } }];
}

// ---- what runs -----------------------------------------------------------------------------------

// Listeners go on without a peer; a user stops these senders.
const SENDING = ["bulk", "datagram_source", "ping", "page", "workload"];
const KINDS = { bulk: "transfer", datagram_source: "datagrams", ping: "ping", page: "pages", workload: "many short transfers" };

export const sending = (apps) => apps.filter((each) => SENDING.includes(each.kind) && !each.ended);

// The configuration that would restart another user's application as it is, as far as its connections show it: {host,
// app, words}; `app` is undefined where they do not.
export function reconstructed(report, hosts, names) {
  const { host, kind } = report;
  const words = KINDS[kind];
  if (kind !== "bulk") return { host, words: `${host}: ${words}` };
  const own = hosts.find((each) => each.host === host)?.connections ?? [];
  const open = own.filter((each) => report.bulk.connections.includes(each.local));
  if (!open.length) return { host, words: `${host}: ${words}` };
  const [, address, port] = /^\[?([^\]]*)\]?:(\d+)$/.exec(open[0].peer);
  const to = { host: address, port: Number(port) };
  return {
    host, words: `${host} → ${names.get(address) ?? address}, ${open[0].congestion}`,
    app: { bulk: { to, congestion_control: open[0].congestion, connections: open.length > 1 ? open.length : undefined } },
  };
}
