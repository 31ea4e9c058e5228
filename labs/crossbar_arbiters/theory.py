"""Theory of crossbar arbiters: formulas, and figures of others' simulations.

The figures are for 16 ports. They come from an independent slotted simulation of 300,000 slots or
more; PIM's single iteration has a formula, 1 - (1 - 1/N)^N.
"""

from __future__ import annotations

PORTS = 16

# Mean wait in slots by arbiter and load, uniform traffic; a cell that leaves in the slot in which
# it came has not waited.
WAITS = {
    "islip:1": {0.5: 1.296, 0.8: 44.6, 0.9: 113.0},
    "islip:4": {0.5: 0.716, 0.8: 3.76, 0.9: 9.82},
    "pim:4": {0.5: 0.709, 0.8: 3.72, 0.9: 9.74},
    "wavefront": {0.5: 0.74, 0.8: 4.11, 0.9: 10.8},
    "lqf": {0.5: 0.61, 0.8: 2.30, 0.9: 4.91},
}

# Part of the lines that a router carries at most, by arbiter and pattern. "Unbalanced" sends half
# of an input's cells to the output of its own number.
SATURATION = {
    "pim:1": {"uniform": 0.644, "diagonal": 0.751, "logdiagonal": 0.682, "unbalanced:0.5": 0.655},
    "pim:4": {"uniform": 0.997, "diagonal": 0.853, "logdiagonal": 0.870, "unbalanced:0.5": 0.856},
    "islip:1": {"uniform": 1.0, "diagonal": 0.811, "logdiagonal": 0.726, "unbalanced:0.5": 0.671},
    "islip:4": {"uniform": 1.0, "diagonal": 0.830, "logdiagonal": 0.832, "unbalanced:0.5": 0.806},
    "wavefront": {
        "uniform": 1.0,
        "diagonal": 0.969,
        "logdiagonal": 0.903,
        "unbalanced:0.5": 0.856,
    },
    "lqf": {"uniform": 1.0, "diagonal": 1.0, "logdiagonal": 1.0, "unbalanced:0.5": 1.0},
}


def pim_once(ports: int) -> float:
    """The highest throughput of one iteration of PIM: an output is idle if no input chose it."""
    return 1 - (1 - 1 / ports) ** ports
