# SPDX-License-Identifier: Apache-2.0
"""The Python environment is made in its place, and nowhere else."""

from pathlib import Path

import pytest
from bhtool import paths
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
