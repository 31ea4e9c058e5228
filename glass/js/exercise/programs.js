// Runs vitrine-p4c and vitrine-sim in a page: a WebAssembly module, with the part of WASI (preview 1) that it
// uses. Files are those of Pyodide's file system; there is no clock and no network.

const SUCCESS = 0, BADF = 8, IO = 29, NOENT = 44, NOTDIR = 54;
const CHARACTERS = 2, FOLDER = 3, FILE = 4;
const CREATE = 1, DIRECTORY = 2, TRUNCATE = 8;
const WRITES = 64n;
// The descriptor of "/"; all paths are relative to it.
const ROOT = 3;
// The pipe to a class in Python: switch/crates/sim/src/outside/page.rs opens it.
const DECIDER = "/dev/insides";
const text = new TextDecoder(), bytesOf = new TextEncoder();

// A program was ended; the message says why.
export class Ended extends Error {}

class Exit extends Error {
  constructor(status) {
    super(`status ${status}`);
    this.status = status;
  }
}

// Runs the module with the words of a command line, the program's name first. `fs` is Emscripten's file system;
// `decider()` opens a pipe to a class: {write(bytes), read() -> bytes}; `watch(bytes)` is called for each read and
// write, and throws an Ended when a limit is exceeded.
// Returns {status, output, errors}, the latter two as bytes; status is undefined for a program that was ended.
export function run(module, words, { fs, decider, watch }) {
  const output = [], errors = [];
  const put = (parts) => (bytes) => parts.push(bytes);
  const open = new Map([
    [0, { kind: CHARACTERS, read: () => new Uint8Array() }],
    [1, { kind: CHARACTERS, write: put(output) }],
    [2, { kind: CHARACTERS, write: put(errors) }],
    [ROOT, { kind: FOLDER }],
  ]);
  let memory;
  const view = () => new DataView(memory.buffer);
  const at = (from, length) => new Uint8Array(memory.buffer, from, length);
  const path = (from, length) => `/${text.decode(at(from, length).slice())}`;
  const strings = words.map((word) => bytesOf.encode(`${word}\0`));
  const exists = (name) => fs.analyzePath(name).exists;
  const kindOf = (name) => (fs.isDir(fs.stat(name).mode) ? FOLDER : FILE);
  const sizeOf = (name) => fs.stat(name).size;

  const describe = (where, kind, size) => {
    at(where, 64).fill(0);
    view().setUint8(where + 16, kind);
    view().setBigUint64(where + 32, BigInt(size), true);
    return SUCCESS;
  };
  // Calls `act` for each buffer of a list until it returns false.
  const buffers = (list, count, act) => {
    for (let index = 0; index < count; index++) {
      const from = view().getUint32(list + 8 * index, true), length = view().getUint32(list + 8 * index + 4, true);
      if (!act(from, length)) return;
    }
  };

  const calls = {
    args_sizes_get(count, size) {
      view().setUint32(count, strings.length, true);
      view().setUint32(size, strings.reduce((sum, each) => sum + each.length, 0), true);
      return SUCCESS;
    },
    args_get(pointers, where) {
      for (const [index, each] of strings.entries()) {
        view().setUint32(pointers + 4 * index, where, true);
        at(where, each.length).set(each);
        where += each.length;
      }
      return SUCCESS;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return SUCCESS;
    },
    environ_get: () => SUCCESS,
    // Only seeds of hash tables come from here, and their order reaches no output.
    random_get(where, length) {
      at(where, length).fill(0x5a);
      return SUCCESS;
    },
    fd_prestat_get(fd, where) {
      if (fd !== ROOT) return BADF;
      view().setUint32(where, 0, true);
      view().setUint32(where + 4, 1, true);
      return SUCCESS;
    },
    fd_prestat_dir_name(fd, where) {
      if (fd !== ROOT) return BADF;
      at(where, 1).set(bytesOf.encode("/"));
      return SUCCESS;
    },
    fd_fdstat_get(fd, where) {
      const file = open.get(fd);
      if (!file) return BADF;
      at(where, 24).fill(0);
      view().setUint8(where, file.kind);
      view().setBigUint64(where + 8, ~0n, true);
      view().setBigUint64(where + 16, ~0n, true);
      return SUCCESS;
    },
    fd_filestat_get(fd, where) {
      const file = open.get(fd);
      return file ? describe(where, file.kind, file.size?.() ?? 0) : BADF;
    },
    path_filestat_get(fd, flags, from, length, where) {
      const name = path(from, length);
      return exists(name) ? describe(where, kindOf(name), sizeOf(name)) : NOENT;
    },
    path_open(fd, flags, from, length, opening, rights, inherited, fdFlags, where) {
      const name = path(from, length);
      let file;
      if (name === DECIDER) file = pipeOf(decider());
      else if (exists(name) && kindOf(name) === FOLDER) file = { kind: FOLDER };
      else if (opening & DIRECTORY) return exists(name) ? NOTDIR : NOENT;
      else if (!exists(name) && !(opening & CREATE)) return NOENT;
      else file = fileOf(fs, name, { isEmpty: !exists(name) || Boolean(opening & TRUNCATE), writes: Boolean(rights & WRITES) });
      const number = Math.max(...open.keys()) + 1;
      open.set(number, file);
      view().setUint32(where, number, true);
      return SUCCESS;
    },
    path_rename(fd, from, length, to, target, targetLength) {
      const name = path(from, length);
      if (!exists(name)) return NOENT;
      fs.rename(name, path(target, targetLength));
      return SUCCESS;
    },
    path_create_directory: () => IO,
    fd_readdir: () => BADF,
    fd_read(fd, list, count, where) {
      const file = open.get(fd);
      if (!file?.read) return BADF;
      let sum = 0;
      buffers(list, count, (to, length) => {
        const bytes = file.read(length);
        at(to, bytes.length).set(bytes);
        sum += bytes.length;
        return bytes.length === length;
      });
      view().setUint32(where, sum, true);
      watch(0);
      return SUCCESS;
    },
    fd_write(fd, list, count, where) {
      const file = open.get(fd);
      if (!file?.write) return BADF;
      let sum = 0;
      buffers(list, count, (from, length) => {
        file.write(at(from, length).slice());
        sum += length;
        return true;
      });
      view().setUint32(where, sum, true);
      watch(fd === 1 || fd === 2 ? sum : 0);
      return SUCCESS;
    },
    fd_close(fd) {
      open.get(fd)?.close?.();
      return open.delete(fd) ? SUCCESS : BADF;
    },
    proc_exit(status) {
      throw new Exit(status);
    },
  };

  let status = 0;
  try {
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: calls });
    memory = instance.exports.memory;
    instance.exports._start();
  } catch (error) {
    if (error instanceof Exit) status = error.status;
    else if (error instanceof Ended) status = undefined;
    // Stack overflow, out of memory, or a bug: the status is that of an aborted process.
    else if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) {
      status = 134;
      errors.push(bytesOf.encode(`${error.message}\n`));
    } else throw error;
    if (status === undefined) return { status, output: joined(output), errors: joined(errors), why: error.message };
  }
  return { status, output: joined(output), errors: joined(errors) };
}

function fileOf(fs, name, { isEmpty, writes }) {
  let bytes = isEmpty ? new Uint8Array() : fs.readFile(name), from = 0, isChanged = isEmpty && writes;
  return {
    kind: FILE,
    size: () => bytes.length,
    read(length) {
      const found = bytes.subarray(from, from + length);
      from += found.length;
      return found;
    },
    write(more) {
      const end = from + more.length;
      if (end > bytes.length) {
        const larger = new Uint8Array(end);
        larger.set(bytes);
        bytes = larger;
      }
      bytes.set(more, from);
      from = end;
      isChanged = true;
    },
    close() {
      if (isChanged) fs.writeFile(name, bytes);
    },
  };
}

function pipeOf({ write, read }) {
  let waiting = new Uint8Array();
  return {
    kind: CHARACTERS,
    write,
    read(length) {
      if (!waiting.length) waiting = read();
      const found = waiting.subarray(0, length);
      waiting = waiting.subarray(found.length);
      return found;
    },
  };
}

function joined(parts) {
  const all = new Uint8Array(parts.reduce((sum, each) => sum + each.length, 0));
  let at = 0;
  for (const each of parts) {
    all.set(each, at);
    at += each.length;
  }
  return all;
}
