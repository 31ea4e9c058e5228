// Entries of tables: as people write them, as messages of P4Runtime, and as lines of Python and of
// p4runtime-shell that do the same. Pure; P4Info says what a table takes.

export const NAMES_OF_ADDRESSES = /(addr|_ip|_mac)$/;

// ---- values --------------------------------------------------------------------------------------

// The integer in P4Runtime's bytes.
export const integerOf = (bytes) => [...bytes].reduce((sum, each) => sum * 256n + BigInt(each), 0n);

// A field or parameter by its width and name: an address as an address, else a number.
export function sayValue({ name, bitwidth }, bytes) {
  const value = integerOf(bytes);
  if (NAMES_OF_ADDRESSES.test(name)) {
    if (bitwidth === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join(".");
    if (bitwidth === 48) return value.toString(16).padStart(12, "0").match(/../g).join(":");
    if (bitwidth === 128) return shortIpv6(value.toString(16).padStart(32, "0").match(/..../g).map((each) => parseInt(each, 16)));
  }
  return bitwidth > 53 ? `0x${value.toString(16)}` : String(value);
}

// Canonical bytes of a written value; throws a sentence.
export function readValue(field, text) {
  const value = numberOf(field, text.trim());
  if (value === undefined) throw new Error(`“${text}” is not understood for ${field.name}: write ${exampleOf(field)}`);
  if (field.bitwidth && value >> BigInt(field.bitwidth)) {
    throw new Error(`${field.name} is ${field.bitwidth} bits wide and cannot hold ${text}`);
  }
  const hex = value.toString(16);
  return Uint8Array.from((hex.length % 2 ? `0${hex}` : hex).match(/../g).map((each) => parseInt(each, 16)));
}

function numberOf({ bitwidth }, text) {
  if (/^(\d+|0x[0-9a-f]+|0b[01]+)$/i.test(text)) return BigInt(text);
  if (bitwidth === 32 && /^\d+(\.\d+){3}$/.test(text)) {
    const parts = text.split(".").map(BigInt);
    return parts.every((each) => each < 256n) ? parts.reduce((sum, each) => sum * 256n + each, 0n) : undefined;
  }
  if (bitwidth === 48 && /^[0-9a-f]{1,2}(:[0-9a-f]{1,2}){5}$/i.test(text)) {
    return text.split(":").reduce((sum, each) => sum * 256n + BigInt(`0x${each}`), 0n);
  }
  if (bitwidth === 128 && text.includes(":")) return ipv6Of(text);
  return undefined;
}

function exampleOf({ name, bitwidth }) {
  if (NAMES_OF_ADDRESSES.test(name) && bitwidth === 32) return "10.0.1.0, or a number";
  if (bitwidth === 48) return "02:00:00:00:01:01, or a number";
  if (bitwidth === 128) return "2001:db8::1, or a number";
  return "a number, such as 7 or 0x1f";
}

function ipv6Of(text) {
  const [head, tail, ...more] = text.split("::");
  if (more.length) return undefined;
  const groups = (part) => (part ? part.split(":") : []);
  const [before, after] = [groups(head), groups(tail)];
  const missing = 8 - before.length - after.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const all = [...before, ...new Array(tail === undefined ? 0 : missing).fill("0"), ...after];
  if (!all.every((each) => /^[0-9a-f]{1,4}$/i.test(each))) return undefined;
  return all.reduce((sum, each) => sum * 65536n + BigInt(`0x${each}`), 0n);
}

// RFC 5952: the longest run of zero groups, of two at least, becomes "::".
export function shortIpv6(groups) {
  let best = 0, length = 1;
  for (let start = 0; start < 8; start++) {
    let end = start;
    while (end < 8 && groups[end] === 0) end++;
    if (end - start > length) [best, length] = [start, end - start];
  }
  const hex = groups.map((group) => group.toString(16));
  if (length < 2) return hex.join(":");
  return `${hex.slice(0, best).join(":")}::${hex.slice(best + length).join(":")}`;
}

// ---- matches and actions --------------------------------------------------------------------------

// "10.0.1.0/24", "80 &&& 0xff", "1 to 9", "any".
export function sayMatch(field, match) {
  const told = match?.[match.field_match_type];
  switch (match?.field_match_type) {
    case undefined: return "any";
    case "lpm": return `${sayValue(field, told.value)}/${told.prefix_len}`;
    case "ternary": return `${sayValue(field, told.value)} &&& ${sayValue(field, told.mask)}`;
    case "range": return `${sayValue(field, told.low)} to ${sayValue(field, told.high)}`;
    default: return sayValue(field, told.value);
  }
}

// A FieldMatch; undefined for "any", where the field may be left out.
export function readMatch(field, text) {
  const words = text.trim();
  const isAny = words === "" || /^any$/i.test(words);
  if (isAny && field.match_type !== "EXACT") return undefined;
  if (isAny) throw new Error(`${field.name} has to be given: it is matched exactly`);
  const made = (kind, told) => ({ field_id: field.id, [kind]: told });
  const value = (each) => readValue(field, each);
  switch (field.match_type) {
    case "LPM": {
      const [address, length = String(field.bitwidth), ...more] = words.split("/");
      const prefix_len = Number(length);
      if (more.length || !Number.isInteger(prefix_len) || prefix_len < 0 || prefix_len > field.bitwidth) {
        throw new Error(`“${text}” is no prefix for ${field.name}: write a value, a slash and up to ${field.bitwidth} bits`);
      }
      if (prefix_len === 0) return undefined;
      return made("lpm", { value: masked(field, value(address), prefix_len), prefix_len });
    }
    case "TERNARY": {
      const [wanted, mask, ...more] = words.split(/\s*&&&?\s*/);
      if (more.length) throw new Error(`“${text}” is not understood for ${field.name}: write a value &&& a mask`);
      const all = `0x${((1n << BigInt(field.bitwidth)) - 1n).toString(16)}`;
      return made("ternary", { value: value(wanted), mask: value(mask ?? all) });
    }
    case "RANGE": {
      const [low, high = low, ...more] = words.split(/\s+to\s+|\s*\.\.\s*/);
      if (more.length) throw new Error(`“${text}” is not understood for ${field.name}: write 1 to 9`);
      return made("range", { low: value(low), high: value(high) });
    }
    case "OPTIONAL": return made("optional", { value: value(words) });
    default: return made("exact", { value: value(words) });
  }
}

// P4Runtime wants the bits behind the prefix to be zero; people write hosts' addresses, too.
function masked({ bitwidth }, bytes, length) {
  const shift = BigInt(bitwidth - length);
  const value = (integerOf(bytes) >> shift) << shift;
  const hex = value.toString(16);
  return Uint8Array.from((hex.length % 2 ? `0${hex}` : hex).match(/../g).map((each) => parseInt(each, 16)));
}

export function matchWords(info, entry) {
  return info.match_fields.map((field) => sayMatch(field, entry.match.find((each) => each.field_id === field.id)));
}

// An entry as Trace tells the one that was hit: what it asks of each key, and its priority.
export function hitKey(matches, priority) {
  return `${matches.join(", ")} ${priority}`;
}

export function hitKeyOf(info, entry) {
  return hitKey(info.match_fields.map((field) => toldMatch(entry.match.find((each) => each.field_id === field.id))), entry.priority ?? 0);
}

// As TableLookup.matches of vitrine.v1 has it: numbers are decimal.
function toldMatch(match) {
  const told = match?.[match.field_match_type];
  switch (match?.field_match_type) {
    case undefined: return "*";
    case "lpm": return `${integerOf(told.value)}/${told.prefix_len}`;
    case "ternary": return `${integerOf(told.value)} &&& ${integerOf(told.mask)}`;
    case "range": return `${integerOf(told.low)}..${integerOf(told.high)}`;
    default: return String(integerOf(told.value));
  }
}

// [{name, text}] of an action's parameters.
export function actionOf(entry, actions) {
  const told = entry.action?.action;
  const info = actions.get(told?.action_id);
  if (!info) return undefined;
  const params = info.params.map((param) => {
    const given = told.params.find((each) => each.param_id === param.id);
    return { name: param.name, text: given ? sayValue(param, given.value) : "" };
  });
  return { info, params };
}

export function actionWords(entry, actions) {
  const found = actionOf(entry, actions);
  if (found) return `${found.info.preamble.alias}(${found.params.map(({ name, text }) => `${name} = ${text}`).join(", ")})`;
  if (entry.action?.action_profile_group_id) return `group ${entry.action.action_profile_group_id}`;
  if (entry.action?.action_profile_member_id) return `member ${entry.action.action_profile_member_id}`;
  return "several actions of a profile";
}

export const needsPriority = (info) => info.match_fields.some((each) => ["TERNARY", "RANGE", "OPTIONAL"].includes(each.match_type));

// The TableEntry of a filled form: {matches: [text], action: Action of P4Info, params: [text], priority: text, isDefault}.
export function readEntry(info, written) {
  const entry = { table_id: info.preamble.id };
  if (written.isDefault) entry.is_default_action = true;
  else entry.match = info.match_fields.map((field, index) => readMatch(field, written.matches[index])).filter(Boolean);
  if (!written.isDefault && needsPriority(info)) {
    const priority = Number(written.priority);
    if (!Number.isInteger(priority) || priority < 1) throw new Error("priority: write a whole number from 1; the highest goes first");
    entry.priority = priority;
  }
  const params = written.action.params.map((param, index) => ({ param_id: param.id, value: readValue(param, written.params[index]) }));
  entry.action = { action: { action_id: written.action.preamble.id, params } };
  return entry;
}

// ---- acts ----------------------------------------------------------------------------------------

const DONE = { INSERT: "an entry more", MODIFY: "an entry changed", DELETE: "an entry less" };

// The act that changes an entry, and the act that undoes it: `before` is the earlier entry.
export function entryAct(kind, info, entry, actions, before) {
  const act = (type, each) => ({
    title: `${info.preamble.alias}: ${each.is_default_action ? "another default" : DONE[type]}`,
    updates: [{ type, entity: { table_entry: sendable(each, type) } }],
    yaml: "", python: pythonOf(type, info, each, actions), shell: shellOf(type, info, each, actions),
  });
  const back = { INSERT: "DELETE", MODIFY: "MODIFY", DELETE: "INSERT" }[kind];
  const was = kind === "INSERT" ? entry : before;
  const undo = was && act(back, was);
  return { act: act(kind, entry), undo: undo && { ...undo, title: `Undone: ${info.preamble.alias}` } };
}

// The writable fields of an entry: its counters are read only.
function sendable({ table_id, match, priority, action, is_default_action }, type) {
  const named = { table_id, match, priority, is_default_action };
  return type === "DELETE" ? named : { ...named, action };
}

const METHODS = { INSERT: "insert", MODIFY: "modify", DELETE: "delete" };

function pythonValue({ name, bitwidth }, bytes) {
  const said = sayValue({ name, bitwidth }, bytes);
  if (/^[\d.]+\.\d+$/.test(said)) return `IPv4Address("${said}")`;
  if (bitwidth === 48 && said.includes(":")) return `Mac.parse("${said}")`;
  if (bitwidth === 128 && said.includes(":")) return `IPv6Address("${said}")`;
  return said;
}

function pythonMatch(field, match) {
  const told = match[match.field_match_type ?? Object.keys(match).find((each) => each !== "field_id")];
  const value = (bytes) => pythonValue(field, bytes);
  switch (field.match_type) {
    case "LPM": return `Lpm(${value(told.value)}, ${told.prefix_len})`;
    case "TERNARY": return `Ternary(${value(told.value)}, ${value(told.mask)})`;
    case "RANGE": return `Range(${value(told.low)}, ${value(told.high)})`;
    case "OPTIONAL": return `Optional(${value(told.value)})`;
    default: return `Exact(${value(told.value)})`;
  }
}

function pythonOf(type, info, entry, actions) {
  const fields = info.match_fields.map((field) => [field, entry.match?.find((each) => each.field_id === field.id)]).filter(([, match]) => match);
  const match = entry.is_default_action ? "None" : `{${fields.map(([field, each]) => `"${field.name}": ${pythonMatch(field, each)}`).join(", ")}}`;
  const found = actions.get(entry.action?.action?.action_id);
  if (!found) return "";
  const given = found.params.map((param) => {
    const value = entry.action.action.params.find((each) => each.param_id === param.id);
    return `, ${param.name}=${pythonValue(param, value.value)}`;
  }).join("");
  const priority = entry.priority ? `, priority=${entry.priority}` : "";
  return `session.${METHODS[type]}([Entry("${info.preamble.alias}", ${match}, Call("${found.preamble.alias}"${given})${priority})])`;
}

// Lines for p4runtime-shell, which vitrine shell opens.
function shellOf(type, info, entry, actions) {
  const found = actions.get(entry.action?.action?.action_id);
  if (!found) return "";
  const lines = [`te = table_entry["${info.preamble.name}"](action="${found.preamble.name}"${entry.is_default_action ? ", is_default=True" : ""})`];
  for (const field of info.match_fields) {
    const match = entry.match?.find((each) => each.field_id === field.id);
    if (match) lines.push(`te.match["${field.name}"] = "${shellMatch(field, match)}"`);
  }
  for (const param of found.params) {
    const given = entry.action.action.params.find((each) => each.param_id === param.id);
    lines.push(`te.action["${param.name}"] = "${sayValue(param, given.value)}"`);
  }
  if (entry.priority) lines.push(`te.priority = ${entry.priority}`);
  return [...lines, `te.${METHODS[type]}`].join("\n");
}

function shellMatch(field, match) {
  const kind = match.field_match_type ?? Object.keys(match).find((each) => each !== "field_id");
  const said = sayMatch(field, { ...match, field_match_type: kind });
  return kind === "range" ? said.replace(" to ", "..") : said;
}
