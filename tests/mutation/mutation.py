# SPDX-License-Identifier: Apache-2.0
"""One seeded mistake: a removed check or a wrong bit, and the test that has to notice it."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Mutation:
    """`old`, which occurs once in `file` (however spaced), becomes `new`, and `caught_by` must fail."""

    what: str
    file: str
    old: str
    new: str
    caught_by: str

    def text(self, root: Path = ROOT) -> str:
        """The file of the source tree at `root` with the mistake in it."""
        pattern = r"\s+".join(re.escape(word) for word in self.old.split())
        text, count = re.subn(pattern, lambda _: self.new.strip(), (root / self.file).read_text())
        assert count == 1, f"{self.file} has changed: adapt this mutation"
        return text
