"""Results are never lost: whatever ends a run, what it had is there, and so is what was before."""

import errno
import io
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from labs import archive, asked, recording_files
from labs.command import compare, conduct, redraw, side_of
from labs.errors import LabError, SettingError
from labs.files import replace_text
from labs.keeper import Keeper
from labs.pace import Pace, Took
from labs.settings import Settings
from labs.world import World
from tests.first_lab import Bottleneck
from tests.labs.saw import recording
from vitrine.command import run as command


class Prepared(Bottleneck):
    """The first lab, on a recording that was made by hand."""

    def conduct(self, run, bench):
        return recording()


class TwoRuns(Prepared):
    """The second of two runs ends as the test says."""

    def __init__(self, settings, ending):
        super().__init__(settings)
        self.ending = ending

    def runs(self):
        (run,) = super().runs()
        return [run, type(run)("second", "The second", 10)]

    def conduct(self, run, bench):
        if run.name == "second":
            raise self.ending
        return recording()


def settings(**changes):
    return Settings(seconds=10, **changes)


def test_each_run_has_a_folder_of_its_own_and_the_latest_a_link(tmp_path):
    first, second = (
        _conduct(Prepared(settings(queue_packets=size)), tmp_path)[0] for size in (50, 80)
    )
    assert first.name.endswith("-queue-50-duration-10")
    assert (first / "report.html").exists()
    assert (tmp_path / "bottleneck" / "latest").resolve() == second
    again, _ = _conduct(Prepared(settings(queue_packets=80)), tmp_path)
    assert again not in (first, second)
    assert len(list(archive.all_kept(tmp_path))) == 3
    programmed, _ = _conduct(Prepared(settings(program="p4/my.p4")), tmp_path)
    results = json.loads((programmed / "results.json").read_text())
    assert results["settings"]["program"] == "p4/my.p4"
    assert "--program p4/my.p4" in (programmed / "report.html").read_text()


def test_the_time_left_begins_with_what_the_same_took_before(tmp_path):
    # Another length of the flows tells as much.
    folder, _ = _conduct(Prepared(Settings(seconds=20)), tmp_path)
    runs = Prepared(settings()).runs()
    pace = Pace({runs[0].name: Took(1.5)}, 1.6)
    (folder / archive.PACE).write_text(json.dumps(pace.document()))

    def earlier(of):
        return archive.earlier_pace("bottleneck", of, runs, tmp_path)

    assert earlier(settings()) == pace
    # Of other settings it is what live runs take, and not how long all of it does.
    assert earlier(settings(queue_packets=7)) == Pace(pace.runs)
    # A shortened run is mostly beginnings and ends, so it tells nothing about a long one.
    assert earlier(settings(quick=True)) == Pace.of_flows(runs)
    # The speed of virtual time is not known before a run.
    assert earlier(settings(world=World.VIRTUAL)) == Pace()
    # An unreadable file counts as missing.
    (folder / archive.PACE).write_text("1.5")
    assert earlier(settings()).runs.keys() == pace.runs.keys()


def _conduct(lab, results):
    told = io.StringIO()
    names = {kept.name for kept in archive.all_kept(results)}
    conduct(lab, told, results=results)
    (new,) = [kept for kept in archive.all_kept(results) if kept.name not in names]
    return new.folder, told.getvalue()


@pytest.mark.parametrize(
    ("ending", "raised", "why"),
    [
        (KeyboardInterrupt(), KeyboardInterrupt, "it was interrupted"),
        (SystemExit(143), SystemExit, "its process received a signal to end"),
        (OSError(errno.ENOSPC, "No space left on device"), LabError, "the disk is full"),
        (LabError("the router sent no sample."), LabError, "the router sent no sample."),
    ],
)
def test_a_run_that_ends_early_keeps_what_it_had_and_says_so(tmp_path, ending, raised, why):
    latest, _ = _conduct(Prepared(settings()), tmp_path)
    told = io.StringIO()
    with pytest.raises(raised):
        conduct(TwoRuns(settings(), ending), told, results=tmp_path)
    (early,) = [kept for kept in archive.all_kept(tmp_path) if kept.folder != latest]
    assert f"Kept in {early.folder}: 1 of 2 runs." in told.getvalue()
    assert early.verdict == f"ended early: {why}"
    assert recording_files.read(early.folder / "data" / "flow") == recording()
    # The latest is the latest with a report.
    assert (tmp_path / "bottleneck" / "latest").resolve() == latest


def test_a_refusal_before_anything_was_measured_changes_nothing(tmp_path):
    class Refused(Prepared):
        def conduct(self, run, bench):
            raise LabError("a network is up already.")

    before, _ = _conduct(Prepared(settings()), tmp_path)
    told = io.StringIO()
    with pytest.raises(LabError):
        conduct(Refused(settings()), told, results=tmp_path)
    assert "earlier results are as they were" in told.getvalue()
    assert [kept.folder for kept in archive.all_kept(tmp_path)] == [before]


def test_two_runs_that_begin_in_one_minute_never_share_a_folder(tmp_path):
    class WhileAnotherRuns(Prepared):
        """The same lab is run in full between this one's start and its first result."""

        def conduct(self, run, bench):
            conduct(Prepared(settings()), io.StringIO(), results=tmp_path)
            return recording()

    conduct(WhileAnotherRuns(settings()), io.StringIO(), results=tmp_path)
    one, other = archive.all_kept(tmp_path)
    for kept in (one, other):
        assert kept.verdict == "2 of 2 bands met"
        # Nothing of the other one's was moved out of the way.
        assert [place.name for place in (kept.folder / "data").iterdir()] == ["flow"]


def test_another_seed_that_is_done_first_claims_the_folder_for_all(tmp_path):
    keeper = Keeper(Prepared(settings()), tmp_path)
    beside = Keeper(Prepared(settings()), tmp_path)
    with ThreadPoolExecutor() as seeds:
        folders = set(seeds.map(lambda _: keeper.folder, range(4)))
    assert folders == {keeper.folder}
    assert beside.folder != keeper.folder
    assert [kept.verdict for kept in archive.all_kept(tmp_path)] == ["is still running"] * 2


def test_what_an_instrument_had_seen_when_the_run_was_interrupted_is_kept(tmp_path):
    class Interrupted(Prepared):
        def conduct(self, run, bench):
            bench._recording = recording()
            raise KeyboardInterrupt

    told = io.StringIO()
    with pytest.raises(KeyboardInterrupt):
        conduct(Interrupted(settings()), told, results=tmp_path)
    (early,) = archive.all_kept(tmp_path)
    assert "0 of 1 runs and what there is of flow" in told.getvalue()
    assert recording_files.read(early.folder / "data" / "flow-unfinished") == recording()


def test_a_disk_that_is_full_while_results_are_written_is_a_sentence(tmp_path, monkeypatch):
    def full(recording, folder):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(recording_files, "write", full)
    with pytest.raises(LabError, match="bottleneck ended early: the disk is full"):
        conduct(Prepared(settings()), io.StringIO(), results=tmp_path)


def test_kept_runs_are_listed_with_their_verdicts(tmp_path, monkeypatch, capsys):
    folder, _ = _conduct(Prepared(settings()), tmp_path)
    monkeypatch.setattr(archive.all_kept, "__defaults__", (tmp_path,))
    assert command.main(["results"]) == 0
    listed = capsys.readouterr().out
    assert f"bottleneck/{folder.name}\n    2 of 2 bands met" in listed


def test_a_run_is_found_by_its_name_its_lab_or_its_path(tmp_path):
    folder, _ = _conduct(Prepared(settings()), tmp_path)
    for name in (f"bottleneck/{folder.name}", "bottleneck", "bottleneck/latest", str(folder)):
        assert archive.find(name, tmp_path).folder == folder
    with pytest.raises(SettingError, match=f"did you mean bottleneck/{folder.name}"):
        archive.find(f"botleneck/{folder.name}", tmp_path)


def test_two_kept_runs_are_drawn_beside_each_other_on_one_scale(tmp_path):
    sides = []
    for size in (50, 200):
        lab = Prepared(settings(queue_packets=size))
        folder, _ = _conduct(lab, tmp_path)
        sides.append(side_of(lab, archive.find(str(folder), tmp_path)))
    told = io.StringIO()
    compare(sides, told, results=tmp_path)
    (page,) = tmp_path.glob("bottleneck/compared-*/report.html")
    text = page.read_text()
    assert "<h1>One flow, one slow line: --queue 50 and --queue 200</h1>" in text
    assert text.count('src="data:image/svg+xml') == 2
    assert "Side by side" in told.getvalue()


def test_a_report_is_drawn_anew_from_what_was_kept(tmp_path):
    lab = Prepared(settings())
    folder, _ = _conduct(lab, tmp_path)
    before = {name: (folder / name).read_text() for name in ("results.json", "table.md")}
    (folder / "report.html").unlink()
    redraw(lab, archive.find(str(folder), tmp_path), io.StringIO())
    assert {name: (folder / name).read_text() for name in before} == before
    assert (folder / "report.html").exists()


def test_a_run_of_an_older_kit_that_lacks_what_the_lab_has_now_is_refused_by_name(tmp_path):
    lab = Prepared(settings())
    folder, _ = _conduct(lab, tmp_path)
    (folder / "data" / "flow").rename(folder / "data" / "stream")
    with pytest.raises(LabError, match="has no run flow, which the lab has now: .* with kit"):
        redraw(lab, archive.find(str(folder), tmp_path), io.StringIO())


# ---- files that somebody else has left ---------------------------------------------------------


DAMAGED = {
    "no object": "[]",
    "nothing in it": "{}",
    "bands are a number": '{"ended_early": "", "settings": {}, "bands": 3}',
    "no bands": '{"ended_early": "", "settings": {}}',
    "settings are a number": '{"ended_early": "why", "settings": 3}',
    "a process without numbers": '{"ended_early": "w", "settings": {}, "process": ["a", 1]}',
    "brackets without end": "[" * 200_000,
    "a number of 5,000 digits": "9" * 5000,
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_damaged_results_of_one_run_hide_no_other_and_stop_none(
    tmp_path, monkeypatch, capsys, text
):
    folder, _ = _conduct(Prepared(settings()), tmp_path)
    other = tmp_path / "bottleneck" / "2026-01-01-0001-x"
    other.mkdir()
    (other / "results.json").write_text(text)
    monkeypatch.setattr(archive.all_kept, "__defaults__", (tmp_path,))
    assert command.main(["results"]) == 0
    listed = capsys.readouterr().out
    assert f"bottleneck/{folder.name}\n    2 of 2 bands met" in listed
    assert "bottleneck/2026-01-01-0001-x\n    ended early, before it could write why" in listed
    _conduct(Prepared(settings()), tmp_path)
    with pytest.raises(LabError, match="its settings are not known"):
        asked.lab_of(archive.find(str(other), tmp_path))


def test_words_of_a_kept_run_have_no_effect_on_the_terminal(tmp_path, monkeypatch, capsys):
    other = tmp_path / "bottleneck" / "2026-01-01-0001-\x1b]0;x"
    other.mkdir(parents=True)
    why = {"ended_early": "\x1b[31mred\a", "settings": {}}
    (other / "results.json").write_text(json.dumps(why))
    monkeypatch.setattr(archive.all_kept, "__defaults__", (tmp_path,))
    assert command.main(["results"]) == 0
    listed = capsys.readouterr().out
    assert "ended early: ?[31mred?" in listed and "\x1b" not in listed and "\a" not in listed


def spoilt(name, change):
    def spoil(folder):
        file = folder / "data" / "flow" / name
        file.write_text(change(file.read_text()))

    return spoil


RECORDINGS = {
    "no JSON": spoilt("recording.json", lambda text: text[:-3]),
    "an empty object": spoilt("recording.json", lambda text: "{}"),
    "brackets without end": spoilt("recording.json", lambda text: "[" * 200_000),
    "an unknown port": spoilt("recording.json", lambda text: text.replace("s1-eth2", "s1-eth9")),
    "a word for a number": spoilt("queues-s1-eth2.csv", lambda text: f"{text}a,b,c,d,e\n"),
    "a short line": spoilt("queues-s1-eth2.csv", lambda text: f"{text}9\n"),
    "a header alone": spoilt("sockets-h1.csv", lambda text: "time_s\n1\n"),
    # A rate over 0.2 s windows would take 40 TB.
    "an instant far away": spoilt("queues-s1-eth2.csv", lambda text: f"{text}1e12,0,0,0,0\n"),
    "no instant": spoilt("queues-s1-eth2.csv", lambda text: f"{text}nan,0,0,0,0\n"),
    "digits": spoilt("queues-s1-eth2.csv", lambda text: f"{text}1,{'9' * 5000},0,0,0\n"),
    "no text": lambda folder: (folder / "data" / "flow" / "recording.json").write_bytes(b"\xff"),
}


@pytest.mark.parametrize("spoil", RECORDINGS.values(), ids=RECORDINGS)
def test_a_damaged_recording_is_refused_in_a_sentence(tmp_path, spoil):
    lab = Prepared(settings())
    folder, _ = _conduct(lab, tmp_path)
    spoil(folder)
    with pytest.raises(LabError, match=r"the files of bottleneck/.* are damaged \("):
        redraw(lab, archive.find(str(folder), tmp_path), io.StringIO())


def test_settings_of_another_form_are_refused_in_a_sentence(tmp_path):
    folder, _ = _conduct(Prepared(settings()), tmp_path)
    file = folder / "results.json"
    for changed in ({}, {"toolchain": "x"}, {"toolchain": "vitrine", "colour": "blue"}):
        document = json.loads(file.read_text())
        file.write_text(json.dumps({**document, "settings": changed}))
        with pytest.raises(LabError, match="are damaged"):
            asked.lab_of(archive.find(str(folder), tmp_path))


# ---- runs that ended early -----------------------------------------------------------------------


def _early(results, ending=None):
    with pytest.raises(BaseException):  # noqa: B017
        conduct(TwoRuns(settings(), ending or KeyboardInterrupt()), io.StringIO(), results=results)
    (early,) = [kept for kept in archive.all_kept(results) if not kept.is_complete]
    return early


def test_what_there_is_of_a_run_that_ended_early_is_drawn_and_says_why(tmp_path):
    early = _early(tmp_path)
    told = io.StringIO()
    lab = TwoRuns(settings(), None)
    redraw(lab, early, told)
    page = (early.folder / "report.html").read_text()
    assert "This run ended early: it was interrupted. 1 of its 2 runs came to their end." in page
    assert '<figure id="run-flow">' in page
    assert "Report of the data so far" in told.getvalue()
    # It goes on being one that ended early.
    assert archive.find(str(early.folder), tmp_path).verdict == early.verdict
    with pytest.raises(LabError, match=f"no table .* vitrine report {early.name} draws"):
        side_of(lab, early)


def test_a_run_whose_process_lives_is_running_and_one_that_was_killed_has_ended(tmp_path):
    seen = []

    class Looks(TwoRuns):
        def conduct(self, run, bench):
            if run.name == "second":
                seen.extend(archive.all_kept(tmp_path))
            return super().conduct(run, bench)

    with pytest.raises(KeyboardInterrupt):
        conduct(Looks(settings(), KeyboardInterrupt()), io.StringIO(), results=tmp_path)
    (running,) = seen
    assert running.verdict == "is still running"
    with pytest.raises(LabError, match="is still running: wait"):
        redraw(Prepared(settings()), running, io.StringIO())
    # The files after the process is killed outright: the same, of a process that is gone.
    dead = {**running.results, "process": [running.results["process"][0], 0]}
    assert archive.Kept(running.folder, dead).verdict.startswith("ended early: its process was")


def test_why_a_run_ended_is_written_also_where_nothing_more_can_be(tmp_path, monkeypatch):
    def full(path, text):
        path.with_name(f"{path.name}.new").write_text("")
        raise OSError(errno.ENOSPC, "No space left on device")

    class FillsTheDisk(TwoRuns):
        def conduct(self, run, bench):
            if run.name == "second":
                # From here on no new file gets any content.
                monkeypatch.setattr("labs.keeper.replace_text", full)
                monkeypatch.setattr("labs.files.replace_text", full)
            return super().conduct(run, bench)

    ending = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(LabError, match="the disk is full"):
        conduct(FillsTheDisk(settings(), ending), io.StringIO(), results=tmp_path)
    (early,) = archive.all_kept(tmp_path)
    assert early.verdict == "ended early: the disk is full"
    assert not list(early.folder.glob(".*"))


def test_a_file_that_cannot_be_written_anew_is_as_it_was(tmp_path, monkeypatch):
    file = tmp_path / "results.json"
    file.write_text("before")

    def full(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(type(file), "write_text", full)
    with pytest.raises(OSError, match="No space"):
        replace_text(file, "after")
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_the_list_promises_a_report_only_of_runs_that_came_to_their_end(
    tmp_path, monkeypatch, capsys
):
    early = _early(tmp_path)
    monkeypatch.setattr(archive.all_kept, "__defaults__", (tmp_path,))
    assert command.main(["results"]) == 0
    listed = capsys.readouterr().out
    assert f"{early.name}\n    ended early: it was interrupted" in listed
    assert "vitrine report RUN draws what there is of one that ended early" in listed
