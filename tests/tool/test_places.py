# SPDX-License-Identifier: Apache-2.0
"""Function and line of a crash: right where the file tells them, nothing where file, record or stack are not to be believed."""

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from bhtool.config.plan import Location, Plan, Region, SandboxPlan
from bhtool.families.table import FAMILIES
from bhtool.machine.memory import Crash, Memory
from bhtool.machine.session import Session, Watch
from bhtool.report import places
from bhtool.report.places import MOST_CALLERS, NOWHERE, Places, clean, places_of, short
from bhtool.report.summary import crash_lines
from hypothesis import given, settings
from hypothesis import strategies as st

SOURCE = """\
volatile int sink;
__attribute__((noinline)) void inner(int n) {
	sink = n;
	asm volatile("" ::: "memory");
}
__attribute__((noinline)) void middle(int n) {
	inner(n + 1);
	sink = n;
}
void outer(void) {
	middle(2);
	sink = 3;
}
"""
LINES = {"inner": 3, "middle": 7, "outer": 11}
TARGETS = {
    "aarch64": ["--target=aarch64-none-elf"],
    "armv7": ["--target=armv7a-none-eabi", "-marm"],
    "x86_64": ["--target=x86_64-none-elf"],
}
RAM, SIZE, STACK = 0x40000000, 0x100000, 0x400F0000
# The stack lies in the second; after the first is another's.
STRETCHES = [Region("ram", "ram", RAM, RAM, SIZE // 2, "rwx"), Region("ram", "ram", RAM + SIZE // 2, RAM + 4 * SIZE, SIZE // 2, "rwx")]
LINKED = 0x40080000


@pytest.fixture(scope="module", params=TARGETS)
def arch(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def program(arch: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(arch)
    (folder / "guest.c").write_text(SOURCE)
    options = ["-ffreestanding", "-O0", "-g", "-fno-omit-frame-pointer", "-c", str(folder / "guest.c"), "-o", str(folder / "guest.o")]
    link = [f"--image-base={LINKED:#x}", "-e", "outer", "--emit-relocs", str(folder / "guest.o"), "-o", str(folder / "guest.elf")]
    subprocess.run(["clang-19", *TARGETS[arch], *options], check=True)
    subprocess.run(["ld.lld-19", *link], check=True)
    return folder / "guest.elf"


def disassembled(program: Path) -> list[tuple[int, str]]:
    text = subprocess.run(["llvm-objdump-19", "-d", "--no-show-raw-insn", str(program)], capture_output=True, text=True, check=True).stdout
    lines = (line.split(":", 1) for line in text.splitlines() if line.startswith("4") and ":" in line and "<" not in line.split(":", 1)[0])
    return [(int(address, 16), what.strip()) for address, what in lines]


def symbol(program: Path, name: str) -> int:
    table = subprocess.run(["llvm-nm-19", str(program)], capture_output=True, text=True, check=True).stdout
    return next(int(line.split()[0], 16) for line in table.splitlines() if line.split()[-1] == name)


def returns(program: Path) -> list[int]:
    """Addresses after the two calls: in middle, in outer."""
    code = disassembled(program)
    return [code[n + 1][0] for n, (_, what) in enumerate(code) if what.split()[0] in ("bl", "call", "callq")]


def crash(arch: str, pc: int, pointer: int = 0, link: int = 0) -> Crash:
    registers = [0] * 36
    frames = FAMILIES[arch].registers.frames
    record = Crash("memory", 0, "write", 0x70000000, 0, pc, 0, 4, (0, 0), 0, tuple(registers))
    registers[frames.pointer(record.registers)] = pointer
    if frames.link is not None:
        registers[frames.link] = link
    return Crash(**(vars(record) | {"registers": tuple(registers)}))


class Ram(Memory):
    """Sixteen words of a stack; everything else is zeros."""

    def __init__(self, arch: str, words: dict[int, int]) -> None:
        self._size, self._words = FAMILIES[arch].registers.frames.word, words

    def read(self, hpa: int, size: int) -> bytes:
        gpa = next((one.gpa + hpa - one.hpa for one in STRETCHES if one.hpa <= hpa <= one.hpa + one.size - size), None)
        assert gpa is not None, "read outside the sandbox's RAM"
        return (self._words.get(gpa, 0) % (1 << 8 * size)).to_bytes(size, "little")


def found(arch: str, program: Path, record: Crash, words: dict[int, int] | None = None, state: str = "parked") -> Places:
    here = Location("x.dts", 1)
    sandbox = SandboxPlan("one", 0, "native", here, here, [0], [0], "log", program.name, "", RAM, RAM, SIZE, 0, regions=STRETCHES)
    platform = SimpleNamespace(arch=arch, build=program.parent)
    session = SimpleNamespace(platform=platform, plan=SimpleNamespace(file=program.parent / "x.dts"), memory=Ram(arch, words or {}))
    return places_of(cast(Session, session), cast(Watch, SimpleNamespace(plan=sandbox, state=state)), record)


def stack(arch: str, program: Path) -> dict[int, int]:
    """As it stands while inner runs: its frame, and middle's. The last one's frame pointer is 0."""
    word, (in_middle, in_outer) = FAMILIES[arch].registers.frames.word, returns(program)
    return {STACK: STACK + 0x40, STACK + word: in_middle, STACK + 0x40: 0, STACK + 0x40 + word: in_outer}


def told(one: Places) -> list[tuple[str, str, int]]:
    return [(place.function, Path(place.file).name, place.line) for place in (one.at, *one.callers) if place]


def test_function_line_and_callers_are_told(arch: str, program: Path) -> None:
    record = crash(arch, symbol(program, "inner") + 16, STACK)
    assert told(found(arch, program, record, stack(arch, program))) == [(name, "guest.c", line) for name, line in LINES.items()]


def test_the_link_register_tells_one_caller_where_the_stack_is_gone(arch: str, program: Path) -> None:
    in_middle = returns(program)[0]
    record = crash(arch, symbol(program, "inner") + 16, STACK, link=in_middle)
    names = [name for name, _, _ in told(found(arch, program, record, stack(arch, program), state="ready"))]
    assert names == (["inner"] if FAMILIES[arch].registers.frames.link is None else ["inner", "middle"])


def test_a_link_register_from_an_earlier_call_tells_nothing(arch: str, program: Path) -> None:
    """middle has called inner, which has returned."""
    in_middle = returns(program)[0]
    record = crash(arch, in_middle, 0, link=in_middle)
    assert [name for name, _, _ in told(found(arch, program, record, state="ready"))] == ["middle"]


def test_a_caller_is_believed_behind_a_call_only(arch: str, program: Path) -> None:
    """One instruction further nothing has been called."""
    words = {at: value + 4 if value in returns(program) else value for at, value in stack(arch, program).items()}
    record = crash(arch, symbol(program, "inner") + 16, STACK, link=returns(program)[0] + 4)
    assert [name for name, _, _ in told(found(arch, program, record, words))] == ["inner"]


def test_every_return_address_of_the_file_follows_a_call_and_no_other_does(arch: str, program: Path) -> None:
    loaded = places.load(program)
    assert loaded
    judged = [
        address
        for address, _ in disassembled(program)
        if (before := loaded.before(address)) and FAMILIES[arch].registers.frames.is_call(before)
    ]
    assert judged == returns(program)


@pytest.mark.parametrize(
    ("arch_name", "line"),
    [
        ("aarch64", "blr x9"),
        ("aarch64", "bl 0x1000"),
        ("armv7", "blx r3"),
        ("armv7", "bl 0x1000"),
        ("armv7", "blx 0x1000"),
        ("armv7", ".thumb; bl 0x1000"),
        ("armv7", ".thumb; blx 0x1000"),
        ("armv7", ".thumb; blx r3"),
        ("x86_64", "call *%rax"),
        ("x86_64", "call *%r11"),
        ("x86_64", "call *8(%rax)"),
        ("x86_64", "call *0x1234(%rbx,%rcx,8)"),
        ("x86_64", "call *0x1234(%rip)"),
    ],
)
def test_calls_of_every_form_are_known(arch_name: str, line: str, tmp_path: Path) -> None:
    mnemonics = line.replace("; ", "\n")
    (tmp_path / "a.s").write_text(f".text\n.arm\n{mnemonics}\n" if arch_name == "armv7" else f".text\n{mnemonics}\n")
    target = TARGETS[arch_name][0]
    subprocess.run(["clang-19", target, "-c", str(tmp_path / "a.s"), "-o", str(tmp_path / "a.o")], check=True)
    subprocess.run(["llvm-objcopy-19", "-O", "binary", "--only-section=.text", str(tmp_path / "a.o"), str(tmp_path / "a.bin")], check=True)
    code = (tmp_path / "a.bin").read_bytes()
    assert FAMILIES[arch_name].registers.frames.is_call(bytes(8) + code if len(code) < 8 else code)


def test_frames_that_go_round_end(arch: str, program: Path) -> None:
    word, (in_middle, _) = FAMILIES[arch].registers.frames.word, returns(program)
    round_about = {STACK: STACK, STACK + word: in_middle}
    assert len(found(arch, program, crash(arch, symbol(program, "inner") + 16, STACK), round_about).callers) == 1


def test_no_more_callers_than_can_be_read(arch: str, program: Path) -> None:
    word, (in_middle, _) = FAMILIES[arch].registers.frames.word, returns(program)
    deep = {STACK + 0x20 * n: STACK + 0x20 * (n + 1) for n in range(99)} | {STACK + 0x20 * n + word: in_middle for n in range(99)}
    assert len(found(arch, program, crash(arch, symbol(program, "inner") + 16, STACK), deep).callers) == MOST_CALLERS


@settings(max_examples=8, deadline=None)
@given(pc=st.integers(0, 2**64 - 1), pointer=st.integers(0, 2**64 - 1), link=st.integers(0, 2**64 - 1), count=st.integers(0, 36))
def test_no_record_makes_it_fail(arch: str, program: Path, pc: int, pointer: int, link: int, count: int) -> None:
    record = crash(arch, pc, pointer, link)
    assert found(arch, program, Crash(**(vars(record) | {"registers": record.registers[:count]}))) == NOWHERE
    short_record = Crash(**(vars(record) | {"pc": symbol(program, "inner") + 16, "registers": record.registers[:count]}))
    found(arch, program, short_record)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_no_file_makes_it_fail(arch: str, program: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Bytes changed anywhere, and the end cut off."""
    content = bytearray(program.read_bytes())
    for at in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=40)):
        content[at] = data.draw(st.integers(0, 255))
    changed = tmp_path_factory.mktemp("changed") / "guest.elf"
    changed.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    found(arch, changed, crash(arch, symbol(program, "inner") + 16, STACK), stack(arch, program))


def break_symbolizer(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    places._symbolized.cache_clear()
    tool = folder / "symbolizer"
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    monkeypatch.setattr(places, "SYMBOLIZER", str(tool))


@pytest.mark.parametrize("script", ["exit 1", "echo nonsense", "echo '[]'", "echo '{\"Symbol\":[{}]}'", "kill -SEGV $$", 'rm "$0"; yes'])
def test_no_answer_of_the_symbolizer_makes_it_fail(
    arch: str, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    break_symbolizer(monkeypatch, tmp_path, script)
    assert found(arch, program, crash(arch, symbol(program, "inner") + 16)) == NOWHERE


def test_a_symbolizer_that_is_not_there_is_no_place(arch: str, program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places._symbolized.cache_clear()
    monkeypatch.setattr(places, "SYMBOLIZER", "/nowhere/symbolizer")
    assert found(arch, program, crash(arch, symbol(program, "inner") + 16)) == NOWHERE


@pytest.mark.parametrize(
    ("name", "shown"), [("./../../kernel/a.c", "kernel/a.c"), ("/somewhere/a.c", "/somewhere/a.c"), ("a\x1b[31m.c", "a.c"), ("", "")]
)
def test_files_are_named_as_their_author_would(name: str, shown: str) -> None:
    assert short(name) == shown
    assert clean("x" * 999) == "x" * places.LONGEST_NAME


def test_an_exception_at_no_vector_has_the_place_of_what_raised_it(program: Path, arch: str) -> None:
    pc, at = {"aarch64": 0x200, "armv7": 0x4, "x86_64": 0x200}[arch], symbol(program, "inner") + 16
    registers = [0] * 36
    registers[14], registers[15] = at + 4, 0x1DB
    if arch == "aarch64":
        registers[32], registers[34] = 0x3C5, at
    record = Crash("memory", 0, "execute", pc, 0, pc, 0, 4, (0, 0), 0, tuple(registers))
    places = found(arch, program, record)
    assert (places.at, places.callers) == (None, ())
    assert (places.raised.function if places.raised else None) == (None if arch == "x86_64" else "inner")


def test_a_record_without_symbols_is_as_it_was(plan: Plan) -> None:
    lines = crash_lines(plan, 1, crash("aarch64", 0x1234), "aarch64", 80)
    assert lines[0] == "parked: write of 4 bytes at memory 0x70000000, value 0x0"
    assert not any("called from" in line for line in lines)
