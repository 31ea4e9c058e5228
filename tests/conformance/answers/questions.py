"""Questions about a program: everything that simple_switch_CLI can read of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# Clone sessions that programs of others use.
_SESSIONS = (1, 100, 250, 500)
# An index that no array has.
_BEYOND = 999_999
# Rates of half a packet a second and of 500,000 packets a second.
_RATES = "0.0000005:2 0.5:7"


def questions(program: dict[str, Any]) -> Iterator[str]:
    """Lines for the prompt, from a program's BMv2 JSON. Some write, so that there is something."""
    yield from ("show_tables", "show_actions", "show_ports", "show_pvs", "mc_dump")
    for pipeline in program["pipelines"]:
        for table in pipeline["tables"]:
            for command in ("info", "dump", "num_entries", "show_actions"):
                yield f"table_{command} {table['name']}"
    for counter in _arrays(program, "counter_arrays"):
        yield f"counter_read {counter} 0"
        yield f"counter_reset {counter}"
        yield f"counter_read {counter} {_BEYOND}"
    for register in _arrays(program, "register_arrays"):
        yield f"register_read {register} 0"
        yield f"register_write {register} 0 7"
        yield f"register_read {register} 0"
        yield f"register_reset {register}"
        yield f"register_read {register} 0"
        yield f"register_read {register} {_BEYOND}"
    for meter in _arrays(program, "meter_arrays"):
        yield f"meter_get_rates {meter} 0"
        yield f"meter_set_rates {meter} 0 {_RATES}"
        yield f"meter_get_rates {meter} 0"
    for session in _SESSIONS:
        yield f"mirroring_get {session}"


def _arrays(program: dict[str, Any], kind: str) -> list[str]:
    """The arrays of a kind, without those that belong to a table's entries."""
    return [array["name"] for array in program[kind] if not array.get("is_direct", False)]
