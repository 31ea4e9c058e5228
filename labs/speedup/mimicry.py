"""A crossbar beside an output-queued router with the same arrivals: does each cell leave as early?

Chuang, Goel, McKeown and Prabhakar (1999): a crossbar that is twice as fast as a line can send
every cell in the very slot in which a router with output queues would, if it matches inputs with
outputs as in a stable marriage. An output wants the cell that it has to send first. An input keeps
its cells in a list: a new cell goes as far back as it can while no more cells stand before it than
its output has to send before it ("critical cells first"). They prove that 2 - 1/N is enough and
that less is not.

In a slot cells arrive, cross as often as the speedup allows, and leave: with 2 - 1/N once in one
slot of N, else twice. It matters that the second crossing comes before they leave. After it, a cell
that had to wait in a slot of one crossing could meet a new one at its input which is due in the
same slot, and only one of them would cross in time, whatever the arbiter.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction


@dataclass
class _Cell:
    """A cell at an input."""

    output: int
    # The slot in which the router with output queues sends it.
    due: int


@dataclass(frozen=True)
class Found:
    """The fates of all cells."""

    cells: int
    # Those that left later than from the router with output queues.
    late: int
    latest_slots: int

    @property
    def late_share(self) -> float:
        """The part of the cells that came late."""
        return self.late / self.cells if self.cells else 0.0


class Crossbar:
    """N inputs and outputs. `in_order` lets inputs keep their cells as they came, for contrast."""

    def __init__(self, ports: int, speedup: Fraction, *, in_order: bool = False) -> None:
        self._ports = ports
        self._speedup = speedup
        self._in_order = in_order
        self._slot = 0
        # Each input's cells, the most wanted first; and the cells that have crossed, by output.
        self._inputs: list[list[_Cell]] = [[] for _ in range(ports)]
        self._crossed: list[list[int]] = [[] for _ in range(ports)]
        # The slot of each output's last cell in the router with output queues.
        self._last_due = [-1] * ports
        self.cells = self.late = self.latest_slots = 0

    def step(self, arrivals: list[int | None]) -> None:
        """One slot: for each input the output of a new cell, or None."""
        for port, output in enumerate(arrivals):
            if output is not None:
                self._arrive(port, output)
        for _ in range(self._crossings()):
            self._cross()
        for output in range(self._ports):
            self._leave(output)
        self._slot += 1

    def _crossings(self) -> int:
        """How often cells cross in this slot."""
        return int(self._speedup * (self._slot + 1)) - int(self._speedup * self._slot)

    def _arrive(self, port: int, output: int) -> None:
        due = max(self._slot, self._last_due[output] + 1)
        self._last_due[output] = due
        self.cells += 1
        # Cells that have crossed to this output and leave before.
        cushion = sum(each < due for each in self._crossed[output])
        line = self._inputs[port]
        line.insert(len(line) if self._in_order else cushion, _Cell(output, due))

    def _cross(self) -> None:
        """A stable marriage: outputs propose to the inputs of their most urgent cells."""
        wanted: list[list[tuple[int, int, int]]] = [[] for _ in range(self._ports)]
        for port, line in enumerate(self._inputs):
            for place, cell in enumerate(line):
                wanted[cell.output].append((cell.due, port, place))
        for cells in wanted:
            # The last one is proposed first.
            cells.sort(reverse=True)
        # By input: the place in its list and the output of the best proposal until now.
        taken: dict[int, tuple[int, int]] = {}
        free = [output for output in range(self._ports) if wanted[output]]
        while free:
            output = free.pop()
            while wanted[output]:
                _, port, place = wanted[output].pop()
                held = taken.get(port)
                if held is None or place < held[0]:
                    taken[port] = (place, output)
                    if held is not None:
                        free.append(held[1])
                    break
        for port, (place, output) in taken.items():
            self._crossed[output].append(self._inputs[port].pop(place).due)

    def _leave(self, output: int) -> None:
        ready = self._crossed[output]
        if not ready:
            return
        due = min(ready)
        if due > self._slot:
            # The router with output queues does not send it yet.
            return
        ready.remove(due)
        if due < self._slot:
            self.late += 1
            self.latest_slots = max(self.latest_slots, self._slot - due)


def run(
    ports: int, speedup: Fraction, *, load: float, slots: int, seed: int, in_order: bool = False
) -> Found:
    """Random cells, for outputs chosen alike; bursts, because single cells hardly ever collide.

    A burst is as long as there are ports in the mean, and all of it goes to one output.
    """
    chance = random.Random(seed)
    crossbar = Crossbar(ports, speedup, in_order=in_order)
    going: list[int | None] = [None] * ports
    # A pause of this mean between bursts of `ports` cells gives the load.
    begins = load / (ports * (1 - load) + load)
    for _ in range(slots):
        for port in range(ports):
            if going[port] is not None and chance.random() < 1 / ports:
                going[port] = None
            if going[port] is None and chance.random() < begins:
                going[port] = chance.randrange(ports)
        crossbar.step(list(going))
    return Found(crossbar.cells, crossbar.late, crossbar.latest_slots)
