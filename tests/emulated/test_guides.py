# SPDX-License-Identifier: Apache-2.0
"""BH-F2.foreign. docs/guides, pasted line by line into a shell of a clone, as a newcomer does. What each command means is tests/tool/test_documents.py's to judge."""

import subprocess
from pathlib import Path

import pytest
from bhtool import paths

from tests.tool.documented import blocks_of

CLONE = ("tools", "tests", "dts", "examples")
ELSEWHERE = ("west build", "PATH/TO")  # Zephyr's own tools are not here
LIMIT_SECONDS = 1200.0  # of the host: only ever reached when something hangs


def script_of(document: Path, folder: Path) -> str:
    """All that is to be typed, in one shell; partition files are saved under the names that the page gives them."""
    blocks = blocks_of(document)
    for block in blocks:
        if block.names:
            (folder / block.names).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.names).write_text(block.text, encoding="utf-8")
    return "".join(one.text for one in blocks if one.language == "sh" and not any(word in one.text for word in ELSEWHERE))


@pytest.mark.long
@pytest.mark.xdist_group("guides")
@pytest.mark.parametrize("guide", ["write-a-c-guest", "run-zephyr-or-freertos", "read-a-crash"])
def test_a_guide_works_as_it_stands(guide: str, tmp_path: Path) -> None:
    for name in CLONE:
        (tmp_path / name).symlink_to(paths.ROOT / name)
    script = script_of(paths.ROOT / "docs" / "guides" / f"{guide}.md", tmp_path)
    shell = ["bash", "-eux", "-o", "pipefail", "-c", script]
    done = subprocess.run(shell, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
