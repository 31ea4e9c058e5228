"""Parser value sets and CRCs: what a program leaves to the control plane."""

from __future__ import annotations

from typing import Any

from bm_runtime.standard.ttypes import BmCrc16Config, BmCrc32Config

from . import values
from .command import Commands, command
from .mistakes import Mistake
from .program import ValueSet


class ParsingCommands(Commands):
    """Commands about value sets and CRCs."""

    def _value_set(self, name: str) -> ValueSet:
        found: ValueSet = self.program.named("parser value set", self.program.value_sets, name)
        return found

    @staticmethod
    def _member(of: ValueSet, text: str) -> bytes:
        number = values.number(text, "value")
        if number < 0 or number >> of.width:
            raise Mistake(f"Input is too large, it should fit within {of.width} bits")
        return number.to_bytes((of.width + 7) // 8, "big")

    @command(0)
    def do_show_pvs(self) -> None:
        """List the parser value sets of the program: show_pvs."""
        for name in sorted(self.program.value_sets):
            print(self.program.value_sets[name])

    @command(2)
    def do_pvs_add(self, name: str, value: str) -> None:
        """Add a value: pvs_add <value set name> <value>."""
        found = self._value_set(name)
        self.client.bm_parse_vset_add(0, found.name, self._member(found, value))

    @command(2)
    def do_pvs_remove(self, name: str, value: str) -> None:
        """Remove a value: pvs_remove <value set name> <value>."""
        found = self._value_set(name)
        self.client.bm_parse_vset_remove(0, found.name, self._member(found, value))

    @command(1)
    def do_pvs_get(self, name: str) -> None:
        """Show the values, one a line: pvs_get <value set name>."""
        for value in self.client.bm_parse_vset_get(0, self._value_set(name).name):
            print(value.hex())

    @command(1)
    def do_pvs_clear(self, name: str) -> None:
        """Remove all values: pvs_clear <value set name>."""
        self.client.bm_parse_vset_clear(0, self._value_set(name).name)

    def _crc(self, width: int, name: str, words: tuple[str, ...]) -> list[Any]:
        if self.program.crcs.get(name) != width:
            raise Mistake(f"Invalid crc{width}_custom name ({name})")
        numbers = [values.number(word, "CRC parameter") for word in words[:3]]
        if any(number < 0 or number >> width for number in numbers):
            raise Mistake(f"Integer cannot fit within {width} bits")
        # The interface has only numbers with a sign.
        signed = [number - (1 << width) if number >> (width - 1) else number for number in numbers]
        return [*signed, *(values.truth(word) for word in words[3:])]

    @command(6)
    def do_set_crc16_parameters(self, name: str, *words: str) -> None:
        """Set a crc16_custom: set_crc16_parameters <name> <polynomial> <initial remainder> \
<final xor value> <reflect data?> <reflect remainder?>."""
        config = BmCrc16Config(*self._crc(16, name, words))
        self.client.bm_set_crc16_custom_parameters(0, name, config)

    @command(6)
    def do_set_crc32_parameters(self, name: str, *words: str) -> None:
        """Set a crc32_custom: set_crc32_parameters <name> <polynomial> <initial remainder> \
<final xor value> <reflect data?> <reflect remainder?>."""
        config = BmCrc32Config(*self._crc(32, name, words))
        self.client.bm_set_crc32_custom_parameters(0, name, config)
