"""The readings of a router's program for a recording: tables and cells, with their counts."""

from __future__ import annotations

from p4.config.v1 import p4info_pb2
from p4.v1 import p4runtime_pb2 as p4

# A counter, meter or register of more cells is left out: it would be most of the recording.
CELLS_MAX = 1024


def entities(p4info: p4info_pb2.P4Info) -> list[p4.Entity]:
    """All entries with counters and meters, the defaults of tables, and all cells."""
    wanted = [
        p4.Entity(
            table_entry=p4.TableEntry(counter_data=p4.CounterData(), meter_config=p4.MeterConfig())
        )
    ]
    wanted += [
        p4.Entity(table_entry=p4.TableEntry(table_id=each.preamble.id, is_default_action=True))
        for each in p4info.tables
        if each.match_fields
    ]
    wanted += [
        p4.Entity(counter_entry=p4.CounterEntry(counter_id=each.preamble.id))
        for each in p4info.counters
        if each.size <= CELLS_MAX
    ]
    wanted += [
        p4.Entity(meter_entry=p4.MeterEntry(meter_id=each.preamble.id))
        for each in p4info.meters
        if each.size <= CELLS_MAX
    ]
    wanted += [
        p4.Entity(register_entry=p4.RegisterEntry(register_id=each.preamble.id))
        for each in p4info.registers
        if each.size <= CELLS_MAX
    ]
    return wanted
