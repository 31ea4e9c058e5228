"""The memory that a program declares, in bits: of registers, and of tables beyond routing."""

from __future__ import annotations

from dataclasses import dataclass

from controller.p4info import P4Info

# Every system routes, so this table counts for none of them.
_ROUTING = "ipv4_routes"


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


def of(program: P4Info) -> Memory:
    """Registers by cells and width, tables by entries and key width."""
    registers = sum(each.size * each.width_bits for each in program.registers)
    tables = sum(
        table.size * sum(key.width_bits for key in table.keys)
        for table in program.tables
        if table.name.rpartition(".")[2] != _ROUTING
    )
    return Memory(registers, tables)
