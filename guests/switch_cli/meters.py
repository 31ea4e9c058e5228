"""Meters: rates in packets or bytes a microsecond, bursts in packets or bytes."""

from __future__ import annotations

from bm_runtime.standard.ttypes import BmMeterRateConfig

from . import values
from .command import Commands, command
from .mistakes import Mistake
from .program import Array


class MeterCommands(Commands):
    """Commands about meters."""

    def _meter(self, name: str) -> Array:
        found: Array = self.program.named("meter", self.program.meters, name)
        return found

    @staticmethod
    def _rates(meter: Array, texts: tuple[str, ...]) -> list[BmMeterRateConfig]:
        if len(texts) != meter.rate_count:
            raise Mistake(f"Invalid number of rates, expected {meter.rate_count}")
        rates = []
        for text in texts:
            rate, _, burst = text.partition(":")
            try:
                rates.append(BmMeterRateConfig(float(rate), int(burst)))
            except ValueError:
                raise Mistake("Error while parsing rates, write <rate>:<burst>") from None
        return rates

    @command(2, None)
    def do_meter_array_set_rates(self, name: str, *rates: str) -> None:
        """Set all meters: meter_array_set_rates <name> <rate>:<burst> <rate>:<burst>."""
        meter = self._meter(name)
        self.client.bm_meter_array_set_rates(0, meter.name, self._rates(meter, rates))

    @command(3, None)
    def do_meter_set_rates(self, name: str, index: str, *rates: str) -> None:
        """Set one meter, rates in units a microsecond: meter_set_rates <name> <index> \
<rate>:<burst> <rate>:<burst>."""
        meter, at = self._meter(name), values.number(index, "index")
        configs = self._rates(meter, rates)
        if meter.table is not None:
            self.client.bm_mt_set_meter_rates(0, meter.table, at, configs)
        else:
            self.client.bm_meter_set_rates(0, meter.name, at, configs)

    @command(2)
    def do_meter_get_rates(self, name: str, index: str) -> None:
        """Show the rates of a meter: meter_get_rates <name> <index>."""
        meter, at = self._meter(name), values.number(index, "index")
        if meter.table is not None:
            rates = self.client.bm_mt_get_meter_rates(0, meter.table, at)
        else:
            rates = self.client.bm_meter_get_rates(0, meter.name, at)
        if len(rates) != meter.rate_count:
            print("WARNING: expected", meter.rate_count, "rates but only received", len(rates))
        for number, rate in enumerate(rates):
            print(f"{number}: info rate = {rate.units_per_micros}, burst size = {rate.burst_size}")
