# SPDX-License-Identifier: Apache-2.0
"""The Python environment is made in its place, and nowhere else."""

from pathlib import Path

import pytest
from bhtool import paths
from bhtool.errors import BulkheadError
from bhtool.provision.venv import make_venv


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
