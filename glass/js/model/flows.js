// Which flow a packet belongs to, from its first bytes, and which colour that flow has.
//
// Both directions of a connection are one flow with one colour; the way back is `reverse`.

import { Colours } from "./colours.js";
import { shortIpv6 } from "./entries.js";

const VLAN_TAGS = new Set([0x8100, 0x88a8]);
// When the other direction has carried `TURN_BYTES`, and `TURN_TIMES` as many as this one, it is the direction of the data.
const TURN_BYTES = 20_000, TURN_TIMES = 4;
// More flows than this are not remembered.
const FLOWS_MAX = 4000;
export const PROTOCOL = { ICMP: 1, TCP: 6, UDP: 17 };
const { TCP, UDP } = PROTOCOL;
const PORTS = new Set([TCP, UDP]);
const PROTOCOLS = { 1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6" };

// {protocol, source, target, sourcePort, targetPort}, or undefined if the bytes are no IP packet.
export function parseHead(head) {
  if (head.length < 34) return undefined;
  let at = 12;
  let type = (head[at] << 8) | head[at + 1];
  while (VLAN_TAGS.has(type) && at + 6 <= head.length) {
    at += 4;
    type = (head[at] << 8) | head[at + 1];
  }
  at += 2;
  if (type === 0x0800) return parseIpv4(head, at);
  if (type === 0x86dd) return parseIpv6(head, at);
  return undefined;
}

function parseIpv4(head, at) {
  if (head.length < at + 20) return undefined;
  const protocol = head[at + 9];
  const address = (from) => head.subarray(from, from + 4).join(".");
  const isFirst = ((head[at + 6] & 0x1f) | head[at + 7]) === 0;
  return withPorts(head, at + (head[at] & 15) * 4, {
    protocol, source: address(at + 12), target: address(at + 16), isFirst,
  });
}

function parseIpv6(head, at) {
  if (head.length < at + 40) return undefined;
  const group = (from, index) => (head[from + 2 * index] << 8) | head[from + 2 * index + 1];
  const address = (from) => shortIpv6(Array.from({ length: 8 }, (_, index) => group(from, index)));
  return withPorts(head, at + 40, {
    protocol: head[at + 6], source: address(at + 8), target: address(at + 24), isFirst: true,
  });
}

function withPorts(head, at, { protocol, source, target, isFirst }) {
  const has = PORTS.has(protocol) && isFirst && head.length >= at + 4;
  const port = (from) => (has ? (head[from] << 8) | head[from + 1] : 0);
  return { protocol, source, target, sourcePort: port(at), targetPort: port(at + 2) };
}

// The bytes that all packets of a flow share, for Trace: [{offset, value}] from the head of one.
export function patternsOf(head) {
  let at = 12;
  while (VLAN_TAGS.has((head[at] << 8) | head[at + 1])) at += 4;
  const type = (head[at] << 8) | head[at + 1];
  const ip = at + 2;
  const take = (offset, length) => ({ offset, value: head.slice(offset, offset + length) });
  if (type === 0x0800) {
    const ports = ip + (head[ip] & 15) * 4;
    return [take(ip + 9, 1), take(ip + 12, 8), ...(PORTS.has(head[ip + 9]) ? [take(ports, 4)] : [])];
  }
  if (type === 0x86dd) return [take(ip + 6, 1), take(ip + 8, 32)];
  return [take(12, 2)];
}

// The flows' names beside each other, by their numbers: those between the same ends have protocol
// and port, too.
export function namesAmong(flows) {
  return new Map(flows.map((flow) => {
    const { name, number, protocol, targetPort, sourcePort } = flow;
    const alike = flows.filter((each) => each.name === name && each.number !== number);
    if (!alike.length) return [number, name];
    const same = alike.filter((each) => each.protocol === protocol);
    const port = !same.length ? "" : same.every((each) => each.targetPort !== targetPort) ? ` ${targetPort}` : ` ${sourcePort}`;
    return [number, `${name}, ${PROTOCOLS[protocol] ?? `protocol ${protocol}`}${port}`];
  }));
}

// The numbers of hosts, from 0, by their addresses: of h1 0, and of a host without a number its place.
function placesOf(names) {
  const hosts = [...new Set(names.values())];
  return new Map([...names].map(([address, name]) => [address, Number(/[0-9]+$/.exec(name)?.[0] ?? hosts.indexOf(name) + 1) - 1]));
}

// Each flow that was seen: its number, its name and the hosts at its ends.
export class Flows {
  // `names` are hosts' names by their addresses, for people; `kept` are colours that were given before. Routers, which
  // have no colours, are named by `routers`.
  constructor(names = new Map(), kept = {}, routers = new Map()) {
    this.names = new Map([...routers, ...names]);
    this.colours = new Colours(placesOf(names), kept);
    this.list = [];
    this.byKey = new Map();
    this.unknown = { number: -1, name: "other", reverse: false };
  }

  // {number, name, reverse}: of the packet that begins with these bytes, seen at an instant.
  of(head, timePs = 0, length = 0) {
    const parsed = parseHead(head);
    if (!parsed) return this.unknown;
    const found = this.known(parsed, timePs);
    this.weigh(found, length);
    return found;
  }

  // A page that opens after a flow began may see an acknowledgment first. The forward direction is that of the data:
  // when much more has gone the other way, the ends are exchanged, in all records of the flow.
  weigh(found, length) {
    const flow = this.list[found.number];
    const [way, back] = flow.ways[0].flow === found ? flow.ways : flow.ways.toReversed();
    way.bytes += length;
    if (!found.reverse || way.bytes < TURN_BYTES + TURN_TIMES * back.bytes) return;
    found.reverse = false;
    back.flow.reverse = true;
    const { source, target, sourcePort, targetPort } = flow;
    const turned = this.described({ ...flow, source: target, target: source, sourcePort: targetPort, targetPort: sourcePort });
    for (const each of [flow, found, back.flow]) Object.assign(each, turned);
  }

  described({ protocol, source, target, sourcePort, targetPort }) {
    return {
      name: `${this.name(source)} → ${this.name(target)}`, protocol, source, target, sourcePort, targetPort,
      detail: [
        PROTOCOLS[protocol] ?? `protocol ${protocol}`,
        targetPort ? `${source}:${sourcePort} → ${target}:${targetPort}` : `${source} → ${target}`,
      ].join(" "),
    };
  }

  known(parsed, timePs) {
    const { protocol, source, target, sourcePort, targetPort } = parsed;
    const there = `${protocol} ${source} ${sourcePort} ${target} ${targetPort}`;
    const known = this.byKey.get(there);
    if (known) {
      this.list[known.number].seenPs = timePs;
      return known;
    }
    const back = `${protocol} ${target} ${targetPort} ${source} ${sourcePort}`;
    const number = this.list.length;
    const colour = this.colours.take([there, back].sort()[0], parsed);
    const flow = { number, colour, ...this.described(parsed) };
    const ways = [false, true].map((reverse) => ({ flow: { ...flow, reverse }, bytes: 0 }));
    this.list.push({ ...flow, ways, keys: [there, back], seenPs: timePs });
    this.byKey.set(there, ways[0].flow);
    this.byKey.set(back, ways[1].flow);
    return ways[0].flow;
  }

  // Of those that were seen no more since, the number alone stays taken.
  forget(beforePs) {
    for (const flow of this.remembered) if (flow.seenPs < beforePs) this.drop(flow);
  }

  // With too many of them those go that were not seen for longest.
  shrink() {
    if (this.byKey.size <= 2 * FLOWS_MAX) return;
    const list = this.remembered.sort((a, b) => a.seenPs - b.seenPs);
    for (const flow of list.slice(0, list.length - FLOWS_MAX / 2)) this.drop(flow);
  }

  // Those that are remembered, as in `list`. Each stands in `byKey` by both of its ways.
  get remembered() {
    return [...new Set([...this.byKey.values()].map(({ number }) => this.list[number]))];
  }

  drop(flow) {
    for (const key of flow.keys) this.byKey.delete(key);
    this.colours.release(flow.colour);
    // A hole: the list of an hour's short flows is mostly holes, which take no memory.
    delete this.list[flow.number];
  }

  // The flow between two ends of TCP as hosts write them, "10.0.1.1:42688"; undefined: not seen yet.
  between(local, peer) {
    const [source, sourcePort] = ends(local), [target, targetPort] = ends(peer);
    return this.byKey.get(`6 ${source} ${sourcePort} ${target} ${targetPort}`);
  }

  // A flow that only hosts report: no packet of it was seen.
  begun(local, peer) {
    const [source, sourcePort] = ends(local), [target, targetPort] = ends(peer);
    return this.known({ protocol: TCP, source, sourcePort, target, targetPort }, Infinity);
  }

  name(address) {
    return this.names.get(address) ?? address;
  }
}

function ends(text) {
  const colon = text.lastIndexOf(":");
  return [text.slice(0, colon).replace(/^\[|\]$/g, ""), Number(text.slice(colon + 1))];
}
