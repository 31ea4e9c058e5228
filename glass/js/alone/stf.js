// A packet test in STF from a router's actions: its entries, the packet that came in, and the packets that left.

import { hexOf } from "../model/frame.js";

// The lines of a test. `router` is {p4info, entries, defaults, groups, sessions} as P4Runtime reads
// them; `sent` is {port, frame, name}; `came` is {out: [{port, frame}], dropped: reason or undefined}.
export function testOf(router, { port, frame, name }, { out, dropped }) {
  const expected = out.map((each) => `expect ${each.port} ${hexOf(each.frame)} $`);
  if (!out.length) expected.push(`# It is dropped${dropped ? `: ${dropped}` : ""}.`, "no_packet");
  return [`# ${name}`, ...entryLines(router), ...replicationLines(router), "", `packet ${port} ${hexOf(frame)}`, ...expected, ""].join("\n");
}

function entryLines({ p4info, entries, defaults }) {
  const tables = new Map(p4info.tables.map((each) => [each.preamble.id, each]));
  const actions = new Map(p4info.actions.map((each) => [each.preamble.id, each]));
  const called = ({ action }) => {
    const told = action?.action, info = told && actions.get(told.action_id);
    if (!info) return undefined;
    const given = info.params.map((param) => `${param.name}:0x${hexOf(told.params.find((each) => each.param_id === param.id)?.value ?? [0])}`);
    return `${info.preamble.name}(${given.join(", ")})`;
  };
  const lines = entries.map((entry) => {
    const table = tables.get(entry.table_id), action = called(entry);
    if (!table) return undefined;
    // STF has no words for members and groups.
    if (!action) return `# Not said in STF: an entry of ${table.preamble.name} that leads to a member or a group.`;
    const keys = entry.match.map((match) => keyOf(table.match_fields.find((each) => each.id === match.field_id), match));
    return ["add", table.preamble.name, ...(entry.priority ? [entry.priority] : []), ...keys, action].join(" ");
  });
  const others = defaults.map((entry) => {
    const table = tables.get(entry.table_id), action = called(entry);
    return table && action && !table.const_default_action_id && action !== "NoAction()" ? `setdefault ${table.preamble.name} ${action}` : undefined;
  });
  return [...lines, ...others].filter(Boolean);
}

function keyOf(field, match) {
  const told = match[match.field_match_type];
  const digits = (bytes) => `0x${hexOf(bytes)}`;
  switch (match.field_match_type) {
    case "lpm": return `${field.name}:${digits(widened(told.value, field.bitwidth))}/${told.prefix_len}`;
    case "ternary": return `${field.name}:${digits(told.value)}&&&${digits(told.mask)}`;
    case "range": return `${field.name}:${digits(told.low)}..${digits(told.high)}`;
    default: return `${field.name}:${digits(told.value)}`;
  }
}

// All bytes of a value: P4Runtime leaves out zeros in front.
function widened(bytes, bitwidth) {
  const made = new Uint8Array(Math.ceil(bitwidth / 8));
  made.set(bytes, made.length - bytes.length);
  return made;
}

// Multicast groups and clone sessions; nodes are numbered in the order in which they are made.
function replicationLines({ groups, sessions }) {
  const lines = [];
  let nodes = 0;
  for (const { multicast_group_id: group, replicas } of groups) {
    lines.push(`mc_mgrp_create ${group}`);
    for (const instance of new Set(replicas.map((each) => each.instance))) {
      const ports = replicas.filter((each) => each.instance === instance).map(portOf);
      lines.push(`mc_node_create ${instance} ${ports.join(" ")}`, `mc_node_associate ${group} ${nodes++}`);
    }
  }
  for (const { session_id: session, replicas } of sessions) {
    lines.push(replicas.length === 1 ? `mirroring_add ${session} ${portOf(replicas[0])}`
      : `# Not said in STF: clone session ${session} with ${replicas.length} replicas.`);
  }
  return lines;
}

function portOf({ port, egress_port: number }) {
  return port?.length ? port.reduce((sum, each) => sum * 256 + each, 0) : number;
}
