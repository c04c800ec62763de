# SPDX-License-Identifier: Apache-2.0
"""What this run of the tests has shown: a case that passed on an image passes on the same image in a copy of the tree, too.

So a control of mutations (tests/mutation) need not run again what the table of cases has just run. Only within one run, which has one version
of the cases, and only if `bulkhead test` gives a folder for it.
"""

import hashlib
import os
from pathlib import Path

from bhtool.platforms import Platform
from bhtool.testing.steps import SHOWN

from tests.emulated.case import Case
from tests.emulated.observe import Observation
from tests.emulated.scene import Scene

LIMIT_BEATS = 2000  # two emulated seconds: more than any case named by a mutation takes


def note_of(platform: Platform, case: Case, scene: Scene) -> Path | None:
    folder = os.environ.get(SHOWN)
    name = hashlib.sha256(f"{platform.name} {case.name} ".encode() + scene.image).hexdigest()
    return Path(folder) / name if folder else None


def has_passed(platform: Platform, case: Case, scene: Scene) -> bool:
    note = note_of(platform, case, scene)
    return note is not None and note.exists()


def note_passed(platform: Platform, case: Case, scene: Scene, seen: Observation) -> None:
    """Unless it took longer than a mutation has."""
    note = note_of(platform, case, scene)
    if note and max(map(seen.beats, seen.watches), default=0) <= LIMIT_BEATS:
        note.touch()
