// The picture is where the layout says, and says what the state says.

import { routerLayout, pack, crossing, along } from "../../glass/js/draw/layout.js";
import { routerPicture } from "../../glass/js/draw/router.js";
import { routerLabels } from "../../glass/js/draw/labels.js";
import { PALETTES } from "../../glass/js/draw/palette.js";
import { networkLabels, networkLayout, networkPicture } from "../../glass/js/draw/network.js";
import { Flows } from "../../glass/js/model/flows.js";
import { Insides } from "../../glass/js/model/insides.js";
import { Network } from "../../glass/js/model/network.js";
import { Player } from "../../glass/js/page/player.js";
import { holds, same } from "./check.js";

function about(count, queueing, queues = 1) {
  const ports = Array.from({ length: count }, (_, i) => ({
    port: i + 1,
    config: { rate_bps: 1e7, limit: undefined,
              queues: Array.from({ length: queues }, (_, c) => ({ class: c, limit: { packets: 20, bytes: 0 } })) },
  }));
  return { ports: [...ports, { port: 510, config: { queues: [] } }],
           input: { queueing, limit: { packets: 10, bytes: 0 }, voq_limit: { packets: 5, bytes: 0 } } };
}

export function nothing_stands_outside_or_on_another() {
  for (const count of [1, 2, 3, 8, 64]) {
    for (const queueing of ["NONE", "FIFO", "VOQ"]) {
      for (const queues of [1, 8]) {
        for (const width of [330, 370, 600, 930, 1900]) {
          const layout = routerLayout(about(count, queueing, queues), { width, height: 480 });
          same(layout.rows.size, count, "the controller's port has no row");
          for (const row of layout.rows.values()) {
            for (const strip of [...row.inputs, ...row.queues]) {
              holds(strip.x > 0 && strip.x + strip.w < width && strip.w > 20, `${count} ${queueing}: x`);
              holds(strip.y > 0 && strip.y + strip.h < layout.height, `${count} ${queueing}: y`);
            }
            for (const strips of [row.inputs, row.queues]) {
              strips.slice(1).forEach((strip, i) =>
                holds(strip.y >= strips[i].y + strips[i].h - 0.01, `${count} ${queueing} ${queues}: overlap`));
            }
          }
        }
      }
    }
  }
}

export function a_full_queue_looks_full_and_its_head_is_at_the_right() {
  const strip = { x: 100, w: 200, limit: { packets: 4, bytes: 0 } };
  const packets = [1, 2, 3, 4].map((id) => ({ id, length: 1500 }));
  const placed = (where, list) => [...pack(where, list).xs];
  same(placed(strip, packets), [250, 200, 150, 100]);
  same(placed(strip, packets.slice(0, 1)), [250]);
  // Bytes: 500 of 2000 take a quarter of the strip.
  same(placed({ ...strip, limit: { packets: 0, bytes: 2000 } }, [{ id: 1, length: 500 }]), [250]);
  // With limits of both kinds a queue is as full as the nearer one says.
  const both = about(1, "NONE");
  both.ports[0].config.queues[0].limit = { packets: 20, bytes: 6000 };
  const [queue] = routerLayout(both, { width: 930, height: 480 }).rows.get(1).queues;
  same([queue.limit.bytes, queue.limit.other.packets], [6000, 20]);
  const filled = (list) => Math.round(((queue.x + queue.w - placed(queue, list).at(-1)) / queue.w) * 100);
  same(filled(packets), 100, "four full frames are 6,000 bytes");
  same(filled(packets.slice(0, 1)), 25);
  same(filled(Array.from({ length: 10 }, (_, id) => ({ id, length: 60 }))), 50, "ten of 20 packets");
  // More than the limit, because it was made smaller: they stand closer.
  same(placed(strip, [...packets, ...packets]).at(-1), 100);
}

export function without_single_packets_a_queue_has_its_flows_colours_in_their_shares() {
  const told = about(2, "NONE");
  const layout = routerLayout(told, { width: 930, height: 480 });
  const [strip] = layout.rows.get(1).queues;
  const flow = (colour, reverse = false) => ({ number: colour, colour, reverse });
  const share = (colour, packets, reverse) => ({ key: "queue 1/0", output: 1, class: 0, flow: flow(colour, reverse), packets, bytes: 0 });
  const held = { packets: 10, bytes: 0 };
  const sample = (flows) => ({ ports: [{ port: 1, counters: { up: true, queues: [{ class: 0, held }] } }], inputs: [], transfers: [], flows });
  const bars = (flows) => {
    const moment = { about: told, sample: sample(flows), state: undefined, blocked: [], pace: 1, timePs: 0 };
    const { shapes } = routerPicture(layout, moment, PALETTES.light);
    return shapes.filter((each) => each.kind === "rect" && each.y === strip.y + 2)
      .map(({ x, w, fill, alpha }) => [Math.round(((strip.x + strip.w - x) / strip.w) * 100), Math.round((w / strip.w) * 100), fill, alpha]);
  };
  const [first, second] = PALETTES.light.flows;
  // Ten of twenty packets: half of the strip, the flow whose packet leaves first at its right end.
  same(bars([share(1, 8), share(0, 2, true)]), [[40, 40, second, 1], [50, 10, first, 0.45]]);
  same(bars([]), [[50, 50, first, undefined]], "nobody told whose they are");
}

export function a_limit_is_the_one_that_full_frames_reach_first() {
  const limits = (limit) => {
    const told = about(2, "NONE");
    told.ports[0].config.queues[0].limit = limit;
    return routerLayout(told, { width: 930, height: 480 }).rows.get(1).queues[0].limit;
  };
  same(limits({ packets: 20, bytes: 0 }), { packets: 20, bytes: 0, isSet: true });
  same(limits({ packets: 0, bytes: 9000 }), { packets: 0, bytes: 9000, isSet: true });
  // 5 frames of 1514 bytes are fewer than 9000, and more than 3000.
  same(limits({ packets: 5, bytes: 9000 }), { packets: 5, bytes: 0, isSet: true, other: { packets: 0, bytes: 9000 } });
  same(limits({ packets: 5, bytes: 3000 }), { packets: 0, bytes: 3000, isSet: true, other: { packets: 5, bytes: 0 } });
  same(limits(undefined).isSet, false);
}

export function virtual_output_queues_are_told_apart_by_output_and_class() {
  const told = about(3, "VOQ", 2);
  const layout = routerLayout(told, { width: 930, height: 480 });
  const strips = layout.rows.get(1).inputs;
  same(strips.map((each) => [each.key, each.class]), [[1, 1], [1, 0], [2, 1], [2, 0], [3, 1], [3, 0]]);
  const insides = new Insides(new Flows());
  insides.start({ time_ps: 0 });
  const step = (id, name, more) => insides.take({ time_ps: id, kind: "packet", packet: { packet: id, step: name, [name]: more } });
  for (const [id, class_] of [[1, 0], [2, 1], [3, 1]]) {
    step(id, "received", { port: 1, length_bytes: 1500, head: new Uint8Array(0) });
    step(id, "filed", { input: 1, output: 2, class: class_ });
  }
  const moment = { about: told, state: insides.at(1e6), timePs: 1e6, pace: 1e-9, upcoming: [], blocked: [], recent: [], recentPs: 1, isBars: false,
                   moves: false };
  const drawn = (y, h) => routerPicture(layout, moment, PALETTES.dark).spots.filter((each) => each.y > y && each.y < y + h).length;
  const at = (key, class_) => strips.find((each) => each.key === key && each.class === class_);
  same([drawn(at(2, 1).y, at(2, 1).h), drawn(at(2, 0).y, at(2, 0).h), drawn(at(3, 0).y, at(3, 0).h)], [2, 1, 0]);
  const words = routerLabels(layout, { ...moment, sample: undefined }).map((each) => each.text);
  holds(words.includes("2→2/1") && words.includes("1→2/0") && words.includes("→3/0"), `labels: ${words.join(" ")}`);
  // Where there are too many of them, all classes of an output are one.
  same(routerLayout(about(4, "VOQ", 4), { width: 930, height: 480 }).rows.get(1).inputs.map((each) => each.class), [undefined, undefined, undefined, undefined]);
}

export function a_depth_says_as_much_as_there_is_room_for() {
  const told = about(3, "FIFO");
  const sample = { ports: [{ port: 1, counters: { queues: [{ class: 0, held: { packets: 7, bytes: 10_598 } }] } }], inputs: [] };
  const words = (width, scale) => routerLabels(routerLayout(told, { width, height: 600, scale }),
    { about: told, sample, timePs: 0 }).find((each) => each.id === "queue 1 0").text;
  same(words(1300, 1), "7 of 20 packets, 10.6 kB");
  same(words(850, 1.4), "7 of 20 packets");
  sample.ports[0].counters.queues[0].held = { packets: 1, bytes: 1514 };
  told.ports[0].config.queues[0].limit = { packets: 0, bytes: 3028 };
  same(words(1300, 1), "1.51 kB of 3.03 kB, 1 packet");
}

export function headings_never_touch() {
  const told = about(4, "FIFO");
  told.input.arbiter = "RANDOM";
  for (let width = 300; width < 2000; width += 10) {
    const heads = routerLabels(routerLayout(told, { width, height: 600 }), { about: told, timePs: 0 }).filter((each) => each.kind === "head");
    const ends = heads.map(({ x, text }) => ({ text, from: x - text.length * 3.3, to: x + text.length * 3.3 })).toSorted((a, b) => a.from - b.from);
    ends.slice(1).forEach(({ from, text }, i) => holds(ends[i].to < from, `${width} px: "${ends[i].text}" and "${text}"`));
  }
}

export function on_a_phone_the_router_has_the_width_and_each_row_its_words_above_it() {
  const told = about(3, "FIFO");
  const waits = { queues: [], receive_line: { backlog: { packets: 12, bytes: 18_168 } } };
  const sample = { ports: [{ port: 1, counters: waits }], inputs: [] };
  const neighbours = new Map([[1, "h1"], [2, "h2"]]);
  const [wide, narrow] = [930, 370].map((width) => {
    const layout = routerLayout(told, { width, height: 300 });
    const labels = routerLabels(layout, { about: told, sample, neighbours, timePs: 0 });
    return { layout, words: new Map(labels.map((each) => [each.id, each])) };
  });
  const part = ({ layout: { columns, width } }) => (columns.serve[1] - columns.ingress[0]) / width;
  holds(part(narrow) > 0.8 && part(wide) < 0.6, "of the width is the router's");
  for (const { top, inputs, queues, y } of narrow.layout.rows.values()) {
    for (const strip of [...inputs, ...queues]) holds(strip.y > top + 30 && strip.y + strip.h < top + narrow.layout.pitch - 14, "room above and below");
    holds(y > top && y < top + narrow.layout.pitch, "in its row");
  }
  holds(narrow.layout.height > 300, "rows are no lower than can be read; the rest is scrolled");
  same([1, 3].map((port) => [`in ${port}`, `out ${port}`].map((id) => [narrow.words.get(id).text, narrow.words.get(id).small])),
       [[["1", "from h1, 12 wait"], ["→ h1", "10 Mb/s"]], [["3", ""], ["→ port 3", "10 Mb/s"]]]);
  const { top } = narrow.layout.rows.get(1);
  holds(["in 1", "out 1"].every((id) => narrow.words.get(id).y < top + 5), "at the top of its row");
  same([narrow.words.has("waiting 1"), wide.words.has("waiting 1")], [false, true]);
}

export function on_a_phone_a_long_queue_has_five_numbers_and_a_count_of_the_rest() {
  const told = about(3, "FIFO");
  told.input.limit = { packets: 100, bytes: 0 };
  const layout = routerLayout(told, { width: 370, height: 300 });
  const insides = new Insides(new Flows());
  insides.start({ time_ps: 0 });
  const step = (id, name, more) => insides.take({ time_ps: id, kind: "packet", packet: { packet: id, step: name, [name]: more } });
  for (let id = 1; id <= 100; id++) {
    step(id, "received", { port: 1, length_bytes: 1500, head: new Uint8Array(0) });
    step(id, "filed", { input: 1, output: id % 2 ? 2 : 3, class: 0 });
  }
  const moment = { about: told, state: insides.at(1e6), timePs: 1e6, pace: 1e-9, upcoming: [], blocked: [], recent: [], recentPs: 1, isBars: false,
                   moves: false };
  const words = routerPicture(layout, moment, PALETTES.light).shapes.filter(({ kind }) => kind === "text").map(({ text }) => text);
  same(words, ["2", "3", "2", "3", "2", "+95"]);
}

export function on_a_phone_queue_management_says_what_fits_below_the_heading() {
  const told = about(3, "NONE");
  for (const port of [1, 2]) told.ports[port].config.queues[0].aqm = { kind: "codel", codel: {} };
  const smalls = (width, height) => {
    const layout = routerLayout(told, { width, height });
    const labels = routerLabels(layout, { about: told, timePs: 0 });
    for (const { top, queues } of layout.isNarrow ? [layout.rows.get(2)] : []) {
      const words = labels.find((each) => each.id === "queue 2 0");
      holds(queues[0].y - 14 * (words.small ? 2 : 1) >= top + 14, "below the heading");
    }
    return labels.find((each) => each.id === "queue 2 0").small;
  };
  same([smalls(930, 480), smalls(370, 400), smalls(370, 200)], ["CoDel: nobody waits too long", "CoDel: nobody waits too long", ""]);
}

export function of_marks_that_would_cover_each_other_one_rises() {
  const told = about(2, "NONE");
  const layout = routerLayout(told, { width: 930, height: 480 });
  const insides = new Insides(new Flows());
  insides.start({ time_ps: 0 });
  const packet = { flow: { number: 0, colour: 0 } };
  const state = insides.at(1e12);
  // One in 10 ms, for a second.
  state.marks = Array.from({ length: 100 }, (_, i) => ({ timePs: i * 1e10, packet, queue: { port: 1, class: 0 } }));
  const moment = { about: told, state, timePs: 1e12, pace: 1, upcoming: [], blocked: [], recent: [], recentPs: 1, isBars: false, moves: true };
  const ys = routerPicture(layout, moment, PALETTES.light).shapes.filter(({ text }) => text === "CE").map(({ y }) => y);
  same(ys.length, 2);
  holds(Math.abs(ys[0] - ys[1]) > 9, `${ys}`);
}

export function what_waits_in_the_neighbours_card_stands_at_the_port() {
  const told = about(2, "NONE");
  const line = (packets) => ({ queues: [], receive_line: { backlog: { packets, bytes: 1514 * packets } } });
  const sample = { ports: [{ port: 1, counters: line(1200) }, { port: 2, counters: line(0) }], inputs: [] };
  const layout = routerLayout(told, { width: 930, height: 480 });
  const found = routerLabels(layout, { about: told, sample, timePs: 0 }).filter((each) => each.id.startsWith("waiting"));
  same(found.map(({ id, text }) => [id, text]), [["waiting 1", "1,200 wait"]]);
  const { receive, y } = layout.rows.get(1);
  holds(found[0].x >= receive.x0 && found[0].x < receive.x1 && found[0].y < y, "above the line that comes in");
}

export function what_was_chosen_has_a_frame() {
  const told = about(2, "NONE");
  const insides = new Insides(new Flows());
  insides.start({ time_ps: 0 });
  insides.take({ time_ps: 1, kind: "packet", packet: { packet: 7, step: "received", received: { port: 1, length_bytes: 1500, head: new Uint8Array(0) } } });
  insides.take({ time_ps: 2, kind: "packet", packet: { packet: 7, step: "queued", queued: { port: 2, class: 0 } } });
  const layout = routerLayout(told, { width: 930, height: 480 });
  const frames = (more) => routerPicture(layout, { about: told, state: insides.at(1e6), timePs: 1e6, pace: 1e-9, upcoming: [], blocked: [], recent: [],
                                                   recentPs: 1, isBars: false, moves: false, ...more }, PALETTES.dark)
    .shapes.filter((each) => each.kind === "path" && each.stroke === PALETTES.dark.accent);
  same(frames({}).length, 0);
  same(frames({ chosen: 8 }).length, 0, "one that is not in the picture:");
  const { x, w } = layout.rows.get(2).queues[0];
  same(frames({ chosen: 7 })[0].points[0][0] > x && frames({ chosen: 7 })[0].points[1][0] <= x + w + 2, true);
  same(frames({ focus: { key: "queue 2/0", port: 2, class: 0 } })[0].points[0][0], x - 2);
}

export function a_packet_crosses_from_its_input_to_its_output() {
  const layout = routerLayout(about(3, "FIFO"), { width: 930, height: 480 });
  const points = crossing(layout, 1, 3);
  same(points[0][1], layout.rows.get(1).inY);
  same(points.at(-1)[1], layout.rows.get(3).outY);
  same(along(points, 0), points[0]);
  same(along(points, 1), points.at(-1));
  same(crossing(layout, 1, 510), undefined);
}

export function pictures_of_the_same_are_the_same_and_reduced_motion_stands_still() {
  const insides = new Insides(new Flows());
  insides.start({ time_ps: 0 });
  const step = (at, name, told) => insides.take({ time_ps: at, kind: "packet", packet: { packet: 1, step: name, [name]: told } });
  step(100, "received", { port: 1, length_bytes: 1500, head: new Uint8Array(0) });
  step(100, "filed", { input: 1, output: 2, class: 0 });
  step(200, "crossing", { from: { input: 1, output: 2, class: 0 }, until_ps: 400 });
  const layout = routerLayout(about(2, "FIFO"), { width: 930, height: 480 });
  const moment = (timePs, moves) => ({ about: about(2, "FIFO"), state: insides.at(timePs), timePs, pace: 1e-9,
                                       upcoming: [], blocked: [], recent: [], recentPs: 1, isBars: false, moves });
  const picture = (timePs, moves = true) => routerPicture(layout, moment(timePs, moves), PALETTES.dark);
  same(picture(300), picture(300));
  const [early] = picture(250).spots, [late] = picture(350).spots;
  holds(late.x > early.x || late.y > early.y, "a packet moves on its way");
  same(picture(250, false).spots[0].x, picture(350, false).spots[0].x, "reduced motion:");
}

export function thousands_of_packets_are_a_few_shapes_and_what_is_out_of_sight_is_none() {
  const heads = [0, 1, 2].map((flow) => Uint8Array.from([...new Array(12).fill(0), 8, 0, 0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0,
                                                         10, 0, flow, 1, 10, 0, 9, 1, 156, 65, 20, 81]));
  const told = about(64, "NONE");
  for (const { config } of told.ports) for (const each of config.queues) each.limit.packets = 80;
  const insides = new Insides(new Flows());
  insides.start({ time_ps: 0 });
  for (let id = 1; id <= 5000; id++) {
    insides.take({ time_ps: id, kind: "packet", packet: { packet: id, step: "received", received: { port: 1, length_bytes: 1500, head: heads[id % 3] } } });
    insides.take({ time_ps: id, kind: "packet", packet: { packet: id, step: "queued", queued: { port: 1 + (id % 64), class: 0 } } });
  }
  const layout = routerLayout(told, { width: 1200, height: 500 });
  const picture = (sight) => routerPicture(layout, { about: told, state: insides.at(1e6), timePs: 1e6, pace: 1e-9, upcoming: [], blocked: [],
                                                      recent: [], recentPs: 1, isBars: false, moves: true, sight }, PALETTES.dark);
  const marks = ({ shapes }) => shapes.filter((each) => each.kind === "marks");
  const drawn = (shown) => marks(shown).reduce((sum, { xs }) => sum + xs.length, 0);
  const all = picture();
  same(drawn(all), 5000, "each packet is drawn:");
  // One a colour and width in each queue, whatever is in it: the first ten are larger.
  same(marks(all).length, 64 * 3 * 2);
  const some = picture([0, 500]);
  holds(drawn(some) > 1000 && drawn(some) < 2500, `in sight are some: ${drawn(some)}`);
}

export function a_network_is_laid_out_from_one_end_to_the_other() {
  const cable = (a, b) => [{ node: a, port: null }, { node: b, port: null }];
  const network = new Network({
    hosts: ["h1", "h2", "h3"].map((name) => ({ name, addresses: [] })),
    routers: [{ name: "s1" }, { name: "s2" }],
    cables: [cable("h1", "s1"), cable("h2", "s1"), cable("s1", "s2"), cable("s2", "h3")],
  });
  const { places } = networkLayout(network, { width: 900, height: 400 });
  const x = (name) => places.get(name).x;
  holds(x("h1") < x("s1") && x("s1") < x("s2") && x("s2") < x("h3"), "in order");
  holds(places.get("h1").y !== places.get("h2").y, "beside each other");
  same(x("h1"), x("h2"), "both before their router:");
}

export function nobody_of_a_wide_network_stands_on_another_in_a_low_picture() {
  for (const [count, height] of [[8, 230], [11, 150], [11, 300]]) {
    const hosts = Array.from({ length: count }, (_, i) => ({ name: `h${i + 1}`, addresses: [] }));
    const cables = hosts.map(({ name }, i) => [{ node: name, port: 1 }, { node: "s1", port: i + 1 }]);
    const { places, node: { w, h } } = networkLayout(new Network({ hosts, routers: [{ name: "s1", addresses: [] }], cables }), { width: 600, height });
    const all = [...places.values()];
    holds(h >= 18, `${count} hosts are ${h} px high`);
    all.forEach((one, i) => all.slice(i + 1).forEach((other) =>
      holds(Math.abs(one.x - other.x) >= w || Math.abs(one.y - other.y) > h + 2, `${count} hosts in ${height} px`)));
    holds(all.every(({ y }) => y - h / 2 >= 0 && y + h / 2 <= height), "inside");
  }
}

export function nobody_of_a_long_network_stands_on_another() {
  const cable = (a, b) => [{ node: a, port: null }, { node: b, port: null }];
  const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
  const network = new Network({
    hosts: numbers.map((each) => ({ name: `h${each}`, addresses: [] })),
    routers: numbers.map((each) => ({ name: `s${each}` })),
    cables: [...numbers.map((each) => cable(`h${each}`, `s${each}`)), ...numbers.slice(1).map((each) => cable(`s${each - 1}`, `s${each}`))],
  });
  const { places, node: { w, h } } = networkLayout(network, { width: 900, height: 400 });
  same(places.size, 40);
  const all = [...places.values()];
  all.forEach((a, index) => all.slice(index + 1).forEach((b) =>
    holds(Math.abs(a.x - b.x) >= w || Math.abs(a.y - b.y) >= h, "one stands on another")));
}

export function a_line_is_as_thick_as_it_is_busy_on_the_side_of_its_way() {
  const network = new Network({
    hosts: [{ name: "h1", addresses: [] }], routers: [{ name: "s1" }],
    cables: [[{ node: "h1", port: null }, { node: "s1", port: 1 }]],
  });
  const layout = networkLayout(network, { width: 900, height: 400 });
  const lanes = (sent, received = 0) => {
    const models = new Map([["s1", { samples: { sendingAt: () => sent, receivingAt: () => received } }]]);
    return networkPicture(layout, { models, moves: false, timePs: 0 }, PALETTES.light).shapes.filter((each) => each.alpha);
  };
  same(lanes(0), []);
  same(lanes(0.5).map(({ width, stroke }) => [width, stroke]), [[2.5, PALETTES.light.line]]);
  same(lanes(1).map(({ width, stroke }) => [width, stroke]), [[5, PALETTES.light.alarm]]);
  // Packets from the host have a lane of their own, on the other side.
  same(lanes(0, 0.4).map(({ width }) => width), [2]);
  holds(lanes(0, 0.4)[0].points[0][1] > layout.places.get("h1").y, "on the right of the other way");
  // From s1 at the right to h1 at the left: its right-hand side is above the middle.
  holds(lanes(0.5)[0].points[0][1] < layout.places.get("s1").y, "on the right");
}

export function time_stays_within_what_is_known() {
  const player = new Player({ isLive: false });
  player.extend(1e12, 2e12, 0);
  same(player.timePs, 1e12);
  player.tick(0, 5);
  same(player.timePs, 2e12, "not beyond what was told:");
  player.seek(0);
  same(player.timePs, 1e12);
  player.setPace(0.5);
  player.tick(0, 1);
  same(player.timePs, 1.5e12);
  player.pause();
  player.tick(0, 1);
  same(player.timePs, 1.5e12);
  player.faster();
  same(player.pace, 1);
}

export function the_first_ten_of_a_long_queue_are_large_and_the_rest_is_counted() {
  const packets = (count, length = 1500) => Array.from({ length: count }, (_, id) => ({ id, length }));
  const strip = { x: 0, w: 150, limit: { packets: 100, bytes: 0 } };
  const { xs, ws, rest } = pack(strip, packets(100));
  same(rest, 90);
  holds(ws[0] >= 10 && ws[9] === ws[0] && ws[10] < 1, `${ws[0]} and ${ws[10]} pixels`);
  // A full queue still fills its strip, and nothing stands in anything else's place.
  same([Math.round(xs[0] + ws[0]), Math.round(xs[99])], [150, 0]);
  for (let index = 1; index < 100; index++) holds(Math.abs(xs[index] + ws[index] - xs[index - 1]) < 1e-6, `at ${index}`);
  // Where all are large there is no rest.
  same(pack({ ...strip, w: 2000 }, packets(100)).rest, 0);
  same(pack(strip, packets(10)).rest, 0);
  // By bytes, too: the long ones are longer.
  const mixed = pack({ ...strip, limit: { packets: 0, bytes: 150_000 } }, [...packets(1, 66), ...packets(99)]);
  holds(mixed.ws[0] < mixed.ws[1], "a short packet");
  same([mixed.rest, Math.round(mixed.xs[99])], [90, 1]);
}

export function what_is_written_before_a_voq_has_its_room_and_drops_leave_it_free() {
  const told = about(3, "VOQ");
  told.input.voq_limit.packets = 100;
  const insides = new Insides(new Flows());
  insides.start({ time_ps: 0 });
  const step = (id, name, more) => insides.take({ time_ps: id, kind: "packet", packet: { packet: id, step: name, [name]: more } });
  for (let id = 1; id <= 103; id++) {
    step(id, "received", { port: 1, length_bytes: 1500, head: new Uint8Array(0) });
    if (id <= 100) step(id, "filed", { input: 1, output: 2, class: 0 });
    else step(id, "dropped", { reason: "VOQ_LIMIT", queue: { port: 2, class: 0 } });
  }
  for (const width of [370, 930]) {
    const layout = routerLayout(told, { width, height: 360 }), row = layout.rows.get(1);
    for (const share of [0, 0.5, 0.99]) {
      // A drop falls for 1.4 seconds of the viewer.
      const timePs = 103 + share * 1.4e3;
      const moment = { about: told, state: insides.at(timePs), timePs, pace: 1e-9, upcoming: [], blocked: [], recent: [], recentPs: 1,
                       isBars: false, moves: true, sample: undefined };
      const label = routerLabels(layout, moment).find((each) => each.id === "voq 1 →2");
      same(label.text, "100→2");
      // Letters are at most 7.8 pixels wide, and the label ends where its place is.
      const from = label.x - 7.8 * label.text.length;
      holds(from >= row.ingressX + 4, `${width} px: beside the wall at ${row.ingressX}: ${from}`);
      const fallen = routerPicture(layout, moment, PALETTES.light).spots.filter(({ packet }) => packet.id > 100);
      same(fallen.length, 3);
      for (const { x, y, w, h } of fallen) {
        holds(x + w <= from, `${width} px: a drop at ${x + w} covers "100→2" at ${from}`);
        holds(width > 500 || y + h <= row.bottom, `a drop at ${y + h} covers the heading at ${row.bottom}`);
      }
    }
  }
}

export function cables_say_their_speed_and_delay_and_hosts_their_address_where_there_is_room() {
  const end = (node, port = null) => ({ node, port });
  const hosts = [1, 2, 3].map((each) => ({ name: `h${each}`, addresses: [`10.0.${each}.1`, `fd00:${each}::1`] }));
  const network = new Network({
    hosts, routers: [{ name: "s1" }, { name: "s2" }],
    cables: [[end("h1"), end("s1", 1)], [end("h2"), end("s1", 2)], [end("s1", 3), end("s2", 1)], [end("s2", 2), end("h3")]],
  });
  const model = (...configs) => ({ samples: { abouts: [{ ports: configs.map((config, index) => ({ port: index + 1, config })) }] } });
  const models = new Map([
    ["s1", model({ rate_bps: 1e9 }, { rate_bps: 0 }, { rate_bps: 1e8, link: { transmit: { delay_ns: 2e6 } } })],
    // It comes back more slowly, and 1 ms of its way is before s1's end of the cable.
    ["s2", model({ rate_bps: 5e7, link: { receive: { delay_ns: 1e6 } } }, { rate_bps: 1e7 })],
  ]);
  const labels = (size, known = models) => routerless(networkLabels(networkLayout(network, size), { timePs: 0, models: known }, () => {}));
  const words = Object.fromEntries(labels({ width: 900, height: 320 }).map(({ id, text }) => [id, text]));
  same(words, {
    "address h1": "10.0.1.1", "address h2": "10.0.2.1", "address h3": "10.0.3.1",
    "cable h1 null s1 1": "1 Gb/s", "cable s1 3 s2 1": "100 Mb/s, 3 ms / 50 Mb/s", "cable s2 2 h3 null": "10 Mb/s",
  });
  same(labels({ width: 900, height: 320 }, new Map()).length, 3, "of cables nothing is known yet:");
  for (let width = 330; width < 1400; width += 30) {
    const all = networkLabels(networkLayout(network, { width, height: 240 }), { timePs: 0, models }, () => {});
    const boxes = all.map(({ kind, text, x, y }) => (kind === "cable" ? { text, x, y, w: 6.4 * text.length, h: 14 } : { text, x, y, w: 74, h: 40 }));
    const isOn = (a, b) => Math.abs(a.x - b.x) < (a.w + b.w) / 2 && Math.abs(a.y - b.y) < (a.h + b.h) / 2;
    all.forEach(({ kind }, index) => {
      if (kind === "cable") boxes.slice(0, index).forEach((each) => holds(!isOn(each, boxes[index]), `${width} px: ${boxes[index].text} on ${each.text}`));
    });
  }
}

const routerless = (labels) => labels.filter(({ kind }) => kind === "cable");
