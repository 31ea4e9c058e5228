"""Programs whose tests by P4Testgen cannot pass, and why that is right."""

from __future__ import annotations

from fnmatch import fnmatch

_CLONED = (
    "of a test in which it follows the clone, it writes the clone's egress_spec as the port of the "
    "packet itself; simple_switch does as ours"
)
_ASSERTED = (
    "it sends a packet whose assertion fails; simple_switch ends the process, ours drops the packet"
)
_NO_MATCH = "a select that no case fits is the error NoMatch (P4-16, 13.6), which p4c leaves out"

# By group: pattern of the program's name, cause.
_PROGRAMS: dict[str, tuple[tuple[str, str], ...]] = {
    "packets": (
        ("clones*", _CLONED),
        ("log_and_assert", _ASSERTED),
        ("parser_no_match", _NO_MATCH),
        ("recirculation", "it drops a packet that is recirculated a third time"),
        ("table_priorities", "it does not know entries of the program that are not const"),
        (
            "union_invalid_member",
            "a header that is not valid, assigned to a member of a union, leaves no member valid "
            "(P4-16, 8.20); p4c's middle end copies its fields",
        ),
    ),
    "samples": (
        ("bmv2_ass*", _ASSERTED),
        ("issue1765*", "neither compiler's back end computes in update_checksum"),
        ("parser-unroll-test[345]", "neither compiler's back end takes headers of parts of bytes"),
    ),
}


def cause(group: str, name: str) -> str | None:
    """Why tests of a program may fail, if they may."""
    patterns = _PROGRAMS.get(group, ())
    return next((why for pattern, why in patterns if fnmatch(name, pattern)), None)
