"""The switch itself: its program, its state, its clock."""

from __future__ import annotations

from pathlib import Path

from .command import Commands, command
from .mistakes import Mistake
from .program import Program


class SwitchCommands(Commands):
    """Commands about the switch."""

    @command(0)
    def do_switch_info(self) -> None:
        """Show what the switch says of itself: switch_info."""
        info = self.client.bm_mgmt_get_info()
        names = [name for _, name, _ in info.FIELDS]
        width = 5 + max(len(name) for name in names)
        for name in names:
            print(f"{name:{width}}: {getattr(info, name)}")

    @command(0)
    def do_reset_state(self) -> None:
        """Make everything as the program declares it: reset_state."""
        self.client.bm_reset_state()

    @command(1)
    def do_load_new_config_file(self, path: str) -> None:
        """Load another program, to be swapped in: load_new_config_file <file.json>."""
        if not Path(path).is_file():
            raise Mistake(f"Error: '{path}' is not a valid file")
        print("Loading new Json config")
        text = Path(path).read_text(encoding="utf-8")
        self.client.bm_load_new_config(text)
        self.program = Program(text)

    @command(0)
    def do_swap_configs(self) -> None:
        """Put the program in force that was loaded: swap_configs."""
        print("Swapping configs")
        self.client.bm_swap_configs()

    @command(1)
    def do_write_config_to_file(self, path: str) -> None:
        """Write the program of the switch to a file: write_config_to_file <file.json>."""
        Path(path).write_text(self.client.bm_get_config(), encoding="utf-8")

    @command(0)
    def do_get_time_elapsed(self) -> None:
        """Show the microseconds since the switch started: get_time_elapsed."""
        print(self.sswitch_client.get_time_elapsed_us())

    @command(0)
    def do_get_time_since_epoch(self) -> None:
        """Show the microseconds since 1970: get_time_since_epoch."""
        print(self.sswitch_client.get_time_since_epoch_us())
