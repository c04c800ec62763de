# SPDX-License-Identifier: Apache-2.0
"""BH-F5.board. A board's addresses are data: wherever it has its RAM, its interrupt controller and its PCI host, the monitor links, and is of the same size."""

import re
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from tests.image.test_resident import PLATFORMS, symbol_table, symbols
from tests.structure.test_layers import ROOT, tracked

# What takes a processor one instruction to say, and two to four. Raspberry Pi 4: BCM2711 ARM Peripherals, 6.5.1 "GIC-400".
ELSEWHERE = {
    "qemu-aarch64": {"GICD_BASE": 0x6_0041_3000, "GICR_BASE": 0x6_0049_5000, "PCI_ECAM": 0x87_3211_0000, "IMAGE_AT": 0x4321_5000},
    "qemu-aarch64-gicv2": {"GICD_BASE": 0xFF84_1000, "GICC_BASE": 0xFF84_2000, "PCI_ECAM": 0x6_7531_0000, "IMAGE_AT": 0x4321_5000},
    "qemu-armv7": {"GICD_BASE": 0xFF84_1000, "GICC_BASE": 0xFF84_2000, "PCI_ECAM": 0x3531_0000, "IMAGE_AT": 0x4321_5000},
}
NEEDED = [
    "meson.build",
    "meson_options.txt",
    "abi",
    "arch",
    "hal",
    "monitor",
    "kernel",
    "platforms",
    "tests/bench",
    "tests/guests",
    "tools/cross",
    "tools/sdk",
]


def copy_sources(folder: Path) -> None:
    for path in tracked(*NEEDED):
        name = path.relative_to(ROOT)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(path.read_bytes())


def link(folder: Path, platform: str) -> Path:
    cross = "armv7" if platform == "qemu-armv7" else "aarch64"
    setup = ["meson", "setup", "build", "--cross-file", f"tools/cross/{cross}.ini", f"-Dplatform={platform}"]
    for command in (setup, ["ninja", "-C", "build", "bulkhead.elf"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stdout + done.stderr
    return folder / "build" / "bulkhead.elf"


def marks(image: Path) -> dict[str, int]:
    with image.open("rb") as file:
        return symbols(ELFFile(file))


def resident_bytes(found: dict[str, int]) -> int:
    return sum(found[f"__resident_{part}_used"] - found[f"__resident_{part}_start"] for part in ("text", "rodata"))


@pytest.mark.parametrize("platform", ELSEWHERE)
def test_a_board_with_its_devices_elsewhere_links(platform: str, tmp_path: Path) -> None:
    copy_sources(tmp_path)
    header = tmp_path / "platforms" / platform / "board.h"
    text = header.read_text()
    for name, address in ELSEWHERE[platform].items():
        text, count = re.subn(rf"^(#define BOARD_{name} +)0x[0-9a-f]+", rf"\g<1>{address:#x}", text, flags=re.MULTILINE)
        assert count == 1, name
    header.write_text(text)
    found = marks(link(tmp_path, platform))
    assert found["__image_start"] == ELSEWHERE[platform]["IMAGE_AT"]
    assert resident_bytes(found) == resident_bytes(marks(ROOT / "build" / platform / "bulkhead.elf"))


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_resident_part_has_no_copy_of_the_board(platform: str) -> None:
    """What it needs of the board are constants in its instructions, or start-up has put them into its state: arch/board.h."""
    with (ROOT / "build" / platform / "bulkhead.elf").open("rb") as file:
        table = symbol_table(ELFFile(file))
        places = [symbol["st_value"] for symbol in table.iter_symbols() if re.fullmatch(r"board(\.\d+)*", symbol.name)]
        start = symbols(ELFFile(file))["__resident_text_start"]
    assert places
    assert all(place < start for place in places), [hex(place) for place in places]
