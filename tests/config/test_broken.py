# SPDX-License-Identifier: Apache-2.0
"""BH-I7.tool. Every rule has partition files that break it. A comment `! RULE: words` marks the line and the message to expect.

The compiler must find exactly what is marked, nothing more and nothing less: `file:line: rule: text`.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.config.form import ADD_IT
from bhtool.config.plan import Diagnostic, Plan
from bhtool.config.rules import BY_ID, RULES

from tests.claims import evidence

BROKEN = Path(__file__).parent / "broken"
FILES = sorted(BROKEN.glob("*.dts"))
MARK = re.compile(r"! (?P<rule>BH-[RW]\d{3}): (?P<words>.*?)(?= ! BH-| \*/)")
FORM = re.compile(r"[^:\n]+:\d+: BH-[RW]\d{3}: [^\n]+")
EMPTY = re.compile(r"\b(correct|fix|check) (it|the source|the file|the board tree)\b(?! at)")  # advice that advises nothing
PLATFORM = re.compile(r"/\* platform: (\S+) \*/")


def expected(file: Path) -> list[tuple[int, str, str]]:
    """(line, rule, words) of every mark."""
    lines = enumerate(file.read_text().splitlines(), 1)
    return [(number, mark["rule"], mark["words"]) for number, line in lines for mark in MARK.finditer(line)]


def platform_of(file: Path) -> str:
    found = PLATFORM.search(file.read_text())
    return found[1] if found else "qemu-aarch64"


def row(file: Path) -> object:
    """Evidence for each rule that it breaks."""
    return pytest.param(file, id=file.stem, marks=evidence(*dict.fromkeys(rule for _, rule, _ in expected(file))))


@pytest.mark.parametrize("file", [row(one) for one in FILES])
def test_finds_what_is_marked(file: Path, compile_on: Callable[[Path, str], Plan]) -> None:
    plan = compile_on(file, platform_of(file))
    found = [*plan.errors, *plan.warnings]
    marks = expected(file)
    assert sorted((one.line, one.rule) for one in found) == sorted((line, rule) for line, rule, _ in marks), "\n".join(map(str, found))
    for line, rule, words in marks:
        matching = [one for one in found if (one.line, one.rule) == (line, rule)]
        assert any(words in one.text for one in matching), "\n".join(map(str, found))
        assert all(Path(one.file).name == file.name for one in matching)
    for one in found:
        assert FORM.fullmatch(str(one))
        remedies = (f"; {BY_ID[one.rule].remedy}", f"; {ADD_IT}")
        assert one.text.endswith(remedies) == (one.rule not in ("BH-R001", "BH-W001"))


def test_no_remedy_says_only_to_do_it_right() -> None:
    assert [rule.id for rule in RULES if EMPTY.search(rule.remedy)] == []


def test_every_rule_is_broken_by_a_file() -> None:
    broken = {rule for file in FILES for _, rule, _ in expected(file)}
    assert {rule.id for rule in RULES} - broken == set()


def test_good_partition_is_good(compile_on: Callable[[Path, str], Plan], tmp_path: Path) -> None:
    """The file every broken one starts from; otherwise they prove little."""
    file = tmp_path / "good.dts"
    file.write_text(f'#include "{BROKEN / "good.dtsi"}"\n')
    for platform in ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm"):
        plan = compile_on(file, platform)
        assert (plan.errors, plan.warnings) == ([], [])


def test_missing_file_is_refused(compile_on: Callable[[Path, str], Plan], tmp_path: Path) -> None:
    plan = compile_on(tmp_path / "none.dts", "qemu-svm")
    found: list[Diagnostic] = plan.errors
    assert [one.rule for one in found] == ["BH-R001"]
    assert "no such file" in found[0].text
