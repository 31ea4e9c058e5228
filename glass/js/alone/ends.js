// The addresses of a packet that enters by a port: those of the host there, and of another host.

import { readValue } from "../model/entries.js";
import { bitsOf } from "../model/frame.js";

// `build` is the network as it was built (a BuildRequest). {source, target} of {mac, ipv4, ipv6},
// numbers; what is not known is undefined.
export function endsAt({ topology }, { name, port }) {
  const { hosts, cables } = topology;
  const cable = cables.find(({ one, other }) => [one, other].some((end) => end.node === name && end.port === port));
  const near = cable && hosts.find(({ name: host }) => [cable.one, cable.other].some((end) => end.node === host));
  const from = near ?? hosts[0], to = hosts.findLast((each) => each !== from);
  if (!from || !to) return {};
  // The addresses that the host there would write into a frame for another network.
  const gateway = from.neighbours.find((each) => from.gateways.includes(each.address));
  return {
    source: { mac: number(from.mac, 48), ...addressesOf(from) },
    target: { mac: number(gateway?.mac ?? to.mac, 48), ...addressesOf(to) },
  };
}

function addressesOf({ addresses }) {
  const bare = addresses.map((each) => each.split("/")[0]);
  const ipv4 = bare.find((each) => !each.includes(":")), ipv6 = bare.find((each) => each.includes(":"));
  return { ipv4: ipv4 && number(ipv4, 32), ipv6: ipv6 && number(ipv6, 128) };
}

function number(text, bitwidth) {
  const bytes = readValue({ name: "", bitwidth }, text);
  return bitsOf(bytes, 0, 8 * bytes.length);
}
