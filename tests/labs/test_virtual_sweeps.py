"""Sweeps that are measured: by processes, by a cluster, and after whatever has ended them."""

import io
import os
import signal
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from controller.toolchain import ROOT
from labs.score.line import Line
from labs.score.numbers import NUMBERS
from labs.score.numbers import numbers as scored
from labs.score.run import Bench
from labs.score.systems import named
from labs.score.workloads import WORKLOADS
from labs.sweep import plan
from labs.sweep.command import conduct
from labs.sweep.crew.cluster import Cluster
from labs.sweep.crew.local import Local
from labs.sweep.journal import ROWS, Journal
from topo import wait

NET = """\
hosts:
  h1: {address: 10.0.1.1/24}
  h2: {address: 10.0.2.1/24}
switches:
  s1:
    ports:
      1: {address: 10.0.1.254/24, rate: 1 Gb/s}
      2: {address: 10.0.2.254/24, rate: 5 Mb/s, classes: 1, queue: 50 packets}
links:
  - [h1, s1:1]
  - {ends: [s1:2, h2], delay: 10 ms}
"""
SWEEP = """\
title: Buffers
topology: net.yaml
parameters: {packets: [5, 80]}
change: {switches: {s1: {ports: {2: {queue: "{packets} packets"}}}}}
flows: {all: {from: h1, to: h2, congestion: reno, connections: 4, begin_within: 1 s}}
measure: {port: "s1:2", after: 2 s, during: 8 s}
seeds: 2
figures: {use: {x: packets, y: utilisation}}
"""
DEADLINE_S = 60


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "buffers.yaml"
    file.write_text(SWEEP)
    (tmp_path / "net.yaml").write_text(NET)
    return file


DROPS_ALL = """
#include <core.p4>
#include <v1model.p4>
struct headers_t {}
struct meta_t {}
parser Parse(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { transition accept; }
}
control Verify(inout headers_t h, inout meta_t m) { apply {} }
control In(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply { mark_to_drop(s); }
}
control Out(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply {} }
control Compute(inout headers_t h, inout meta_t m) { apply {} }
control Deparse(packet_out p, in headers_t h) { apply {} }
V1Switch(Parse(), Verify(), In(), Out(), Compute(), Deparse()) main;
"""


def numbers(folder):
    table = pq.read_table(folder / "buffers.parquet").to_pylist()
    return {(row["packets"], row["seed"]): row["utilisation"] for row in table}


def test_a_row_is_the_same_whoever_measures_it_and_more_buffer_is_more_use(file, tmp_path):
    sweep = plan.read(file)
    output = io.StringIO()
    with Local(2) as crew:
        folder = conduct(sweep, crew, output, results=tmp_path)
    first = numbers(folder)
    assert len(first) == 4
    for seed in (1, 2):
        assert first[5, seed] < first[80, seed] <= 1.0
    # The bottleneck's queue holds no more than it may, and flows get what the line has.
    row = pq.read_table(folder / "buffers.parquet").to_pylist()[0]
    assert 0 < row["queue_packets"] <= row["queue_packets_p95"] <= 5
    assert row["goodput_share"] == pytest.approx(row["utilisation"], abs=0.02)
    assert row["share_all"] == 1.0
    # Begun again, nothing is left to do; with a third seed, only that.
    again = io.StringIO()
    with Local(1) as crew:
        conduct(sweep, crew, again, results=tmp_path)
    assert "4 rows, 4 of them from before" in again.getvalue()
    # In another folder everything is measured anew, by one process, to the same numbers.
    with Local(1) as crew:
        assert numbers(conduct(sweep, crew, io.StringIO(), results=tmp_path / "b")) == first


def test_a_process_that_is_killed_takes_no_row_with_it(file, tmp_path):
    jobs = list(plan.read(file).jobs())
    with Local(2) as crew:
        done = crew.work(jobs)
        found = [next(done)]
        victim = next(iter(crew._pool._processes))
        os.kill(victim, signal.SIGKILL)
        found += done
    assert {each.job.key for each in found} == {job.key for job in jobs}
    assert all(each.row for each in found), found


def test_a_sweep_goes_on_from_where_a_crash_has_ended_it(file, tmp_path):
    environment = {**os.environ, "VITRINE_RESULTS": str(tmp_path)}
    command = [sys.executable, "-m", "vitrine", "sweep", str(file), "--jobs", "2"]
    process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL)
    journal = tmp_path / "sweeps" / "buffers" / ROWS

    def first_row_is_kept() -> bool:
        assert process.poll() is None, "the sweep has ended before anybody ended it"
        return journal.exists() and journal.read_bytes().count(b"\n") >= 1

    wait.until(first_row_is_kept, "the first row", DEADLINE_S)
    process.kill()
    process.wait()
    # Its processes have ended with it, so the journal is unlocked.
    with Journal(journal.parent) as kept:
        before = len(kept.rows)
    assert 1 <= before < 4
    output = io.StringIO()
    with Local(2) as crew:
        folder = conduct(plan.read(file), crew, output, results=tmp_path)
    assert f"4 rows, {before} of them from before" in output.getvalue()
    assert len(numbers(folder)) == 4


def test_the_program_of_a_sweep_is_that_of_its_routers(file, tmp_path):
    program = tmp_path / "nothing.p4"
    program.write_text(DROPS_ALL)
    file.write_text(SWEEP + f"program: {program}\n")
    with Local(2) as crew:
        folder = conduct(plan.read(file), crew, io.StringIO(), results=tmp_path)
    assert set(numbers(folder).values()) == {0.0}


def test_a_lab_is_a_row_with_all_its_numbers_and_repeats_itself(tmp_path):
    file = tmp_path / "queues.yaml"
    file.write_text(
        "title: Queues\nlab: bottleneck\nparameters: {packets: [20, 50]}\n"
        'settings: {QUEUE: "{packets}", QUICK: 1}\nseeds: 1\nrepetitions: 2\n'
    )
    with Local(2) as crew:
        folder = conduct(plan.read(file), crew, io.StringIO(), results=tmp_path)
    rows = pq.read_table(folder / "queues.parquet").to_pylist()
    assert [(row["packets"], row["repetition"]) for row in rows] == [
        (20, 1), (20, 2), (50, 1), (50, 2)
    ]  # fmt: skip
    assert all(row["bands_met"] == row["bands"] for row in rows)
    # Beside its numbers a lab says with which settings.
    assert '"queue_packets": 20' in rows[0]["settings"]
    assert "to the same numbers" in (folder / "report.html").read_text()


def test_a_telemetry_system_is_a_row_with_the_numbers_of_the_scoreboard(tmp_path):
    file = tmp_path / "seen.yaml"
    file.write_text(
        'title: Seen\ntelemetry: {system: "{system}", workload: incast, rate: "{gbps} Gb/s"}\n'
        "parameters: {system: [postcards, polling-1ms], gbps: [10]}\nseeds: 1\n"
    )
    with Local(2) as crew:
        folder = conduct(plan.read(file), crew, io.StringIO(), results=tmp_path)
    rows = pq.read_table(folder / "seen.parquet").to_pylist()
    with Bench(tmp_path / "world.log") as bench:
        for row in rows:
            run = bench.run(named(row["system"]), WORKLOADS["incast"], 1, line=Line(10))
            assert {name: row[name] for name in NUMBERS} == scored(run)
    assert [row["program"].split()[0] for row in rows] == ["postcards", "router"]


def test_a_cluster_does_the_same_and_loses_nothing_with_a_worker(file, tmp_path):
    from distributed import LocalCluster

    sweep = plan.read(file)
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        pids = [worker.pid for worker in cluster.workers.values()]
        with Cluster(cluster.scheduler_address) as crew:
            assert crew.size == 2
            done = crew.work(list(sweep.jobs()))
            found = [next(done)]
            os.kill(pids[0], signal.SIGKILL)
            found += done
    assert {each.job.key for each in found} == {job.key for job in sweep.jobs()}
    assert all(each.row for each in found), found
    with Local(1) as crew:
        (here,) = crew.work([found[0].job])
    assert here.row.numbers == found[0].row.numbers
