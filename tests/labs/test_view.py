"""The live view: what is drawn, and what is printed where nothing can be drawn."""

import io

from labs.sampling import Reading
from labs.view import CHART_ROWS, LiveView, picture, status
from tests.labs.saw import SUBJECT, saw

WIDTH = 40


def steady(depth: int, count: int = 200) -> list[Reading]:
    return [Reading(index * 0.05, depth, depth * 1514, 0, 0, 0) for index in range(count)]


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_the_status_line_holds_depth_rate_and_drops():
    # 10 s of teeth of 2 s: the line is always busy, the fifth tooth has just ended.
    assert status(SUBJECT, saw(10.0)) == (
        " 10.0 s   queue 25 of 50 packets   out   10 Mb/s   dropped 5"
    )


def test_a_full_queue_fills_the_chart_and_an_empty_one_leaves_it_blank():
    full = picture(SUBJECT, steady(50), WIDTH)[1 : 1 + CHART_ROWS]
    assert all(line.endswith("█" * (WIDTH - 4)) for line in full)
    empty = picture(SUBJECT, steady(0), WIDTH)[1 : 1 + CHART_ROWS]
    assert all("|" in line and not set("▁▂▃▄▅▆▇█") & set(line) for line in empty)


def test_half_a_queue_fills_the_lower_half_of_the_rows():
    rows = picture(SUBJECT, steady(25), WIDTH)[1 : 1 + CHART_ROWS]
    assert ["█" in row for row in rows] == [False] * 4 + [True] * 4


def test_a_single_packet_is_visible():
    # One of 50 packets is 1.28 of 64 eighths: the lowest block of the lowest row.
    assert picture(SUBJECT, steady(1), WIDTH)[CHART_ROWS].endswith("▁")


def test_the_chart_shows_the_last_seconds_and_never_exceeds_the_width():
    lines = picture(SUBJECT, saw(60.0), WIDTH)
    assert max(len(line) for line in lines[1:-1]) == WIDTH


def test_the_rows_are_labelled_in_packets():
    labels = [line.split("|")[0].strip() for line in picture(SUBJECT, steady(1), WIDTH)[1:9]]
    # 50 packets on 8 rows; every second row is labelled.
    assert labels == ["50", "", "38", "", "25", "", "12", ""]


def test_on_a_terminal_each_picture_is_drawn_over_the_last():
    terminal = Terminal()
    view = LiveView(SUBJECT, terminal)
    view.show(saw(1.0))
    first = terminal.getvalue()
    view.show(saw(1.1))
    # Title, chart, floor, status.
    height = 1 + CHART_ROWS + 1 + 1
    assert "\x1b[11A" not in first
    assert terminal.getvalue()[len(first) :].startswith(f"\x1b[{height}A")


def test_without_a_terminal_one_plain_line_a_second_is_printed():
    output = io.StringIO()
    view = LiveView(SUBJECT, output)
    readings = saw(3.0)
    for end in range(1, len(readings) + 1):
        view.show(readings[:end])
    lines = output.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == ["0.0", "1.0", "2.0", "3.0"]
    assert "\x1b" not in output.getvalue()


def test_nothing_is_shown_before_the_first_reading():
    output = io.StringIO()
    LiveView(SUBJECT, output).show([])
    assert output.getvalue() == ""


def test_a_terminal_without_unicode_gets_plain_characters():
    class AsciiTerminal(Terminal):
        encoding = "ascii"

    terminal = AsciiTerminal()
    LiveView(SUBJECT, terminal).show(saw(3.0))
    terminal.getvalue().encode("ascii")
    assert "#" in terminal.getvalue()
