# SPDX-License-Identifier: Apache-2.0
"""How deep the stacks of a monitor and of start-up can become: the deepest path through their linked code, instruction by instruction.

Nothing is estimated. The walk fails at an instruction whose effect on the stack pointer it does not know, where two ways meet at different
depths, where a function returns with anything left on the stack, where it comes to itself again, and where a call goes through a
register and INDIRECT does not say where to.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

START = "monitor_run"  # on an empty stack, but for what is kept at its top: ON_TOP
BOOT_CORE, OTHER_CORES = "monitor_boot", "monitor_core_boot"  # start-up, each on an empty stack of its own
POINTERS = {"x86_64": 8, "aarch64": 8, "armv7": 4}

# What calls through a register, and where to: every function that stands in a table, or members of the vendor's table on a PC. Functions
# whose addresses are constants of the caller need not be named.
VENDOR = ("run", "wait", "get", "set", "skip", "inject", "has_event", "start", "enter", "drain")  # struct x86_vendor
IOMMU = ("open", "close")  # struct iommu, on a PC; on ARM its functions stand in a table
RESIDENT_IOMMUS = ("smmuv3", "amdvi_resident", "vtd_resident")
IOMMU_BOOTS = ("smmuv3_boot", "amdvi_boot", "vtd_boot")
INDIRECT = {
    "monitor_run": ("syndrome_classes",),
    "complete": ("rules",),
    "x86_get": ("vendor.get",),
    "hal_core_run": ("vendor.run", "vendor.has_event"),
    "reset_core": ("vendor.drain",),
    "x86_core_forget": ("vendor.enter",),
    "hal_core_emulate": ("vendor.inject", "rules"),
    "hal_core_apply": ("vendor.skip", "vendor.inject"),
    "write_efer": ("vendor.set",),
    "write_pat": ("vendor.set",),
    "attend": ("vendor.wait", "vendor.start", "vendor.has_event", "vendor.inject", "iommu.open", "iommu.close", "smmuv3"),
    "hal_core_restart": ("iommu.open", "smmuv3"),
}
# The same for start-up.
X86_COUNTED = (
    *("traces", "global_controls", "samplers", "debug_stores", "selectors"),
    *("profiling", "amd_global_controls", "sampling", "extended_controls"),
)
INDIRECT_BOOT = {
    "table_refuse": ("checks",),
    "hal_partition_seal": RESIDENT_IOMMUS,
    **dict.fromkeys(("iommu_missing", "hal_machine_block_dma", "iommu_clear_faults", "iommu_create", "iommu_map"), IOMMU_BOOTS),
    **dict.fromkeys(("iommu_admit", "iommu_admit_lines", "iommu_publish"), IOMMU_BOOTS),
    "disarm": ("disarm_controls", "disarm_this_core"),
    "arch_boot_putc": ("pl011", "ns16550"),
    "arch_boot_console_leave": ("pl011", "ns16550"),
    "put_text": ("pl011", "ns16550"),
    "put_hex": ("pl011", "ns16550"),
    "start_trapped": ("pl011", "ns16550"),
    "x86_disarm": ("controls", "x86_this_processor"),
    **dict.fromkeys(("hal_partition_create", "hal_core_create", "hal_core_launch", "x86_allow_msrs", "x86_unprotect"), ("vendor_boot",)),
    **dict.fromkeys(("has_trace_filter", "has_trace_buffer", "has_profiling", "has_counters"), ("disarm_this_core",)),
    **dict.fromkeys((f"count_{what}" for what in X86_COUNTED), ("x86_this_processor",)),
}
# Where start-up leaves its stack for the private one.
LEFT_BEHIND = ("x86_space_enter", "guest_space_enter")
# What ends a path besides a return: the guest, and another life on an empty stack.
ENDS = {"eret", "iretq", "ud2", "udf", "brk", "trap"}
# The function that leaves for the guest on ARM, and where the guest comes back to, with the stack as it was then and what a vector pushes.
LEAVES, BACK = "guest_run", "guest_left"
VECTOR_PUSHES = {"aarch64": 16, "armv7": 0}
# Besides, on a PC: what x86_space_enter keeps at the top; the frame of an interrupt, five words and aligned, and in its handler that of an
# NMI, which pushes two words.
ON_TOP = {"x86_64": 24, "aarch64": 0, "armv7": 0}
INTERRUPTED = {"x86_64": 2 * (5 * 8 + 8) + 2 * 8, "aarch64": 0, "armv7": 0}


THUNK = "__Thumbv7ABSLongThunk_"  # the linker's, to a function that is too far or of the other instruction set


class StackError(Exception):
    """The depth cannot be told."""


@dataclass(frozen=True)
class Instruction:
    address: int
    function: str
    text: str

    @property
    def name(self) -> str:
        return self.text.split()[0].removesuffix(".w").removesuffix(".n")


@dataclass(frozen=True)
class Step:
    """What an instruction does to the stack and to the way."""

    moves: int = 0  # bytes that it pushes
    calls: bool = False
    target: int | None = None  # of a jump or call
    indirect: bool = False
    falls: bool = True  # goes on after itself, too
    returns: bool = False
    pops: int = 0  # bytes that it takes from the stack if it returns, and only then


@dataclass(frozen=True)
class Depth:
    """Of a function: its deepest path, from the outermost."""

    bytes: int
    path: tuple[str, ...]
    returns: bool = True


REMARK = re.compile(r"\s*(//|@ |# ).*$")
TARGET = re.compile(r"\s\*?0x([0-9a-f]+) <")
LINE = re.compile(r"\s*([0-9a-f]+):\s+(\S.*)")
HEAD = re.compile(r"([0-9a-f]+) <(.*)>:")
NUMBER = re.compile(r"[#$](-?0x[0-9a-f]+|-?\d+)")
REGISTERS = re.compile(r"\{(.*)\}")


def number(text: str) -> int:
    found = NUMBER.search(text)
    if not found:
        raise StackError(f"no number in {text!r}")
    return int(found[1], 0)


def target_of(text: str) -> int | None:
    found = TARGET.search(text)
    return int(found[1], 16) if found else None


UNKNOWN = re.compile(r"push|pop(?!cnt)|leave|enter|xchg\S*\s+(.*, )?%rsp(,|$)")  # what has not been told of before
FRAME = re.compile(r"leaq\s+(-?0x[0-9a-f]+)?\(%rbp\), %rsp")  # from the frame pointer


def x86_step(one: Instruction) -> Step:
    name, text = one.name, one.text
    if name in ("pushq", "pushfq"):
        return Step(8)
    if name in ("popq", "popfq"):
        return Step(-8)
    if name in ("subq", "addq") and text.endswith("%rsp"):
        return Step(number(text) if name == "subq" else -number(text))
    if name == "andq" and text.endswith(", %rsp"):
        return Step(-number(text) - 1)
    if name == "callq":
        return Step(calls=True, target=target_of(text), indirect="*" in text)
    if name == "jmp" or name == "jmpq":
        return Step(target=target_of(text), indirect="*" in text, falls=False)
    if name[0] == "j":
        return Step(target=target_of(text))
    if name == "retq" or name in ENDS:
        return Step(falls=False, returns=name == "retq")
    if UNKNOWN.match(text) or (text.endswith(", %rsp") and name not in ("cmpq", "testq") and not FRAME.match(text)):
        raise StackError(f"{one.function}: what does {text!r} do to the stack?")
    return Step()


CONDITIONS = "(eq|ne|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|cs|cc)"
ARM_JUMP = re.compile(rf"(b|b\.\w\w|b{CONDITIONS}|cbn?z|tbn?z)$")
CONDITIONAL = re.compile(rf"(push|pop|ldm\w*|stm\w*|ldrd?|strd?|add|sub){CONDITIONS}$")
IN_BLOCK = re.compile(
    rf"(push|pop|ldm\w*|stm\w*|ldrd?|strd?|add|sub|b){CONDITIONS}(\.[wn])?(?=\s)"
)  # what compilers make of a conditional return
RETURNS = re.compile(r"pop\S*\s+\{.*pc\}|ldr\S*\s+pc, ")
PRE, POST = re.compile(r"\[sp, #(-0x[0-9a-f]+|-\d+)\]!"), re.compile(r"\[sp\], #(0x[0-9a-f]+|\d+)")


def arm_moves(name: str, text: str, pointer: int) -> int:
    if found := PRE.search(text):
        return -int(found[1], 0)
    if found := POST.search(text):
        return -int(found[1], 0)
    if name.startswith(("push", "pop")):
        listed = REGISTERS.search(text)
        assert listed, text
        count = sum(1 for _ in listed[1].split(","))
        return pointer * count * (1 if name.startswith("push") else -1)
    if re.match(r"(sub|add)\S*\s+sp, ", text):
        return number(text) * (1 if name.startswith("sub") else -1)
    if re.match(r"(mov\S*|ld\S*|and\S*|orr\S*)\s+sp, ", text) or "sp!" in text or name.startswith(("vpush", "vpop")):
        raise StackError(f"what does {text!r} do to the stack?")
    return 0


def arm_step(one: Instruction, pointer: int) -> Step:
    name, text = one.name, one.text
    operand = text.split()[1] if " " in text or "\t" in text else ""
    if name in ("bl", "blx", "blr"):
        return Step(calls=True, target=target_of(text), indirect=target_of(text) is None)
    if name in ("ret", *ENDS) or (name == "bx" and operand == "lr"):
        return Step(falls=False, returns=name not in ENDS)
    if name in ("br", "bx"):
        return Step(indirect=True, falls=False)
    if ARM_JUMP.match(name):
        return Step(target=target_of(text), falls=name != "b")
    moves = arm_moves(name, text, pointer)
    if CONDITIONAL.match(name) and RETURNS.match(text):
        return Step(returns=True, pops=-moves)
    return Step(moves, falls=not RETURNS.match(text), returns=bool(RETURNS.match(text)))


@dataclass(frozen=True)
class Held:
    """In a run of ARMv7 instructions of one condition: whether it holds, once one of them has moved the stack."""

    condition: str
    holds: bool


def condition_of(one: Instruction) -> str:
    found = IN_BLOCK.match(one.text)
    return found[2] if found else ""


def as_it_holds(one: Instruction) -> Instruction:
    """Without its condition."""
    return replace(one, text=IN_BLOCK.sub(r"\1", one.text))


@dataclass
class Code:
    """Resident text of one machine."""

    architecture: str
    instructions: dict[int, Instruction]
    functions: dict[str, int]
    tables: dict[str, tuple[int, ...]]  # code addresses in each table of the constants
    known: dict[int, Depth] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        addresses = sorted(self.instructions)
        self.next = dict(pairwise(addresses))
        self.names = {address: name for name, address in self.functions.items()}

    def step(self, one: Instruction) -> Step:
        return x86_step(one) if self.architecture == "x86_64" else arm_step(one, POINTERS[self.architecture])

    def targets(self, one: Instruction) -> list[int]:
        """Of a call or jump through a register."""
        body = (other for other in self.instructions.values() if other.function == one.function)
        constants = {int(constant[1], 0) for other in body if (constant := re.match(r"mov\S*\s+\$(0x[0-9a-f]+), ", other.text))}
        found = [address for address in constants if address in self.names]
        names = INDIRECT.get(one.function, ())
        if one.function.startswith(THUNK):
            return [self.functions[one.function.removeprefix(THUNK)]]
        if one.function in INDIRECT_BOOT:
            names = INDIRECT_BOOT[one.function]
        elif member := re.search(r"\*(0x[0-9a-f]+)?\(%r[a-z]", one.text):
            place = int(member[1] or "0", 0) // 8
            members = {f"{table}.{there[place]}" for table, there in (("vendor", VENDOR), ("iommu", IOMMU)) if place < len(there)}
            names = tuple(name for name in names if name in members)
        for name in names:
            found += self.tables.get(name, ())
        of_iommu = any(name.startswith("iommu.") or name in (*RESIDENT_IOMMUS, *IOMMU_BOOTS) for name in names)
        if not found and of_iommu and not self.tables.keys() & {*RESIDENT_IOMMUS, *IOMMU_BOOTS}:
            return []  # this board has none, so the call is never made
        if not found:
            raise StackError(f"{one.function} calls through a register ({one.text}), and INDIRECT does not say where to")
        return found

    def below(self, one: Instruction, step: Step) -> Depth:
        """The deepest of what is called."""
        goes_to = self.targets(one) if step.indirect else [step.target]
        depths = [self.depth(address) for address in goes_to if address is not None]
        worst = max(depths, key=lambda depth: depth.bytes, default=Depth(0, ()))
        return replace(worst, returns=not depths or any(depth.returns for depth in depths))

    def depth(self, entry: int) -> Depth:
        """Of the function, from its first instruction on."""
        name = self.names.get(entry, hex(entry))
        if entry in self.known:
            return self.known[entry]
        if name in self.open:
            raise StackError(f"recursion: {' -> '.join([*self.open[self.open.index(name) :], name])}")
        self.open.append(name)
        self.known[entry] = Depth(0, (name,), returns=False) if name in LEFT_BEHIND else self.walk(entry, name)
        self.open.pop()
        return self.known[entry]

    def starts(self, entry: int, name: str) -> Iterator[tuple[int, int]]:
        yield entry, 0
        if name == LEAVES:
            pushed = [self.step(one).moves for one in self.instructions.values() if one.function == LEAVES]
            yield self.functions[BACK], sum(pushed) + VECTOR_PUSHES[self.architecture]

    def after(self, one: Instruction, depth: int, frames: dict[str, int]) -> int:
        """Bytes on the stack after an instruction. `frames`: of each function, where its frame pointer was set."""
        if re.match(r"movq\s+%rsp, %rbp", one.text):
            frames[one.function] = depth
        if found := FRAME.match(one.text):
            return frames[one.function] - int(found[1] or "0", 0)
        return depth + self.step(one).moves

    def pushed(self, one: Instruction, step: Step) -> Depth:
        """By a call, and by what it calls."""
        if not (step.calls or step.indirect):
            return Depth(0, ())
        below = self.below(one, step)
        returns = 8 if step.calls and self.architecture == "x86_64" else 0
        return replace(below, bytes=returns + below.bytes)

    def walk(self, entry: int, name: str) -> Depth:
        worst, seen, frames, returns = Depth(0, (name,)), dict[tuple[int, Held | None], int](), dict[str, int](), False
        waiting: list[tuple[int, int, Held | None]] = [(address, depth, None) for address, depth in self.starts(entry, name)]
        while waiting:
            address, depth, held = waiting.pop()
            if address not in self.instructions:
                raise StackError(f"{name} goes to {address:#x}, where no resident code is")
            one = self.instructions[address]
            condition = condition_of(one) if self.architecture == "armv7" else ""
            if held and condition != held.condition and not one.name.startswith("it"):
                held = None
            if seen.setdefault((address, held), depth) != depth:
                raise StackError(f"{name}: {address:#x} is reached with {seen[address, held]} and with {depth} bytes on the stack")
            if held and condition and not held.holds:
                waiting.append((self.next[address], depth, held))
                continue
            if held and condition:
                one = as_it_holds(one)
            elif condition and self.step(one).moves:
                waiting += [(address, depth, Held(condition, holds)) for holds in (True, False)]
                continue
            step, after = self.step(one), self.after(one, depth, frames)
            if step.returns and after != step.pops:
                raise StackError(f"{name}: {one.text!r} at {address:#x} with {after} bytes on the stack")
            below = self.pushed(one, step)
            if after + below.bytes > worst.bytes:
                worst = Depth(after + below.bytes, (f"{name} {after}", *below.path))
            returns |= step.returns or one.name == "iretq" or (step.indirect and not step.calls and below.returns)
            goes_on = [step.target] if step.target is not None and not step.calls else []
            goes_on += [self.next[address]] if step.falls and below.returns and address in self.next else []
            waiting += [(to, after, held) for to in goes_on if seen.get((to, held)) != after]
        return replace(worst, returns=returns)


def read_listing(listing: str) -> tuple[dict[int, Instruction], dict[str, int]]:
    instructions, functions, function = {}, {}, ""
    for line in listing.splitlines():
        if head := HEAD.match(line):
            function = head[2]
            functions[function] = int(head[1], 16)
        elif found := LINE.match(line):
            instructions[int(found[1], 16)] = Instruction(int(found[1], 16), function, REMARK.sub("", found[2]).strip())
    return instructions, functions


def words_of(elf: ELFFile, start: int, size: int, pointer: int) -> list[int]:
    for section in elf.iter_sections():
        if section["sh_type"] == "SHT_PROGBITS" and section["sh_addr"] <= start < section["sh_addr"] + section["sh_size"]:
            data = section.data()[start - section["sh_addr"] :][:size]
            return [int.from_bytes(data[at : at + pointer], "little") for at in range(0, size, pointer)]
    return []


def read_tables(elf: ELFFile, functions: dict[str, int], pointer: int, backend: str) -> dict[str, tuple[int, ...]]:
    """Of each constant object, the functions whose addresses stand in it; of the vendor's, each member by its name."""
    table = elf.get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)
    objects = {symbol["st_value"] for symbol in table.iter_symbols() if symbol["st_info"]["type"] == "STT_OBJECT"}
    entries, tables = set(functions.values()) - objects, dict[str, tuple[int, ...]]()
    for symbol in table.iter_symbols():
        if symbol["st_info"]["type"] == "STT_OBJECT" and symbol["st_size"]:
            words = [word & ~1 if pointer == 4 else word for word in words_of(elf, symbol["st_value"], symbol["st_size"], pointer)]
            tables[symbol.name] = (*tables.get(symbol.name, ()), *(word for word in words if word in entries))
            if symbol.name == f"{backend}_vendor_boot":
                tables["vendor_boot"] = tables[symbol.name]
            if symbol.name == f"{backend}_vendor":
                tables |= {f"vendor.{name}": (word,) for name, word in zip(VENDOR, words, strict=False)}
            if symbol.name in RESIDENT_IOMMUS:
                tables |= {f"iommu.{name}": (word,) for name, word in zip(IOMMU, words, strict=True)}
    return tables


def read_code(image: Path, architecture: str, backend: str, boot: bool = False) -> Code:
    sections = [
        ".text",
        *([".boot"] if boot else []),
        *([f".{backend}_text", ".amdvi_text", ".vtd_text"] if architecture == "x86_64" else []),
    ]
    command = ["llvm-objdump-19", "-d", "--no-show-raw-insn", *(f"--section={name}" for name in sections)]
    command += ["--mcpu=cortex-a15"] if architecture == "armv7" else []
    listing = subprocess.run([*command, str(image)], check=True, capture_output=True, text=True).stdout
    instructions, functions = read_listing(listing)
    with image.open("rb") as file:
        tables = read_tables(ELFFile(file), functions, POINTERS[architecture], backend)
    return Code(architecture, instructions, functions, tables)


def deepest(image: Path, architecture: str, backend: str) -> Depth:
    """Of the monitor in this image, on this backend; on top of what its stack always holds, and of what may interrupt it."""
    code = read_code(image, architecture, backend)
    found = code.depth(code.functions[START])
    return Depth(found.bytes + ON_TOP[architecture] + INTERRUPTED[architecture], found.path)


def deepest_of_startup(image: Path, architecture: str, backend: str, start: str) -> Depth:
    """Of start-up from `start` to where it leaves for the private stack, with what says on top of it that it has trapped."""
    code = read_code(image, architecture, backend, boot=True)
    found = code.depth(code.functions[start])
    trapped = INTERRUPTED[architecture] or code.depth(code.functions["start_trapped"]).bytes
    return Depth(found.bytes + trapped, found.path)
