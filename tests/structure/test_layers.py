# SPDX-License-Identifier: Apache-2.0
"""The house rules of the source tree: who may include whom, who may name what, and how long a room may be."""

import re
import subprocess
from pathlib import Path

import pytest
from bhtool.documents.lines import above_hal

ROOT = Path(__file__).resolve().parents[2]
LAYERS = {
    "abi": {"abi"},
    "arch": {"abi", "arch"},
    "hal": {"abi", "arch", "hal"},
    "monitor": {"abi", "arch", "hal/hal.h", "monitor"},
    "kernel": {"abi", "arch", "kernel"},
}
SOURCE = re.compile(r"\.(c|h|S|py|lds|dts|dtsi|yaml|ini|build|options|toml)$|meson\.(build|options)$")
LONGEST_FILE = 600


def tracked(*folders: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    return [ROOT / name for name in listed if (ROOT / name).is_file()]


def allowed(header: str, layer: str) -> bool:
    return any(header == place or header.startswith(place + "/") for place in LAYERS[layer])


def violations(path: Path, text: str) -> list[str]:
    layer = path.relative_to(ROOT).parts[0]
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if match and match[1].split("/")[0] in LAYERS and not allowed(match[1], layer):
            found.append(f"{path.relative_to(ROOT)}:{number}: {layer}/ includes {match[1]}")
    return found


def test_includes_go_downward() -> None:
    found = [v for path in tracked(*LAYERS) if path.suffix in {".c", ".h", ".S"} for v in violations(path, path.read_text())]
    assert not found, "\n".join(found)


def test_an_upward_include_is_found() -> None:
    assert violations(ROOT / "hal/x.c", '#include "monitor/monitor.h"\n')
    assert violations(ROOT / "monitor/x.c", '#include "hal/x86/svm/vmcb.h"\n')


def test_the_monitors_start_up_has_a_room_of_its_own() -> None:
    """The ending of a file's name is what Meson and the linker scripts go by: what lies in boot/ and lacks it would stay."""
    sources = [path for path in tracked("monitor") if path.suffix in {".c", ".S"}]
    wrong = [str(path) for path in sources if path.stem.endswith("_boot") != ("boot" in path.relative_to(ROOT).parts)]
    assert len(sources) > 5
    assert not wrong, wrong


def test_monitor_names_no_vendor_register_or_table_format() -> None:
    """The figure that `bulkhead size` gives: code and comments."""
    total, mentions = above_hal()
    assert total > 500
    assert not mentions, "\n".join(mentions)


@pytest.mark.parametrize("folder", ["abi", "arch", "hal", "monitor", "kernel", "tools", "tests", "platforms", "dts"])
def test_every_source_names_its_licence(folder: str) -> None:
    missing = [
        str(path.relative_to(ROOT))
        for path in tracked(folder)
        if SOURCE.search(path.name) and path.stat().st_size and "SPDX-License-Identifier: Apache-2.0" not in path.read_text()[:300]
    ]
    assert not missing, missing


def test_no_file_is_longer_than_a_room() -> None:
    too_long = [
        str(path.relative_to(ROOT))
        for path in tracked("abi", "arch", "hal", "monitor", "kernel", "platforms", "dts", "tools", "tests")
        if SOURCE.search(path.name) and len(path.read_text().splitlines()) > LONGEST_FILE
    ]
    assert not too_long, too_long
