// Entries are written as people write them, and what is sent is what P4Runtime wants.

import { graphLayout } from "../../glass/js/draw/graph.js";
import { entryAct, hitKey, hitKeyOf, matchWords, readEntry, readMatch, readValue, sayMatch, sayValue } from "../../glass/js/model/entries.js";
import { lifeLines } from "../../glass/js/model/life.js";
import { Coverage, Program } from "../../glass/js/model/program.js";
import { dice, holds, same } from "./check.js";

const ADDRESS = { id: 1, name: "hdr.ipv4.dst_addr", bitwidth: 32, match_type: "LPM" };
const PROTOCOL = { id: 2, name: "hdr.ipv4.protocol", bitwidth: 8, match_type: "TERNARY" };
const PORTS = { id: 3, name: "meta.l4.dst", bitwidth: 16, match_type: "RANGE" };
const MAC = { id: 4, name: "src_addr", bitwidth: 48 };
const SIX = { id: 5, name: "hdr.ipv6.dst_addr", bitwidth: 128, match_type: "LPM" };
const NEXT_HOP = { preamble: { id: 7, name: "ingress.routing.set_next_hop", alias: "set_next_hop" },
                   params: [{ id: 1, name: "port", bitwidth: 9 }, { id: 2, name: "src_addr", bitwidth: 48 }] };
const ACTIONS = new Map([[7, NEXT_HOP]]);
const ROUTES = { preamble: { id: 9, name: "ingress.routing.ipv4_routes", alias: "ipv4_routes" }, match_fields: [ADDRESS] };
const RULES = { preamble: { id: 8, name: "ingress.classify.rules", alias: "rules" }, match_fields: [PROTOCOL, PORTS] };

function refusal(act) {
  try {
    act();
  } catch (error) {
    return error.message;
  }
  return "";
}

export function values_are_read_as_they_are_written() {
  for (const [field, text] of [[ADDRESS, "10.0.1.255"], [MAC, "02:00:00:00:01:0f"], [SIX, "2001:db8::1"], [SIX, "::"],
    [PROTOCOL, "17"], [PORTS, "65535"]]) {
    same(sayValue(field, readValue(field, text)), text);
  }
  const roll = dice(5);
  for (let i = 0; i < 200; i++) {
    const bytes = readValue(SIX, Array.from({ length: 8 }, () => roll(2) * roll(65536)).map((each) => each.toString(16)).join(":"));
    same([...readValue(SIX, sayValue(SIX, bytes))], [...bytes]);
  }
  // Canonical: the shortest bytes that hold it; zero is one zero byte.
  same([...readValue(ADDRESS, "0.0.1.0")], [1, 0]);
  same([...readValue(PORTS, "0")], [0]);
  same([...readValue(PORTS, "0x1f90")], [0x1f, 0x90]);
}

export function what_does_not_fit_is_refused_with_a_sentence() {
  holds(/8 bits wide and cannot hold 256/.test(refusal(() => readValue(PROTOCOL, "256"))), "too wide");
  holds(/write 10\.0\.1\.0/.test(refusal(() => readValue(ADDRESS, "10.0.1"))), "an address");
  holds(/10\.0\.0\.300/.test(refusal(() => readValue(ADDRESS, "10.0.0.300"))), "a byte of an address");
  holds(/up to 32 bits/.test(refusal(() => readMatch(ADDRESS, "10.0.0.0/33"))), "a prefix");
  holds(/matched exactly/.test(refusal(() => readMatch({ ...ADDRESS, match_type: "EXACT" }, ""))), "an exact field");
}

export function matches_of_every_kind_are_read_and_said() {
  for (const [field, text] of [[ADDRESS, "10.0.1.0/24"], [PROTOCOL, "6 &&& 255"], [PORTS, "80 to 443"]]) {
    const match = readMatch(field, text);
    const kind = Object.keys(match).find((each) => each !== "field_id");
    same(sayMatch(field, { ...match, field_match_type: kind }), text);
  }
  // A host's address is a prefix of all bits; bits behind a prefix are zero; a value alone has all its bits.
  same(readMatch(ADDRESS, "10.0.1.7").lpm.prefix_len, 32);
  same([...readMatch(ADDRESS, "10.0.1.7/24").lpm.value], [10, 0, 1, 0]);
  same([...readMatch(PROTOCOL, "6").ternary.mask], [255]);
  same([readMatch(ADDRESS, "any"), readMatch(ADDRESS, "0.0.0.0/0"), readMatch(PORTS, "")], [undefined, undefined, undefined]);
  same(matchWords(RULES, { match: [] }), ["any", "any"]);
}

export function an_entry_becomes_an_act_with_its_text_and_what_takes_it_back() {
  const entry = readEntry(ROUTES, { matches: ["10.0.9.0/24"], action: NEXT_HOP, params: ["3", "02:00:00:00:00:01"] });
  const { act, undo } = entryAct("INSERT", ROUTES, entry, ACTIONS);
  same([act.updates[0].type, undo.updates[0].type], ["INSERT", "DELETE"]);
  same(act.updates[0].entity.table_entry.action.action.action_id, 7);
  same(undo.updates[0].entity.table_entry.action, undefined, "what is deleted is named by its key alone:");
  same(act.python, 'session.insert([Entry("ipv4_routes", {"hdr.ipv4.dst_addr": Lpm(IPv4Address("10.0.9.0"), 24)}, '
    + 'Call("set_next_hop", port=3, src_addr=Mac.parse("02:00:00:00:00:01")))])');
  same(act.shell.split("\n"), ['te = table_entry["ingress.routing.ipv4_routes"](action="ingress.routing.set_next_hop")',
    'te.match["hdr.ipv4.dst_addr"] = "10.0.9.0/24"', 'te.action["port"] = "3"', 'te.action["src_addr"] = "02:00:00:00:00:01"', "te.insert"]);
  const other = readEntry(ROUTES, { matches: ["10.0.9.0/24"], action: NEXT_HOP, params: ["2", "02:00:00:00:00:01"] });
  const changed = entryAct("MODIFY", ROUTES, other, ACTIONS, entry);
  same([...changed.undo.updates[0].entity.table_entry.action.action.params[0].value], [3]);
  const gone = entryAct("DELETE", ROUTES, entry, ACTIONS, entry);
  same([gone.undo.updates[0].type, [...gone.undo.updates[0].entity.table_entry.action.action.params[0].value]], ["INSERT", [3]]);
}

export function a_table_with_masks_needs_a_priority() {
  const written = { matches: ["6", "80 to 443"], action: NEXT_HOP, params: ["3", "1"] };
  holds(/priority/.test(refusal(() => readEntry(RULES, written))), "it is asked for");
  same(readEntry(RULES, { ...written, priority: "7" }).priority, 7);
  same(readEntry(RULES, { ...written, isDefault: true }).is_default_action, true);
}

// if (x) { t.apply(); } else { y = 1; }
const JSON_OF_A_PROGRAM = {
  parsers: [{ init_state: "start", parse_states: [
    { name: "start", transitions: [{ value: "0x0800", mask: null, next_state: "ipv4" }, { value: null, next_state: null }] },
    { name: "ipv4", transitions: [{ value: null, next_state: null }] },
  ] }],
  pipelines: [{ name: "ingress", init_table: "node_1",
    conditionals: [{ name: "node_1", true_next: "ingress.t", false_next: "tbl_y", source_info: { filename: "a/b.p4", line: 1, source_fragment: "x" } }],
    tables: [{ name: "ingress.t", key: [{}], base_default_next: null, next_tables: { "ingress.a": "tbl_y", NoAction: null } },
             { name: "tbl_y", key: [], base_default_next: null, next_tables: { y: null }, source_info: { filename: "a/b.p4", line: 2, source_fragment: "y = 1" } }] }],
};

export function graphs_say_which_step_leads_to_which() {
  const program = new Program(JSON_OF_A_PROGRAM);
  const { nodes, edges } = program.controlGraph("ingress");
  same(nodes.map((each) => [each.label, each.kind]), [["if (x)", "condition"], ["t", "table"], ["y = 1", "statement"], ["ingress ends", "end"]]);
  same(edges.map(({ from, to, label }) => `${from} ${label} ${to}`), ["node_1 yes ingress.t", "node_1 no tbl_y",
    "ingress.t a tbl_y", "ingress.t NoAction ingress ends", "tbl_y  ingress ends"]);
  same(program.parserGraph().edges.map(({ from, to, label }) => `${from} ${label} ${to}`), ["start 0x0800 ipv4", "start  accept", "ipv4  accept"]);
  same(program.controlGraph("egress"), { nodes: [], edges: [] });
}

export function nodes_stand_below_what_leads_to_them_and_not_on_each_other() {
  const { nodes, edges } = new Program(JSON_OF_A_PROGRAM).controlGraph("ingress");
  const { boxes, width, height } = graphLayout(nodes, edges);
  for (const { from, to } of edges) holds(boxes.get(from).y < boxes.get(to).y, `${from} above ${to}`);
  const all = [...boxes.values()];
  for (const a of all) {
    holds(a.x >= 0 && a.x + a.w <= width && a.y + a.h <= height, "inside");
    for (const b of all) holds(a === b || a.y !== b.y || Math.abs(a.x - b.x) >= a.w, "apart");
  }
  // A way back is drawn, and does not keep the rest from being ordered.
  const loop = graphLayout([{ id: "a" }, { id: "b" }], [{ from: "a", to: "b" }, { from: "b", to: "a" }]);
  holds(loop.boxes.get("a").y < loop.boxes.get("b").y, "the first one first");
}

export function coverage_counts_steps_and_entries_that_were_hit() {
  const program = new Program(JSON_OF_A_PROGRAM);
  const coverage = new Coverage();
  const step = (kind, told) => coverage.take({ kind: "program", program: { kind, [kind]: told } }, program);
  step("parser_state", "start");
  step("condition", { name: "node_1", holds: true });
  step("table", { key: { name: "ingress.t", values: [] }, entry: 3 });
  step("table", { key: { name: "ingress.t", values: [] } });
  same([...coverage.steps], [["start", 1], ["node_1", 1], ["ingress.t", 2]]);
  same([...coverage.hits], [["ingress.t 3", 1]]);
  same([...coverage.counts], [["a/b.p4:1", 1]]);
}

export function an_entry_without_counters_is_known_by_what_trace_tells_of_it() {
  const bytes = (...list) => Uint8Array.from(list);
  const info = { match_fields: [1, 2, 3, 4, 5].map((id) => ({ id })) };
  const match = [
    { field_id: 1, field_match_type: "exact", exact: { value: bytes(6) } },
    { field_id: 2, field_match_type: "lpm", lpm: { value: bytes(10, 0, 1, 0), prefix_len: 24 } },
    { field_id: 3, field_match_type: "range", range: { low: bytes(80), high: bytes(1, 187) } },
    { field_id: 4, field_match_type: "ternary", ternary: { value: bytes(6), mask: bytes(255) } },
  ];
  // As in the switch's own test of its events.
  const told = ["6", "167772416/24", "80..443", "6 &&& 255", "*"];
  same(hitKeyOf(info, { match, priority: 3 }), hitKey(told, 3));
  const coverage = new Coverage();
  const step = (entry) => ({ kind: "program", program: { kind: "table", table: { key: { name: "ingress.t" }, entry, matches: entry === undefined ? [] : told, priority: 3 } } });
  for (const entry of [7, 7, undefined]) coverage.take(step(entry), new Program({}));
  same([...coverage.entries.get("ingress.t")], [[hitKey(told, 3), 2]]);
}

export function how_often_a_packet_was_recirculated_is_told() {
  const step = (kind, told = true) => ({ kind, packet: 1, time_ps: 0, [kind]: told });
  const steps = [step("received", { port: 1, frame: new Uint8Array(60) }), step("recirculated"), step("resubmitted"), step("recirculated")];
  same(lifeLines(steps).slice(1).map((each) => each.text), [
    "it goes through ingress again, recirculated 1 ×", "it goes through ingress again, resubmitted 1 ×",
    "it goes through ingress again, recirculated 2 ×"]);
}

export function a_read_of_a_queue_shows_what_was_asked_and_what_came_back() {
  const value = (name, value) => ({ name, value });
  const read = { inputs: { name: "queue_depth", values: [value("port", "2"), value("class", "0")] },
                 outputs: [value("packets", "2"), value("bytes", "2000")] };
  const steps = [{ kind: "program", packet: 1, time_ps: 0, program: { kind: "queue_read", queue_read: read } }];
  same(lifeLines(steps), [{ head: "queues", text: "queue_depth(port = 2, class = 0): packets = 2, bytes = 2000" }]);
}
