# SPDX-License-Identifier: Apache-2.0
"""A conversation with a shell over its console: what is an echo, and what an answer."""

import pytest
from bhtool.machine.dialogue import is_echo

TYPED = "cat /proc/version; echo end-11-$((11 * 7))"


@pytest.mark.parametrize("torn", [0, 4, 19, 27, 30, 31, 33, 36, 40])
def test_an_echo_is_told_wherever_it_is_torn(torn: int) -> None:
    assert is_echo(TYPED[torn:], TYPED)
    assert is_echo(f" {TYPED[torn:]} ", TYPED)


def test_an_echo_may_stand_behind_a_prompt() -> None:
    assert is_echo("~ # " + TYPED, TYPED)
    assert is_echo("[1]+  Terminated  sleep 1000 11-$((11 * 7))", TYPED)


@pytest.mark.parametrize("answer", ["", ")", "77", "end-11-77", "ETIMEDOUT", "Linux version 6.1.0 (gcc)", "11 * 7", "cat /proc/version"])
def test_an_answer_is_none(answer: str) -> None:
    assert not is_echo(answer, TYPED)
