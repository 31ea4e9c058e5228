"""The memory that a program declares, in bits: of registers, and of tables beyond routing."""

from __future__ import annotations

from dataclasses import dataclass

from controller.p4info import P4Info


@dataclass(frozen=True)
class Memory:
    """As declared; a target may round up."""

    register_bits: int
    table_bits: int

    def __sub__(self, other: Memory) -> Memory:
        return Memory(self.register_bits - other.register_bits, self.table_bits - other.table_bits)

    def __add__(self, other: Memory) -> Memory:
        return Memory(self.register_bits + other.register_bits, self.table_bits + other.table_bits)

    @property
    def kib(self) -> float:
        """Both together."""
        return (self.register_bits + self.table_bits) / 8 / 1024


def of(program: P4Info, routing: str = "ipv4_routes") -> Memory:
    """Registers by cells and width, tables by entries and key width.

    Every system routes, so the table `routing` counts for none of them.
    """
    registers = sum(each.size * each.width_bits for each in program.registers)
    tables = sum(
        table.size * sum(key.width_bits for key in table.keys)
        for table in program.tables
        if table.name.rpartition(".")[2] != routing
    )
    return Memory(registers, tables)
