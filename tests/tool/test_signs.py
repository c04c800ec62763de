# SPDX-License-Identifier: Apache-2.0
"""Consoles are read for what they tell: a line that was agreed on, a first process, a prompt; a panic, and whether a reboot follows."""

from collections.abc import Sequence

import pytest
from bhtool.image.payloads import READY_LINE
from bhtool.machine.signs import LINES_AFTER, PATIENCE_SECONDS, Panic, Signs, signs_of

NO_ROOT = "VFS: Unable to mount root fs on unknown-block(0,0)"
PANIC = f"[    0.412345] Kernel panic - not syncing: {NO_ROOT}"
END = f"[    0.512345] ---[ end Kernel panic - not syncing: {NO_ROOT} ]---"
REBOOT = "[    0.512345] Rebooting in 1 seconds.."
BEFORE = ["Linux version 6.1", "VFS: Cannot open root device", "Please append a correct root="]


def own_linux(ready_line: str = "") -> Signs:
    return signs_of("linux", ready_line, is_own_root=True)


def seen(signs: Signs, lines: Sequence[str] = (), unfinished: str = "", now: float = 1.0) -> Signs:
    signs.see(lines, unfinished, lambda: now)
    return signs


@pytest.mark.parametrize(
    ("lines", "unfinished", "why"),
    [
        (["[    0.6] Run /init as init process"], "", "its kernel runs /init"),
        (["Run /sbin/init as init process"], "", "its kernel runs /sbin/init"),
        ([], "buildroot login: ", "it asks for input, 'buildroot login:'"),
        ([], "/ # ", "it asks for input, '/ #'"),
        ([], "user@host:~$ ", "it asks for input, 'user@host:~$'"),
        (["I run as init process", "/ # "], "", ""),
        ([], "loading # 3 of 4", ""),
    ],
)
def test_an_own_root_file_system_is_up(lines: list[str], unfinished: str, why: str) -> None:
    assert seen(own_linux(), lines, unfinished).up == why


def test_what_was_agreed_on_counts_alone() -> None:
    signs = seen(own_linux("services: up"), ["Run /init as init process"], "/ # ")
    assert signs.up == ""
    assert seen(signs, ["12:00 services: up, all 12"]).up == "it said 'services: up'"


def test_the_tool_s_own_root_file_system_says_its_line() -> None:
    signs = signs_of("linux", "", is_own_root=False)
    assert seen(signs, ["Run /init as init process"], "linux# ").up == ""
    assert seen(signs, [READY_LINE]).up


def test_another_kernel_has_a_line_of_its_own_or_its_hypercall() -> None:
    assert seen(signs_of("native", "*** Booting", is_own_root=True), ["*** Booting Zephyr OS"]).up
    assert not seen(signs_of("native", "", is_own_root=True), ["Run /init as init process", READY_LINE], "/ # ").up


def test_a_panic_is_known_with_the_lines_around_it() -> None:
    signs = seen(own_linux(), [*BEFORE, PANIC, "CPU: 0 PID: 1", END])
    assert signs.panic == Panic(NO_ROOT, (*BEFORE, PANIC, "CPU: 0 PID: 1", END))
    assert "initrd" in signs.panic.remedy


def test_of_a_panic_without_end_only_the_beginning_is_kept() -> None:
    """Also where no reboot follows, and where one is announced: both look for what a line says, and go on."""
    for last in (END, REBOOT):
        signs = seen(own_linux(), [PANIC, *("again" for _ in range(1000)), last, *("again" for _ in range(1000))])
        assert (signs.panic is None) == (last == REBOOT)
        assert len(signs._panicking) == 1 + LINES_AFTER


def test_a_panic_ends_nothing_before_it_is_clear_that_no_reboot_follows() -> None:
    signs = seen(own_linux(), [PANIC])
    assert signs.panic is None
    assert seen(signs, now=1.0 + PATIENCE_SECONDS / 2).panic is None
    assert seen(signs, [END], now=1.0 + PATIENCE_SECONDS / 2).panic


def test_one_that_says_no_more_is_not_waited_for() -> None:
    signs = seen(own_linux(), [PANIC])
    assert seen(signs, now=1.0 + PATIENCE_SECONDS).panic == Panic(NO_ROOT, (PANIC,))


def test_who_reboots_has_not_ended() -> None:
    signs = seen(own_linux(), [PANIC, REBOOT, END])
    assert seen(signs, now=100.0).panic is None


def test_a_new_life_forgets_the_panic() -> None:
    signs = seen(own_linux(), [PANIC, END])
    signs.begin_again()
    assert signs.panic is None
    assert seen(signs, ["Linux version 6.1"], now=100.0).panic is None
    assert seen(signs, [PANIC, END]).panic


def test_only_linux_panics() -> None:
    assert seen(signs_of("native", "", is_own_root=True), [PANIC, END], now=100.0).panic is None
