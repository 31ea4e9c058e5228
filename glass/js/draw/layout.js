// Where everything of a router stands in the picture: boxes and wires, from its configuration and the
// size of the picture alone.
//
//   receive line | input queues | crossbar | output queues by class | scheduler | transmit line
//
// Packets go from left to right, so the head of a queue is its right end. A queue is as long as its
// limit: one that is full looks full.
//
// Where the picture is narrow, as on a phone, what is written beside the lines stands above them, as the
// heading of each row, so that all of the width is the router's.

// v1model's ports that cables are at; the controller's is beyond them.
export const PORT_MAX = 509;
const MARGIN = 12;
const ROW_MIN = 30;
const ROW_MAX = 190;
// Below this width, times the scale of the text, a picture is narrow: each of its rows has a heading, and below its
// queues room for their losses.
const WIDE_LEAST = 560;
const HEADING_H = 20, FOOT_H = 14;
const NARROW_ROW_MIN = 82;
// The extra height of a port for each queue beyond its first, as a part of a row, and its maximum in all; as far as
// rows stay so high that their queues have labels.
const QUEUE_PART = 0.45, PARTS_MAX = 2.5;
export const LABELLED_PITCH = 44;
// The height of a queue, as a part of its row, and at most and at least.
const STRIP_SHARE = 0.24, VOQ_SHARE = 0.17;
// A narrow row is low, and its queues still hold numbers, below one or two lines of words.
const NARROW_STRIP_SHARE = 0.4, NARROW_STRIP_LEAST = 14;
export const WORDS_H = 14;
const STRIP_MAX = 46;
const STRIP_MIN = 1;
const VOQ_STRIPS_MAX = 12;
// The width of a letter before a VOQ, and of the gaps around them; a limit in bytes leaves room for this many packets.
const VOQ_LETTER_W = 7.8, VOQ_GAP = 8, VOQ_COUNT = 100;
// Inputs' wires run above the middle of their row and outputs' below it, so that none covers another.
const WIRE_OFFSET = 7;
// The length in packets of a queue without a limit; more packets are drawn more densely.
const PACKETS_WITHOUT_LIMIT = 60;
const FRAME_BYTES = 1514;

// `scale` is that of the text beside the lines: 1, or more for a projector.
export function routerLayout(about, { width, height, scale = 1 }) {
  const ports = about.ports.filter((each) => each.port <= PORT_MAX);
  const hasInput = about.input.queueing !== "NONE";
  // One strip per VOQ, while they can be distinguished; else one strip for all of an input.
  const isVoq = about.input.queueing === "VOQ" && ports.length <= VOQ_STRIPS_MAX;
  const isNarrow = width < WIDE_LEAST * scale;
  const columns = columnsOf(width, hasInput, ports.length, scale, isNarrow);
  // Two lines of headings.
  const top = 42 * scale;
  const heading = isNarrow ? HEADING_H * scale : 0, foot = isNarrow ? FOOT_H * scale : 0;
  const room = Math.max(height - top - 26, (isNarrow ? NARROW_ROW_MIN * scale : ROW_MIN) * ports.length);
  // Several queues need more room than one.
  const wanted = ports.map(({ config }) => Math.min(PARTS_MAX - 1, QUEUE_PART * Math.max(0, config.queues.length - 1)));
  const spare = Math.max(0, room / ((LABELLED_PITCH + 1) * scale) - ports.length), most = wanted.reduce((sum, each) => sum + each, 0);
  const parts = wanted.map((each) => 1 + each * (most > spare ? spare / most : 1));
  const all = parts.reduce((sum, each) => sum + each, 0);
  const pitch = Math.max(isNarrow ? NARROW_ROW_MIN * scale : 0, Math.min(ROW_MAX, room / Math.max(1, all))), used = pitch * all;
  const first = top + Math.max(0, (room - used) / 2);
  const rows = new Map();
  let rowTop = first;
  ports.forEach((each, index) => {
    const own = pitch * parts[index] - heading - foot;
    const row = rowOf({ about, each, index, y: rowTop + heading + own / 2, pitch: own, ports, columns, hasInput, isVoq, isNarrow });
    rows.set(each.port, { ...row, top: rowTop, bottom: rowTop + pitch * parts[index] });
    rowTop += pitch * parts[index];
  });
  return {
    width, scale, height: Math.max(height, first + used + 26), pitch, columns, hasInput,
    isVoq, isNarrow, rows, top: first, bottom: first + used,
    outputs: ports.map((each) => each.port),
  };
}

// The part of the width for each stage, with an input stage and without one. In a narrow picture, lines are as short as
// they can be seen.
const SHARES = {
  input: { receive: 0.1, ingress: 0.03, input: 0.25, cross: 0.2, output: 0.25, serve: 0.05, transmit: 0.12 },
  plain: { receive: 0.14, ingress: 0.04, input: 0, cross: 0.2, output: 0.4, serve: 0.06, transmit: 0.16 },
};
const NARROW_SHARES = {
  input: { receive: 0.06, ingress: 0.03, input: 0.3, cross: 0.19, output: 0.3, serve: 0.05, transmit: 0.07 },
  plain: { receive: 0.09, ingress: 0.04, input: 0, cross: 0.23, output: 0.48, serve: 0.06, transmit: 0.1 },
};

// The x of everything, as [from, to].
function columnsOf(width, hasInput, count, scale, isNarrow) {
  const left = isNarrow ? 0 : 92 * scale, right = isNarrow ? 0 : 114 * scale;
  const inner = width - 2 * MARGIN - left - right;
  const share = isNarrow ? (hasInput ? NARROW_SHARES.input : NARROW_SHARES.plain) : hasInput ? SHARES.input : SHARES.plain;
  const columns = {};
  let x = MARGIN + left;
  for (const [name, part] of Object.entries(share)) {
    columns[name] = [x, x + inner * part];
    x += inner * part;
  }
  columns.leftLabel = [MARGIN, MARGIN + left - 6];
  columns.rightLabel = [isNarrow ? columns.serve[1] - 6 : width - MARGIN - right + 6, width - MARGIN];
  // Outputs' wires stand side by side in the crossbar.
  const [from, to] = columns.cross;
  columns.wires = Array.from({ length: count }, (_, i) => from + ((to - from) * (i + 1)) / (count + 1));
  return columns;
}

function rowOf({ about, each, index, y, pitch, ports, columns, hasInput, isVoq, isNarrow }) {
  const { config } = each;
  const queues = config.queues.length ? config.queues : [{ class: 0 }];
  const rowRoom = pitch - 16;
  const lines = queues.some((queue) => queue.aqm?.kind) ? 2 : 1;
  const most = isNarrow ? Math.max(NARROW_STRIP_LEAST, Math.min(pitch * NARROW_STRIP_SHARE, pitch - 2 * WORDS_H * lines)) : pitch * STRIP_SHARE;
  const strips = stack(queues.length, y, rowRoom, most);
  const ways = isVoq ? waysOf(ports) : [];
  const voqs = isVoq ? stack(ways.length, y, rowRoom, pitch * VOQ_SHARE) : [];
  const inputStrip = stack(1, y, rowRoom, most)[0];
  const [inputFrom, inputTo] = columns.input;
  const [outFrom, outTo] = columns.output;
  // How many packets a VOQ has, at most, and where it goes is written before it.
  const limit = limitOf(about.input.voq_limit);
  const voqWords = VOQ_GAP + VOQ_LETTER_W * (`${limit.packets || VOQ_COUNT}`.length + Math.max(0, ...ways.map((way) => wayWords(way).length)));
  return {
    port: each.port,
    index,
    y,
    inY: y - (hasInput ? WIRE_OFFSET : 0),
    outY: y + (hasInput ? WIRE_OFFSET : 0),
    wireX: columns.wires[index],
    receive: { x0: columns.receive[0], x1: columns.receive[1], y },
    ingressX: (columns.ingress[0] + columns.ingress[1]) / 2,
    // One strip for a FIFO; for VOQs one an output, or one an output and class.
    inputs: !hasInput ? [] : isVoq
      ? ways.map(({ output, class_ }, place) => ({
          key: output, class: class_, x: inputFrom + voqWords, w: inputTo - inputFrom - voqWords - 18, ...voqs[place], limit,
          dropX: inputFrom,
        }))
      : [{ key: undefined, x: inputFrom + 8, w: inputTo - inputFrom - 26, ...inputStrip,
           limit: limitOf(about.input.limit) }],
    queues: queues.toSorted((a, b) => b.class - a.class).map((queue, place) => ({
      class: queue.class, x: outFrom + 14, w: outTo - outFrom - 22, ...strips[place],
      limit: limitOf(queue.limit, config.limit), queue,
    })),
    serve: { x: (columns.serve[0] + columns.serve[1]) / 2, y },
    transmit: { x0: columns.transmit[0], x1: columns.transmit[1], y },
  };
}

// "→2", and where a VOQ is one of several classes "→2/1".
export function wayWords({ output, class_ }) {
  return class_ === undefined ? `→${output}` : `→${output}/${class_}`;
}

// Where what waits at an input may go: to each class of each output where there is room to tell them apart.
function waysOf(ports) {
  const all = ports.flatMap(({ port, config }) => (config.queues.length ? config.queues : [{ class: 0 }])
    .map((each) => ({ output: port, class_: each.class })).sort((a, b) => b.class_ - a.class_));
  return all.length <= VOQ_STRIPS_MAX && all.length > ports.length ? all : ports.map(({ port }) => ({ output: port }));
}

// Whether a packet at an input, or a counter of one of its VOQs, belongs to a strip.
export function isOf(strip, { output, class: class_ }) {
  return (strip.key === undefined || strip.key === output) && (strip.class === undefined || strip.class === class_);
}

// `count` strips one below the other around `y`.
function stack(count, y, room, most) {
  const gap = count > 1 ? Math.min(6, room / count / 4) : 0;
  const h = Math.max(STRIP_MIN, Math.min(most, STRIP_MAX, (room - gap * (count - 1)) / count));
  const top = y - (h * count + gap * (count - 1)) / 2;
  return Array.from({ length: count }, (_, i) => ({ y: top + i * (h + gap), h }));
}

// {packets, bytes, isSet, other}: what a strip's length stands for, packets or bytes; the tighter of a
// queue's limit and its port's. With limits of both kinds it is the one that full frames reach first, and
// `other` is the other one.
function limitOf(...limits) {
  const least = (kind) => Math.min(...limits.map((each) => each?.[kind] || Infinity));
  const [packets, bytes] = [least("packets"), least("bytes")];
  if (packets === Infinity && bytes === Infinity) return { packets: PACKETS_WITHOUT_LIMIT, bytes: 0, isSet: false };
  const inPackets = { packets, bytes: 0 }, inBytes = { packets: 0, bytes };
  const isByBytes = bytes < packets * FRAME_BYTES;
  const isBoth = packets !== Infinity && bytes !== Infinity;
  return { ...(isByBytes ? inBytes : inPackets), isSet: true, other: isBoth ? (isByBytes ? inPackets : inBytes) : undefined };
}

// How full a queue is, by the limit that it is nearer to; 1: nothing more fits.
export function fullness(limit, held) {
  const of = (each) => (each?.bytes ? held.bytes / each.bytes : each ? held.packets / each.packets : 0);
  return Math.max(of(limit), of(limit.other));
}

// The number of first packets that are drawn larger when all packets of a queue are narrower than
// this, as long as they leave this part of its length to the others.
export const HEADS = 10;
const HEAD_W = 11, REST_LEAST = 0.3;

// The place of each packet of a queue in its strip, `xs`, the head at the right end, and its width,
// `ws`; `rest` of them, the last ones, are closer together than the first. `shift` moves all of
// them to the left, by this part of the last head's length. `most` packets at the head are at
// least `headW` wide.
export function pack(strip, packets, shift = 0, { heads: most, headW } = { heads: HEADS, headW: HEAD_W }) {
  const { limit } = strip, count = packets.length;
  const bytes = limit.bytes || limit.other?.bytes ? lengthOf(packets) : 0;
  // A full queue looks full, by whichever limit; packets above the limit are drawn closer.
  const w = strip.w * Math.min(1, fullness(limit, { packets: count, bytes }));
  // In packets or in bytes, as the strip's length is.
  const sizeOf = limit.bytes ? (each) => each.length : () => 1, whole = limit.bytes ? FRAME_BYTES : 1;
  const all = limit.bytes ? bytes : count, unit = w / Math.max(1, all);
  const heads = Math.min(most, count);
  let front = 0;
  for (let index = 0; index < heads; index++) front += sizeOf(packets[index]);
  const isClose = count > heads && unit * whole < headW;
  // Never narrower than all others.
  const large = isClose ? Math.max(unit, Math.min(headW / whole, ((1 - REST_LEAST) * w) / front)) : unit;
  const small = isClose ? (w - large * front) / (all - front) : unit;
  const xs = new Float64Array(count), ws = new Float64Array(count);
  let x = strip.x + strip.w - shift * large * whole;
  for (let index = 0; index < count; index++) {
    ws[index] = (index < heads ? large : small) * sizeOf(packets[index]);
    xs[index] = x -= ws[index];
  }
  return { xs, ws, rest: large > small ? count - heads : 0 };
}

function lengthOf(packets) {
  let bytes = 0;
  for (const each of packets) bytes += each.length;
  return bytes;
}

// The rows of which something is in sight, [from, to] of the height; without it all.
export function rowsInSight(layout, [from, to] = [-Infinity, Infinity]) {
  // Packets that fall or rise at a row are shown with it.
  const room = (layout.pitch * PARTS_MAX) / 2 + 60;
  return [...layout.rows.values()].filter(({ y }) => y + room > from && y - room < to);
}

// The way through the crossbar, as corners.
export function crossing(layout, inputPort, output) {
  const from = layout.rows.get(inputPort), to = layout.rows.get(output);
  if (!from || !to) return undefined;
  const start = layout.hasInput ? layout.columns.input[1] - 14 : from.ingressX + 6;
  const end = layout.columns.output[0] + 12;
  const points = [[start, from.inY], [to.wireX, from.inY], [to.wireX, to.outY], [end, to.outY]];
  return points;
}

// The point at a share of the way.
export function along(points, share) {
  const lengths = points.slice(1).map(([x, y], i) => Math.abs(x - points[i][0]) + Math.abs(y - points[i][1]));
  let left = Math.min(1, Math.max(0, share)) * lengths.reduce((sum, each) => sum + each, 0);
  for (let i = 0; i < lengths.length; i++) {
    if (left <= lengths[i]) {
      const part = lengths[i] ? left / lengths[i] : 0;
      const [[x0, y0], [x1, y1]] = [points[i], points[i + 1]];
      return [x0 + (x1 - x0) * part, y0 + (y1 - y0) * part];
    }
    left -= lengths[i];
  }
  return points.at(-1);
}
