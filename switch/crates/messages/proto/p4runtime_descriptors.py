"""Write the P4Runtime protobuf definitions as one FileDescriptorSet.

The definitions are not copied into this repository: the installed Python package `p4runtime`
carries them inside its generated modules. This script reads them there, so that the Rust server and
the Python controllers always speak the same version.

Usage: python p4runtime_descriptors.py OUTPUT
"""

import sys
from pathlib import Path

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import FileDescriptor
from p4.v1 import p4runtime_pb2


def add(file: FileDescriptor, files: descriptor_pb2.FileDescriptorSet, seen: set[str]) -> None:
    """Append `file` after everything it imports, each file once."""
    if file.name in seen:
        return
    seen.add(file.name)
    for imported in file.dependencies:
        add(imported, files, seen)
    file.CopyToProto(files.file.add())


def main(output: Path) -> None:
    """Write the definitions of P4Runtime and of all it imports."""
    files = descriptor_pb2.FileDescriptorSet()
    add(p4runtime_pb2.DESCRIPTOR, files, set())
    output.write_bytes(files.SerializeToString())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
