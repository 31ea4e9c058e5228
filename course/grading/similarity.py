"""Pairs of submissions that share more code than chance explains, for a person to look at.

    report = compare(exercise, found)
    write(folder, report)               # similar.html and similar.csv

The method is that of MOSS: Schleimer, Wilkerson and Aiken, "Winnowing: Local Algorithms for
Document Fingerprinting", SIGMOD 2003.

1. A submission becomes tokens: comments, docstrings and spacing go, every name becomes `v`, every
   number `n`, every string `s`; so renaming and reformatting change nothing. Names and numbers of a
   YAML file stay, because they are all there is in it.
2. Every K tokens in a row are hashed. A hash of which half or more is text that students were given
   does not count, nor one that more than half of a large class has.
3. Of each WINDOW hashes in a row the smallest is a fingerprint. A common passage of
   K + WINDOW - 1 tokens, about three lines, therefore always has a common fingerprint, and one
   shorter than K never has.
4. The share of a pair is its common fingerprints, of the fingerprints of the one that has fewer.

The same submissions give the same bytes. Nothing of a submission is run; of a large one the first
TOKENS_MAX tokens are compared. The files name students: they are the teacher's alone.
"""

from __future__ import annotations

import csv
import io
import keyword
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations, islice
from pathlib import Path
from zlib import crc32

from course.exercise import Exercise
from course.grading.intake import SIMILAR, Submission
from course.grading.records import write_whole
from course.grading.sheet import harmless

K = 20
WINDOW = 10
# The longest reference has 2,400.
TOKENS_MAX = 20_000
# Of each file, comments and all.
CHARACTERS_MAX = 200_000
# Shares of less say nothing: that many fingerprints are about 100 tokens.
FINGERPRINTS_MIN = 10
# From this many submissions on, what more than half of them have says nothing of two.
CLASS_MIN = 10
# Of the page.
PAIRS_MAX, DETAILED_MAX, PASSAGES_MAX, LINES_MAX, COLUMNS_MAX = 200, 40, 12, 60, 160
# How many places of the second submission are tried for a passage of the first.
_PLACES_MAX = 4

_PRIME = (1 << 61) - 1
_BASE = 1_000_003
_WORD = r"(?P<name>[^\W\d]\w*)|(?P<number>\d[\w.]*)"
_STRING = r"\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?"
_PYTHON = re.compile(
    r"(?P<skip>\s+|\#[^\n]*|\"\"\"(?:\\.|(?!\"\"\").)*(?:\"\"\"|\Z)|'''(?:\\.|(?!''').)*(?:'''|\Z))"
    rf"|{_WORD}|(?P<string>{_STRING})|(?P<sign>.)",
    re.S,
)
_P4 = re.compile(
    rf"(?P<skip>\s+|//[^\n]*|/\*(?:(?!\*/).)*(?:\*/|\Z))"
    rf"|{_WORD}|(?P<string>{_STRING})|(?P<sign>.)",
    re.S,
)
_YAML = re.compile(rf"(?P<skip>\s+|\#[^\n]*)|{_WORD}|(?P<string>{_STRING})|(?P<sign>.)", re.S)
_KEYWORDS = frozenset(keyword.kwlist) | {
    *("abstract", "action", "actions", "apply", "bit", "bool", "const", "control", "default"),
    *("else", "entries", "enum", "error", "exit", "extern", "false", "header", "header_union"),
    *("if", "in", "inout", "int", "key", "match_kind", "out", "package", "parser", "return"),
    *("select", "state", "struct", "switch", "table", "transition", "true", "tuple", "typedef"),
    *("type", "varbit", "void"),
}


class _Text:
    """One submission as tokens, and its fingerprints with where each begins."""

    def __init__(self, name: str, files: dict[str, bytes], given: frozenset[int]) -> None:
        self.name = name
        self.lines = {file: _characters(content).split("\n") for file, content in files.items()}
        self.codes = array("Q")
        # Of each token.
        self.files: list[str] = []
        self.line_numbers = array("L")
        found = _tokens_of(name, files)
        for code, file, line in islice(found, TOKENS_MAX):
            self.codes.append(code)
            self.files.append(file)
            self.line_numbers.append(line)
        self.is_cut = next(found, None) is not None or any(
            len(content) > CHARACTERS_MAX for content in files.values()
        )
        hashes = _hashes(self.codes)
        # Tokens of text that students were given.
        self.given = bytearray(len(self.codes))
        for at, each in enumerate(hashes):
            if each in given:
                self.given[at : at + K] = b"\1" * K
        before = [0]
        for each in self.given:
            before.append(before[-1] + each)
        own = [
            (each, -at) for at, each in enumerate(hashes) if 2 * (before[at + K] - before[at]) < K
        ]
        self.places: dict[int, list[int]] = {}
        for each, at in _winnowed(own):
            self.places.setdefault(each, []).append(-at)


@dataclass(frozen=True)
class Passage:
    """Common lines, by the numbers of their first and last line."""

    tokens: int
    first: tuple[str, int, int]
    second: tuple[str, int, int]


@dataclass(frozen=True)
class Pair:
    """Two submissions with something in common."""

    first: str
    second: str
    common: int
    of_first: float
    of_second: float
    # Longest first; of the pairs that the page shows.
    passages: tuple[Passage, ...] = ()

    @property
    def share(self) -> float:
        """Of the one with fewer fingerprints, so that padding hides nothing."""
        return max(self.of_first, self.of_second)


@dataclass(frozen=True)
class Report:
    """The result for a class."""

    exercise: Exercise
    # The largest share first.
    pairs: tuple[Pair, ...]
    # The parts that were not compared, or not wholly, in sentences.
    remarks: tuple[str, ...]
    # The lines of each submission that the page shows, by name and file.
    lines: dict[str, dict[str, list[str]]]


def compare(exercise: Exercise, found: Sequence[Submission]) -> Report:
    """Compares every two submissions of a class."""
    given = _given(exercise)
    texts: list[_Text] = []
    remarks: list[str] = []
    for each in sorted(found, key=lambda each: each.name):
        try:
            files = each.content(exercise.files)[0]
            text = _Text(
                each.name, {name: files[name] for name in exercise.files if name in files}, given
            )
        except Exception as error:  # noqa: BLE001 - one submission must not cost the others
            remarks.append(f"{each.name} was not compared: {type(error).__name__}: {error}"[:300])
            continue
        if text.is_cut:
            remarks.append(f"Only the first {TOKENS_MAX} tokens of {each.name} were compared.")
        texts.append(text)
    commonplace = _commonplace(texts)
    if commonplace:
        remarks.append(
            f"{len(commonplace)} fingerprints that more than half of the class has were left out."
        )
    for text in texts:
        text.places = {each: at for each, at in text.places.items() if each not in commonplace}
    few = [text.name for text in texts if len(text.places) < FINGERPRINTS_MIN]
    if few:
        remarks.append(f"Too little text of their own to be compared: {', '.join(few)}.")
    texts = [text for text in texts if len(text.places) >= FINGERPRINTS_MIN]
    pairs = _pairs(texts)
    by_name = {text.name: text for text in texts}
    detailed = [
        Pair(
            *(pair.first, pair.second, pair.common, pair.of_first, pair.of_second),
            tuple(_passages(by_name[pair.first], by_name[pair.second])),
        )
        for pair in pairs[:DETAILED_MAX]
    ]
    shown = {name for pair in detailed for name in (pair.first, pair.second)}
    lines = {name: by_name[name].lines for name in sorted(shown)}
    return Report(exercise, (*detailed, *pairs[DETAILED_MAX:]), tuple(remarks), lines)


def write(folder: Path, report: Report) -> Path:
    """Writes similar.csv with all pairs and similar.html with the first; where the page is."""
    text = io.StringIO()
    sheet = csv.writer(text)
    sheet.writerow(["first", "second", "share", "of first", "of second", "common fingerprints"])
    for pair in report.pairs:
        shares = (f"{share:.3f}" for share in (pair.share, pair.of_first, pair.of_second))
        sheet.writerow([harmless(pair.first), harmless(pair.second), *shares, pair.common])
    write_whole(folder / f"{SIMILAR}.csv", text.getvalue())
    page = folder / f"{SIMILAR}.html"
    write_whole(page, _page(report))
    return page


# ---- fingerprints --------------------------------------------------------------------------------


def _tokens_of(name: str, files: dict[str, bytes]) -> Iterator[tuple[int, str, int]]:
    """All tokens; before each file one that no other submission has, so no passage crosses it."""
    for file, content in files.items():
        yield _code(f"\0{name}\0{file}"), file, 1
        line, at = 1, 0
        text = _characters(content)
        keeps = file.endswith((".yaml", ".yml"))
        grammar = _YAML if keeps else _PYTHON if file.endswith(".py") else _P4
        for match in grammar.finditer(text):
            kind = match.lastgroup
            if kind == "skip":
                continue
            line += text.count("\n", at, match.start())
            at = match.start()
            word = match.group()
            if not keeps:
                if kind == "name" and word not in _KEYWORDS:
                    word = "v"
                elif kind == "number":
                    word = "n"
                elif kind == "string":
                    word = "s"
            yield _code(word), file, line


def _characters(content: bytes) -> str:
    return content[:CHARACTERS_MAX].decode(errors="replace")


def _code(word: str) -> int:
    # Python's own hashes of text differ from run to run.
    return crc32(word.encode(errors="replace")) + 1


def _hashes(codes: Sequence[int]) -> list[int]:
    """The hash of each K tokens in a row, by Rabin and Karp."""
    if len(codes) < K:
        return []
    top = pow(_BASE, K - 1, _PRIME)
    value = 0
    for code in codes[:K]:
        value = (value * _BASE + code) % _PRIME
    result = [value]
    for at in range(K, len(codes)):
        value = ((value - codes[at - K] * top) * _BASE + codes[at]) % _PRIME
        result.append(value)
    return result


def _winnowed(hashes: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The smallest hash of each window, the last of several; each once. Places are negative."""
    last = None
    for at in range(max(1, len(hashes) - WINDOW + 1) if hashes else 0):
        least = min(hashes[at : at + WINDOW])
        if least != last:
            yield least
            last = least


def _given(exercise: Exercise) -> frozenset[int]:
    """Hashes of the students' given code: the start, and code in the handout."""
    result: set[int] = set()
    for name in exercise.files:
        start = exercise.start / name
        if start.is_file():
            codes = [code for code, _, _ in _tokens_of("", {name: start.read_bytes()})]
            result.update(_hashes(codes))
    handout = (exercise.folder / "README.md").read_text()
    for block in re.findall(r"^```\w*\n(.*?)^```", handout, re.M | re.S):
        for name in exercise.files:
            codes = [code for code, _, _ in _tokens_of("", {name: block.encode()})]
            result.update(_hashes(codes))
    return frozenset(result)


def _commonplace(texts: Sequence[_Text]) -> set[int]:
    if len(texts) < CLASS_MIN:
        return set()
    counts = Counter(each for text in texts for each in text.places)
    return {each for each, count in counts.items() if 2 * count > len(texts)}


# ---- pairs ---------------------------------------------------------------------------------------


def _pairs(texts: Sequence[_Text]) -> list[Pair]:
    owners: dict[int, list[int]] = {}
    for number, text in enumerate(texts):
        for each in text.places:
            owners.setdefault(each, []).append(number)
    counts: Counter[tuple[int, int]] = Counter()
    for numbers in owners.values():
        counts.update(combinations(numbers, 2))
    result = []
    for (one, other), common in counts.items():
        first, second = texts[one], texts[other]
        shares = (common / len(first.places), common / len(second.places))
        result.append(Pair(first.name, second.name, common, *shares))
    return sorted(result, key=lambda pair: (-pair.share, -pair.common, pair.first, pair.second))


def _passages(first: _Text, second: _Text) -> list[Passage]:
    """Common passages, the longest first, none inside another of the first submission."""
    result = []
    seen = 0
    for at, hashed in sorted(
        (at, each) for each in first.places if each in second.places for at in first.places[each]
    ):
        if at < seen:
            continue
        spans = (
            _widened(first, second, at, place, seen)
            for place in second.places[hashed][:_PLACES_MAX]
        )
        begin, there, length = max(spans, key=lambda span: span[2])
        # Two different passages may have one hash, if hardly ever.
        if length < K // 2:
            continue
        seen = begin + length
        result.append(Passage(length, _span(first, begin, length), _span(second, there, length)))
    return sorted(result, key=lambda each: (-each.tokens, each.first))[:PASSAGES_MAX]


def _widened(first: _Text, second: _Text, at: int, there: int, least: int) -> tuple[int, int, int]:
    """The passage around two equal tokens: where it begins in each, and its length."""
    begin, end, shift = at, at, there - at
    one, other = first.codes, second.codes
    while begin > least and begin + shift > 0 and one[begin - 1] == other[begin - 1 + shift]:
        begin -= 1
    while end < len(one) and end + shift < len(other) and one[end] == other[end + shift]:
        end += 1
    # Given code belongs to no student, at the ends of a passage.
    while begin < end and first.given[begin]:
        begin += 1
    while end > begin and first.given[end - 1]:
        end -= 1
    return begin, begin + shift, end - begin


def _span(text: _Text, begin: int, length: int) -> tuple[str, int, int]:
    return text.files[begin], text.line_numbers[begin], text.line_numbers[begin + length - 1]


# ---- the page ------------------------------------------------------------------------------------

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 2rem auto; padding: 0 1rem;
       color: #1c1c1c; background: #fff; }
table { border-collapse: collapse; } th, td { padding: .1rem .8rem; text-align: left; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
.both { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
pre { background: #f4f4f4; padding: .5rem; overflow-x: auto; font-size: .8rem; margin: .3rem 0; }
"""


def _page(report: Report) -> str:
    title = f"{report.exercise.title}: similar submissions"
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style><h1>{escape(title)}</h1>",
        "<p>For the teacher: this page names students. A large share is a reason to read both "
        "programs, not a proof. In short exercises honest solutions share a third and more.</p>",
        *(f"<p>{escape(remark)}</p>" for remark in report.remarks),
    ]
    if not report.pairs:
        return "\n".join([*parts, "<p>No two submissions have a passage in common.</p></html>\n"])
    parts.append(
        '<table><tr><th class="n">share</th><th>submission</th><th class="n">of it</th>'
        '<th>submission</th><th class="n">of it</th></tr>'
    )
    for number, pair in enumerate(report.pairs[:PAIRS_MAX]):
        share = f"{pair.share:.0%}"
        if pair.passages:
            share = f'<a href="#pair-{number}">{share}</a>'
        parts.append(
            f'<tr><td class="n">{share}</td>'
            f'<td>{escape(pair.first)}</td><td class="n">{pair.of_first:.0%}</td>'
            f'<td>{escape(pair.second)}</td><td class="n">{pair.of_second:.0%}</td></tr>'
        )
    parts.append("</table>")
    if len(report.pairs) > PAIRS_MAX:
        parts.append(f"<p>All {len(report.pairs)} pairs are in similar.csv.</p>")
    for number, pair in enumerate(report.pairs):
        if not pair.passages:
            continue
        names = f"{pair.first} and {pair.second}"
        parts.append(f'<h2 id="pair-{number}">{pair.share:.0%}: {escape(names)}</h2>')
        for passage in pair.passages:
            one = _side(report, pair.first, passage.first)
            other = _side(report, pair.second, passage.second)
            parts.append(f'<div class="both">{one}{other}</div>')
    return "\n".join(parts) + "\n</html>\n"


def _side(report: Report, name: str, span: tuple[str, int, int]) -> str:
    file, begin, end = span
    shown = report.lines[name][file][begin - 1 : end][:LINES_MAX]
    text = "\n".join(
        f"{number:4} {line[:COLUMNS_MAX].rstrip()}" for number, line in enumerate(shown, begin)
    )
    if end - begin >= LINES_MAX:
        text += f"\n     (and {end - begin + 1 - LINES_MAX} more lines)"
    head = f"{name}, {file}, lines {begin} to {end}"
    return f"<div><div>{escape(head)}</div><pre>{escape(text)}</pre></div>"
