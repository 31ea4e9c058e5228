"""STF scripts, taken apart into the settings and packets that `vitrine-sim trace` takes."""

from __future__ import annotations

# Statements that send packets or say what comes out; all others fill the switch.
_NOT_SETTINGS = frozenset(
    ("packet", "expect", "wait", "no_packet", "check_counter", "check_register")
)


def settings(script: str) -> str:
    """The statements that fill tables, as a script of their own."""
    lines = (line for line in script.splitlines() if _word(line) not in _NOT_SETTINGS)
    return "".join(f"{line}\n" for line in lines)


def packets(script: str) -> list[str]:
    """PORT:HEX of each packet that is sent."""
    sent = []
    for line in script.splitlines():
        if _word(line) == "packet":
            port, *digits = line.partition("#")[0].split()[1:]
            sent.append(f"{port}:{''.join(digits)}")
    return sent


def _word(line: str) -> str:
    words = line.split(maxsplit=1)
    return words[0] if words else ""
