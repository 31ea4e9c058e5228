// Texts for people can be parsed again, with the same meaning.

import * as amounts from "../../glass/js/model/amounts.js";
import { familiesOf, framesOf, headerWords, lifeLines, valueWords } from "../../glass/js/model/life.js";
import { Coverage, Program } from "../../glass/js/model/program.js";
import { reasonWords, shortWords, tickWords } from "../../glass/js/words.js";
import { dice, same } from "./check.js";

export function a_reason_is_said_as_people_write_it() {
  same(["AQM", "QUEUE_LIMIT", "VOQ_LIMIT"].map(reasonWords), ["AQM", "queue limit", "VOQ limit"]);
}

export function amounts_are_read_as_they_are_written() {
  const roll = dice(4);
  for (let i = 0; i < 300; i++) {
    const value = roll(9_999) * 10 ** roll(5);
    same(amounts.readRate(amounts.sayRate(value)), value);
    same(amounts.readSize(amounts.saySize(value)), value);
    same(amounts.readSpanNs(amounts.saySpanNs(value)), value);
    same(amounts.readShare(amounts.sayShare(value, 1e9), 1e9), value);
    const ratio = { over: 1 + roll(9), under: 1 + roll(4) };
    same(amounts.readRatio(amounts.sayRatio(ratio)), ratio);
    const limit = { packets: roll(3) * 7, bytes: 1500 * (1 + roll(2)) };
    same(amounts.readLimit(amounts.sayLimit(limit)), limit);
  }
  for (const text of ["none", "0.5 %", "1 % in bursts of 8", "12 % in bursts of 3"]) same(amounts.sayLoss(amounts.readLoss(text)), text);
  for (const text of ["none", "8 Mb/s", "8 Mb/s in bursts of 3 kB", "900 packets/s", "900 packets/s in bursts of 4 packets",
    "900 packets/s, catching up", "900 packets/s in bursts of 4 packets, catching up"]) {
    same(amounts.sayShaper(amounts.readShaper(text)), text);
  }
  for (const text of ["none", "20 to 60 at 2 %", "20 to 60 at 2 %; 10 to 40 at 5 %"]) {
    same(amounts.sayProfiles(amounts.readProfiles(text)), text);
  }
  same(amounts.readRatio("1.5"), { over: 15, under: 10 });
  same(amounts.readLimit("none"), { packets: 0, bytes: 0 });
}

export function what_is_no_amount_is_refused_with_an_example() {
  for (const [read, text] of [[amounts.readRate, "fast"], [amounts.readRate, "10"], [amounts.readSize, "-1 kB"],
    [amounts.readSpanNs, "5 mb/s"], [amounts.readLoss, "1 % in bursts of none"], [amounts.readShaper, "900 packets"], [amounts.readShaper, "8 Mb/s, catching up"],
    [amounts.readProfiles, "20 to 60"], [amounts.readSession, "first"], [amounts.readLimit, "0 packets"], [amounts.readRatio, "3/x"]]) {
    let said = "";
    try {
      read(text);
    } catch (error) {
      said = error.message;
    }
    same(/write|get through/.test(said), true, `${text}: ${said}`);
  }
}

const JSON_OF_A_PROGRAM = {
  actions: [{ name: "ingress.forward", primitives: [
    { op: "assign", source_info: { filename: "/x/p4src/programs/../control/way.p4", line: 7, source_fragment: "a = b;" } },
    { op: "assign", source_info: { filename: "/x/p4src/control/way.p4", line: 8, source_fragment: "c = d;" } },
  ] }],
  pipelines: [{ tables: [{ name: "ingress.routes", source_info: { filename: "/x/p4src/control/way.p4", line: 3, source_fragment: "routes" } }],
                conditionals: [{ name: "node_1", source_info: { filename: "/x/p4src/control/way.p4", line: 5, source_fragment: "x" } }] }],
};

export function a_life_names_the_line_of_each_step_and_counts_it() {
  const program = new Program(JSON_OF_A_PROGRAM);
  same(program.lines().map(({ file, line }) => `${file}:${line}`),
       ["control/way.p4:3", "control/way.p4:5", "control/way.p4:7", "control/way.p4:8"]);
  const step = (kind, told) => ({ time_ps: 5e6, packet: 1, kind: "program", program: { kind, [kind]: told } });
  const steps = [
    { time_ps: 0, packet: 1, kind: "received", received: { port: 3, frame: new Uint8Array(60) } },
    step("condition", { name: "node_1", holds: true }),
    step("table", { key: { name: "ingress.routes", values: [{ name: "hdr.ipv4.dst_addr", value: "167772417" }] }, entry: 4 }),
    step("action", { name: "ingress.forward", values: [{ name: "port", value: "2" }] }),
    step("field", { field: "ipv4.ttl", before: "64", after: "63" }),
    { time_ps: 2e9, packet: 1, kind: "transmitted", transmitted: { port: 2 } },
  ];
  const lines = lifeLines(steps, program);
  same(lines.map(({ head, text, place }) => [head, text, place ? `${place.file}:${place.line}` : ""]), [
    ["came in", "by port 3, 60 bytes", ""],
    ["if", "yes: x", "control/way.p4:5"],
    ["table", "ingress.routes: entry 4, for hdr.ipv4.dst_addr = 10.0.1.1", "control/way.p4:3"],
    ["action", "ingress.forward(port = 2)", "control/way.p4:7"],
    ["", "ipv4.ttl: ", ""],
    ["left", "by port 2, 2 ms after it came", ""],
  ]);
  same([lines[4].was, lines[4].is], ["64", "63"]);
  const coverage = new Coverage();
  for (const each of [...steps, ...steps]) if (each.kind === "program") coverage.take(each, program);
  same([...coverage.counts].sort(), [["control/way.p4:3", 2], ["control/way.p4:5", 2], ["control/way.p4:7", 2], ["control/way.p4:8", 2]]);
}

export function addresses_are_written_as_addresses() {
  same(valueWords("ethernet.dst_addr", "1"), "00:00:00:00:00:01");
  same(valueWords("hdr.ipv4.src_addr", "4294967295"), "255.255.255.255");
  same(valueWords("ipv4.ttl", "64"), "64");
}

const INT_PROGRAM = new Program({
  headers: [{ name: "ethernet", header_type: "ethernet_t" }, { name: "options", header_type: "options_t" }, { name: "int_node_id", header_type: "int_node_id_t" }],
  header_types: [
    { name: "ethernet_t", fields: [["dst_addr", 48, false], ["src_addr", 48, false], ["ether_type", 16, false]] },
    { name: "options_t", fields: [["options", "*"]] }, { name: "int_node_id_t", fields: [["node_id", 32, false]] },
  ],
});

export function frames_are_decoded_with_what_this_router_has_written() {
  const ethernet = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
  const program = (kind, told) => ({ packet: 1, kind: "program", time_ps: 0, program: { kind, [kind]: told } });
  const steps = [
    { packet: 1, kind: "received", time_ps: 0, received: { port: 1, frame: Uint8Array.from([...ethernet, 1, 2, 3]) } },
    program("extracted", { header: "ethernet", length_bytes: 14 }), program("extracted", { header: "options", length_bytes: 3 }),
    program("emitted", "ethernet"), program("emitted", "int_node_id"), program("emitted", "options"),
    { packet: 1, kind: "transmitted", time_ps: 5, transmitted: { port: 2, frame: Uint8Array.from([...ethernet, 0, 0, 0, 7, 1, 2, 3]) } },
  ];
  const [came, left] = framesOf(steps, INT_PROGRAM);
  same(came.headers.map((each) => each.name), ["ethernet", "options"]);
  same(came.headers[0].fields, [{ name: "dst_addr", text: "02:00:00:00:00:01" }, { name: "src_addr", text: "02:00:00:00:00:02" },
                                { name: "ether_type", text: "0x0800" }]);
  same(left.headers.map((each) => [headerWords(each.name), each.isNew]), [["ethernet", false], ["INT: node id", true], ["options", false]]);
  same(left.headers[1].fields, [{ name: "node_id", text: "7" }]);
  // Without the program nothing is guessed.
  same(framesOf(steps, undefined)[0].headers, []);
}

export function copies_stand_below_what_they_are_copies_of() {
  const step = (packet, kind, more = {}) => ({ packet, kind, ...more });
  const [root, ...others] = familiesOf([step(1, "received"), step(2, "copied", { copied: { from: 1 } }), step(3, "copied", { copied: { from: 2 } }),
                                        step(1, "transmitted"), step(3, "dropped"), step(2, "transmitted")]);
  same(others, []);
  same([root.packet, root.steps.length, root.copies[0].packet, root.copies[0].copies[0].packet], [1, 2, 2, 3]);
}

export function an_entry_is_named_by_what_it_asks_of_each_key() {
  const lookup = (matches, priority = 0) => lifeLines([{ packet: 1, kind: "program", time_ps: 0, program: { kind: "table", table: {
    key: { name: "routes", values: [{ name: "hdr.ipv4.dst_addr", value: "167772673" }, { name: "meta.port", value: "7" }].slice(0, matches.length || 1) },
    entry: 3, matches, priority } } }], undefined)[0].text.split(", for")[0];
  same(lookup(["167772672/24"]), "routes: entry 10.0.2.0/24");
  same(lookup(["167772672 &&& 4294967040", "1..9"], 10), "routes: entry 10.0.2.0 &&& 255.255.255.0, 1..9, priority 10");
  same(lookup([]), "routes: entry 3");
}

export function ticks_are_where_they_say() {
  same(tickWords([1.025, 1.05, 1.075, 1.1]), ["1.025", "1.050", "1.075", "1.100 s"]);
  same(tickWords([2, 4, 6]), ["2", "4", "6 s"]);
  same(tickWords([0.1, 0.2, 0.30000000000000004]), ["0.1", "0.2", "0.3 s"]);
}

export function a_pace_that_is_not_reached_is_told_in_one_unit() {
  same(shortWords({ pace: 20, reached: 0.616 }), "0.62 × real time: this machine is too slow for 20 ×");
  same(shortWords({ pace: 500, reached: 24.3 }), "24 × real time: this machine is too slow for 500 ×");
}
