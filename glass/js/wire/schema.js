// The layouts of messages, from the descriptors that protoc writes.
//
//   const schema = readSchema(bytes);              // a serialized FileDescriptorSet
//   schema.message("vitrine.v1.WatchResponse")     // a type for `decode` and `encode`
//
// So the page reads the very definitions that routers and controllers are built from, and a new
// field needs no line here. Only the descriptors' own layout has to be known beforehand: that is
// BOOTSTRAP, the few fields of google/protobuf/descriptor.proto that are needed.

import { decode } from "./message.js";

const KINDS = {
  1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 6: "fixed64", 7: "fixed32",
  8: "bool", 9: "string", 11: "message", 12: "bytes", 13: "uint32", 14: "enum", 15: "sfixed32",
  16: "sfixed64", 17: "sint32", 18: "sint64",
};
const REPEATED = 3;

// A message's type: its fields by number and by name, and what it holds before anything is read.
//
// A field: {name, number, kind, repeated, optional, oneof, type} where `type` is the message's or the
// enum's. `optional` fields and messages are undefined until they are set.
export class Type {
  constructor(name) {
    this.name = name;
    this.byNumber = new Map();
    this.byName = new Map();
    this.zero = {};
    // Names of the oneofs: a message read has under such a name which of its fields is set.
    this.oneofs = new Set();
  }

  add(field) {
    this.byNumber.set(field.number, field);
    this.byName.set(field.name, field);
    if (field.oneof) {
      this.oneofs.add(field.oneof);
      this.zero[field.oneof] = undefined;
    }
    this.zero[field.name] = zeroOf(field);
  }
}

export function zeroOf(field) {
  if (field.repeated) return NOTHING;
  if (field.optional || field.oneof || field.kind === "message") return undefined;
  if (field.kind === "bool") return false;
  if (field.kind === "string") return "";
  if (field.kind === "bytes") return NO_BYTES;
  if (field.kind === "enum") return field.type.name(0);
  return 0;
}

const NOTHING = Object.freeze([]);
const NO_BYTES = new Uint8Array(0);

// The names of an enum's numbers. A number without a name stays as it is.
export class Enum {
  constructor() {
    this.names = new Map();
    this.numbers = new Map();
  }

  add(name, number) {
    this.names.set(number, name);
    this.numbers.set(name, number);
  }

  name(number) {
    return this.names.get(number) ?? String(number);
  }

  number(name) {
    return this.numbers.get(name) ?? Number(name);
  }

  // The names that mean something: not the one for "not said".
  get chosen() {
    return [...this.numbers.keys()].filter((name) => !name.endsWith("_UNSPECIFIED"));
  }
}

class Schema {
  constructor() {
    this.types = new Map();
    this.enums = new Map();
  }

  message(name) {
    const type = this.types.get(name);
    if (!type) throw new Error(`there is no message ${name} in the descriptors`);
    return type;
  }

  enum(name) {
    const found = this.enums.get(name);
    if (!found) throw new Error(`there is no enum ${name} in the descriptors`);
    return found;
  }

  has(name) {
    return this.types.has(name);
  }
}

export function readSchema(bytes) {
  const files = decode(BOOTSTRAP.set, bytes).file;
  const schema = new Schema();
  const messages = [];
  const collect = (prefix, descriptor) => {
    const name = `${prefix}.${descriptor.name}`;
    schema.types.set(name, new Type(name));
    messages.push([schema.types.get(name), descriptor]);
    for (const each of descriptor.enum_type) addEnum(schema, name, each);
    for (const each of descriptor.nested_type) collect(name, each);
  };
  for (const file of files) {
    for (const each of file.enum_type) addEnum(schema, file.package, each);
    for (const each of file.message_type) collect(file.package, each);
  }
  // Fields refer to any type, so all types come first.
  for (const [type, descriptor] of messages) {
    for (const each of descriptor.field) type.add(fieldOf(schema, descriptor, each));
  }
  return schema;
}

function addEnum(schema, prefix, descriptor) {
  const found = new Enum();
  for (const value of descriptor.value) found.add(value.name, value.number);
  schema.enums.set(`${prefix}.${descriptor.name}`, found);
}

function fieldOf(schema, owner, descriptor) {
  const kind = KINDS[descriptor.type];
  const target = descriptor.type_name.replace(/^\./, "");
  const inOneof = descriptor.oneof_index !== undefined && !descriptor.proto3_optional;
  return {
    name: descriptor.name,
    number: descriptor.number,
    kind,
    repeated: descriptor.label === REPEATED,
    optional: descriptor.proto3_optional,
    oneof: inOneof ? owner.oneof_decl[descriptor.oneof_index].name : undefined,
    type: kind === "message" ? schema.types.get(target)
      : kind === "enum" ? schema.enums.get(target) : undefined,
  };
}

const BOOTSTRAP = (() => {
  const make = (name, fields) => {
    const type = new Type(name);
    for (const [number, field, kind, repeated, target] of fields) {
      const optional = field === "oneof_index";
      type.add({ name: field, number, kind, repeated: Boolean(repeated), optional, type: target });
    }
    return type;
  };
  const oneof = make("OneofDescriptorProto", [[1, "name", "string"]]);
  const field = make("FieldDescriptorProto", [
    [1, "name", "string"], [3, "number", "int32"], [4, "label", "int32"], [5, "type", "int32"],
    [6, "type_name", "string"], [9, "oneof_index", "int32"], [17, "proto3_optional", "bool"],
  ]);
  const value = make("EnumValueDescriptorProto", [[1, "name", "string"], [2, "number", "int32"]]);
  const enumeration = make("EnumDescriptorProto", [
    [1, "name", "string"], [2, "value", "message", true, value],
  ]);
  const message = make("DescriptorProto", [
    [1, "name", "string"], [2, "field", "message", true, field],
    [4, "enum_type", "message", true, enumeration], [8, "oneof_decl", "message", true, oneof],
  ]);
  message.add({ name: "nested_type", number: 3, kind: "message", repeated: true, type: message });
  const file = make("FileDescriptorProto", [
    [2, "package", "string"], [4, "message_type", "message", true, message],
    [5, "enum_type", "message", true, enumeration],
  ]);
  return { set: make("FileDescriptorSet", [[1, "file", "message", true, file]]) };
})();
