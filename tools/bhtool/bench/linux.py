# SPDX-License-Identifier: Apache-2.0
"""The same Linux, with the same files, in a sandbox and alone on the bare emulator, and somebody who types at its shell."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from bhtool.bench.stage import Stage, bare, bare_lines, out_of_time
from bhtool.config.rootfs.cpio import Archive
from bhtool.config.rootfs.listing import names_in
from bhtool.config.rootfs.modules import modules_archive
from bhtool.config.rootfs.pack import compressed
from bhtool.errors import BulkheadError
from bhtool.image import payloads
from bhtool.image.payloads import Report
from bhtool.machine.console import Uart
from bhtool.machine.dialogue import ANSWER_SECONDS, Dialogue, is_echo
from bhtool.machine.emulated import Machine
from bhtool.machine.launch import Timing
from bhtool.machine.memory import Exits
from bhtool.machine.session import Session
from bhtool.machine.wiring import Wiring
from bhtool.platforms import Platform

BOOT_LIMIT = 300.0
SANDBOX = "linux"
PACKAGES = {"amd64": "linux-image-amd64"}  # where the platform's own has no driver for a card or a disc
CONSOLES = {"amd64": "ttyS0"}
IOMMUS = ("amd-iommu", "intel-iommu")
WIDE = "stty cols 1000"  # so that what is typed is not wrapped


class Shell(Protocol):
    """Of a Linux that is up."""

    def ask(self, command: str, limit: float = ANSWER_SECONDS) -> list[str]:
        """The lines a command prints."""

    def exits(self) -> Exits:
        """Of its sandbox so far."""


@dataclass(frozen=True)
class InSandbox:
    dialogue: Dialogue

    def ask(self, command: str, limit: float = ANSWER_SECONDS) -> list[str]:
        return self.dialogue.ask(command, limit)

    def exits(self) -> Exits:
        self.dialogue.session.poll()
        stats = self.dialogue.session.watches[SANDBOX].stats
        assert stats is not None, "it has booted"
        return stats.exits


@dataclass
class Alone:
    """On the bare emulator."""

    machine: Machine
    line: Uart
    lines: Iterator[str]
    asked: int = field(default=0)

    def ask(self, command: str, limit: float = ANSWER_SECONDS) -> list[str]:
        """As Dialogue.ask."""
        self.asked += 1
        end = f"end-{self.asked}-{self.asked * 7}"
        typed = f"{command}; echo end-{self.asked}-$(({self.asked} * 7))"
        self.line.write(f"{typed}\n".encode())
        found: list[str] = []
        deadline = time.monotonic() + limit
        for said in self.lines:
            if said == end:
                return [one for one in found if not is_echo(one, typed)]
            found.append(said)
            if time.monotonic() > deadline:
                break
        raise out_of_time(command, limit)

    def exits(self) -> Exits:
        return {}


def package_of(platform: Platform) -> str:
    """Of a kernel with drivers; empty: the platform's own."""
    return PACKAGES.get(platform.debian_architecture, "")


def initial_files(platform: Platform, modules: Sequence[str], programs: dict[str, bytes], report: Report) -> bytes:
    """The tool's own root file system with modules and programs."""
    root = payloads.initramfs(platform, report).read_bytes()
    store = payloads.modules(platform, report, package_of(platform))
    archive = modules_archive(store, list(modules), names_in(root) or set())
    added = Archive(list(archive.entries))
    for name, content in programs.items():
        added.program(f"bin/{name}", content)
    return root + bytes(-len(root) % 4) + compressed(added)


def machine_alone(platform: Platform, mib: int, cards: int) -> Platform:
    """One core, as much memory and as many cards as the sandbox has, and no IOMMU, which would only slow it down."""
    arguments: list[str] = []
    for option, value in zip(platform.emulator.arguments[::2], platform.emulator.arguments[1::2], strict=True):
        if option == "-smp":
            arguments += [option, "1"]
        elif not (option == "-device" and value.startswith(IOMMUS)):
            arguments += [option, value.replace(",iommu=smmuv3", "")]
    return bare(
        replace(platform, ram_size=mib << 20, nics=platform.nics[:cards], emulator=replace(platform.emulator, arguments=tuple(arguments)))
    )


@dataclass(frozen=True)
class Conditions:
    """Of both machines."""

    timing: Timing
    wiring: Wiring
    extra: Sequence[str]  # in the emulator's own words
    report: Report


@contextmanager
def alone(platform: Platform, initrd: Path, bootargs: str, conditions: Conditions) -> Iterator[Shell]:
    """`platform` is of machine_alone."""
    kernel = payloads.kernel(platform, conditions.report, package_of(platform)).read_bytes()
    words = f"console={CONSOLES.get(platform.debian_architecture, 'ttyAMA0')} {bootargs}"
    extra = ("-initrd", str(initrd), "-append", words, *conditions.extra)
    with Machine(platform, kernel, conditions.timing, extra, wiring=conditions.wiring) as machine:
        line = Uart(machine.serials[platform.emulator.serials[0]])
        shell = Alone(machine, line, bare_lines(machine, line, float("inf")))
        deadline = time.monotonic() + BOOT_LIMIT
        for said in shell.lines:
            if said == payloads.READY_LINE:
                break
            if time.monotonic() > deadline:
                raise out_of_time("booting Linux on the bare emulator", BOOT_LIMIT)
        shell.ask(WIDE)
        yield shell


@contextmanager
def sandboxed(stage: Stage, conditions: Conditions) -> Iterator[Shell]:
    machine = Machine(stage.platform, stage.image, conditions.timing, tuple(conditions.extra), wiring=conditions.wiring)
    with Session(stage.platform, stage.plan, machine) as session:
        dialogue = Dialogue(session, SANDBOX)
        dialogue.wait_until_ready(BOOT_LIMIT)
        if not session.watches[SANDBOX].ready:
            raise BulkheadError(f"Linux did not get ready on {stage.platform.name}: it is {session.watches[SANDBOX].state}")
        dialogue.ask(WIDE)
        yield InSandbox(dialogue)
