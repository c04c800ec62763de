# SPDX-License-Identifier: Apache-2.0
"""BH-F2.foreign, BH-I1.device, docs/guides. Kernels of others run as they are: guests that do at start what these do, built from what `bulkhead overlay` says and nothing else."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from bhtool.config.compile import compile_partition
from bhtool.config.plan import Plan
from bhtool.machine.emulated import Machine
from bhtool.machine.launch import Timing
from bhtool.machine.session import LineEvent, Session
from bhtool.overlay.facts import facts_of
from bhtool.overlay.forms import FORMS
from bhtool.paths import ROOT
from bhtool.platforms import Platform
from bhtool.terminal.screen import Screen

from tests.emulated.case import ARMV7, GICV2, GICV3
from tests.emulated.scene import scene_of

GUESTS = ROOT / "tests" / "guests"
FLAT_PROPERTIES = 'os,type = "linux"; load-address = <0x0 0x40080000>;'
LIMIT_SECONDS = 60.0  # of the host: only ever reached when something hangs
TARGETS = {
    "aarch64": ("--target=aarch64-none-elf", "-mgeneral-regs-only", "-mstrict-align"),
    "armv7": ("--target=armv7a-none-eabi", "-mcpu=cortex-a15", "-mfloat-abi=soft", "-mno-unaligned-access"),
}


@dataclass(frozen=True)
class Guest:
    name: str
    core: int
    uart: str
    source: str
    says: tuple[str, ...]  # its last lines
    flat: bool = False  # without headers, by Linux' boot protocol
    board: bool = False  # knows the board, as its own build has it, and of the sandbox only which redistributor is its core's


FREERTOS = ("ticks in critical sections: 0x0", "urgent: 0x2", "strays: 0x0", "at another priority than their own: 0x0")
SECOND = Guest("freertos", 1, "uart1", "freertos_like.c", FREERTOS)
FLAT = Guest("flat", 3, "uart0", "flat_like.c", ("tree above the image: 0x1", "magic 0xd00dfeed", "tree has nodes: 0x1"), flat=True)
BY_PLATFORM = {
    GICV3: (
        Guest("zephyr", 2, "uart0", "zephyr_like.c", ("redistributors passed: 0x2", "timer interrupts: 0x6", "others: 0x0")),
        SECOND,
    ),
    GICV2: (FLAT, SECOND),
    ARMV7: (FLAT, SECOND),
}
NUTTX = ("header at 0x40200000", "ticks: 0x5", "UART interrupts: 0x1", "others: 0x0")
OF_THE_BOARD = (Guest("nuttx", 2, "uart0", "nuttx_like.c", NUTTX, board=True),)
RAM_BYTES = 0x8000000  # as much as NuttX' board has, and more than others need


def partition(guests: tuple[Guest, ...], built: bool = True) -> str:
    """Every guest with a core, a UART and RAM. Before it is built each is native, for `overlay`."""
    cores = {0, 1, 2, 3} - {one.core for one in guests}
    memory = "\n".join(f"{one.name}_ram: {one.name} {{ size = <0x0 {RAM_BYTES:#x}>; }};" for one in guests)
    sandboxes = "\n".join(
        f'{one.name} {{ compatible = "bulkhead,sandbox-v1"; cores = <&cpu{one.core}>; memory-region = <&{one.name}_ram>; '
        f'access = <&{one.uart}>; console = <&{one.uart}>; image = "{one.name}.elf"; '
        f"{FLAT_PROPERTIES if one.flat and built else ''} }};"
        for one in guests
    )
    return f"""/dts-v1/;
#include BOARD_DTSI
/ {{
reserved-memory {{ #address-cells = <2>; #size-cells = <2>; ranges; {memory} }};
domains {{ compatible = "bulkhead,partitions-v1"; idle-cores = <{" ".join(f"&cpu{core}" for core in sorted(cores))}>; {sandboxes} }};
}};
"""


def build(platform: Platform, file: Path, guest: Guest) -> None:
    """As a user would: overlay, compiler, linker."""
    facts = facts_of(file, platform, guest.name, Screen())
    for kind, suffix in (("c", ".h"), ("ld", ".ld")):
        file.with_name(guest.name + suffix).write_text(FORMS[kind].write(facts)[0])
    out, header = file.with_name(guest.name + ".elf"), file.with_name(guest.name + ".h")
    script, knows = header.with_suffix(".ld"), ["-include", str(header)]
    if guest.board:
        first = next((span.start for name, span in facts.controllers if name == "gicv3-redist"), 0)
        script, knows = GUESTS / "foreign" / "nuttx_like.ld", [f"-DGIC_VERSION={facts.gic}", f"-DGICR_BASE={first:#x}"]
    flags = ["-O1", "-Wall", "-Werror", "-ffreestanding", "-nostdlib", "-static", "-fuse-ld=lld-19", f"-I{GUESTS / platform.arch}"]
    link = [f"-Wl,-T,{script}", "-Wl,--build-id=none"]
    source = GUESTS / "foreign" / guest.source
    subprocess.run(["clang-19", *TARGETS[platform.arch], *flags, *knows, *link, source, "-o", out], check=True)
    if guest.flat:
        subprocess.run(["llvm-objcopy-19", "-O", "binary", out], check=True)


def planned(platform: Platform, folder: Path, guests: tuple[Guest, ...]) -> Plan:
    file = folder / "foreign.dts"
    file.write_text(partition(guests, built=False))
    for guest in guests:
        build(platform, file, guest)
    file.write_text(partition(guests))
    plan = compile_partition(file, platform, folder.joinpath)
    assert plan.valid, plan.errors
    return plan


def wrong_with(platform: Platform, folder: Path, guests: tuple[Guest, ...] = ()) -> list[str]:
    """Whoever did not end by itself after its last lines, and what it said instead."""
    guests = guests or BY_PLATFORM[platform.name]
    plan = planned(platform, folder, guests)
    machine = Machine(platform, scene_of(platform, plan).image, Timing(platform.emulator.icount_shift))
    said: dict[str, list[str]] = {one.name: [] for one in plan.sandboxes}
    with Session(platform, plan, machine) as session:
        for event in session.events(LIMIT_SECONDS):
            if isinstance(event, LineEvent):
                said[event.sandbox].append(event.text)
            if event is None and all(watch.settled for watch in session.watches.values()):
                break
        ends = {name: (watch.state, watch.crash) for name, watch in session.watches.items()}
    wrong = [f"{name} is {state}: {crash}" for name, (state, crash) in ends.items() if state != "off" or crash]
    for guest in guests:
        missing = [line for line in guest.says if line not in said[guest.name]]
        wrong += [f"{guest.name} never said {missing}, but {said[guest.name]}"] if missing else []
    return wrong


@pytest.mark.parametrize("platform", [pytest.param(GICV3), *(pytest.param(one, marks=pytest.mark.slow) for one in (GICV2, ARMV7))])
def test_foreign_kernels_run_as_they_are(machine_platform: Platform, tmp_path: Path) -> None:
    assert wrong_with(machine_platform, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("platform", [GICV3, GICV2])
def test_a_kernel_of_the_bare_board_runs_as_it_is(machine_platform: Platform, tmp_path: Path) -> None:
    """On a core that is not the board's first."""
    assert wrong_with(machine_platform, tmp_path, OF_THE_BOARD) == []
