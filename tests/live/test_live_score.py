"""A telemetry system on a live network is judged by what the live router did to each packet."""

from __future__ import annotations

from random import Random

import pytest

from labs.score.line import Line
from labs.score.live import LiveBench
from labs.score.plan import sendings
from labs.score.run import THRESHOLD_BYTES
from labs.score.systems import named
from labs.score.workloads import WORKLOADS
from tests.live import isolation

pytestmark = pytest.mark.live
REPORT_BYTES = 34


def test_each_packet_is_in_the_truth_and_each_deep_one_is_reported(tmp_path):
    line, workload, rng = Line(slower=10), WORKLOADS["microburst"], Random("microburst 1")
    sent = sum(each.datagrams for each in sendings(workload.on(line, rng), rng))
    with isolation.run_folder(), LiveBench(tmp_path, line) as bench:
        run = bench.run(named("postcards"), workload, 1).run
    assert len(run.truth.packets) == sent > 2000
    left_deep = sum(
        not change.entered and change.bytes >= THRESHOLD_BYTES for change in run.truth.changes
    )
    assert run.cost.report_bytes == REPORT_BYTES * left_deep > 0
    assert run.score.buildups.right > 0
