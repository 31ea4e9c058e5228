"""Sweeps before anything is measured: files that are read or refused, and what becomes of rows."""

import io
import json

import pyarrow.parquet as pq
import pytest

from labs import expression
from labs.errors import LabError
from labs.expression import ExpressionError
from labs.machine import Machine
from labs.sweep import plan, shipped
from labs.sweep.crew import longest_first
from labs.sweep.journal import ROWS, Journal
from labs.sweep.measuring import versions
from labs.sweep.measuring.measure import Row
from labs.sweep.measuring.network import _dealt
from labs.sweep.measuring.versions import Versions
from labs.sweep.measuring.work import Flows
from labs.sweep.progress import Progress
from labs.sweep.showing import drawing, page, parquet
from labs.sweep.showing.outcome import Mean, quantile
from topo.errors import ModelError
from vitrine.command import run as command

NET = """\
hosts:
  h1: {address: 10.0.1.1/24}
  h2: {address: 10.0.2.1/24}
switches:
  s1:
    ports:
      1: {address: 10.0.1.254/24, rate: 100 Mb/s}
      2: {address: 10.0.2.254/24, rate: 10 Mb/s, queue: 50 packets}
links:
  - [h1, s1:1]
  - {ends: [s1:2, h2], delay: 10 ms}
"""
# The line numbers that the tests expect are those of this text.
SWEEP = """\
title: Buffers
topology: net.yaml
parameters:
  buffer: [0.5, 1]
  tcp: [reno, cubic]
derived:
  packets: max(2, round(buffer * 16.7))
change:
  switches: {s1: {ports: {2: {queue: "{packets} packets"}}}}
flows:
  all: {from: h1, to: h2, congestion: "{tcp}"}
measure: {port: s1:2, after: 1 s, during: "{2 * buffer} s"}
seeds: 2
figures:
  use: {x: buffer, y: utilisation, by: tcp, theory: {model: "0.75 + 0.25 * buffer"}}
  least: {x: buffer, least: {of: packets, y: utilisation, reaches: 0.9}}
quick: {parameters: {buffer: [1]}, seeds: 1}
"""
SAME = Versions("c0de", "51", "router", "d1")


@pytest.fixture(autouse=True)
def nothing_is_compiled(monkeypatch):
    monkeypatch.setattr(versions, "of_network", lambda topology, program: SAME)
    monkeypatch.setattr(versions, "of_lab", lambda program: SAME)
    monkeypatch.setattr(versions, "of_telemetry", lambda system, line: SAME)


@pytest.fixture
def read(tmp_path):
    (tmp_path / "net.yaml").write_text(NET)

    def write_and_read(text=SWEEP, **how):
        file = tmp_path / "buffers.yaml"
        file.write_text(text)
        return plan.read(file, **how)

    return write_and_read


# ---- expressions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2 * buffer", 1.0),
        ("max(2, round(buffer * 83.3))", 42),
        ("sqrt(flows) // 3", 3.0),
        ("-flows ** 0.5", -10.0),
        ("erf(0)", 0.0),
        ("tcp", "cubic"),
    ],
)
def test_expressions_are_computed_from_parameters(text, found):
    values = {"buffer": 0.5, "flows": 100, "tcp": "cubic"}
    assert expression.evaluated(text, values) == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("bufer", "there is no parameter bufer: did you mean buffer?"),
        ("squrt(2)", "there is no function squrt: did you mean sqrt?"),
        ("2 *", "is no expression"),
        ("tcp + 1", "'cubic' is a word"),
        ("1 / (buffer - 0.5)", "cannot be computed"),
        ("9 ** 9 ** 9", "cannot be computed"),
        ("__import__('os')", "there is no function __import__"),
        ("buffer.real", "only numbers, parameters"),
        ("1" + "0" * 400, "a number of more than 1000 bits is too large"),
        ("1e308 * 10", "a number became inf"),
        ("-" * 900 + "1", "'-----"),
        ("1 +" * 400 + "1", "is an expression of 1,201 characters; 1,000 are the most"),
    ],
)
def test_what_is_no_arithmetic_is_refused(text, why):
    with pytest.raises(ExpressionError) as raised:
        expression.evaluated(text, {"buffer": 0.5, "tcp": "cubic"})
    assert why in str(raised.value)


def test_braces_are_filled():
    assert expression.filled("{n} of {2 * n}, {x}", {"n": 4, "x": 0.25}) == "4 of 8, 0.25"


# ---- files ---------------------------------------------------------------------------------------


def test_a_file_becomes_a_point_for_each_choice_and_a_job_for_each_seed(read):
    sweep = read()
    assert [point.values for point in sweep.points] == [
        {"buffer": 0.5, "tcp": "reno", "packets": 8},
        {"buffer": 0.5, "tcp": "cubic", "packets": 8},
        {"buffer": 1, "tcp": "reno", "packets": 17},
        {"buffer": 1, "tcp": "cubic", "packets": 17},
    ]
    work = sweep.points[2].work
    assert "17 packets" in work.topology
    assert (work.switch, work.port, work.rate_bps) == ("s1", 2, 10_000_000)
    assert (work.after_ns, work.during_ns) == (10**9, 2 * 10**9)
    assert work.flows == (Flows("all", ("h1",), "h2", 1, "reno", 0),)
    jobs = list(sweep.jobs())
    assert len(jobs) == len({job.key for job in jobs}) == 8


def test_a_job_keeps_its_key_as_long_as_nothing_changes_that_it_depends_on(read):
    keys = {job.key for job in read().jobs()}
    redrawn = SWEEP.replace("title: Buffers", "title: Other").replace("seeds: 2", "seeds: 1")
    assert {job.key for job in read(redrawn).jobs()} < keys
    assert not {job.key for job in read(SWEEP.replace("after: 1 s", "after: 2 s")).jobs()} & keys


def test_quick_replaces_what_it_names(read):
    sweep = read(quick=True)
    assert [point.values["buffer"] for point in sweep.points] == [1, 1]
    assert sweep.seeds == (1,)


def test_several_parameters_move_together(read):
    sweep = read(
        SWEEP.replace("buffer: [0.5, 1]", "load: [{flows: 1, buffer: 2}, {flows: 9, buffer: 0.5}]")
    )
    found = [(it.values["flows"], it.values["packets"]) for it in sweep.points]
    assert found == [(1, 33), (1, 33), (9, 8), (9, 8)]
    assert sweep.axes["load"] == ("flows", "buffer")


@pytest.mark.parametrize(
    ("old", "new", "where_and_what"),
    [
        ("seeds: 2", "sedes: 2", "buffers.yaml:13: the document has an unknown key 'sedes'"),
        ("seeds: 2", "sedes: 2", "Did you mean seeds?"),
        ("seeds: 2", "seeds: 0", "buffers.yaml:13: seeds must be from 1 to 10000, and is 0"),
        ("[0.5, 1]", "[]", "buffers.yaml:4: parameters.buffer is empty"),
        ("[0.5, 1]", "[{a: 1}, {b: 2}]", "must give values to a, as the first does"),
        ("tcp: [reno", "tcp: [rneo", "flows.all.congestion is 'rneo': did you mean reno?"),
        ("* 16.7", "* 16.7 *", "buffers.yaml:7: derived.packets: 'max(2, round(buffer * 16.7 *"),
        ("{packets} packets", "{packet} packets", "did you mean packets?"),
        # The value stands in the sweep, though it is the topology's.
        ("{packets} packets", "{packets} pakets", "buffers.yaml:9: switches.s1.ports.2.queue"),
        ("{2: {queue", "{2: {quee", "Did you mean queue?"),
        ("topology: net.yaml", "topology: nte.yaml", "nte.yaml cannot be read"),
        ("topology: net.yaml", "lab: bottleneck", "change does not go with 'lab'"),
        ("from: h1", "from: h9", "flows.all.from: there is no host 'h9'"),
        ("port: s1:2", "port: s1:3", "buffers.yaml:12: measure.port: s1 has no port 3"),
        ("port: s1:2", "port: h1", "measure.port must be a router's port"),
        ("during: \"{2 * buffer} s\"", "during: 10", "'10' is not a length of time"),
        ("y: utilisation, by", "y: utilization, by", "did you mean utilisation?"),
        ("by: tcp", "by: tpc", "did you mean tcp?"),
        ("quick: ", "quick: 5 #", "must be a mapping"),
        # Names of files.
        ("  use: {", "  ../../../../use: {", "buffers.yaml:15: figures.../../../../use is called"),
        ("  use: {", "  /tmp/use: {", "use up to 80 letters, digits"),
        ("  use: {", "  .use: {", "use up to 80 letters, digits"),
        # Errors that would otherwise show only once everything is measured.
        ("x: buffer, y", "x: tcp, y", "x is 'tcp', which must be a number to be drawn"),
        ("x: buffer, least", "x: utilisation, least", "x must be a parameter"),
        ("0.25 * buffer", "0.25 * bufer", "buffers.yaml:15: figures.use.theory.model"),
        ("0.25 * buffer", "1 / (buffer - 1)", "cannot be computed"),
        ("by: tcp", "label: \"{tpc}\"", "figures.use.label"),
    ],
)  # fmt: skip
def test_a_mistake_is_refused_with_its_place_and_what_was_meant(read, old, new, where_and_what):
    assert old in SWEEP
    how = {"quick": True} if old == "quick: " else {}
    with pytest.raises(ModelError) as raised:
        read(SWEEP.replace(old, new), **how)
    assert where_and_what in str(raised.value)


def test_rows_are_counted_before_their_points_are_made(read):
    axes = "".join(f"  p{axis}: [{', '.join(map(str, range(30)))}]\n" for axis in range(10))
    with pytest.raises(
        ModelError, match="has more than 1,000,000,000,000 rows; the limit is 100,000"
    ):
        read(SWEEP.replace("  tcp: [", f"{axes}  tcp: ["))


@pytest.mark.parametrize("digit_count", [400, 5000])
def test_a_long_number_is_refused_as_a_parameter(read, digit_count):
    with pytest.raises(
        ModelError, match=r"buffers.yaml:4: parameters.buffer\[0\]: .*too large"
    ) as it:
        read(SWEEP.replace("[0.5, 1]", f"[{'9' * digit_count}]"))
    assert len(str(it.value)) < 300


def test_derived_numbers_cannot_fill_the_memory(read):
    squares = "".join(f"  d{each}: d{each - 1} * d{each - 1}\n" for each in range(1, 40))
    with pytest.raises(ModelError, match="a number of more than 1000 bits is too large"):
        read(SWEEP.replace("derived:\n", f"derived:\n  d0: 3\n{squares}"))


@pytest.mark.parametrize("name", ["..yaml", "...yaml", ".hidden.yaml", "a\nb.yaml"])
def test_a_file_whose_name_no_folder_can_have_is_refused(tmp_path, name):
    (tmp_path / "net.yaml").write_text(NET)
    file = tmp_path / name
    file.write_text(SWEEP)
    with pytest.raises(ModelError, match="give it a name of printable characters"):
        plan.read(file)


def test_a_mistake_of_the_topology_is_the_topologys(read, tmp_path):
    read()
    (tmp_path / "net.yaml").write_text(NET.replace("10 Mb/s", "10 Mb"))
    with pytest.raises(ModelError, match=r"net.yaml:8: switches.s1.ports.2.rate"):
        plan.read(tmp_path / "buffers.yaml")


def test_a_lab_is_swept_over_its_settings(read):
    text = "title: Rates\nlab: bottleneck\nparameters: {mbps: [5, 10]}\nsettings:\n"
    sweep = read(f'{text}  RATE: "{{mbps}}mbit"\n  QUICK: 1\nseeds: 1\n')
    assert [point.work.settings["rate_bps"] for point in sweep.points] == [5_000_000, 10_000_000]
    assert all(point.work.settings["quick"] for point in sweep.points)
    with pytest.raises(ModelError, match=r"buffers.yaml:5: settings.RAET .*did you mean rate"):
        read(f"{text}  RAET: wrong\n")
    with pytest.raises(ModelError, match=r"buffers.yaml:5: --rate 5: '5' is not a rate"):
        read(f"{text}  RATE: 5\n")


TELEMETRY = """\
title: Who sees it
telemetry: {system: "{system}", workload: incast, rate: "{gbps} Gb/s", lost: "{lost} %"}
parameters: {system: [conquest, postcards], gbps: [1, 40]}
derived: {lost: gbps / 4}
seeds: 1
figures: {delay: {x: gbps, y: delay_us, by: system}}
"""


def test_telemetry_is_swept_over_systems_rates_and_losses(read):
    works = [point.work for point in read(TELEMETRY).points]
    assert [(each.system, each.faster, each.lost) for each in works] == [
        ("conquest", 1, 0.0025),
        ("conquest", 40, 0.1),
        ("postcards", 1, 0.0025),
        ("postcards", 40, 0.1),
    ]


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("conquest, postcards", "conqest", "buffers.yaml:2: telemetry.system: there is no system"),
        ("conquest, postcards", "conqest", "did you mean conquest?"),
        ("incast", "incats", "telemetry.workload: there is no workload 'incats'"),
        ("[1, 40]", "[0]", "telemetry.rate: --rate 0 Gb/s: whole Gb/s from 1 to 100"),
        ("gbps / 4", "100", "telemetry.lost: --lost 100 %: a share below"),
        ("workload: incast, ", "", "lacks 'workload'"),
        ("delay_us", "delay", "did you mean delay_us?"),
        ("seeds: 1", "lab: bottleneck", "must have one of 'topology', 'lab' and 'telemetry'"),
        ("seeds: 1", "settings: {}", "settings does not go with 'telemetry'"),
    ],
)
def test_a_mistake_in_a_sweep_of_telemetry_is_refused(read, old, new, what):
    assert old in TELEMETRY
    with pytest.raises(ModelError) as raised:
        read(TELEMETRY.replace(old, new))
    assert what in str(raised.value)


def test_connections_are_dealt_out_to_the_sources_in_turn():
    hosts = ("h1", "h2", "h3")
    assert _dealt(Flows("all", hosts, "h4", 5, "", 0)) == [
        *[("h1", 1)] * 2, *[("h2", 1)] * 2, ("h3", 1)
    ]  # fmt: skip
    many = _dealt(Flows("all", hosts, "h4", 10_000, "", 0))
    assert len(many) <= 510
    assert sum(count for _, count in many) == 10_000


# ---- rows ----------------------------------------------------------------------------------------


def found(use):
    return Row({"utilisation": use, "loss_share": 0.0}, 1.5, "here")


def test_the_journal_keeps_rows_and_passes_over_half_a_line(tmp_path):
    with Journal(tmp_path) as journal:
        journal.keep("a", found(0.5))
    with (tmp_path / ROWS).open("a") as file:
        file.write('{"key": "b", "numb')
    with Journal(tmp_path) as journal:
        assert journal.rows == {"a": found(0.5)}
        journal.keep("c", found(0.7))
    with Journal(tmp_path) as journal:
        assert journal.rows == {"a": found(0.5), "c": found(0.7)}


def test_two_processes_do_not_write_one_journal(tmp_path):
    with Journal(tmp_path), pytest.raises(LabError, match="another process runs this"):
        Journal(tmp_path)


def test_progress_counts_by_weight_and_says_how_long_is_left(read):
    # Four long ones, which weigh 35e6 each, before four short ones, which weigh 25e6.
    jobs = longest_first(list(read().jobs()))
    now_s = [0.0]
    output = io.StringIO()
    progress = Progress(jobs, 2, output, clock=lambda: now_s[0])
    for job in jobs[:2]:
        now_s[0] += 35
        progress.finished(job)
    assert progress.left_s() == pytest.approx(2 * 35 + 4 * 25)
    assert "[ 3/10]  30%, about 3 min" in output.getvalue()
    assert "buffer=1 tcp=reno packets=17 seed=1" in output.getvalue()


def test_progress_counts_what_others_do_meanwhile(read):
    jobs = longest_first(list(read().jobs()))
    now_s = [0.0]
    progress = Progress(jobs, 0, io.StringIO(), clock=lambda: now_s[0], workers=3)
    # The first is over while two more are nearly so: three long ones at 0 s, then one long and two
    # short ones at 35 s, and the last two short ones at 60 s.
    now_s[0] = 35
    progress.finished(jobs[0])
    assert progress.left_s() == pytest.approx(50)
    for job in jobs[1:3]:
        progress.finished(job)
    assert progress.left_s() == pytest.approx(50)
    now_s[0] = 60
    for job in jobs[4:6]:
        progress.finished(job)
    assert progress.left_s() == pytest.approx(25)
    now_s[0] = 70
    progress.finished(jobs[3])
    # Two of the three have work until 85 s, and one none.
    assert progress.left_s() == pytest.approx(15)


# Of any table of Student's distribution, for 95 % on both sides.
@pytest.mark.parametrize(
    ("freedom", "factor"), [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (30, 2.042)]
)
def test_intervals_are_students(freedom, factor):
    assert quantile(freedom) == pytest.approx(factor, abs=0.0005)


def test_a_mean_has_an_interval_from_two_seeds_on():
    assert Mean.of([0.5]) == Mean(0.5, 0.0, 1)
    # The deviation of 1, 2, 3 is 1, so the error is 1 / sqrt(3).
    mean = Mean.of([1.0, 2.0, 3.0])
    assert (mean.value, mean.half) == (2.0, pytest.approx(4.303 / 3**0.5, abs=0.001))


def test_where_a_level_is_reached_lies_between_points():
    line = {1.0: 0.8, 4.0: 1.0}
    # Half of the way from 1 to 4 in logarithms is 2.
    assert drawing.reached(line, 0.9) == pytest.approx(2.0)
    assert drawing.reached(line, 0.7) == 1.0
    assert drawing.reached(line, 1.1) is None


def rows_of(sweep):
    return [
        (job, found(0.9 + 0.05 * job.values["buffer"] + 0.01 * job.seed)) for job in sweep.jobs()
    ]


def test_one_parquet_file_has_each_row_with_all_that_made_it(read, tmp_path):
    sweep = read()
    file = parquet.write(sweep, rows_of(sweep), Machine.this_one(), tmp_path)
    table = pq.read_table(file)
    first = table.to_pylist()[0]
    assert (first["buffer"], first["tcp"], first["seed"]) == (0.5, "reno", 1)
    assert first["utilisation"] == pytest.approx(0.935)
    assert "8 packets" in first["topology"]
    assert json.loads(first["flows_started"])[0]["congestion"] == "reno"
    made = ("program", "program_digest", "code", "simulator", "kit")
    assert [first[name] for name in made[:4]] == ["router", "d1", "c0de", "51"]
    assert first["kit"]
    assert table.schema.metadata[b"vitrine.sweep"].decode() == SWEEP


def test_the_report_shows_figures_with_intervals_and_every_point(read, tmp_path):
    sweep = read()
    page.write(sweep, rows_of(sweep), Machine.this_one(), tmp_path)
    report = (tmp_path / "report.html").read_text()
    assert "95 % confidence intervals" in report
    lines = page.table(sweep, rows_of(sweep))
    # Seeds 1 and 2 differ by 0.01: 0.94 and an error of 0.005, 12.706 times.
    assert lines[1][:4] == ["0.5", "reno", "8", "0.94 ± 0.064"]
    csv = (tmp_path / "figures" / "use.csv").read_text()
    assert "tcp reno,0.5,0.94,0.876" in csv
    assert "model,0.5,0.875,," in csv
    assert (tmp_path / "figures" / "least.svg").stat().st_size > 1000


def test_the_name_of_a_sweeps_file_is_text_in_its_report(read, tmp_path):
    (tmp_path / "net.yaml").write_text(NET)
    file = tmp_path / "<img src=x onerror=alert(1)>&.yaml"
    file.write_text(SWEEP)
    sweep = plan.read(file)
    page.write(sweep, rows_of(sweep), Machine.this_one(), tmp_path)
    report = (tmp_path / "report.html").read_text()
    assert "<img src=x" not in report
    assert 'href="%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E%26.parquet"' in report
    assert "<code>&lt;img src=x onerror=alert(1)&gt;&amp;.parquet</code>" in report


def test_another_kit_on_a_worker_is_refused():
    with pytest.raises(LabError, match="the vitrine-sim at w2 is another one"):
        SAME.check(Versions("c0de", "52", "router", "d1"), "w2")


# ---- the command line ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("", "which sweep?"),
        ("who-win", "did you mean who-wins?"),
        ("who-wins --jobs many", "--jobs many"),
        ("who-wins --cluster here:8786", "is no address of a Dask scheduler"),
    ],
)
def test_what_the_command_line_cannot_mean_is_refused(words, what, capsys):
    assert command.main(["sweep", *words.split()]) in (1, 2)
    assert what in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--world", "--rate"])
def test_the_settings_of_a_sweep_stand_in_its_file(option, capsys):
    with pytest.raises(SystemExit):
        command.main(["sweep", "who-wins", option, "x"])
    assert f"vitrine sweep has no option {option}" in capsys.readouterr().err


def test_the_sweeps_of_the_kit_are_listed(capsys):
    command.main(["sweep"])
    assert "square-root-rule" in capsys.readouterr().out


@pytest.mark.parametrize("is_quick", [True, False])
@pytest.mark.parametrize("name", ["square-root-rule", "who-wins"])
def test_the_sweeps_of_the_kit_are_read(name, is_quick):
    sweep = plan.read(shipped.shipped()[name], quick=is_quick)
    assert len(sweep.points) == {
        ("square-root-rule", True): 4,
        ("square-root-rule", False): 30,
        ("who-wins", True): 12,
        ("who-wins", False): 48,
    }[name, is_quick]  # fmt: skip
