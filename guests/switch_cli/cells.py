"""Counters and registers."""

from __future__ import annotations

from bm_runtime.standard.ttypes import BmCounterValue

from . import values
from .command import Commands, command
from .program import Array


class CellCommands(Commands):
    """Commands about counters and registers."""

    def _counter(self, name: str) -> Array:
        found: Array = self.program.named("counter", self.program.counters, name)
        return found

    def _register(self, name: str) -> Array:
        found: Array = self.program.named("register", self.program.registers, name)
        return found

    @command(2)
    def do_counter_read(self, name: str, index: str) -> None:
        """Read a counter: counter_read <name> <index>."""
        counter, at = self._counter(name), values.number(index, "index")
        if counter.table is not None:
            print("this is the direct counter for table", counter.table)
            value = self.client.bm_mt_read_counter(0, counter.table, at)
        else:
            value = self.client.bm_counter_read(0, counter.name, at)
        print(f"{name}[{at}]= ({value.bytes} bytes, {value.packets} packets)")

    @command(4)
    def do_counter_write(self, name: str, index: str, packets: str, bytes_: str) -> None:
        """Write a counter: counter_write <name> <index> <packets> <bytes>."""
        counter, at = self._counter(name), values.number(index, "index")
        counts = (values.number(bytes_, "bytes"), values.number(packets, "packets"))
        value = BmCounterValue(*counts)
        if counter.table is not None:
            print("writing to direct counter for table", counter.table)
            self.client.bm_mt_write_counter(0, counter.table, at, value)
        else:
            self.client.bm_counter_write(0, counter.name, at, value)
        print(f"{name}[{at}] has been updated")

    @command(1)
    def do_counter_reset(self, name: str) -> None:
        """Set all cells of a counter to 0: counter_reset <name>."""
        counter = self._counter(name)
        if counter.table is not None:
            print("this is the direct counter for table", counter.table)
            self.client.bm_mt_reset_counters(0, counter.table)
        else:
            self.client.bm_counter_reset_all(0, counter.name)

    @command(1, 2)
    def do_register_read(self, name: str, index: str | None = None) -> None:
        """Read one register or all of an array: register_read <name> [index]."""
        register = self._register(name)
        if index is None:
            found = self.client.bm_register_read_all(0, register.name)
            print(f"{name}=", ", ".join(str(value) for value in found))
            return
        at = values.number(index, "index")
        print(f"{name}[{at}]=", self.client.bm_register_read(0, register.name, at))

    @command(3)
    def do_register_write(self, name: str, index: str, value: str) -> None:
        """Write a register: register_write <name> <index> <value>."""
        register, at = self._register(name), values.number(index, "index")
        number = values.number(value, "value, must be an integer")
        self.client.bm_register_write(0, register.name, at, number)

    @command(1)
    def do_register_reset(self, name: str) -> None:
        """Set all registers of an array to 0: register_reset <name>."""
        self.client.bm_register_reset(0, self._register(name).name)
