# SPDX-License-Identifier: Apache-2.0
"""Every decision of docs/decisions has an identifier, a title, a reason and the alternative that lost; whoever names one names one that is there."""

import re
from pathlib import Path

import pytest

from tests.structure.test_layers import ROOT, tracked

FOLDER = ROOT / "docs" / "decisions"
INDEX = FOLDER / "README.md"
TOPICS = sorted(set(FOLDER.glob("*.md")) - {INDEX})
HEADING = re.compile(r"^## (BH-D[1-9]\d{2,3}): (\S.*)$", re.MULTILINE)
PARTS = ("Decided", "Why", "Alternative")
PART = re.compile(r"^- \*\*(\w+)\*\*: (?=\S)", re.MULTILINE)
NAMED = re.compile(r"\bBH-D\w*")
TEXTS = {".c", ".h", ".S", ".py", ".lds", ".yaml", ".dts", ".dtsi", ".md", ".toml", ".build"}


def decisions(topic: Path) -> dict[str, str]:
    """Heading and text of each."""
    _, *pieces = re.split(r"^(?=## )", topic.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {heading.removeprefix("## "): text for heading, text in (piece.split("\n", 1) for piece in pieces)}


def listed() -> dict[str, list[str]]:
    """What the index says of each topic."""
    _, *pieces = re.split(r"^## \[.*\]\((.*)\)$", INDEX.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: re.findall(r"^- (BH-D.*)$", text, re.MULTILINE) for name, text in zip(pieces[::2], pieces[1::2], strict=True)}


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.stem)
def test_decisions_have_every_part(topic: Path) -> None:
    assert decisions(topic)
    wrong = [heading for heading in decisions(topic) if not HEADING.match("## " + heading)]
    assert not wrong, f"no heading of the form `## BH-D123: title`: {wrong}"
    lacking = [heading for heading, text in decisions(topic).items() if tuple(PART.findall(text)) != PARTS]
    assert not lacking, f"each needs {', '.join(PARTS)}, in this order: {lacking}"


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.stem)
def test_numbers_of_a_topic_are_in_order_within_its_hundred(topic: Path) -> None:
    numbers = [name for name, _ in HEADING.findall(topic.read_text(encoding="utf-8"))]
    assert numbers == sorted(set(numbers))
    assert len({name[:-2] for name in numbers}) == 1, numbers


def test_topics_share_no_hundred() -> None:
    hundreds = [next(iter(decisions(topic))).split(":")[0][:-2] for topic in TOPICS]
    assert len(set(hundreds)) == len(hundreds), hundreds


def test_index_lists_them_all() -> None:
    assert listed() == {topic.name: list(decisions(topic)) for topic in TOPICS}


def test_whoever_names_a_decision_names_one_that_is_there() -> None:
    known = {heading.split(":")[0] for topic in TOPICS for heading in decisions(topic)}
    sources = [path for path in tracked() if path.suffix in TEXTS and path != Path(__file__) and path.exists()]
    unknown = {
        str(path): lost for path in sources if (lost := set(NAMED.findall(path.read_text(encoding="utf-8", errors="replace"))) - known)
    }
    assert not unknown, unknown
