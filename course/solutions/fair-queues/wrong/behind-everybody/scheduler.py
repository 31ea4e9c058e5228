"""A new packet begins where the last one of all classes ends."""

from reference import Drr  # noqa: F401
from reference import Wfq as Right


class Wfq(Right):
    """Which is a single queue."""

    def begins(self, group):
        return max(self.fluid.last_tag)
