"""The scenarios of the page, in the order of its gallery."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Sequence

from labs.errors import SettingError
from labs.scenarios.classics import classics
from labs.scenarios.lessons import LESSONS
from labs.scenarios.router_labs import router_labs
from labs.scenarios.scenario import Scenario
from labs.scenarios.tcp_labs import tcp_labs
from labs.scenarios.telemetry_labs import telemetry_labs


@functools.cache
def scenarios() -> Sequence[Scenario]:
    """All of them."""
    return (
        *(make() for make in LESSONS.values()),
        *tcp_labs(),
        *router_labs(),
        *telemetry_labs(),
        *classics(),
    )


def named(name: str) -> Scenario:
    """The scenario of that name; one that is nearly right is suggested."""
    known = {each.name: each for each in scenarios()}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}."
    raise SettingError(f"there is no lesson {name!r}: {hint}")
