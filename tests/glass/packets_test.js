// Packets by hand, without a page: bits, lengths, checksums, captures, and tests made of them.

import { packetsOf } from "../../glass/js/alone/pcap.js";
import { testOf } from "../../glass/js/alone/stf.js";
import { bitsOf, bytesOfText, completed, hexLines, hexOf, newHeader, sayField, withBits, withLayers } from "../../glass/js/model/frame.js";
import { holds, same } from "./check.js";

const fields = (...widths) => widths.map((width, index) => ({ name: `f${index}`, width }));

export function bits_are_read_as_they_were_written() {
  const bytes = Uint8Array.of(0xff, 0x00, 0xff);
  same(hexOf(withBits(bytes, 4, 12, 0xabcn)), "fabcff");
  same(String(bitsOf(withBits(bytes, 4, 12, 0xabcn), 4, 12)), String(0xabc));
  // Only the bits of the mask.
  same(hexOf(withBits(bytes, 0, 8, 0n, 0x0fn)), "f000ff");
  same(hexOf(bytes), "ff00ff", "the bytes given stay");
}

export function digits_are_read_in_the_forms_in_which_they_are_pasted() {
  const wanted = "0200000001010a0b";
  for (const text of ["0200000001010a0b", "02 00 00 00 01 01 0A 0b\n", "02:00:00:00:01:01:0a:0b", "0x0200 0x0000 0x0101 0x0a0b",
    "0000  02 00 00 00\n0004  01 01 0a 0b", "\t0x0000:  0200 0000 0101 0a0b  ........"]) {
    same(hexOf(bytesOfText(text)), wanted, text);
  }
  const bytes = Uint8Array.from({ length: 40 }, (_, index) => index);
  same(hexOf(bytesOfText(hexLines(bytes))), hexOf(bytes));
  for (const text of ["02 0", "0g"]) {
    let said = "";
    try {
      bytesOfText(text);
    } catch (error) {
      said = error.message;
    }
    holds(/digit/.test(said), `${text}: ${said}`);
  }
}

// The packets of tests/programs/router/ipv4.stf, whose sums scapy has computed.
const UDP = "00aa0000000100000a0001010800450000200001000040 1163cb0a0001010a00020103e807d0000c045a64617461".replace(" ", "");

export function lengths_and_checksums_follow_from_the_rest() {
  const whole = bytesOfText(UDP), layers = [{ at: 0, fields: fields(48, 48, 16) }, { at: 14, fields: fields(4, 4, 8) }];
  const spoilt = whole.slice();
  for (const at of [16, 17, 24, 25, 38, 39, 40, 41]) spoilt[at] = 0x55;
  same(hexOf(completed(spoilt, layers)), UDP);
  // Of a fragment the sum of UDP covers what is not there.
  const fragment = spoilt.slice();
  fragment[20] = 0x20;
  same(hexOf(completed(fragment, layers)).slice(80, 84), "5555");
}

export function a_header_more_is_put_where_the_parser_looks_for_it() {
  const ends = { source: { mac: 2n, ipv4: 0x0a000101n }, target: { mac: 1n, ipv4: 0x0a000201n } };
  const ethernet = newHeader([{ name: "dst_addr", width: 48 }, { name: "src_addr", width: 48 }, { name: "ether_type", width: 16 }], ends);
  same(hexOf(ethernet), "0000000000010000000000020000");
  const offer = { at: 14, layers: [{ name: "ipv4", fields: fields(4, 4, 8, 16, 16, 16, 8, 8, 16, 32, 32) }],
                  sets: [{ at: 96, width: 16, value: "0800", mask: "ffff" }] };
  const made = withLayers(Uint8Array.of(...ethernet, 7, 7), offer, ends);
  same(hexOf(made), "0000000000010000000000020800" + "4500000000000000400000000a0001010a000201" + "0707");
}

export function values_are_written_for_people() {
  same(sayField({ name: "ether_type", width: 16 }, 0x800n), "0x0800");
  same(sayField({ name: "dst_addr", width: 48 }, 1n), "00:00:00:00:00:01");
  same(sayField({ name: "src_addr", width: 32 }, 0x0a000101n), "10.0.1.1");
  same(sayField({ name: "ttl", width: 8 }, 64n), "64");
}

export function captures_of_both_kinds_are_read_and_others_refused() {
  const little = (...numbers) => numbers.flatMap((each) => [each & 255, (each >> 8) & 255, (each >> 16) & 255, (each >>> 24) & 255]);
  const classic = Uint8Array.from([...little(0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1), ...little(1, 2, 3, 3), 1, 2, 3, ...little(1, 3, 2, 9), 4, 5]);
  same(packetsOf(classic).map(({ bytes, isCut }) => [hexOf(bytes), isCut]), [["010203", false], ["0405", true]]);
  const next = Uint8Array.from([...little(0x0a0d0d0a, 28, 0x1a2b3c4d, 1, -1, -1, 28), ...little(1, 20, 1, 0, 20),
    ...little(6, 36, 0, 0, 0, 3, 3), 1, 2, 3, 0, ...little(36)]);
  same(packetsOf(next).map(({ bytes }) => hexOf(bytes)), ["010203"]);
  const wifi = classic.slice();
  wifi[20] = 127;
  for (const [file, word] of [[wifi, "Ethernet"], [new Uint8Array(100), "no capture"], [classic.slice(0, 24), "no packet"]]) {
    let said = "";
    try {
      packetsOf(file);
    } catch (error) {
      said = error.message;
    }
    holds(said.includes(word), `${word}: ${said}`);
  }
}

// Whatever a stranger's capture says of its lengths: packets within the file, or a sentence.
export function a_broken_capture_has_packets_or_is_refused_in_a_sentence() {
  const little = (...numbers) => numbers.flatMap((each) => [each & 255, (each >> 8) & 255, (each >> 16) & 255, (each >>> 24) & 255]);
  const classic = Uint8Array.from([...little(0xa1b2c3d4, 0x00040002, 0, 0, 65535, 1), ...little(1, 2, 3, 3), 1, 2, 3, ...little(1, 3, 2, 9), 4, 5]);
  const next = Uint8Array.from([...little(0x0a0d0d0a, 28, 0x1a2b3c4d, 1, -1, -1, 28), ...little(1, 20, 1, 0, 20),
    ...little(6, 36, 0, 0, 0, 3, 3), 1, 2, 3, 0, ...little(36), ...little(3, 20, 3), 1, 2, 3, 0, ...little(20), ...little(6, 12, 12)]);
  const tried = [];
  for (const whole of [classic, next]) {
    for (let at = 0; at < whole.length; at += 1) {
      tried.push(whole.slice(0, at));
      for (const byte of [0, 1, 12, 16, 127, 128, 255]) {
        const changed = whole.slice();
        changed[at] = byte;
        tried.push(changed);
      }
    }
  }
  for (const file of [...tried, next]) {
    try {
      for (const { bytes } of packetsOf(file)) holds(bytes.length <= file.length, "a packet is longer than its file");
    } catch (error) {
      const isSentence = ["no capture", "no packet", "not of Ethernet"].some((words) => error.message.includes(words));
      holds(isSentence, `${hexOf(file)}: ${error.message}`);
    }
  }
}

export function a_test_says_what_the_router_had_what_came_and_what_left() {
  const p4info = {
    tables: [{ preamble: { id: 1, name: "ingress.routes" }, match_fields: [
      { id: 1, name: "hdr.ipv4.dst_addr", bitwidth: 32 }, { id: 2, name: "meta.class", bitwidth: 3 }] }],
    actions: [{ preamble: { id: 5, name: "ingress.forward" }, params: [{ id: 1, name: "port", bitwidth: 9 }] }],
  };
  const action = { action: { action_id: 5, params: [{ param_id: 1, value: Uint8Array.of(2) }] } };
  const match = [{ field_id: 1, field_match_type: "lpm", lpm: { value: Uint8Array.of(10, 0, 2, 0), prefix_len: 24 } },
    { field_id: 2, field_match_type: "ternary", ternary: { value: Uint8Array.of(1), mask: Uint8Array.of(7) } }];
  const router = {
    p4info, entries: [{ table_id: 1, priority: 9, match, action }], defaults: [{ table_id: 1, action }],
    groups: [{ multicast_group_id: 4, replicas: [{ instance: 1, egress_port: 2 }, { instance: 1, egress_port: 3 }] }],
    sessions: [{ session_id: 7, replicas: [{ instance: 0, port: Uint8Array.of(1, 0) }] }],
  };
  const text = testOf(router, { port: 1, frame: Uint8Array.of(1, 2), name: "s1, port 1" }, { out: [{ port: 2, frame: Uint8Array.of(3) }] });
  same(text.split("\n"), [
    "# s1, port 1",
    "add ingress.routes 9 hdr.ipv4.dst_addr:0x0a000200/24 meta.class:0x01&&&0x07 ingress.forward(port:0x02)",
    "setdefault ingress.routes ingress.forward(port:0x02)",
    "mc_mgrp_create 4", "mc_node_create 1 2 3", "mc_node_associate 4 0", "mirroring_add 7 256",
    "", "packet 1 0102", "expect 2 03 $", "",
  ]);
  const dropped = testOf({ ...router, entries: [], defaults: [], groups: [], sessions: [] },
                         { port: 1, frame: Uint8Array.of(1), name: "x" }, { out: [], dropped: "ingress program" });
  same(dropped.split("\n").slice(-3), ["# It is dropped: ingress program.", "no_packet", ""]);
}
