"""Whether the checked-in protobuf code belongs to today's definitions, by checksums.

Generating it takes a minute of compiling, so only `make nightly` does that. `make test` compares
two sums: one over the inputs of the generators, one over what they wrote. Both stand in
switch/codegen/SUMS, which `tests/generated_code.sh update` writes together with the code.
"""

from __future__ import annotations

import hashlib
import re
import runpy
from collections.abc import Iterable, Iterator
from pathlib import Path

from google.protobuf import descriptor_pb2
from p4.v1 import p4runtime_pb2

ROOT = Path(__file__).parents[1]
SUMS = ROOT / "switch/codegen/SUMS"
PROTO = ROOT / "switch/crates/messages/proto"
GENERATED = (
    ("switch/crates/messages/src/generated", "*.rs"),
    ("switch/crates/service/src/generated", "*.rs"),
    ("vitrine/v1", "*_pb2.py"),
)
# The crates that decide how the generated Rust looks.
_GENERATORS = ("prost-build", "tonic-build", "tonic-prost-build", "prettyplease")


def sums() -> str:
    """The content that SUMS should have."""
    return f"definitions {_sum(_definitions())}\ngenerated {_sum(_generated())}\n"


def _definitions() -> Iterator[bytes]:
    files = descriptor_pb2.FileDescriptorSet()
    add = runpy.run_path(str(PROTO / "p4runtime_descriptors.py"))["add"]
    add(p4runtime_pb2.DESCRIPTOR, files, set())
    for file in files.file:
        # The runtime's own change with it, and nothing is generated from them.
        if not file.name.startswith("google/protobuf/"):
            yield file.SerializeToString(deterministic=True)
    for file in sorted((PROTO / "vitrine/v1").glob("*.proto")):
        yield file.read_bytes()
    yield (ROOT / "switch/codegen/src/main.rs").read_bytes()
    lock = (ROOT / "switch/Cargo.lock").read_text()
    for crate in _GENERATORS:
        yield from (found.encode() for found in re.findall(rf'name = "{crate}"\nversion.*', lock))


def _generated() -> Iterator[bytes]:
    for folder, pattern in GENERATED:
        for file in sorted((ROOT / folder).glob(pattern)):
            yield file.name.encode()
            yield file.read_bytes()


def _sum(parts: Iterable[bytes]) -> str:
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "little"))
        total.update(part)
    return total.hexdigest()


if __name__ == "__main__":
    SUMS.write_text(sums())
