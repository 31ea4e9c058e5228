"""Similar submissions: disguises do not hide a copy, and the start's own text does not count."""

import csv
import random
import re
from dataclasses import replace
from html import unescape

import pytest

from course import catalogue
from course.exercise import SOLUTIONS
from course.grading import similarity
from course.grading.intake import FILE_BYTES_MAX, file_name, submissions

FIRST = catalogue.find("first-router")
FAIR = catalogue.find("fair-queues")
RIGHT_P4 = (SOLUTIONS / "first-router" / "right" / "router.p4").read_text()
RIGHT_PY = (SOLUTIONS / "fair-queues" / "right" / "scheduler.py").read_text()
# Another way to write deficit round robin, by an author who has not seen the reference.
OTHER_PY = """
class Drr:
    def __init__(self, setup):
        self.left = {}
        self.turns = []
    def choose(self, now, queues):
        ready = {each.queue: each for each in queues if each.packets}
        self.turns = [name for name in self.turns if name in ready]
        for name in ready:
            if name not in self.turns:
                self.turns.append(name)
                self.left[name] = 0
        while self.turns:
            name = self.turns[0]
            size = ready[name].head_bytes
            if self.left[name] >= size:
                self.left[name] -= size
                return name
            self.left[name] += 1500
            self.turns = self.turns[1:] + [name]
        return None
    def reset(self):
        while len(self.turns) > 0:
            del self.left[self.turns.pop()]
        print("everything", "is", "gone", len(self.left), sorted(self.left.items(), key=str))
        assert not self.left, (self.left, self.turns, "left", 1, 2, 3, [4, 5, {6: 7}])
"""


@pytest.fixture
def hand_in(tmp_path):
    """`hand_in({"ada": {"router.p4": "..."}})`: the submissions of a class."""

    def put(students):
        folder = tmp_path / "in"
        for name, files in students.items():
            (folder / name).mkdir(parents=True)
            for file, text in files.items():
                (folder / name / file).write_text(text)
        return submissions(folder)

    return put


def renamed(text, words):
    """The same program with other names for everything that students may name."""
    for number, word in enumerate(words):
        text = re.sub(rf"\b{word}\b", f"other_name_{number}", text)
    return text


def disguised_p4(text):
    text = renamed(text, ["hdr", "meta", "packet", "forward", "routes", "standard_metadata"])
    text = re.sub(r"//.*", "", text).replace(";", ";  // mine\n\n")
    return text.replace("{", "\n{ /* my\nown */ ")


def disguised_py(text):
    text = re.sub(r"#.*", "", renamed(text, ["self", "queues", "now", "setup", "each"]))
    return text.replace(":\n", ':\n        """My own work."""  # really\n\n')


@pytest.mark.parametrize(
    ("exercise", "file", "text", "disguise"),
    [(FIRST, "router.p4", RIGHT_P4, disguised_p4), (FAIR, "scheduler.py", RIGHT_PY, disguised_py)],
    ids=["P4", "Python"],
)
def test_names_comments_and_layout_hide_no_copy(exercise, file, text, disguise, hand_in):
    copied = disguise(text)
    assert copied != text
    found = hand_in({"ada": {file: text}, "mallory": {file: copied}})
    (pair,) = similarity.compare(exercise, found).pairs
    assert (pair.first, pair.second) == ("ada", "mallory")
    assert pair.share == 1
    # And the passages have lines of both, each in its own place.
    for passage in pair.passages:
        for name, (shown, begin, end) in (("ada", passage.first), ("mallory", passage.second)):
            assert shown == file
            lines = {"ada": text, "mallory": copied}[name].count("\n") + 1
            assert 1 <= begin <= end <= lines
    assert pair.passages[0].first[1:] != pair.passages[0].second[1:]


def test_what_students_were_given_is_nobody_s(hand_in):
    for exercise in catalogue.EXERCISES:
        start = {name: (exercise.start / name).read_text() for name in exercise.files}
        found = hand_in({f"{exercise.name}-{each}": start for each in ("ada", "grace")})
        found = [each for each in found if each.name.startswith(exercise.name)]
        report = similarity.compare(exercise, found)
        assert not report.pairs, exercise.name
        assert "Too little text of their own" in report.remarks[0]


def test_two_who_worked_alone_are_not_alike(hand_in):
    found = hand_in({"ada": {"scheduler.py": RIGHT_PY}, "grace": {"scheduler.py": OTHER_PY}})
    report = similarity.compare(FAIR, found)
    assert not report.pairs
    # Both had enough to be compared.
    assert not report.remarks


def test_padding_does_not_lower_the_share(hand_in):
    padded = OTHER_PY + RIGHT_PY
    found = hand_in({"ada": {"scheduler.py": RIGHT_PY}, "mallory": {"scheduler.py": padded}})
    (pair,) = similarity.compare(FAIR, found).pairs
    # Windows at the seam may choose otherwise.
    assert pair.of_first > 0.95
    assert pair.of_second < 0.8
    assert pair.share == pair.of_first


@pytest.mark.parametrize("length", [similarity.K - 1, similarity.K + similarity.WINDOW - 1])
def test_a_passage_is_found_from_k_plus_window_tokens_on_and_never_below_k(length, hand_in):
    def program(seed, common):
        signs = random.Random(seed)
        own = [signs.choice("+-*%<>=&|^~") for _ in range(600)]
        return "".join(own[:300] + common + own[300:])

    common = list("()[]{}:,.;@!?$()[[]]{{}}::,,.." * 2)[:length]
    found = hand_in(
        {"ada": {"router.p4": program(1, common)}, "grace": {"router.p4": program(2, common)}}
    )
    pairs = similarity.compare(FIRST, found).pairs
    if length < similarity.K:
        assert not pairs
    else:
        assert pairs[0].passages[0].tokens >= length


def test_what_most_of_a_class_has_says_nothing_of_two(hand_in):
    def program(seed):
        signs = random.Random(seed)
        return "".join(signs.choice("+-*%<>=&|^~") for _ in range(900))

    lecture = program("lecture")
    texts = {f"s{each:02}": {"router.p4": lecture + program(each)} for each in range(11)}
    texts["s11"] = {"router.p4": lecture + program(0)}
    report = similarity.compare(FIRST, hand_in(texts))
    first, *others = report.pairs
    assert (first.first, first.second) == ("s00", "s11")
    assert first.share == 1
    assert all(pair.share < 0.1 for pair in others)
    assert "more than half of the class" in report.remarks[0]


def test_the_report_is_sorted_harmless_and_the_same_every_time(hand_in, tmp_path):
    evil = "<script>alert(1)</script>"
    wrong = RIGHT_P4.replace("ttl - 1", "ttl - 1 - 1 + 1").replace("isValid()", "isValid() == true")
    found = hand_in(
        {
            "=ada": {"router.p4": RIGHT_P4},
            "grace": {"router.p4": RIGHT_P4.replace("\n", f" // {evil}\n")},
            "linus": {"router.p4": wrong},
        }
    )
    outs = []
    for each, order in (("one", found), ("two", found[::-1])):
        similarity.write(tmp_path / each, similarity.compare(FIRST, order))
        outs.append([(tmp_path / each / f"similar.{end}").read_bytes() for end in ("csv", "html")])
    assert outs[0] == outs[1]
    with (tmp_path / "one" / "similar.csv").open() as opened:
        head, *rows = list(csv.reader(opened))
    assert head[:3] == ["first", "second", "share"]
    assert rows[0][:3] == ["'=ada", "grace", "1.000"]
    shares = [float(row[2]) for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < 1
    page = (tmp_path / "one" / "similar.html").read_text()
    assert "<script" not in page
    assert evil in unescape(page)


def test_submissions_as_large_as_can_be_cost_a_bounded_report_and_no_other(hand_in, tmp_path):
    signs = random.Random(1)
    big = "\n".join(signs.choice("+-*%<>=&|^~") + "v" * 300 for _ in range(FILE_BYTES_MAX // 400))
    texts = {
        "blank": " " * FILE_BYTES_MAX,
        "comment": "/*" + "*" * (FILE_BYTES_MAX - 2),
        "quote": "'" * FILE_BYTES_MAX,
        "same": "x=x+1;" * (FILE_BYTES_MAX // 6),
        "same-again": "y=y+2;" * (FILE_BYTES_MAX // 6),
        "binary": "\0\x01" * 9_000,
        "big": big,
        "big-again": big,
    }
    found = hand_in({name: {"router.p4": text} for name, text in texts.items()})
    broken = replace(found[0], name="broken", path=None)
    report = similarity.compare(FIRST, [*found, broken])
    assert any(each.startswith("broken was not compared") for each in report.remarks)
    cut = [each for each in report.remarks if each.startswith("Only the first")]
    assert len(cut) == 7
    first = report.pairs[0]
    assert (first.first, first.second, first.share) == ("big", "big-again", 1)
    page = similarity.write(tmp_path, report)
    assert page.stat().st_size < 100_000


def test_the_report_is_no_student_s_page(tmp_path):
    for name in ("similar", "Similar", "similar_"):
        (tmp_path / name).mkdir()
    names = [file_name(each.name).lower() for each in submissions(tmp_path)]
    assert "similar" not in names
    assert len(set(names)) == 3
