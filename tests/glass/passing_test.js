// Flows that pass are listed beside what pages have started, and not twice.

import { Flows } from "../../glass/js/model/flows.js";
import { Hosts } from "../../glass/js/model/hosts.js";
import { passing } from "../../glass/js/model/passing.js";
import { same } from "./check.js";

const S = 1e12;
const UDP = 17, TCP = 6, ICMP = 1;

function head(protocol, source, target, sourcePort, targetPort) {
  const port = (number) => [number >> 8, number & 255];
  return Uint8Array.from([...new Array(12).fill(0), 8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, protocol, 0, 0, 10, 0, source, 1,
                          10, 0, target, 1, ...port(sourcePort), ...port(targetPort)]);
}

function seen() {
  const flows = new Flows(new Map([1, 2, 3, 4].map((number) => [`10.0.${number}.1`, `h${number}`])));
  const hosts = new Hosts(flows);
  flows.of(head(TCP, 1, 4, 40001, 5201), 9 * S);
  flows.of(head(UDP, 2, 4, 40002, 5202), 9 * S);
  flows.of(head(ICMP, 3, 4, 0, 0), 9 * S);
  flows.of(head(TCP, 2, 3, 40003, 22), 2 * S);
  return { flows, hosts, named: (apps) => passing(flows, hosts, apps, 10 * S).map(({ name, protocol }) => `${name} ${protocol}`) };
}

export function what_was_not_started_here_and_has_sent_lately_passes() {
  same(seen().named([]), ["h1 → h4 6", "h2 → h4 17", "h3 → h4 1"]);
}

export function what_an_application_sends_is_not_told_twice() {
  const { named } = seen();
  const bulk = { host: "h1", kind: "bulk", app: { bulk: { to: { host: "h4", port: 5201 } } } };
  same(named([bulk]), ["h2 → h4 17", "h3 → h4 1"]);
  // Another one between the same hosts.
  same(named([{ ...bulk, app: { bulk: { to: { host: "h4", port: 5209 } } } }]).length, 3);
  // Of another page's datagrams and pings, the host reports only that they exist.
  same(named([{ host: "h2", kind: "datagram_source" }, { host: "h3", kind: "ping" }]), ["h1 → h4 6"]);
}

export function a_connection_that_grows_passes_although_no_packet_of_it_is_told() {
  const { hosts, named } = seen();
  const connection = (sent) => ({ local: "10.0.2.1:40003", peer: "10.0.3.1:22", data_segs_in: 0, segs_out: 99,
                                  bytes_sent: sent, bytes_received: 0, bytes_acked: sent });
  for (const at of [8, 9]) hosts.take({ events: [], complete_until_ps: 0, sample: { time_ps: at * S, hosts: [{ connections: [connection(at * 1e6)] }] } });
  same(named([]).includes("h2 → h3 6"), true);
}
