"""BurstRadar: every packet that was in the queue when it was deep is reported."""

from __future__ import annotations

from labs.score.systems.postcards import Postcards


class BurstRadar(Postcards):
    """Postcards of the burst's last packets, too."""

    name = "burstradar"
    summary = "each packet of a burst, to the last one"
    after = "Joshi et al., BurstRadar, APSys 2018"
