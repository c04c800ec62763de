# SPDX-License-Identifier: Apache-2.0
"""What a display leaves out: lives like the one before, whose lines come late but are never lost; and floods."""

from bhtool.report.fold import FLOOD_LINES, Flood, Lives

KEY, OTHER = ("memory", 0x1000, 0x2000), ("memory", 0x1000, 0x3000)
RECORD = ["fault: it", "  registers"]
TOLD = "fault: it; its record stands above"


class Shown(list[str]):
    """Lines as they are shown, and a clock that stands until it is moved."""

    now = 0.0

    def put(self, text: str, style: str) -> None:
        self.append(text)

    def clock(self) -> float:
        return self.now

    def take(self) -> list[str]:
        found = list(self)
        self.clear()
        return found


def life(lives: Lives, shown: Shown, *lines: str, key: tuple[str, int, int] = KEY, is_last: bool = False) -> list[str]:
    """Says the lines, crashes, begins again."""
    for line in lines:
        lives.line(line)
    shown.now += 1
    lives.crash(key, RECORD, is_last)
    lives.restart(1)
    return shown.take()


def twice() -> tuple[Lives, Shown]:
    """A sandbox that has crashed in the same way twice; the second time was not shown."""
    shown = Shown()
    lives = Lives(shown.put, shown.clock)
    assert life(lives, shown, "up", "life 0") == ["up", "life 0", *RECORD, "begins again: restart 1"]
    assert life(lives, shown, "up", "life 1") == []
    return lives, shown


def test_the_same_life_is_counted() -> None:
    lives, shown = twice()
    assert life(lives, shown, "up", "life 2") == []
    lives.end()
    assert shown.take() == ["the same 2 times more: fault: it"]


def test_lines_of_a_life_that_lasts_are_shown_late_but_are_shown() -> None:
    lives, shown = twice()
    lives.line("up")
    lives.look()
    assert shown.take() == []
    shown.now += 3
    lives.look()
    assert shown.take() == ["the same once more: fault: it", "up"]
    lives.line("life 2")
    assert shown.take() == ["life 2"]


def test_a_line_that_differs_brings_those_before_it() -> None:
    lives, shown = twice()
    lives.line("up")
    lives.line("something else")
    assert shown.take() == ["the same once more: fault: it", "up", "something else"]


def test_the_same_words_before_another_crash() -> None:
    lives, shown = twice()
    assert life(lives, shown, "up", "life 2", key=OTHER)[:3] == ["the same once more: fault: it", "up", "life 2"]


def test_fewer_words_before_the_same_crash() -> None:
    lives, shown = twice()
    assert life(lives, shown, "up") == ["the same once more: fault: it", "up", TOLD, "begins again: restart 1"]


def test_the_last_crash_is_told() -> None:
    lives, shown = twice()
    assert life(lives, shown, "up", "life 2", is_last=True)[:4] == ["the same once more: fault: it", "up", "life 2", TOLD]


def test_what_the_next_life_said_may_be_read_before_the_crash() -> None:
    lives, shown = twice()
    assert life(lives, shown, "up", "life 2", "up") == []
    lives.end()
    assert shown.take() == ["the same 2 times more: fault: it", "up"]


def test_a_long_life_is_not_held() -> None:
    shown = Shown()
    lives = Lives(shown.put, shown.clock)
    lives.line("up")
    shown.now += 10
    lives.crash(KEY, RECORD, is_last=False)
    shown.take()
    lives.line("up")
    assert shown.take() == ["up"]


def test_a_flood_is_counted_by_the_second() -> None:
    shown = Shown()
    flood = Flood(shown.put, shown.clock)
    for _ in range(2):
        for number in range(FLOOD_LINES + 7):
            flood.line(str(number))
        assert shown.take() == [str(number) for number in range(FLOOD_LINES)]
        shown.now += 1
        flood.look()
        assert shown.take() == ["[7 lines more within a second; --log FILE keeps all]"]
    flood.line("calm")
    flood.end()
    assert shown.take() == ["calm"]
