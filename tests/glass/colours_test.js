// A flow has the same colour wherever and whenever it is seen.

import { given } from "../../glass/js/model/colours.js";
import { Flows } from "../../glass/js/model/flows.js";
import { Network } from "../../glass/js/model/network.js";
import { holds, same } from "./check.js";

const HOSTS = new Map([1, 2, 3, 4, 5].map((number) => [`10.0.${number}.1`, `h${number}`]));

// Ethernet, IPv4 and TCP from one host's port to another's.
function head(from, sourcePort, to, targetPort) {
  return Uint8Array.from([...new Array(12).fill(0), 8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, from, 1, 10, 0, to, 1,
                          sourcePort >> 8, sourcePort & 255, targetPort >> 8, targetPort & 255]);
}

// As the first lesson has them, in the order in which packets of them come by.
const LESSON = [[1, 49152, 4, 5201], [2, 49152, 4, 5202], [3, 49152, 5, 5203]];

export function whoever_comes_first_has_the_same_colour() {
  const colours = [[0, 1, 2], [2, 1, 0], [1, 2, 0]].map((order) => {
    const flows = new Flows(HOSTS);
    const found = [];
    for (const index of order) {
      const [from, sourcePort, to, targetPort] = LESSON[index];
      // Now and then an answer is seen first.
      found[index] = flows.of(index === 1 ? head(to, targetPort, from, sourcePort) : head(from, sourcePort, to, targetPort)).colour;
    }
    return found;
  });
  same(colours[1], colours[0]);
  same(colours[2], colours[0]);
  // As reports have them: labs/palette.py.
  same(colours[0], [0, 1, 2]);
}

export function eight_flows_have_eight_colours_and_a_ninth_has_one_too() {
  const flows = new Flows(HOSTS);
  const found = [...Array(9).keys()].map((index) => flows.of(head(1, 40000 + 8 * index, 4, 5201)).colour);
  same(new Set(found.slice(0, 8)).size, 8);
  holds(found[8] >= 0 && found[8] < 8, `${found[8]} is no colour`);
}

export function what_was_given_once_is_given_again() {
  const one = [1, 40000, 4, 5201], other = [1, 40008, 4, 5201];
  const before = new Flows(HOSTS);
  const [first, second] = [before.of(head(...one)).colour, before.of(head(...other)).colour];
  holds(first !== second, "both wanted the same one");
  // Another page, in which they come the other way round.
  const after = new Flows(HOSTS, given(before.list));
  same([after.of(head(...other)).colour, after.of(head(...one)).colour], [second, first]);
}

export function a_router_has_its_name_and_takes_no_colour_of_a_host() {
  const network = new Network({
    hosts: [...HOSTS].map(([address, name]) => ({ name, addresses: [address] })),
    routers: [{ name: "s1", addresses: ["10.0.1.254", "10.0.2.254"] }, { name: "s2" }],
  });
  const flows = new Flows(network.names, {}, network.routerNames), without = new Flows(HOSTS);
  const ping = head(1, 49152, 2, 5201);
  // To the router's own address.
  ping.set([10, 0, 2, 254], 30);
  same(flows.of(ping).name, "h1 → s1");
  same(without.of(ping).name, "h1 → 10.0.2.254");
  same(flows.of(ping).colour, without.of(ping).colour);
  for (const [from, sourcePort, to, targetPort] of LESSON) {
    const here = head(from, sourcePort, to, targetPort);
    same(flows.of(here).colour, without.of(here).colour);
  }
}
