# SPDX-License-Identifier: Apache-2.0
"""Every source file in C or assembly says what it is before it does anything: in its first comment after the licence's."""

import pytest

from tests.structure.test_layers import ROOT, tracked

SUFFIXES = (".c", ".h", ".S", ".lds")
WORDS = 3  # at least: what it is, in a phrase
DRY = "tests/dry"  # files that a test adds to a copy of the tree


def says_what_it_is(text: str) -> bool:
    """The first line is the licence's; what follows is a comment of some words, before anything else."""
    after = text.partition("\n")[2].lstrip()
    comment = after[2:].partition("*/")[0] if after.startswith("/*") else ""
    return len([word for word in comment.split() if any(letter.isalpha() for letter in word)]) >= WORDS


def test_every_file_says_what_it_is() -> None:
    files = [path for path in tracked() if path.suffix in SUFFIXES and ROOT / DRY not in path.parents]
    silent = [str(path.relative_to(ROOT)) for path in files if not says_what_it_is(path.read_text(encoding="utf-8"))]
    assert not silent, "say in a sentence at the top what these are for: " + ", ".join(silent)


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("/* licence */\n/* Reads the page (page.h). */\n#include", True),
        ("/* licence */\n#include <a.h>\n/* Reads the page. */", False),
        ("/* licence */\n/* ------- */\nint a;", False),
        ("/* licence */\n", False),
    ],
)
def test_what_counts_as_saying_it(text: str, good: bool) -> None:
    assert says_what_it_is(text) == good
