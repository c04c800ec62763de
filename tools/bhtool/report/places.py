# SPDX-License-Identifier: Apache-2.0
"""Where in its program a sandbox was when it crashed: function, file and line of the pc, and of those who called it.

A record and an ELF file may hold anything. llvm-symbolizer reads the file, within bounds (config.bounded), and whatever goes wrong is no place.
A caller is believed only where the instruction before its return address is a call, in the file.
"""

from __future__ import annotations

import functools
import json
import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bhtool import elf
from bhtool.config.bounded import IMAGE_BYTES, Unbounded, read_bounded, run_bounded
from bhtool.config.plan import SandboxPlan
from bhtool.errors import BulkheadError
from bhtool.families.family import Frames
from bhtool.families.table import FAMILIES
from bhtool.image.names import Resolver
from bhtool.machine.console import printable
from bhtool.machine.memory import Crash, Memory
from bhtool.machine.session import Session, Watch
from bhtool.report.own_exception import own_exception

SYMBOLIZER = "llvm-symbolizer-19"
PF_X = 1  # of an ELF segment: executable
MOST_CALLERS, LONGEST_NAME = 8, 120
ReadWord = Callable[[int], int | None]  # the word of a guest's stack at a guest-physical address; None: it is not the guest's RAM


@dataclass(frozen=True)
class Place:
    address: int
    function: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.function} ({self.file}:{self.line})" if self.file and self.line else self.function


@dataclass(frozen=True)
class Places:
    """The innermost first. Without symbols there are none."""

    at: Place | None = None
    callers: tuple[Place, ...] = ()
    raised: Place | None = None  # where an exception of its own came from, if the pc is at a vector that is not there


NOWHERE = Places()


@dataclass(frozen=True)
class Program:
    """The ELF file that a sandbox runs."""

    path: Path
    code: tuple[tuple[int, bytes], ...] = field(repr=False)  # virtual address, bytes

    def before(self, address: int) -> bytes:
        """The eight bytes of code before an address; empty: none are there."""
        for start, content in self.code:
            if start + 8 <= address <= start + len(content):
                return content[address - start - 8 : address - start]
        return b""

    def holds(self, address: int) -> bool:
        return any(start <= address < start + len(content) for start, content in self.code)


@functools.cache  # who restarts crashes at the same place time and again; one file a sandbox
def load(path: Path) -> Program | None:
    """None: it is no ELF file that can be read."""
    data = read_bounded(path, IMAGE_BYTES)
    form = elf.form_of(data)
    programs = elf.read_programs(form, elf.read_header(form, data), data) if form else None
    if programs is None:
        return None
    segments = [one for one in programs if one.type == elf.PT_LOAD and one.flags & PF_X]
    return Program(path, tuple((one.virtual, data[one.offset : one.offset + one.file_bytes]) for one in segments))


def places_of(session: Session, watch: Watch, crash: Crash) -> Places:
    """Of callers beyond the first the stack tells, as long as nobody has changed it since: where the sandbox is parked."""
    sandbox, arch = watch.plan, session.platform.arch
    if sandbox.os != "native":
        return Places()
    try:
        program = load(Resolver(session.platform, session.plan.file, lambda _: None)(sandbox.image))
        read = stack_reader(session.memory, sandbox, FAMILIES[arch].registers.frames.word) if watch.state == "parked" else None
        return _places(program, crash, arch, read) if program else Places()
    except (BulkheadError, Unbounded, OSError, ValueError, LookupError, TypeError, AttributeError, struct.error):
        return Places()


def stack_reader(memory: Memory, sandbox: SandboxPlan, size: int) -> ReadWord:
    """Where virtual addresses are guest-physical ones, as at entry; elsewhere what is found there follows no call."""

    def read(gpa: int) -> int | None:
        data = memory.guest(sandbox, gpa, size)
        return None if data is None else int.from_bytes(data, "little")

    return read


def _places(program: Program, crash: Crash, arch: str, read: ReadWord | None) -> Places:
    frames = FAMILIES[arch].registers.frames
    if not program.holds(crash.pc):
        return _raised(program, crash, arch)
    returns = list(_returns(program, crash, frames, read))
    at, *others = _symbolized(program.path, (crash.pc, *(address - 1 for address in returns)))
    link = frames.link is not None and returns and returns[0] == crash.registers[frames.link] & ~1
    if link and others and at and others[0] and others[0][-1].function == at[-1].function:
        others = others[1:]  # the pc's function has called somebody since, who has returned
    found = [place for inlined in (at, *others) for place in inlined]
    return Places(found[0], tuple(found[1 : MOST_CALLERS + 1])) if found and at else Places()


def _raised(program: Program, crash: Crash, arch: str) -> Places:
    found = own_exception(arch, crash)
    if found is None or not program.holds(found.address):
        return Places()
    named = _symbolized(program.path, (found.address,))[0]
    return Places(raised=named[0] if named else Place(found.address, ""))


def _returns(program: Program, crash: Crash, frames: Frames, read: ReadWord | None) -> Iterator[int]:
    """Return addresses, the innermost first: of the link register, then of the frames, which lie ever higher in the stack."""
    last = 0
    if frames.link is not None:
        last = crash.registers[frames.link] & ~1
        if _follows_call(program, frames, last):
            yield last
    pointer = crash.registers[frames.pointer(crash.registers)]
    for _ in range(MOST_CALLERS if read else 0):
        assert read is not None
        above, address = read(pointer), read(pointer + frames.word)
        if above is None or address is None or not _follows_call(program, frames, address & ~1):
            return
        if address & ~1 != last:
            yield address & ~1
        if above <= pointer:
            return
        pointer, last = above, 0


def _follows_call(program: Program, frames: Frames, address: int) -> bool:
    before = program.before(address)
    return bool(before) and frames.is_call(before)


@functools.lru_cache(64)
def _symbolized(path: Path, addresses: tuple[int, ...]) -> list[list[Place]]:
    """For each address its function, and the ones it has been inlined into, outwards."""
    asked = "".join(f"{address:#x}\n" for address in addresses)
    done = run_bounded([SYMBOLIZER, f"--obj={path}", "--output-style=JSON"], asked.encode())
    answers = [json.loads(line) for line in done.output.decode("utf-8", "replace").splitlines()]
    return [_named(address, answer) for address, answer in zip(addresses, answers, strict=True)]


def _named(address: int, answer: dict[str, list[dict[str, str | int]]]) -> list[Place]:
    symbols = answer.get("Symbol", [])
    return [
        Place(address, clean(str(one["FunctionName"])), short(str(one["FileName"])), int(one["Line"]))
        for one in symbols
        if one["FunctionName"]
    ]


def clean(name: str) -> str:
    return printable(name)[:LONGEST_NAME]


def short(name: str) -> str:
    """A file as its author would name it: without the way from the folder it was compiled in."""
    plain = os.path.normpath(name) if name else ""
    while plain.startswith("../"):
        plain = plain[3:]
    here = f"{Path.cwd()}/"
    return clean(plain.removeprefix(here))
