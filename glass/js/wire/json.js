// Messages as JSON for people, by a type of `schema.js`: what is not set is left out, bytes are digits.

import { hexOf } from "../model/frame.js";

export function toJson(type, message) {
  const told = {};
  for (const field of type.byName.values()) {
    const value = message[field.name];
    if (field.repeated ? value.length === 0 : isUnset(type, field, value)) continue;
    told[field.name] = field.repeated ? value.map((each) => sayValue(field, each)) : sayValue(field, value);
  }
  return told;
}

function isUnset(type, field, value) {
  if (value === undefined) return true;
  if (field.optional || field.oneof || field.kind === "message") return false;
  return field.kind === "bytes" ? value.length === 0 : value === type.zero[field.name];
}

function sayValue(field, value) {
  if (field.kind === "message") return toJson(field.type, value);
  return field.kind === "bytes" ? hexOf(value) : value;
}

// The message for `encode`; throws a sentence about what is not of the type.
export function fromJson(type, told, place = type.name) {
  if (typeof told !== "object" || told === null || Array.isArray(told)) throw new Error(`${place}: an object is expected`);
  const message = {};
  for (const [name, value] of Object.entries(told)) {
    const field = type.byName.get(name), here = `${place}.${name}`;
    if (!field) throw new Error(`${here}: there is no such field`);
    if (!field.repeated) message[name] = readValue(field, value, here);
    else if (Array.isArray(value)) message[name] = value.map((each, index) => readValue(field, each, `${here}[${index}]`));
    else throw new Error(`${here}: a list is expected`);
  }
  return message;
}

function readValue(field, value, place) {
  const check = (is, what) => {
    if (!is) throw new Error(`${place}: ${what} is expected`);
    return value;
  };
  switch (field.kind) {
    case "message": return fromJson(field.type, value, place);
    case "bool": return check(typeof value === "boolean", "true or false");
    case "string": return check(typeof value === "string", "a text");
    case "enum": return check(field.type.numbers.has(value), `one of ${[...field.type.numbers.keys()].join(", ")}`);
    case "bytes": {
      check(typeof value === "string" && /^([\da-f]{2})*$/i.test(value), "a text of pairs of digits");
      return Uint8Array.from(value.match(/../g) ?? [], (each) => parseInt(each, 16));
    }
    case "double": return check(typeof value === "number", "a number");
    default: return check(Number.isSafeInteger(value), "a whole number");
  }
}
