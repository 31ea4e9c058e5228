// Protobuf messages as plain objects, by a type of `schema.js`.
//
//   decode(type, bytes)    an object with every field of the type, in the names of the proto file
//   encode(type, object)   bytes; what is undefined or missing is left out
//
// Enums are their names. Integers of 64 bits are Numbers: exact up to 2^53, which as picoseconds is
// two and a half hours; later instants are rounded to the next 2 or 4 ps, which no picture shows.

const text = new TextDecoder();
const TWO_32 = 4294967296;

const VARINT = 0, FIXED_64 = 1, LENGTH = 2, FIXED_32 = 5;
const WIRE = {
  double: FIXED_64, fixed64: FIXED_64, sfixed64: FIXED_64,
  float: FIXED_32, fixed32: FIXED_32, sfixed32: FIXED_32,
  string: LENGTH, bytes: LENGTH, message: LENGTH,
};

export function decode(type, bytes) {
  return new Reader(bytes).message(type, bytes.length);
}

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
    // The halves of the varint that was read last.
    this.low = 0;
    this.high = 0;
  }

  message(type, end) {
    const found = { ...type.zero };
    while (this.at < end) {
      this.varint();
      const number = this.low >>> 3, wire = this.low & 7;
      const field = type.byNumber.get(number);
      if (!field) this.skip(wire);
      else if (!field.repeated) this.single(found, field);
      else this.repeated(found, field, wire);
    }
    if (this.at !== end) throw new Error(`${type.name}: a field reaches beyond the message`);
    return found;
  }

  single(found, field) {
    found[field.name] = this.value(field);
    if (field.oneof) found[field.oneof] = field.name;
  }

  repeated(found, field, wire) {
    if (found[field.name].length === 0) found[field.name] = [];
    const list = found[field.name];
    if (wire === LENGTH && (WIRE[field.kind] ?? VARINT) !== LENGTH) {
      this.varint();
      const end = this.at + this.low;
      while (this.at < end) list.push(this.value(field));
    } else {
      list.push(this.value(field));
    }
  }

  value(field) {
    switch (field.kind) {
      case "message": {
        this.varint();
        return this.message(field.type, this.at + this.low);
      }
      case "string": return text.decode(this.slice());
      case "bytes": return this.slice();
      case "bool": this.varint(); return this.low !== 0 || this.high !== 0;
      case "enum": this.varint(); return field.type.name(this.low | 0);
      case "int32": this.varint(); return this.low | 0;
      case "uint32": this.varint(); return this.low;
      case "sint32": this.varint(); return (this.low >>> 1) ^ -(this.low & 1);
      case "uint64": this.varint(); return this.high * TWO_32 + this.low;
      case "int64": this.varint(); return (this.high | 0) * TWO_32 + this.low;
      case "sint64": {
        this.varint();
        const half = this.high * (TWO_32 / 2) + (this.low >>> 1);
        return this.low & 1 ? -half - 1 : half;
      }
      case "double": this.at += 8; return this.view.getFloat64(this.at - 8, true);
      case "float": this.at += 4; return this.view.getFloat32(this.at - 4, true);
      case "fixed32": this.at += 4; return this.view.getUint32(this.at - 4, true);
      case "sfixed32": this.at += 4; return this.view.getInt32(this.at - 4, true);
      case "fixed64": this.at += 8; return Number(this.view.getBigUint64(this.at - 8, true));
      case "sfixed64": this.at += 8; return Number(this.view.getBigInt64(this.at - 8, true));
      default: throw new Error(`${field.name}: a kind of field that is not known`);
    }
  }

  varint() {
    let low = 0, high = 0, byte = 0, shift = 0;
    do {
      if (this.at >= this.bytes.length || shift > 63) throw new Error("a message that is cut off");
      byte = this.bytes[this.at++];
      const part = byte & 127;
      if (shift < 28) low |= part << shift;
      else if (shift === 28) {
        low |= part << 28;
        high = part >>> 4;
      } else high |= part << (shift - 32);
      shift += 7;
    } while (byte & 128);
    this.low = low >>> 0;
    this.high = high >>> 0;
  }

  // The bytes themselves, not a copy of them.
  slice() {
    this.varint();
    const start = this.at;
    this.at += this.low;
    if (this.at > this.bytes.length) throw new Error("a message that is cut off");
    return this.bytes.subarray(start, this.at);
  }

  skip(wire) {
    if (wire === VARINT) this.varint();
    else if (wire === LENGTH) this.slice();
    else if (wire === FIXED_64) this.at += 8;
    else if (wire === FIXED_32) this.at += 4;
    else throw new Error("a field of a kind that protobuf does not have");
  }
}

// ---- writing -----------------------------------------------------------------------------------

const utf8 = new TextEncoder();

export function encode(type, object) {
  const out = [];
  writeMessage(out, type, object);
  return Uint8Array.from(out);
}

function writeMessage(out, type, object) {
  for (const name of Object.keys(object)) {
    const field = type.byName.get(name);
    if (!field) {
      // The result of `decode` also has the name of each oneof, with its set field.
      if (type.oneofs.has(name)) continue;
      throw new Error(`${type.name} has no field ${name}`);
    }
    const value = object[name];
    if (value === undefined || value === null) continue;
    if (field.repeated) for (const each of value) writeField(out, field, each);
    else if (!isDefault(field, value)) writeField(out, field, value);
  }
}

// proto3 leaves out what a reader would take for granted, where it cannot be "unset".
function isDefault(field, value) {
  if (field.optional || field.oneof || field.kind === "message") return false;
  if (field.kind === "enum") return field.type.number(value) === 0;
  return value === 0 || value === false || value === "" || value.length === 0;
}

function writeField(out, field, value) {
  const wire = WIRE[field.kind] ?? VARINT;
  writeVarint(out, field.number * 8 + wire);
  switch (field.kind) {
    case "message": {
      const inner = [];
      writeMessage(inner, field.type, value);
      writeBytes(out, inner);
      break;
    }
    case "string": writeBytes(out, utf8.encode(value)); break;
    case "bytes": writeBytes(out, value); break;
    case "bool": out.push(value ? 1 : 0); break;
    case "enum": writeSigned(out, field.type.number(value)); break;
    case "int32": case "int64": writeSigned(out, value); break;
    case "sint32": case "sint64": writeVarint(out, value < 0 ? -value * 2 - 1 : value * 2); break;
    case "uint32": case "uint64": writeVarint(out, value); break;
    case "double": {
      const bytes = new Uint8Array(8);
      new DataView(bytes.buffer).setFloat64(0, value, true);
      out.push(...bytes);
      break;
    }
    default: throw new Error(`${field.name}: writing ${field.kind} is not needed by any message`);
  }
}

function writeBytes(out, bytes) {
  writeVarint(out, bytes.length);
  for (const byte of bytes) out.push(byte);
}

function writeVarint(out, value) {
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${value} is not a whole number`);
  while (value > 127) {
    out.push((value % 128) + 128);
    value = Math.floor(value / 128);
  }
  out.push(value);
}

// Two's complement of 64 bits, as protobuf has negative numbers.
function writeSigned(out, value) {
  if (value >= 0) return writeVarint(out, value);
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    out.push(Number(rest & 127n) + 128);
    rest >>= 7n;
  }
  out.push(Number(rest));
}
