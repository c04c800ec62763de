# SPDX-License-Identifier: Apache-2.0
"""A build folder that came from another path is made anew: Ninja would try for minutes to bring the old place up to date."""

import json
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.image import build as building
from bhtool.locks import LOCK


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One with a build folder; commands are noted and not run."""
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.setattr(building, "run", lambda command, _: said.append(command[0]))
    said: list[str] = []
    monkeypatch.setattr(building, "said", said, raising=False)
    (tmp_path / "build" / "board" / "meson-info").mkdir(parents=True)
    for name in ("build.ninja", LOCK, "old.o"):
        (tmp_path / "build" / "board" / name).touch()
    return tmp_path


def configured_for(clone: Path, source: str | Path, build: str | Path) -> Path:
    folder = clone / "build" / "board"
    places = {"directories": {"source": str(source), "build": str(build), "info": "anywhere"}}
    (folder / "meson-info" / "meson-info.json").write_text(json.dumps(places))
    return folder


@pytest.mark.parametrize("moved", ["clone", "folder"])
def test_what_was_elsewhere_is_made_anew(moved: str, clone: Path) -> None:
    folder = configured_for(clone, "/old/clone" if moved == "clone" else clone, "/old/clone/build/board")
    reports: list[str] = []
    building.build(folder, [], reports.append)
    assert building.said == ["meson", "ninja"]  # type: ignore[attr-defined]
    assert reports[0] == "build/board was made for another path; making it anew"
    assert {one.name for one in folder.iterdir()} == {LOCK, building.OPTIONS}


def test_what_stayed_is_kept(clone: Path) -> None:
    (clone / "link").symlink_to(clone)
    folder = configured_for(clone, clone / "link", clone / "link" / "build" / "board")
    (folder / building.OPTIONS).write_text("[]")
    building.build(folder, [], lambda _: None)
    assert building.said == ["ninja"]  # type: ignore[attr-defined]
    assert (folder / "old.o").exists()


@pytest.mark.parametrize("told", [["-Dplatform=other"], None])
def test_what_was_set_up_with_other_options_is_made_anew(told: list[str] | None, clone: Path) -> None:
    """Meson would go on with the default of an option that has become another kind of option."""
    folder = configured_for(clone, clone, clone / "build" / "board")
    if told is not None:
        (folder / building.OPTIONS).write_text(json.dumps(told))
    building.build(folder, ["-Dplatform=board"], lambda _: None)
    assert building.said == ["meson", "ninja"]  # type: ignore[attr-defined]
    assert json.loads((folder / building.OPTIONS).read_text()) == ["-Dplatform=board"]
    assert not (folder / "old.o").exists()


def test_an_interrupted_start_is_begun_again(clone: Path) -> None:
    """Meson notes what it was told before it writes rules, and sets nothing up that it has notes of."""
    folder = configured_for(clone, clone, clone / "build" / "board")
    (folder / "build.ninja").unlink()
    building.build(folder, [], lambda _: None)
    assert building.said == ["meson", "ninja"]  # type: ignore[attr-defined]
    assert {one.name for one in folder.iterdir()} == {LOCK, building.OPTIONS}


def test_the_environment_belongs_to_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its programs name the path in their first lines."""
    from bhtool.provision import venv

    monkeypatch.setattr(paths, "VENV", tmp_path / "old")
    paths.VENV.mkdir()
    (paths.VENV / "stamp").write_text(venv.stamp_text(), encoding="ascii")
    assert venv.venv_ready()
    (tmp_path / "old").rename(tmp_path / "new")
    monkeypatch.setattr(paths, "VENV", tmp_path / "new")
    assert not venv.venv_ready()
