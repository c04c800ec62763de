# SPDX-License-Identifier: Apache-2.0
"""What has changed since everything was last tested, the most recent first: long tests that it touches run before others."""

import json
import re
import subprocess
from dataclasses import dataclass
from typing import Self

from bhtool import paths

LONG_RESULT = paths.ROOT / "docs" / "results" / "long-test.json"
MOST_COMMITS = 50
COMMIT = re.compile(r"^commit [0-9a-f]{40}$", re.MULTILINE)
TOUCHED_FILE = re.compile(r"^(?:\+\+\+ b|--- a)/(.+)$", re.MULTILINE)
ADDED_LINE = re.compile(r"^\+(?!\+\+ )(.*)$", re.MULTILINE)
PATCH = ("--unified=0", "--no-renames", "--no-color", "--no-ext-diff")


@dataclass(frozen=True)
class Change:
    """In ages: 0 is what is not committed yet, 1 the last commit, 2 the one before."""

    files: dict[str, int]  # the age at which each was touched last
    added: tuple[str, ...]  # lines that came in, by age

    @classmethod
    def of(cls, patches: list[str]) -> Self:
        """`patches`: the most recent first."""
        files: dict[str, int] = {}
        for age, patch in enumerate(patches):
            for file in TOUCHED_FILE.findall(patch):
                files.setdefault(file, age)
        return cls(files, tuple("\n".join(ADDED_LINE.findall(patch)) for patch in patches))

    def age_of_line(self, word: str) -> int | None:
        """The age at which a line with this word in it came in last; None: none did."""
        return next((age for age, text in enumerate(self.added) if word in text), None)


def git(*arguments: str) -> str:
    """What it says; empty if it fails: without a history nothing has changed."""
    done = subprocess.run(["git", *arguments], cwd=paths.ROOT, capture_output=True, text=True, errors="replace", check=False)
    return done.stdout if done.returncode == 0 else ""


def tested_commit() -> str:
    """The commit of the whole run that is stored, if it is one of ours and nothing failed; empty if there is none."""
    if not LONG_RESULT.exists():
        return ""
    stored = json.loads(LONG_RESULT.read_text())
    commit = "" if stored["failed"] else str(stored["commit"])
    return commit if git("merge-base", commit, "HEAD").strip() == commit else ""


def since_tested() -> Change:
    """At most MOST_COMMITS commits."""
    base = tested_commit()
    commits = git("log", "--patch", *PATCH, f"--max-count={MOST_COMMITS}", "--format=commit %H", f"{base}..HEAD" if base else "HEAD")
    return Change.of([git("diff", *PATCH, "HEAD"), *COMMIT.split(commits)[1:]])
