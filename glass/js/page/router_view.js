// A router on the stage: its picture, its labels, what the page points at, and the same as tables.

import { isOf, routerLayout } from "../draw/layout.js";
import { routerLabels } from "../draw/labels.js";
import { routerPicture } from "../draw/router.js";
import { houseShapes } from "../draw/house.js";
import { flowColour } from "../draw/palette.js";
import { namesAmong } from "../model/flows.js";
import { blockedHeads, Episodes } from "../model/blocking.js";
import { input, queue } from "../model/insides.js";
import { droppedOf, portOf, queueOf, settingsOf, WINDOW_WORDS } from "../model/samples.js";
import { finishTags } from "../model/tags.js";
import { arbitrationWords } from "../model/arbiter.js";
import { nodesOf, queueWords } from "../model/minds.js";
import { lostByReason } from "../model/curves.js";
import { bytes, count, instant, rate, rateWords, reasonWords } from "../words.js";
import { element, setText, table } from "./dom.js";

// More steps than this in a second of the viewer, and single packets are no use to eyes.
const STEPS_A_SECOND_MAX = 700;
// The span over which the load of a line is measured, in seconds of the viewer.
const RECENT_S = 0.25;
const UPCOMING_S = 2;
// How long a blocked input stays in the notice after it was blocked last, in seconds of the viewer and of the
// network at least: a packet on a slow line takes milliseconds, and between two of them nothing is blocked.
const NOTICE_S = 3, NOTICE_PS = 50e9;
// Since when is said to a millisecond: no closer is it looked at.
const SINCE_PACE = 0.1;
// Flows stay in the key for `KEY_S` after they were seen, in seconds of the viewer; it has at most `KEY_MAX`.
const KEY_S = 12, KEY_MAX = 10;

export class RouterView {
  constructor(glass) {
    this.glass = glass;
    // By router.
    this.episodes = new Map();
    // By router: the queue that is drawn unless one is chosen, {isInput, port}.
    this.first = new Map();
    // When each flow was last seen, by its number.
    this.seen = new Map();
  }

  // Everything that the picture is made of.
  moment(timePs) {
    const { glass } = this;
    const { model, player } = glass;
    const about = model.samples.aboutAt(timePs);
    if (!about) return undefined;
    const perSecond = player.pace * 1e12;
    const state = model.knowsPacketsAt(timePs) ? model.insides.at(timePs) : undefined;
    const recentPs = RECENT_S * perSecond;
    const steps = state ? model.insides.count(timePs - recentPs, timePs) : 0;
    const isBars = steps > STEPS_A_SECOND_MAX * RECENT_S;
    return {
      about, state, timePs, isBars, tellsPackets: model.knowsPackets, isTooFast: model.isTooFast, isHurried: model.isHurried, recentPs,
      // Thousands, where time passes fast: only for those who look at them.
      get recent() { return steps ? model.insides.between(timePs - recentPs, timePs) : []; },
      pace: player.pace,
      sample: model.samples.at(timePs),
      tagsOf(port, class_, waiting) {
        const config = about.ports.find((each) => each.port === port)?.config;
        return config && this.sample ? finishTags({ insides: model.insides, sample: this.sample, config, port, class_, waiting }) : undefined;
      },
      upcoming: state && !isBars ? model.insides.between(timePs, timePs + UPCOMING_S * perSecond) : [],
      blocked: state ? blockedHeads(state, about) : [],
      moves: !glass.motion.matches,
      sight: glass.stage.sight,
      phase: glass.timeBar.phase,
      chosen: this.chosen, focus: this.focus?.router === model.name ? this.focus : undefined,
    };
  }

  draw(timePs) {
    const { glass } = this;
    const moment = this.moment(timePs);
    if (!moment || !glass.stage.size.width) return;
    this.layout = this.layoutOf(moment.about);
    this.drawn = glass.model;
    glass.stage.stand(this.layout, glass.palette, () => houseShapes(this.layout, glass.palette));
    glass.stage.show(routerPicture(this.layout, moment, glass.palette));
    this.now = moment;
  }

  // The same boxes are used again as long as nothing about them has changed.
  layoutOf(about) {
    const { size: { width, height }, scale } = this.glass.stage;
    const settings = settingsOf(about);
    const same = this.made?.settings === settings && this.made.width === width && this.made.height === height
      && this.made.scale === scale;
    if (!same) this.made = { settings, width, height, scale, layout: routerLayout(about, { width, height, scale }) };
    return this.made.layout;
  }

  drawSlowly(timePs) {
    const { glass } = this;
    const { model } = glass;
    const moment = this.moment(timePs);
    // Of a router that was just entered there is no picture yet that could have labels.
    if (!moment || this.drawn !== model) return;
    moment.neighbours = glass.network.neighbours(model.name);
    moment.rateOf = (port, class_) => model.samples.rateAt(timePs, port, class_);
    glass.stage.label(routerLabels(this.layout, moment));
    this.centre(moment.about);
    this.say(moment);
    this.showKey(moment);
    if (glass.details.open) this.tables(moment);
  }

  // The middle of a picture that is higher than its room is the router's subject, and the port that its lesson measures
  // is in sight, until the user scrolls.
  centre(about) {
    const { stage, model, scene, side } = this.glass, room = `${stage.size.width} ${stage.size.height}`;
    if (this.centred !== model || (this.room !== room && !stage.isMoved)) {
      const { rows } = this.layout, subject = rows.get(this.focusOf(about).port);
      const measured = model.name === scene.about.router ? rows.get(side.lesson?.lesson.claim?.port) : undefined;
      stage.centre(subject?.y ?? 0, measured);
    }
    Object.assign(this, { centred: model, room });
  }

  // ---- what the page points at -----------------------------------------------------------------

  say(moment) {
    const { glass } = this;
    const [found] = this.blocking(moment);
    const sentence = found ? blockedWords(found, (port) => this.placeName(port), moment.pace) : quietWords(moment);
    glass.notice.classList.toggle("found", Boolean(found));
    if (this.said === sentence) return;
    this.said = sentence;
    const isCurable = found && !glass.scene.readOnly && glass.side.handles;
    // The button stays while the sentence beside it changes: it may be about to be pressed.
    this.cure ??= element("button", { type: "button", class: "main", onclick: () => glass.side.handles.useVoqs() },
                          "Give every output its own queue");
    this.sentence ??= element("p", {});
    setText(this.sentence, sentence);
    if (this.sentence.parentElement === glass.notice && Boolean(isCurable) === this.cure.isConnected) return;
    glass.notice.replaceChildren(this.sentence, ...(isCurable ? [this.cure] : []));
  }

  // Episodes of head-of-line blocking at the shown router that last.
  blocking({ about, state, timePs, pace }) {
    const { model } = this.glass, { insides, samples } = model;
    if (!state || about.input.queueing !== "FIFO") return [];
    if (!this.episodes.has(model.name)) {
      this.episodes.set(model.name, new Episodes((atPs) => blockedHeads(insides.at(atPs, "episodes"), samples.aboutAt(atPs) ?? about)));
    }
    return this.episodes.get(model.name).at(timePs, Math.max(NOTICE_PS, NOTICE_S * pace * 1e12), insides.startPs);
  }

  placeName(port) {
    const neighbour = this.glass.network.neighbours(this.glass.model.name).get(port);
    return neighbour ? `${port} (to ${neighbour})` : String(port);
  }

  // The flows of the last moments, each with its colour.
  showKey(moment) {
    const { glass } = this;
    const { timePs } = moment;
    const see = ({ number }) => number >= 0 && this.seen.set(number, timePs);
    for (const packet of moment.state?.packets.values() ?? []) see(packet.flow);
    for (const step of moment.recent) if (step.of) see(step.of.flow);
    if (!moment.state) for (const share of moment.sample?.flows ?? []) see(share.flow);
    const span = KEY_S * moment.pace * 1e12;
    for (const [number, at] of this.seen) if (Math.abs(timePs - at) > span) this.seen.delete(number);
    const all = [...this.seen.keys()].filter((each) => glass.flows.list[each]).sort((a, b) => a - b);
    const list = all.slice(0, KEY_MAX);
    // A flow's ends may be turned round.
    const names = namesAmong(list.map((number) => glass.flows.list[number]));
    const shape = `${[...names]} ${all.length > KEY_MAX && all.length} ${glass.palette.ink}`;
    if (shape === this.keyShape) return;
    this.keyShape = shape;
    glass.key.replaceChildren(...list.map((number) => {
      const flow = glass.flows.list[number];
      return element("span", { style: `--flow:${flowColour(glass.palette, flow)}`, title: flow.detail },
                     names.get(number));
    }), ...(all.length > KEY_MAX ? [element("em", {}, `and ${all.length - KEY_MAX} more`)] : []));
  }

  focusOf(about) {
    const { glass } = this;
    // A chosen queue stays chosen; its limits may have changed since.
    if (this.focus && this.focus.router === glass.model.name) {
      const { key, port, class: class_, strip } = this.focus;
      return key.startsWith("input") ? { ...this.inputFocus(about, port), strip } : this.queueFocus(about, port, class_);
    }
    // So does the queue that a router was first entered with: a change of the input stage is then seen in its curve.
    const first = this.first.get(glass.model.name);
    const isInput = first ? first.isInput : about.input.queueing === "FIFO";
    if (isInput && about.input.queueing !== "NONE") return this.inputFocus(about, first?.port ?? this.busiest(about));
    const own = glass.scene.about.router === glass.model.name ? glass.scene.about.port : undefined;
    if (!first && own !== undefined) this.first.set(glass.model.name, { isInput: false });
    return this.queueFocus(about, own ?? this.fullest(about), 0);
  }

  // The input that most comes through when something has come.
  busiest(about) {
    const offered = (each) => each.counters.offered?.packets ?? 0;
    const [most] = (this.now?.sample?.inputs ?? []).toSorted((a, b) => offered(b) - offered(a));
    if (!most || !offered(most) || this.drawn !== this.glass.model) return about.ports[0].port;
    this.first.set(this.glass.model.name, { isInput: true, port: most.port });
    return most.port;
  }

  // Without a configured port: the one with the longest queue when first seen so.
  fullest(about) {
    const { name } = this.glass.model;
    if (this.found?.name === name) return this.found.port;
    const held = (each) => each.counters?.held?.packets ?? 0;
    const [most] = (this.now?.sample?.ports ?? []).filter((each) => each.port < 510).sort((a, b) => held(b) - held(a));
    if (!most || !held(most) || this.drawn !== this.glass.model) return about.ports[0].port;
    this.found = { name, port: most.port };
    return most.port;
  }

  queueFocus(about, port, class_) {
    const config = about.ports.find((each) => each.port === port)?.config;
    const own = config?.queues.find((each) => each.class === class_)?.limit;
    return { router: this.glass.model.name, key: queue(port, class_), name: `port ${port}, class ${class_}`,
             port, class: class_, limit: own?.packets || config?.limit?.packets || undefined,
             limitBytes: own?.bytes || config?.limit?.bytes || undefined };
  }

  inputFocus(about, port) {
    const { limit, queueing } = about.input;
    const isFifo = queueing === "FIFO";
    return { router: this.glass.model.name, key: input(port), name: `input ${port}`, port, class: 0,
             limit: isFifo && limit?.packets || undefined, limitBytes: isFifo && limit?.bytes || undefined };
  }

  // Rows for the state of queue management, schedulers and buckets.
  minds({ about, sample, timePs }) {
    return about.ports.filter((each) => each.port < 510).flatMap(({ port, config }) => {
      const counters = portOf(sample, port);
      const rows = config.queues.map((each) => {
        const words = queueWords(each, config, queueOf(sample, port, each.class), counters, timePs);
        return [`port ${port}, class ${each.class}`, words.join("; ")];
      }).filter(([, words]) => words);
      const nodes = nodesOf(config.scheduler, counters?.nodes ?? []).map(({ node, rate: own, ceil }) =>
        [`port ${port}, node ${node.name || "root"}`, `${count(own)} bytes of its rate, ${count(ceil)} of its ceil`]);
      return [...rows, ...nodes];
    });
  }

  // Beside the pointer: all of a queue.
  pointed(event) {
    const { glass } = this;
    const strip = this.now && this.stripAt(event);
    if (!strip) return glass.stage.tip();
    return glass.stage.tip(event, this.queueLines(strip));
  }

  // All of a queue, in lines.
  queueLines(strip) {
    const { about, sample, state, timePs } = this.now;
    const { config } = about.ports.find((each) => each.port === strip.port);
    const lines = [`${strip.name}: ${state ? `${state.in(strip.key).length} packets, ${bytes(state.bytesIn(strip.key))}` : "?"}`];
    if (strip.strip?.key !== undefined && state) {
      const here = state.in(strip.key).filter((each) => isOf(strip.strip, each));
      const { key, class: class_ } = strip.strip;
      lines.push(`of them for output ${key}${class_ === undefined ? "" : `, class ${class_}`}: ${here.length} packets, `
        + bytes(here.reduce((sum, each) => sum + each.length, 0)));
    }
    const shares = state ? [] : sample?.flows?.filter((each) => each.key === strip.key) ?? [];
    lines.push(...shares.map((each) => `${each.flow.name}: ${count(each.packets)} packets, ${bytes(each.bytes)}`));
    if (strip.key.startsWith("queue")) {
      const told = queueOf(sample, strip.port, strip.class);
      const each = config.queues.find((one) => one.class === strip.class);
      lines[0] = `${strip.name}: ${told?.held?.packets ?? 0} packets, ${bytes(told?.held?.bytes ?? 0)}`;
      lines.push(...queueWords(each ?? {}, config, told, portOf(sample, strip.port), timePs),
                 ...(told?.counters?.dropped ?? []).map((drop) => `${count(drop.tally.packets)} lost: ${reasonWords(drop.reason)}`),
                 ...(told?.counters?.marked?.packets ? [`${count(told.counters.marked.packets)} marked`] : []));
    }
    return lines;
  }

  clicked(event) {
    const { glass } = this;
    const spot = glass.stage.spotAt(event), strip = this.stripAt(event);
    // A full queue shows nothing but packets: a click on one of them means its queue, too.
    if (strip) this.focus = strip;
    return spot && this.showPacket(spot.packet);
  }

  showPacket(packet) {
    this.chosen = packet.id;
    this.glass.side.showPacket(packet);
  }

  // By keyboard: the next packet, or queue, of the picture from the one that was chosen last.
  choosePacket(direction) {
    const { glass } = this;
    // A packet that crosses the fabric has two spots, one where it leaves and one where it arrives.
    const packets = [...new Map(glass.stage.spots.map(({ packet }) => [packet.id, packet])).values()];
    if (!packets.length) return glass.speak("No packet is in the picture.");
    const packet = packets[onFrom(packets.findIndex((each) => each.id === this.chosen), direction, packets.length)];
    this.showPacket(packet);
    return glass.speak(`Packet ${packet.id}: ${packet.flow.name}, ${packet.length} bytes`);
  }

  chooseQueue(direction) {
    const { about } = this.now ?? {};
    if (!about) return;
    const all = [...this.layout.rows.values()].flatMap((row) =>
      [...(row.inputs.length ? [this.inputFocus(about, row.port)] : []), ...row.queues.map((each) => this.queueFocus(about, row.port, each.class))]);
    const at = all.findIndex((each) => this.focus?.router === each.router && this.focus.key === each.key);
    this.focus = all[onFrom(at, direction, all.length)];
    this.glass.speak(this.queueLines(this.focus).join("; "));
    this.glass.slow();
  }

  stripAt(event) {
    const [x, y] = this.glass.stage.pointAt(event);
    const hit = (each) => x >= each.x && x <= each.x + each.w && y >= each.y - 4 && y <= each.y + each.h + 4;
    const { about } = this.now ?? {};
    for (const row of this.layout?.rows.values() ?? []) {
      const out = row.queues.find(hit);
      if (out) return this.queueFocus(about, row.port, out.class);
      const into = row.inputs.find(hit);
      if (into) return { ...this.inputFocus(about, row.port), strip: into };
    }
    return undefined;
  }

  // ---- the same for those who do not see it ------------------------------------------------------

  tables(moment) {
    const { about, sample, state } = moment;
    const rows = about.ports.filter((each) => each.port < 510).flatMap(({ port, config }) => {
      return config.queues.map((each) => {
        const told = queueOf(sample, port, each.class);
        const key = queue(port, each.class);
        return [`port ${port}, class ${each.class}`, state ? state.in(key).length : told?.held?.packets ?? 0,
                bytes(state ? state.bytesIn(key) : told?.held?.bytes ?? 0), limitWords(each.limit),
                rate(config.rate_bps), rateWords(moment.rateOf(port, each.class)), count(droppedOf(told?.counters))];
      });
    });
    const parts = [table("Output queues",
      ["queue", "packets", "bytes", "limit", "line", `sends, ${WINDOW_WORDS}`, "lost"], rows)];
    if (about.input.queueing !== "NONE") {
      parts.unshift(table("Input queues", ["input", "packets", "bytes", "for outputs", "lost"],
        about.ports.filter((each) => each.port < 510).map(({ port }) => {
          const here = state?.in(input(port)) ?? [];
          const counters = sample?.inputs.find((each) => each.port === port);
          return [`input ${port}`, state ? here.length : counters?.held?.packets ?? 0,
                  bytes(state ? state.bytesIn(input(port)) : counters?.held?.bytes ?? 0), outputsWords(here), count(droppedOf(counters?.counters))];
        })));
    }
    const minds = this.minds(moment);
    if (minds.length) parts.push(table("What decides", ["queue", "has in mind"], minds));
    if (state?.arbitration) {
      parts.push(table("The crossbar's last arbitration", ["phase", "input→output"], arbitrationWords(state.arbitration)));
    }
    this.glass.tables.replaceChildren(...parts);
  }
}

// The router's own counts; what its program drops is not among them.
export function lossWords(reasons, lost) {
  const all = [...lost.values()].reduce((sum, each) => sum + each, 0);
  const since = all ? `: ${count(all)} lost at inputs and outputs since the network began` : "";
  return `Packets are being lost (${[...reasons].map(reasonWords).join(", ")})${since}.`;
}

// One on from where something is in a list; from outside to an end of it.
function onFrom(at, direction, length) {
  if (at < 0) return direction > 0 ? 0 : length - 1;
  return (at + direction + length) % length;
}

function limitWords(limit) {
  return [limit?.packets ? `${limit.packets} packets` : "", limit?.bytes ? bytes(limit.bytes) : ""].filter(Boolean).join(", ") || "none";
}

function outputsWords(packets) {
  const counts = new Map();
  for (const { output, class: class_ } of packets) {
    const way = class_ ? `${output}, class ${class_}` : output;
    counts.set(way, (counts.get(way) ?? 0) + 1);
  }
  return [...counts].map(([way, each]) => `${each} for ${way}`).join(", ") || "none";
}

// The present blocking, or the last one: the picture shows an idle output only in the first case.
export function blockedWords({ input: port, head, outputs, packets, sincePs, isNow }, name, pace) {
  const begin = `Head-of-line blocking at input ${port}, seen since ${instant(sincePs, Math.max(pace, SINCE_PACE))}`;
  const ways = `${outputs.length === 1 ? "output" : "outputs"} ${outputs.map(name).join(" and ")}`;
  if (!isNow) return `${begin}: packets for ${ways} wait again and again behind one for output ${name(head.output)}.`;
  const many = packets.size === 1 ? "1 outlined packet" : `${packets.size} outlined packets`;
  const idle = outputs.length === 1 ? "which is idle" : "which are idle";
  return `${begin}: ${many} for ${ways}, ${idle}, ${packets.size === 1 ? "waits" : "wait"} behind one for output ${name(head.output)}.`;
}

const whose = ({ sample }) => (sample?.flows?.length ? ", and whose packets they hold" : "");

function quietWords(moment) {
  if (!moment.state) {
    if (moment.isTooFast) return `Too many packets for single ones to be told: depths of queues${whose(moment)}, as they were sampled.`;
    if (moment.isHurried) {
      return `Time passes too fast for single packets to be told: depths of queues${whose(moment)}, as they were sampled. `
        + "Slow down (−) and packets come back.";
    }
    return moment.tellsPackets ? "Of this instant there are depths only, and no single packets."
      : "Depths of queues, as they were sampled. This router does not tell single packets.";
  }
  if (moment.isBars) {
    return "Too fast to follow single packets: ways are drawn as thick as they are busy. Slow down (−) to see them.";
  }
  // While packets are lost: how many it were by now, which is what the labels add up to.
  const reasons = new Set(moment.state.drops.filter((each) => moment.timePs - each.timePs <= moment.pace * 2e12).map((each) => each.reason));
  if (reasons.size) return lossWords(reasons, moment.sample ? lostByReason(moment.sample) : new Map());
  return "Click a packet to see what it is; click a queue to draw its depth. By keyboard: N and Q.";
}
