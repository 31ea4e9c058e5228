"""Running labs, and what was kept of the runs."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from contextlib import AbstractContextManager, nullcontext

from vitrine.command import options as o
from vitrine.command.tree import Needs, command

OF_LABS = (o.RATE, o.QUEUE, o.DURATION, o.CONGESTION, o.ARBITER, o.SCHEDULER, o.AQM)


def page(given: Namespace, *, opens: bool = False) -> AbstractContextManager[None]:
    """The page beside a run, if it is wanted."""
    from labs.glass import beside

    if given.no_glass:
        return nullcontext()
    return beside.served(sys.stdout, opens=opens, share=given.share)


@command(
    "run",
    "run a lab and write its report; without a name bufferbloat",
    o.LAB,
    *OF_LABS,
    o.QUICK,
    o.PROGRAM,
    o.WORLD_OR_BOTH,
    o.SEEDS,
    o.TOOLCHAIN_OR_BOTH,
    o.GRPC,
    o.ALL,
    o.NO_GLASS,
    o.SHARE,
    o.OPEN,
    needs=Needs.WORLD,
    examples=[
        "vitrine run",
        "vitrine run --queue 300 --cc bbr",
        "vitrine run shared-buffer --world virtual --quick",
        "vitrine run bottleneck --rate 5mbit --world both",
        "vitrine run --all --world virtual",
    ],
)
def run(given: Namespace) -> int | None:
    from labs import asked

    if given.all:
        asked.run_all(vars(given))
    else:
        asked.run(given.lab or "bufferbloat", vars(given), page(given, opens=given.open))
    return None


@command("labs", "list the labs and their options", o.JSON, examples=["vitrine labs --json"])
def labs(given: Namespace) -> None:
    from labs.catalogue import LABS

    if given.json:
        for lab in LABS:
            print(
                json.dumps({"name": lab.name, "summary": lab.summary, "takes": sorted(lab.takes)})
            )
        return
    from labs import asked

    asked.show_labs()


@command(
    "results",
    "list the runs that are kept",
    o.LAB.saying("only the runs of this lab"),
    o.JSON,
    examples=["vitrine results bufferbloat"],
)
def results(given: Namespace) -> None:
    from labs import asked

    asked.show_results(given.lab, as_json=given.json)


@command(
    "compare",
    "draw two kept runs of one lab side by side",
    o.RUNS,
    examples=["vitrine compare bufferbloat/2026-01-05-1000-default bufferbloat"],
)
def compare(given: Namespace) -> None:
    from labs import asked

    asked.compare(*given.runs)


@command(
    "report", "draw the report of a kept run anew", o.RUN, examples=["vitrine report bufferbloat"]
)
def report(given: Namespace) -> None:
    from labs import asked

    asked.report(given.run)


@command(
    "sweep",
    "run one experiment over parameters and seeds",
    o.SWEEP,
    o.QUICK,
    o.JOBS,
    o.CLUSTER,
    needs=Needs.PROGRAMS,
    examples=[
        "vitrine sweep who-wins --quick",
        "vitrine sweep mine.yaml --cluster tcp://10.0.0.1:8786",
    ],
)
def sweep(given: Namespace) -> None:
    from labs.sweep import shipped

    shipped.sweep(given.sweep or "", quick=given.quick, jobs=given.jobs, cluster=given.cluster)


@command(
    "score",
    "score telemetry systems against the true queue",
    o.SYSTEMS,
    o.WORKLOAD,
    o.SEEDS.saying("how many seeds; else 20"),
    o.RATE.saying("the scored line's rate, such as 10gbit; else 1 Gb/s"),
    o.LOST,
    o.BELIEVED,
    o.REPLAYED,
    o.LIVE.saying("on a live network, beside virtual time; needs root"),
    o.SCORES,
    needs=Needs.LIVE_IF_ASKED,
    examples=[
        "vitrine score",
        "vitrine score conquest polling-1ms --workload microburst --seeds 5",
        "vitrine score ./mine.py postcards --workload microburst --seeds 5",
        "vitrine score postcards --lost '10 %'",
        "vitrine score printqueue int-md --workload incast --rate 100gbit",
        "vitrine score polling-1ms conquest --workload adversary --believed",
        "vitrine score postcards conquest polling-1ms --workload adversary --seeds 3 --replay",
        "vitrine score postcards conquest --workload microburst --seeds 5 --live",
    ],
)
def score(given: Namespace) -> None:
    from pathlib import Path

    from labs.score import command as scoring

    scoring.score(
        given.systems,
        given.workload,
        given.seeds,
        given.lost,
        Path(given.out),
        rate=given.rate,
        believed=given.believed,
        replayed=given.replay,
        live=given.live,
    )
