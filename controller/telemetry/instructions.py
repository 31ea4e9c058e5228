"""The instruction bitmap of INT 2.1: which metadata each hop adds, in which order, how wide.

The source of a flow chooses the bits; every hop then adds the same words in the order of the bits,
so the number of words a hop is known from the bitmap alone. The telemetry report uses the same
bitmap for its own metadata, with another meaning of its two outer bits: the node id stands in the
report's header, and bit 15 is the queue and reason of a drop.

A value that a hop cannot know is all ones, at every width.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

BITMAP_BITS = 16
WORD_BYTES = 4
# A reserved bit that is set nevertheless stands for one word of ones.
RESERVED_WORDS = 1


@dataclass(frozen=True)
class Field:
    """One value inside the metadata of an instruction."""

    name: str
    width_bits: int

    @property
    def unavailable(self) -> int:
        """The value of a hop that does not know the right one."""
        return (1 << self.width_bits) - 1


@dataclass(frozen=True)
class Instruction:
    """One bit of the bitmap; bit 0 is the most significant one."""

    bit: int
    fields: tuple[Field, ...]

    @property
    def mask(self) -> int:
        """The bit as a number to test a bitmap with."""
        return 1 << (BITMAP_BITS - 1 - self.bit)

    @property
    def words(self) -> int:
        """How many words of four bytes the metadata take."""
        return sum(field.width_bits for field in self.fields) // (8 * WORD_BYTES)


# Fields of padding carry no value and are left out of everything that is decoded.
PADDING = "padding"

NODE_ID = Instruction(0, (Field("node_id", 32),))
CHECKSUM_COMPLEMENT = Instruction(15, (Field("checksum_complement", 32),))
DROP = Instruction(15, (Field("drop_queue_id", 8), Field("drop_reason", 8), Field(PADDING, 16)))

_COMMON = (
    Instruction(1, (Field("ingress_port", 16), Field("egress_port", 16))),
    Instruction(2, (Field("hop_latency", 32),)),
    Instruction(3, (Field("queue_id", 8), Field("queue_occupancy", 24))),
    Instruction(4, (Field("ingress_time", 64),)),
    Instruction(5, (Field("egress_time", 64),)),
    Instruction(6, (Field("ingress_interface", 32), Field("egress_interface", 32))),
    Instruction(7, (Field("egress_utilisation", 32),)),
    Instruction(8, (Field("buffer_id", 8), Field("buffer_occupancy", 24))),
)

# A hop's contributions to a packet's stack.
PACKET_INSTRUCTIONS = {item.bit: item for item in (NODE_ID, *_COMMON, CHECKSUM_COMPLEMENT)}
# A report's facts about the node that sent it.
REPORT_INSTRUCTIONS = {item.bit: item for item in (*_COMMON, DROP)}


def bits_of(bitmap: int) -> Iterator[int]:
    """The bits that are set, from the most significant one."""
    for bit in range(BITMAP_BITS):
        if bitmap & (1 << (BITMAP_BITS - 1 - bit)):
            yield bit


def words_of(bitmap: int, instructions: dict[int, Instruction]) -> int:
    """How many words the metadata of a bitmap take."""
    return sum(
        instructions[bit].words if bit in instructions else RESERVED_WORDS
        for bit in bits_of(bitmap)
    )


def values_of(
    bitmap: int, metadata: bytes, instructions: dict[int, Instruction]
) -> dict[str, int | None]:
    """The values of one hop by name; None where the hop said that it does not know.

    `metadata` holds exactly the words of the bitmap.
    """
    values: dict[str, int | None] = {}
    offset = 0
    for bit in bits_of(bitmap):
        instruction = instructions.get(bit)
        if instruction is None:
            offset += RESERVED_WORDS * WORD_BYTES
            continue
        for field in instruction.fields:
            width_bytes = field.width_bits // 8
            value = int.from_bytes(metadata[offset : offset + width_bytes], "big")
            offset += width_bytes
            if field.name != PADDING:
                values[field.name] = None if value == field.unavailable else value
    return values
