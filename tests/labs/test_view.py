"""The live view: what is drawn, and what is printed where nothing can be drawn."""

import io

from labs.measure.router import PortSeries
from labs.text import bar
from labs.view import CHART_ROWS, Chart, LiveView, picture, status
from tests.labs.saw import SUBJECT, add, saw, steady

WIDTH = 40


def chart(series: PortSeries) -> Chart:
    taken = Chart(SUBJECT)
    taken.take(series)
    return taken


def view(output) -> LiveView:
    return LiveView(SUBJECT, output, lambda: "about 5 s left")


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_the_status_line_holds_depth_rate_and_drops():
    # 10 s of teeth of 2 s: the line is always busy, the fifth tooth has just ended.
    assert status(chart(saw(10.0))) == (
        " 10.0 s   queue 25 of 50 packets   out   10 Mb/s   dropped 5"
    )


def test_a_full_queue_fills_the_chart_and_an_empty_one_leaves_it_blank():
    full = picture(chart(steady(50)), WIDTH)[1 : 1 + CHART_ROWS]
    assert all(line.endswith("█" * (WIDTH - 4)) for line in full)
    empty = picture(chart(steady(0)), WIDTH)[1 : 1 + CHART_ROWS]
    assert all("|" in line and not set("▁▂▃▄▅▆▇█") & set(line) for line in empty)


def test_half_a_queue_fills_the_lower_half_of_the_rows():
    rows = picture(chart(steady(25)), WIDTH)[1 : 1 + CHART_ROWS]
    assert ["█" in row for row in rows] == [False] * 4 + [True] * 4


def test_a_single_packet_is_visible():
    # One of 50 packets is 1.28 of 64 eighths: the lowest block of the lowest row.
    assert picture(chart(steady(1)), WIDTH)[CHART_ROWS].endswith("▁")


def test_the_chart_shows_the_last_seconds_and_never_exceeds_the_width():
    lines = picture(chart(saw(60.0)), WIDTH)
    assert max(len(line) for line in lines[1:-1]) == WIDTH


def test_the_rows_are_labelled_in_packets():
    labels = [line.split("|")[0].strip() for line in picture(chart(steady(1)), WIDTH)[1:9]]
    # 50 packets on 8 rows; every second row is labelled.
    assert labels == ["50", "", "38", "", "25", "", "12", ""]


def test_a_chart_that_grew_in_steps_is_the_chart_of_the_whole():
    growing, series = Chart(SUBJECT), PortSeries()
    whole = saw(4.0)
    for index, time_s in enumerate(whole.time_s):
        add(series, time_s, whole.packets[index], departed_bytes=whole.departed_bytes[index])
        growing.take(series)
    assert growing.columns(30) == chart(whole).columns(30)
    assert growing.rate_bps == chart(whole).rate_bps


def test_on_a_terminal_each_picture_is_drawn_over_the_last():
    terminal = Terminal()
    live = view(terminal)
    live.show(saw(1.0))
    first = terminal.getvalue()
    live.show(saw(1.1))
    # Title, chart, floor, status, time left.
    height = 1 + CHART_ROWS + 1 + 1 + 1
    assert f"\x1b[{height}A" not in first
    assert terminal.getvalue()[len(first) :].startswith(f"\x1b[{height}A")
    assert "about 5 s left" in first


def test_a_picture_that_was_erased_is_drawn_anew_below():
    terminal = Terminal()
    live = view(terminal)
    live.show(saw(1.0))
    live.erase()
    assert terminal.getvalue().endswith("\x1b[12A\x1b[J")
    before = len(terminal.getvalue())
    live.show(saw(1.2))
    assert not terminal.getvalue()[before:].startswith("\x1b")


def test_without_a_terminal_one_plain_line_every_five_seconds_is_printed():
    output = io.StringIO()
    live, series, whole = view(output), PortSeries(), saw(11.0)
    for index, time_s in enumerate(whole.time_s):
        add(series, time_s, whole.packets[index], departed_bytes=whole.departed_bytes[index])
        live.show(series)
    assert [line.split()[0] for line in output.getvalue().splitlines()] == ["0.0", "5.0", "10.0"]
    assert "\x1b" not in output.getvalue()


def test_nothing_is_shown_before_the_first_sample():
    output = io.StringIO()
    view(output).show(PortSeries())
    assert output.getvalue() == ""


def test_a_terminal_without_unicode_gets_plain_characters():
    class AsciiTerminal(Terminal):
        encoding = "ascii"

    terminal = AsciiTerminal()
    view(terminal).show(saw(3.0))
    terminal.getvalue().encode("ascii")
    assert "#" in terminal.getvalue()


def test_a_bar_fills_from_the_left_in_eighths():
    assert bar(0, 4) == "    "
    assert bar(1, 4) == "████"
    # Three eighths of four cells are one and a half.
    assert bar(3 / 8, 4) == "█▌  "
    assert bar(7, 4) == "████"
