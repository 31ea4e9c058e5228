// Protobuf messages as rows of fields, for code that forwards them and changes a field, without knowing the rest.

const VARINT = 0, FIXED_64 = 1, LENGTH = 2, FIXED_32 = 5;

// {number, whole, value}: `whole` are the field's bytes with its tag; `value` is that of a varint.
export function* fieldsOf(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0, factor = 1, byte;
    do {
      if (at >= bytes.length) throw new Error("a message that is cut off");
      byte = bytes[at++];
      value += (byte & 127) * factor;
      factor *= 128;
    } while (byte & 128);
    return value;
  };
  while (at < bytes.length) {
    const start = at, tag = varint();
    let value;
    if (tag % 8 === VARINT) value = varint();
    else if (tag % 8 === LENGTH) {
      const length = varint();
      at += length;
    } else if (tag % 8 === FIXED_64) at += 8;
    else if (tag % 8 === FIXED_32) at += 4;
    else throw new Error("a field of a kind that protobuf does not have");
    if (at > bytes.length) throw new Error("a message that is cut off");
    yield { number: Math.floor(tag / 8), whole: bytes.subarray(start, at), value };
  }
}

export function varintField(number, value) {
  return Uint8Array.from([...varint(number * 8 + VARINT), ...varint(value)]);
}

export function lengthDelimited(number, bytes) {
  return joined([[...varint(number * 8 + LENGTH), ...varint(bytes.length)], bytes]);
}

export function joined(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
  return [...bytes, value];
}
