# SPDX-License-Identifier: Apache-2.0
"""Commands and partition files as README and docs show them."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bhtool import paths

DOCUMENTS = [
    path
    for path in (paths.ROOT / "README.md", paths.ROOT / "CONTRIBUTING.md", *sorted((paths.ROOT / "docs").rglob("*.md")))
    if path.name != "commands.md" and path.parent.name != "decisions"  # what --help says (test_commands.py), and what was
]
FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`(?:tools/)?bulkhead ([^`\n]+)`")
TABLE_ROW = re.compile(r"^\| `(\w+(?: [^`]+)?)`[ ,|]", re.MULTILINE)  # README: verbs alone
FILE_NAME = re.compile(r"`([\w./-]+\.dts)`")
HEREDOC = re.compile(r"<<'(\w+)'\n.*?^\1$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """What stands between two fences, and the paragraph in front of it."""

    language: str
    text: str
    before: str
    line: int

    def commands(self) -> Iterator[list[str]]:
        """Words of each simple command that is to be typed: all of a shell's, of a transcript what follows a prompt."""
        text = HEREDOC.sub("", self.text).replace("\\\n", " ")
        for line in text.splitlines():
            if self.language == "sh" or line.startswith("$ "):
                yield from simple_commands(line.removeprefix("$ "))

    @property
    def names(self) -> str:
        """The partition file that this is, "" if it is none or has no name."""
        found = FILE_NAME.findall(self.before)
        return found[-1] if self.text.startswith("/dts-v1/") and found else ""


def simple_commands(line: str) -> Iterator[list[str]]:
    """A line of shell, taken apart at what joins commands; $(...) stays a word of its own parts."""
    words = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
    words.whitespace_split = True
    one: list[str] = []
    for word in words:
        if set(word) <= set("();|&") and word:
            if one:
                yield one
            one = []
        else:
            one.append(word)
    if one:
        yield one


def blocks_of(document: Path) -> list[Block]:
    text = document.read_text(encoding="utf-8")
    return [
        Block(
            match["language"],
            match["text"],
            text[: match.start()].rstrip().rsplit("\n\n", 1)[-1],
            text.count("\n", 0, match.start()) + 1,
        )
        for match in FENCE.finditer(text)
    ]


def mentions_of(document: Path) -> list[str]:
    """Arguments of the command where it stands inside a sentence or, in the README, in a table of verbs."""
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    return INLINE.findall(text) + (TABLE_ROW.findall(text) if document.name == "README.md" else [])
