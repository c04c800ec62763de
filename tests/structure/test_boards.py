# SPDX-License-Identifier: Apache-2.0
"""BH-F5.board. A board.h that says what its family cannot do is refused when the monitor is built, by a sentence that names the word."""

import subprocess
from pathlib import Path

import pytest

from tests.structure.test_layers import ROOT

ARM, PC = "arch/arm/board_boot.c", "arch/x86_64/machine_boot.c"
TARGETS = {ARM: "aarch64-none-elf", PC: "x86_64-none-elf"}
BOARDS = {ARM: ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7"), PC: ("qemu-svm", "bochs-vtx")}
WRONG = (
    (ARM, "BOARD_RAM_BASE, 0x80000000ull", "BOARD_RAM_BASE, 0x7ff00000ull", "RAM is in multiples of 2 MiB"),
    (ARM, "BOARD_RAM_BASE, 0x80000000ull", "BOARD_RAM_BASE, 0x200000 }, { 0x80100000, 0x200000", "RAM is in multiples of 2 MiB"),
    (ARM, "BOARD_UART_PL011", "BOARD_UART_16550_PORTS", "there are no I/O ports"),
    (ARM, "BOARD_UART_PL011", "BOARD_UART_16550", "registers of a 16550 are 1 or 4 bytes apart"),
    (ARM, "BOARD_START_PSCI", "BOARD_START_SPIN_TABLE", "a spin table has an address for each core"),
    (PC, "BOARD_UART_16550_PORTS", "BOARD_UART_16550", "a PC's boot console is a 16550 that is reached by ports"),
    (PC, ".stride = 1", ".stride = 4", "a PC's boot console is a 16550 that is reached by ports"),
)


def complaints(file: str, header: str, folder: Path) -> str:
    (folder / "board.h").write_text(header)
    options = ("-std=c17", f"--target={TARGETS[file]}", "-ffreestanding", "-fsyntax-only", "-Wall", "-Werror")
    found = [f"-I{one}" for one in (ROOT, folder, (ROOT / file).parent)]
    done = subprocess.run(("clang-19", *options, *found, ROOT / file), capture_output=True, text=True, check=False)
    assert bool(done.returncode) == bool(done.stderr), done.stderr
    return done.stderr


def header_of(board: str) -> str:
    return (ROOT / "platforms" / board / "board.h").read_text()


@pytest.mark.parametrize(("file", "board"), [(file, board) for file, boards in BOARDS.items() for board in boards])
def test_boards_are_fit(file: str, board: str, tmp_path: Path) -> None:
    assert not complaints(file, header_of(board), tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (".by = BOARD_START_PSCI", ".by = BOARD_START_SPIN_TABLE, .releases = BOARD_RELEASES({ 1, 0xe0 })"),
        ("BOARD_UART_PL011", "BOARD_UART_16550, .stride = 4"),
    ],
)
def test_other_boards_are_fit(old: str, new: str, tmp_path: Path) -> None:
    header = header_of("qemu-aarch64-gicv2")
    assert header.count(old) == 1
    assert not complaints(ARM, header.replace(old, new), tmp_path)


@pytest.mark.parametrize(("file", "old", "new", "words"), WRONG)
def test_what_cannot_be_is_refused(file: str, old: str, new: str, words: str, tmp_path: Path) -> None:
    header = header_of(BOARDS[file][0])
    assert header.count(old) == 1
    assert words in complaints(file, header.replace(old, new), tmp_path)
