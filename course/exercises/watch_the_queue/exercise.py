"""The checks of a telemetry program, by the yardstick of the scoreboard (labs/score)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from course.exercise import Case, Exercise
from course.exercises.watch_the_queue.scenarios import (
    FILE,
    Scenario,
    Seen,
    Watched,
    begin,
    passage,
    register_bits,
)
from course.story import Moment, Refused, Story
from labs.score.claim import Claim
from labs.score.run import THRESHOLD_BYTES
from labs.score.scoring import Tally, deepest, matched
from labs.score.scoring import culprits as claimed_by
from labs.score.system import PS_PER_S
from labs.score.truth import BuildUp, Packet

NAME = "watch-the-queue"
# Culprits by flow and by packet, as shares of 1: precision and recall.
RIGHT_LEAST = 0.98
# Of reports, per packet of the queue; a report has 34.
BYTES_MOST = 6.5
REGISTER_BITS_MAX = 8 * 1024
_PS_PER_MS = PS_PER_S // 1000
_FLOWS_LISTED = 12

_QUIET = Scenario("quiet")
_INCAST = (Scenario("incast", 1), Scenario("incast", 2))
_MICROBURST = (Scenario("microburst", 1), Scenario("microburst", 2))
_ADVERSARY = Scenario("adversary")
_DEEP = f"A queue is deep if it holds {THRESHOLD_BYTES // 1000} kB."


def goes_on(watched: Watched) -> None:
    """Packets pass the router as if the program were not there."""
    for scenario in (*_INCAST, *_MICROBURST, _ADVERSARY):
        seen = watched.seen(scenario)
        ours, plain = seen.run.truth.packets, watched.plain(scenario).truth.packets
        for number, wanted in enumerate(plain):
            came = ours[number] if number < len(ours) else None
            if came is None or passage(came) != passage(wanted):
                raise _refused(
                    seen,
                    wanted.arrived_ps,
                    f"{_of(scenario)} The check compared each packet's way through the router with "
                    "its way through one without telemetry.",
                    f"Packet {number + 1}, of {wanted.flow}: {_way(wanted)}.",
                    "Telemetry observes. clone() makes the report; the packet itself goes on.",
                    f"{'None.' if came is None else _way(came) + '.'}",
                )


def _way(packet: Packet) -> str:
    words = f"came at {_ms(packet.arrived_ps)}"
    if packet.dropped:
        return f"{words} and was dropped"
    if packet.departed_ps is None:
        return f"{words} and still waits"
    if packet.line_free_ps is None:
        return f"{words}, left its queue at {_ms(packet.departed_ps)} and was not sent"
    line_us = (packet.line_free_ps - packet.departed_ps) / 1e6
    return f"{words}, left at {_ms(packet.departed_ps)} and took {line_us:.2f} us of the line"


def quiet(watched: Watched) -> None:
    """Nothing is reported where the queue was never deep; something is where it was."""
    seen = watched.seen(_QUIET)
    if seen.reports:
        report = seen.reports[0]
        raise _refused(
            seen,
            report.known_ps,
            f"Four steady flows and bursts of 12 packets met; {_depth(seen)} waited at most.",
            "No report.",
            f"{_DEEP} The handout: what no operator asks about is not reported.",
            f"{len(seen.reports)} reports, the first at {_ms(report.known_ps)}.",
        )
    seen = watched.seen(_MICROBURST[0])
    if not seen.reports:
        peak = max(seen.run.buildups, key=lambda each: each.peak_bytes)
        raise _refused(
            seen,
            peak.peak_ps,
            f"{_of(seen.scenario)} {_depth(seen)} waited at most.",
            "Reports.",
            _DEEP,
            "None.",
        )


def _depth(seen: Seen) -> str:
    return f"{max(each.bytes for each in seen.run.truth.changes) / 1000:.1f} kB"


def found(watched: Watched) -> None:
    """Every build-up has a claim, and every claim a build-up."""
    for scenario in (*_INCAST, *_MICROBURST):
        _all_found(watched.seen(scenario))


def _all_found(seen: Seen) -> None:
    buildups, claims = seen.run.buildups, seen.run.claims
    own, false = matched(claims, buildups)
    for number, buildup in enumerate(buildups):
        if not own[number]:
            raise _refused(
                seen,
                buildup.peak_ps,
                f"{_of(seen.scenario)} Build-up {number + 1} of {len(buildups)} reached "
                f"{buildup.peak_bytes / 1000:.1f} kB at {_ms(buildup.peak_ps)}.",
                "A report with a depth of 30 kB or more from this time.",
                f"{_DEEP} The controller knows only what is reported.",
                f"No claim from {_ms(buildup.begin_ps)} to {_ms(buildup.end_ps)}; the controller "
                f"made {len(claims)} claims in all.",
            )
    for claim in false:
        raise _refused(
            seen,
            claim.detected_ps,
            f"{_of(seen.scenario)} The queue was deep {len(buildups)} times.",
            "A claim for each of these, and no other.",
            "docs/telemetry-score.md: a claim that overlaps no build-up is a false alarm.",
            f"A claim from {_ms(claim.begin_ps)} to {_ms(claim.end_ps)}.",
        )


def culprits(watched: Watched) -> None:
    """The culprits are named, with the packets of each flow."""
    _named([watched.seen(scenario) for scenario in (*_INCAST, *_MICROBURST)])


def adversary(watched: Watched) -> None:
    """Short bursts, split over many flows, are found with their flows."""
    seen = watched.seen(_ADVERSARY)
    _all_found(seen)
    _named([seen])


def _named(all_seen: Sequence[Seen]) -> None:
    flows = packets = Tally()
    for seen in all_seen:
        flows += seen.run.score.flows
        packets += seen.run.score.packets
    shares = {
        "flow precision": flows.precision,
        "flow recall": flows.recall,
        "packet precision": packets.precision,
        "packet recall": packets.recall,
    }
    least = min(shares, key=lambda name: shares[name] or 0.0)
    if (shares[least] or 0.0) >= RIGHT_LEAST:
        return
    seen, buildup, claim = max(_pairs(all_seen), key=lambda each: _missed(*each[1:]))
    claimed = claimed_by(claim).total()
    raise _refused(
        seen,
        buildup.peak_ps,
        f"{_of(seen.scenario)} At {_ms(buildup.peak_ps)} the queue was fullest, with "
        f"{buildup.peak_bytes / 1000:.1f} kB: {buildup.culprits.total()} packets of "
        f"{len(buildup.culprits)} flows.",
        f"Precision and recall of at least {RIGHT_LEAST}, by flow and by packet, in "
        f"{_films(all_seen)} together.",
        "docs/telemetry-score.md: the culprits are the packets in the queue at its peak. The "
        "controller takes the deepest report, and counts the reported packets that were in the "
        "queue when that one left: they had come, and left later.",
        f"The {least} is {shares[least] or 0.0:.2f}. For this build-up "
        + ("nothing was claimed." if claim is None else f"{claimed} packets were claimed."),
        way=tuple(_compared(buildup, claim)),
    )


def _pairs(all_seen: Sequence[Seen]) -> Iterator[tuple[Seen, BuildUp, Claim | None]]:
    """Each build-up with the claim that names its culprits."""
    for seen in all_seen:
        own, _ = matched(seen.run.claims, seen.run.buildups)
        for buildup, claims in zip(seen.run.buildups, own, strict=True):
            yield seen, buildup, deepest(claims)


def _missed(buildup: BuildUp, claim: Claim | None) -> int:
    """Packets that were claimed wrongly or not claimed."""
    claimed = claimed_by(claim)
    return (buildup.culprits - claimed).total() + (claimed - buildup.culprits).total()


def _compared(buildup: BuildUp, claim: Claim | None) -> Iterator[str]:
    claimed = claimed_by(claim)
    both = [*buildup.culprits, *(flow for flow in claimed if flow not in buildup.culprits)]
    both.sort(key=lambda flow: -abs(buildup.culprits[flow] - claimed[flow]))
    for flow in both[:_FLOWS_LISTED]:
        yield f"{flow}: {buildup.culprits[flow]} in the queue, {claimed[flow]} claimed"


def cheap(watched: Watched) -> None:
    """Reports cost a fifth of a report of every packet."""
    all_seen = [watched.seen(scenario) for scenario in _MICROBURST]
    spent = sum(seen.run.cost.report_bytes for seen in all_seen)
    packets = sum(seen.run.cost.packets for seen in all_seen)
    if spent <= BYTES_MOST * packets:
        return
    seen = all_seen[0]
    asked = sum(each.culprits.total() for other in all_seen for each in other.run.buildups)
    buildup = seen.run.buildups[0]
    raise _refused(
        seen,
        buildup.end_ps,
        f"{_films(all_seen)}: {packets} packets left the queue; {asked} of them were in it at a "
        "peak.",
        f"At most {BYTES_MOST} bytes of reports per packet of the queue.",
        "Of a build-up only the packets in the queue at its peak are asked for. Packets that came "
        "later left a deep queue behind, too, and say nothing new.",
        f"{spent / packets:.1f} bytes per packet: "
        f"{sum(len(each.reports) for each in all_seen)} reports.",
    )


def small(watched: Watched) -> None:
    """The program remembers little."""
    bits = register_bits(watched.info)
    if bits > REGISTER_BITS_MAX:
        listed = ", ".join(
            f"{each.name}: {each.size} x {each.width_bits}" for each in watched.info.registers
        )
        raise Refused(
            Story(
                done=f"The check added up the registers of {FILE} and of main.p4.",
                expected=f"At most {REGISTER_BITS_MAX // 8 // 1024} KiB.",
                because="Which packets were in the queue at its peak follows from a few numbers, "
                "however many flows there are.",
                came=f"{bits / 8 / 1024:.1f} KiB: {listed}.",
            )
        )


def _refused(
    seen: Seen,
    at_ps: int,
    done: str,
    expected: str,
    because: str,
    came: str,
    way: tuple[str, ...] = (),
) -> Refused:
    """A refusal that opens the run at an instant."""
    moment = Moment(min(at_ps, seen.run.truth.end_ps) / PS_PER_S, seen.scenario.film)
    return Refused(Story(done, expected, because, came, way, moment=moment))


def _of(scenario: Scenario) -> str:
    return f"The program watched {scenario.film}."


def _films(all_seen: Sequence[Seen]) -> str:
    return " and ".join(seen.scenario.film for seen in all_seen)


def _ms(time_ps: int) -> str:
    return f"{time_ps / _PS_PER_MS:.3f} ms"


# Every other case is about which packets are reported; nothing and everything are no choice.
_CHOOSES = ("goes-on", "quiet")

EXERCISE = Exercise(
    name=NAME,
    title="Watch a queue, cheaply",
    question="Which packets must a router report, so that it is known who filled a queue?",
    minutes=120,
    files=(FILE,),
    begin=begin,
    cases=(
        Case("goes-on", "Packets pass as if nobody watched.", 5, goes_on),
        Case(
            "quiet",
            "A queue that is never deep is not reported, another one is.",
            10,
            quiet,
            behind=("goes-on",),
        ),
        Case("found", "Every build-up is found, and no other.", 15, found, behind=_CHOOSES),
        Case("culprits", "Whose packets filled it is known.", 25, culprits, behind=_CHOOSES),
        Case(
            "adversary",
            "Short bursts of many flows are found, too.",
            15,
            adversary,
            behind=_CHOOSES,
        ),
        Case(
            "cheap",
            "Reports cost 6.5 bytes per packet of the queue.",
            20,
            cheap,
            behind=(*_CHOOSES, "culprits"),
        ),
        Case("small", "A few numbers are remembered.", 10, small, behind=_CHOOSES),
    ),
)
