# SPDX-License-Identifier: Apache-2.0
"""A control is not run again only if the same case has passed on the same image, in the same run, and in time."""

from pathlib import Path
from typing import cast

import pytest
from bhtool.config.plan import Plan
from bhtool.platforms import load
from bhtool.testing.steps import SHOWN

from tests.emulated.case import Case
from tests.emulated.observe import Observation
from tests.emulated.places import Places
from tests.emulated.scene import Scene
from tests.emulated.shown import LIMIT_BEATS, has_passed, note_passed

PLATFORM, CASE = load("qemu-svm"), Case("first", "", ())
SCENE = Scene(cast(Plan, None), Places({}, 0, 0), b"image")
OTHERS = [
    (load("bochs-svm"), CASE, SCENE),
    (PLATFORM, Case("second", "", ()), SCENE),
    (PLATFORM, CASE, Scene(SCENE.plan, SCENE.places, b"imagf")),
]


class Beats(Observation):
    """One sandbox that has beaten so often."""

    def __init__(self, beats: int) -> None:
        self.watches = {"one": cast("object", None)}  # type: ignore[dict-item]
        self.count = beats

    def beats(self, sandbox: str) -> int:
        return self.count


def test_the_same_case_on_the_same_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SHOWN, str(tmp_path))
    note_passed(PLATFORM, CASE, SCENE, Beats(LIMIT_BEATS + 1))
    assert not has_passed(PLATFORM, CASE, SCENE)
    note_passed(PLATFORM, CASE, SCENE, Beats(LIMIT_BEATS))
    assert has_passed(PLATFORM, CASE, SCENE)
    assert not any(has_passed(*other) for other in OTHERS)
    monkeypatch.delenv(SHOWN)
    assert not has_passed(PLATFORM, CASE, SCENE)
