# SPDX-License-Identifier: Apache-2.0
"""The Python environment is made in its place, and nowhere else."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from bhtool import launch, paths
from bhtool.errors import BulkheadError
from bhtool.provision import venv
from bhtool.provision.venv import ensure_plotting, make_venv


def test_a_link_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it points to would be emptied."""
    kept, link = tmp_path / "theirs" / "kept", tmp_path / "venv"
    kept.parent.mkdir()
    kept.touch()
    link.symlink_to(kept.parent)
    monkeypatch.setattr(paths, "VENV", link)
    with pytest.raises(BulkheadError, match="remove the link"):
        make_venv()
    assert kept.exists()


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the lists that are installed, into an environment that has nothing but its folder."""
    found: list[str] = []
    monkeypatch.setattr(paths, "BUILD", tmp_path)
    monkeypatch.setattr(paths, "VENV", tmp_path / "venv")
    monkeypatch.setattr(venv, "run", lambda *_: (tmp_path / "venv").mkdir(exist_ok=True))
    monkeypatch.setattr(venv, "install", lambda requirements, _: found.append(requirements.name))
    return found


def test_plots_are_kept_when_the_environment_is_made_anew(installs: list[str]) -> None:
    make_venv()
    assert installs == ["requirements.txt"]
    (paths.VENV / "lib" / "python3.11" / "site-packages" / "matplotlib").mkdir(parents=True)
    make_venv()
    assert installs[1:] == ["requirements.txt", "requirements-plot.txt"]


def test_what_plots_need_is_installed_once_for_each_list(installs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths.VENV.mkdir()
    for _ in range(2):
        ensure_plotting(lambda _: None)
    assert installs == ["requirements-plot.txt"]
    newer = tmp_path / "newer.txt"
    newer.write_text("matplotlib==99\n")
    monkeypatch.setattr(paths, "PLOT_REQUIREMENTS", newer)
    ensure_plotting(lambda _: None)
    assert installs[1:] == ["newer.txt"]


def test_no_module_comes_from_where_the_user_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder may hold a json.py of one's own, or of somebody who waits for this."""
    for name in ("bhtool", "click", "json", "re", "select"):
        (tmp_path / f"{name}.py").write_text("open('taken', 'w')\n")
    started: list[subprocess.CompletedProcess[str]] = []

    def start(_: str, words: list[str], environment: dict[str, str]) -> None:
        started.append(subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False))

    monkeypatch.setattr(os, "execve", start)
    launch.become_tool(["explain", "BH-R001"])
    assert started[0].stdout.startswith("BH-R001"), started[0].stderr
    assert not (tmp_path / "taken").exists()


@pytest.mark.parametrize("name", ["launch.py", "provision/venv.py"])
def test_every_module_that_is_run_is_looked_for_in_safe_folders(name: str) -> None:
    words = re.findall(r'(\S+) "-m", "', (paths.ROOT / "tools" / "bhtool" / name).read_text())
    assert words, "looked for in the wrong form"
    assert {word.lstrip("[") for word in words} == {'"-P",'}
