"""The corpus that the fuzzers begin from, between the repository and libFuzzer.

    python -m tests.fuzz_corpus unpack json FOLDER     # what is kept, and our examples, as files
    python -m tests.fuzz_corpus pack json FOLDER       # what is new among these files is kept
    python -m tests.fuzz_corpus spell FILE             # as a line, for `broke`

libFuzzer wants a file an input. The repository keeps text, an input a line, so that a difference
shows what has come and gone: switch/crates/strangers/src/lib.rs says which files there are,
`spelling.rs` beside it reads them in every `make test`.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from google.protobuf import text_format
from p4.config.v1 import p4info_pb2

from controller.toolchain import ROOT

KEPT = ROOT / "switch" / "crates" / "strangers"
# Longer inputs are not kept: they are examples with changes, and rarely worth the room.
INPUT_BYTES_MAX = 4096


def spelled(data: bytes) -> str:
    """Bytes as a line; `#` in front would be a comment."""
    line = data.decode("latin-1").encode("unicode_escape").decode()
    return f"\\x23{line[1:]}" if line.startswith("#") else line


def unspelled(line: str) -> bytes:
    """The bytes of a line."""
    return line.encode().decode("unicode_escape").encode("latin-1")


def kept(folder: str, name: str) -> list[bytes]:
    """The inputs of a fuzzer in `corpus` or in `broke`."""
    file = KEPT / folder / name
    lines = file.read_text().splitlines() if file.exists() else []
    return [unspelled(line) for line in lines if line and not line.startswith("#")]


def _files(*patterns: str) -> Iterator[bytes]:
    for pattern in patterns:
        yield from (path.read_bytes() for path in sorted(ROOT.glob(pattern)))


def _p4infos() -> Iterator[bytes]:
    """Those of the kit's programs, where they have been compiled."""
    for text in _files("build/p4/*.p4info.txtpb"):
        yield text_format.Parse(text, p4info_pb2.P4Info()).SerializeToString(deterministic=True)


# The first inputs of a fuzzer without a corpus.
EXAMPLES: dict[str, Callable[[], Iterator[bytes]]] = {
    "json": lambda: _files("switch/crates/pipeline/tests/programs/*.json"),
    "p4info": _p4infos,
    "source": lambda: _files("tests/packets/*.p4", "p4src/*/*.p4"),
    "stf": lambda: _files("tests/packets/*.stf"),
}


def known(name: str) -> list[bytes]:
    """Inputs that need no place in the corpus: our examples, and those that stay in any case."""
    return [*EXAMPLES.get(name, lambda: iter(()))(), *kept("broke", name)]


def unpack(name: str, folder: Path, *, with_corpus: bool = True) -> None:
    """A file for each input, called by its digest as libFuzzer does."""
    folder.mkdir(parents=True, exist_ok=True)
    for data in [*known(name), *(kept("corpus", name) if with_corpus else ())]:
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def pack(name: str, folder: Path) -> tuple[int, int]:
    """Makes these files the corpus; returns how many inputs it has, and how many bytes as text."""
    before = set(known(name))
    found = {path.read_bytes() for path in folder.iterdir()}
    chosen = {data for data in found - before if 0 < len(data) <= INPUT_BYTES_MAX}
    text = "".join(f"{spelled(data)}\n" for data in sorted(chosen, key=lambda it: (len(it), it)))
    file = KEPT / "corpus" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return len(chosen), len(text)


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status."""
    if arguments[0] == "spell":
        print(spelled(Path(arguments[1]).read_bytes()))
        return 0
    does, name, folder = arguments
    if does == "pack":
        count, size_bytes = pack(name, Path(folder))
        print(f"  {name:14} {count:6} inputs, {size_bytes:8} bytes")
    else:
        unpack(name, Path(folder), with_corpus=does == "unpack")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
