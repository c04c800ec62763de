# SPDX-License-Identifier: Apache-2.0
"""What an x86 sandbox can try. Code is called with its arguments in RDI and RSI: AMD64 APM vol. 3 for every encoding."""

import random

from bhtool.attack.aliases import ALIASES
from bhtool.attack.attack_class import AttackClass, walk
from bhtool.attack.ground import ECAM, IOAPIC, Ground
from bhtool.attack.modes_x86 import MODES_X86
from bhtool.attack.races import RACES
from bhtool.attack.registers_x86 import (
    FIXED,
    INIT,
    NMI,
    PLAIN_VECTORS,
    RET,
    SMI,
    VALUE_INTO_EAX,
    code,
    draw_icr,
    draw_lvt,
    draw_msr,
    draw_own_icr,
)
from bhtool.attack.request import ANYTHING, EMPTY_BUS, NEVER_BACK, NO_VALUE, NOT_DONE, Aim, Attempt
from bhtool.attack.resets import RESETS_X86

INTO_EDX = b"\x89\xfa"


READS = {
    "read 1": code("0fb607"),
    "read 2": code("0fb707"),
    "read 4": code("8b07"),
    "read 8": code("488b07"),
    "push from": code("ff3758"),
    "lods from": code("4889fe48ad"),
    "compare with": code("4889fe48a7"),
    "call through": code("ff17"),
    "test bit of": code("480fba2700"),
}
WRITES = {
    "write 1": code("408837"),
    "write 2": code("668937"),
    "write 4": code("8937"),
    "write 8": code("488937"),
    "write an immediate to": code("c607a5"),
    "rep stos to": code("b910000000f3aa"),
    "rep movs to": code("4889e6b910000000f3a4"),
    "add to": code("480137"),
    "sgdt to": code("0f0107"),
    "stack at": code("4889e0488d6708504889c4"),
    "movnti to": code("480fc337"),
}
LOCKED = {
    "lock xadd": code("f0480fc137"),
    "lock cmpxchg": code("f0480fb137"),
    "lock bts": code("f0480fba2f00"),
    "xchg": code("488737"),
    "lock cmpxchg16b": code("53f0480fc70f5b"),
    "lock inc": code("f0ff07"),
}
EXECUTE = {"call": code("ffd7"), "jump to": code("ffe7")}
MEMORY = {"read": READS, "write": WRITES, "locked": LOCKED, "execute": EXECUTE}


def draw_memory(rng: random.Random, index: int, ground: Ground) -> Attempt:
    forms = MEMORY[list(MEMORY)[index % len(MEMORY)]]
    name = rng.choice(list(forms))
    target = ground.draw(rng)
    return Attempt(
        f"{name} {target.address:#x} ({target.whose})", forms[name] + RET, target.address, rng.getrandbits(64), Aim.ADDRESS, NEVER_BACK
    )


def draw_straddle(rng: random.Random, index: int, ground: Ground) -> Attempt:
    """From the last bytes of an own page over its end."""
    edge = rng.choice(ground.edges)
    name = rng.choice(("read 4", "read 8", "write 4", "write 8"))
    address = edge - rng.randrange(1, 4)
    return Attempt(f"{name} {address:#x}, half of it foreign", (READS | WRITES)[name] + RET, address, 0, Aim.ADDRESS, NOT_DONE)


def draw_tables(rng: random.Random, index: int, ground: Ground) -> Attempt:
    target = ground.draw(rng)
    return Attempt(f"page table at {target.address:#x} ({target.whose})", READS["read 4"] + RET, target.address, 0, Aim.TABLE, NEVER_BACK)


# ---- Ports ----------------------------------------------------------------------------------------------------------

BUFFER_DI, BUFFER_SI = code("4889e74883ef40b904000000"), code("4889e64883ee40b904000000")
PORT_FORMS = {
    "in al": (code("31c0ec"), NO_VALUE),
    "in ax": (code("31c066ed"), NO_VALUE),
    "in eax": (code("31c0ed"), NO_VALUE),
    "out al": (VALUE_INTO_EAX + code("ee"), NOT_DONE),
    "out ax": (VALUE_INTO_EAX + code("66ef"), NOT_DONE),
    "out eax": (VALUE_INTO_EAX + code("ef"), NOT_DONE),
    "rep insb": (BUFFER_DI + code("f36c"), NOT_DONE),
    "rep insw": (BUFFER_DI + code("f3666d"), NOT_DONE),
    "rep insd": (BUFFER_DI + code("f36d"), NOT_DONE),
    "rep outsb": (BUFFER_SI + code("f36e"), NOT_DONE),
    "rep outsw": (BUFFER_SI + code("f3666f"), NOT_DONE),
    "rep outsd": (BUFFER_SI + code("f36f"), NOT_DONE),
}
DANGEROUS_PORTS = (
    0x20,
    0x21,
    0xA0,
    0xA1,
    0x40,
    0x43,
    0x60,
    0x61,
    0x64,
    0x70,
    0x71,
    0x92,
    0xB2,
    0xCF8,
    0xCF9,
    0xCFC,
    0x3F8,
    0x3FB,
    0x510,
    0x518,
    0x604,
    0x8900,
)
PORTS = 0x10000


def draw_port(rng: random.Random, index: int, ground: Ground) -> Attempt:
    name = list(PORT_FORMS)[index % len(PORT_FORMS)]
    form, contained = PORT_FORMS[name]
    port = rng.choice(DANGEROUS_PORTS) if rng.random() < 0.3 else walk(index, PORTS)
    if 0xCF8 <= port < 0xD00 or any(one.first <= port < one.first + one.count for one in ground.sandbox.ports):
        contained = ANYTHING
    return Attempt(f"{name}, port {port:#x}", INTO_EDX + form + RET, port, rng.getrandbits(32), Aim.NUMBER, contained)


PRESENT = (0x00, 0x08, 0x09, 0x0B, 0x10, 0x18, 0xF8, 0xFA, 0xFB)  # functions of bus 0 that PCs have: bridges, disks, what is plugged in


def is_own_function(address: int, ground: Ground) -> bool:
    return any(one.id == address >> 8 & 0xFFFF for one in ground.sandbox.functions)


def draw_pci_port(rng: random.Random, index: int, ground: Ground) -> Attempt:
    """Mechanism #1: an address to 0xCF8, then data through 0xCFC. Of others' functions all reads are those of an empty bus."""
    address = 0x80000000 | walk(index, 0x1000000) & ~3
    if index % 4:
        address = 0x80000000 | rng.choice(PRESENT) << 8 | rng.randrange(0, 64, 4)
    write = rng.random() < 0.3
    data = VALUE_INTO_EAX + code("ef") if write else code("31c0ed")
    body = code("89f866baf80cef") + code("66bafc0c") + data
    kind = "write" if write else "read"
    contained = ANYTHING if write or is_own_function(address, ground) else EMPTY_BUS
    return Attempt(f"PCI configuration {kind} of {address:#x} by ports", body + RET, address, rng.getrandbits(32), Aim.NUMBER, contained)


# ---- Instructions, calls, registers of the core -----------------------------------------------------------------------

INSTRUCTIONS = {
    name: code(text)
    for name, text in {
        "vmrun": "4889f80f01d8",
        "vmload": "4889f80f01da",
        "vmsave": "4889f80f01db",
        "stgi": "0f01dc",
        "clgi": "0f01dd",
        "skinit": "0f01de",
        "invlpga": "0f01df",
        "vmxoff": "0f01c4",
        "vmlaunch": "0f01c2",
        "vmresume": "0f01c3",
        "vmxon": "57f30fc7342458",
        "vmclear": "57660fc7342458",
        "vmptrld": "570fc7342458",
        "vmptrst": "570fc73c2458",
        "vmread": "0f78f8",
        "vmwrite": "0f79f8",
        "invept": "5757660f38803c245858",
        "invvpid": "5757660f38813c245858",
        "vmfunc": "89f80f01d4",
        "getsec": "89f80f37",
        "rsm": "0faa",
        "invd": "0f08",
        "wbinvd": "0f09",
        "rdpmc": "89f90f33",
        "monitor": "4889e00f01c8",
        "xsetbv": "31c989f831d20f01d1",
        "xgetbv": "89f90f01d0",
        "rdtscp": "0f01f9",
        "swapgs twice": "0f01f80f01f8",
        "cpuid": "5389f889f10fa25b",
        "clts": "0f06",
        "ud2": "0f0b",
        "int3": "cc",
        "int1": "f1",
        "sysret": "480f07",
        "syscall": "0f05",
        "iret to nowhere": "6a006a006a006a006a0048cf",
        "load task register": "0f00df",
        "load LDT": "0f00d7",
        "mov from cr8": "440f20c0",
        "mov from dr7": "0f21f8",
        "pconfig": "0f01c5",
        "enclu": "31c00f01d7",
        "rdpkru": "31c90f01ee",
        "tlbsync": "0f01ff",
        "invlpgb": "0f01fe",
        "rdpru": "31c90f01fd",
        "vmgexit": "f30f01d9",
        "serialize": "0f01e8",
        "hreset": "f30f3af0c000",
        "wbnoinvd": "f30f09",
    }.items()
}


def draw_instruction(rng: random.Random, index: int, ground: Ground) -> Attempt:
    name = list(INSTRUCTIONS)[index % len(INSTRUCTIONS)]
    target = ground.draw(rng)
    return Attempt(f"{name}, with {target.address:#x}", INSTRUCTIONS[name] + RET, target.address, rng.getrandbits(32), Aim.NUMBER, ANYTHING)


CONTROL = {"cr0": ("0f20c0", "0f22c2", "0f22c0"), "cr4": ("0f20e0", "0f22e2", "0f22e0")}  # to RAX, from RDX, from RAX


def draw_control_register(rng: random.Random, index: int, ground: Ground) -> Attempt:
    """One bit of it turned over, and back in the same breath."""
    name = list(CONTROL)[index % len(CONTROL)]
    read, turned, restored = CONTROL[name]
    bit = walk(index // len(CONTROL), 32)
    if (name == "cr0" and bit in (0, 31, 3, 2)) or (name == "cr4" and bit == 5):  # the program's own ground
        bit = 40
    body = code(read + "4889c24831f2" + turned + restored)
    return Attempt(f"{name} with bit {bit} turned over", body + RET, 0, 1 << bit, Aim.NUMBER, ANYTHING)


CALL = {True: code("534889f84889f389f10f01c15b"), False: code("534889f84889f389f10f01d95b")}  # VMCALL, VMMCALL
CALLS, PARK = 0xC6000000, 2


def draw_call(rng: random.Random, index: int, ground: Ground) -> Attempt:
    known = CALLS + index // 2 % 32
    function = rng.choice((known, known, known & 0xFFFFFFFF | rng.getrandbits(32) << 32, rng.getrandbits(32), rng.getrandbits(64)))
    if function == CALLS + PARK or function & 0xFFFFFFFF in range(CALLS + 4, CALLS + 32):
        function = CALLS + 3
    value = rng.choice((rng.getrandbits(4), rng.getrandbits(64)))
    return Attempt(f"call {function:#x} with {value:#x}", CALL[bool(index % 2)] + RET, function, value, Aim.NUMBER, ANYTHING)


TIMER_PIN = 2  # interrupts without being asked
# The pin stands in bits 39:32 of the value: high word, then low word of its entry.
REDIRECT = code("4889f048c1e8200fb6c88d4c0911890f25000000ff894710ffc9890f897710")


def draw_redirection(rng: random.Random, index: int, ground: Ground) -> Attempt:
    """Both words of a pin's entry: every delivery mode and vector, to every core. 82093AA data sheet, 3.2.4.

    Every other one would give somebody else an interrupt at once.
    """
    if index % 2:
        pin = walk(index // 2, 24)
        form = rng.choice((FIXED, FIXED, NMI, INIT, SMI, 7)) << 8 | rng.getrandbits(1) << 11 | rng.getrandbits(1) << 15
        core = rng.choice((*range(4), 0xFF))
    else:
        pin, form, core = TIMER_PIN, FIXED << 8, rng.choice([core for core in range(4) if core not in ground.sandbox.cores])
    value = rng.randrange(*PLAIN_VECTORS) | form | core << 56
    return Attempt(f"redirection of pin {pin} = {value:#018x}", REDIRECT + RET, IOAPIC.start, value | pin << 32, Aim.ADDRESS, ANYTHING)


def draw_filtered(rng: random.Random, index: int, ground: Ground) -> Attempt:
    """Registers of the IOAPIC, whole and in pieces; configuration space as memory."""
    span = (IOAPIC, ECAM)[index % 2]
    address = span.start + walk(index // 2, span.size) & ~3
    if span is IOAPIC and rng.random() < 0.7:
        address = span.start + rng.choice((0, 0x10, 0x20, 0x40))
    name = rng.choice([*READS, *WRITES, *LOCKED])
    form = (READS | WRITES | LOCKED)[name]
    contained = EMPTY_BUS if span is ECAM and name == "read 4" and not is_own_function(address - ECAM.start >> 4, ground) else ANYTHING
    return Attempt(f"{name} {address:#x}", form + RET, address, rng.getrandbits(64), Aim.ADDRESS, contained)


def draw_garbage(rng: random.Random, index: int, ground: Ground) -> Attempt:
    """What a decoder may take for something else: prefixes without order, an opcode, a memory operand that a monitor answers for."""
    prefixes = bytes(rng.choice(b"\x66\x67\xf2\xf3\xf0\x2e\x36\x3e\x26\x64\x65") for _ in range(rng.randrange(5)))
    rex = bytes([0x40 | rng.getrandbits(4) & 0b1100]) if rng.random() < 0.5 else b""
    opcode = rng.choice((b"", b"\x0f", b"\x0f\x38", b"\x0f\x3a")) + bytes([rng.getrandbits(8)])
    operand = bytes([rng.choice((0x07, 0x37, 0x3F, 0x0F, 0x47, 0x87))]) + rng.randbytes(4)
    body = prefixes + rex + opcode + operand
    return Attempt(f"bytes {body.hex()} on {IOAPIC.start:#x}", body + RET, IOAPIC.start, rng.getrandbits(64), Aim.ADDRESS, ANYTHING)


def draw_self_modifying(rng: random.Random, index: int, ground: Ground) -> Attempt:
    """MOV of one byte over the instruction behind it."""
    byte = rng.choice((0x90, 0x06, 0x9B, 0xF5, 0x60, 0xF1, 0xCC, 0xFA))
    body = code("c60500000000") + bytes([byte]) + b"\x90"
    return Attempt(f"an instruction made {byte:#x} just before it runs", body + RET, 0, 0, Aim.NUMBER, ANYTHING)


def draw_storm(rng: random.Random, index: int, ground: Ground) -> Attempt:
    """So many exits one behind the other."""
    times = rng.choice((16, 64, 256))
    body = code("5389f9" + "5131c00fa259ffc975f6" + "5b")
    return Attempt(f"{times} times CPUID", body + RET, times, 0, Aim.NUMBER, ANYTHING)


CLASSES = (
    AttackClass("memory", "reads, writes, locked accesses and jumps, in 28 forms", 0, draw_memory, "memory", ends=True),
    AttackClass("straddle", "accesses that begin in own memory", 0, draw_straddle, "memory", ends=True),
    AttackClass("tables", "own page tables that lie in foreign memory", 0, draw_tables, "memory", ends=True),
    ALIASES,
    RACES,
    *MODES_X86,
    RESETS_X86,
    AttackClass("ports", "every port in twelve forms", 0, draw_port, "io", ends=True),
    AttackClass("pci-ports", "every configuration register by ports 0xCF8 and 0xCFC", 4, draw_pci_port, "io"),
    AttackClass("filtered", "registers that the monitor answers for: IOAPIC, ECAM", 0, draw_filtered, "irq", ends=True),
    AttackClass(
        "garbage", "instructions that a decoder could misread, on a page that it answers for", 0, draw_garbage, "memory", ends=True
    ),
    AttackClass("icr", "interrupts, INIT and STARTUP to every destination", 0, draw_icr, "ipi", ends=True),
    AttackClass("msr", "every model-specific register, read and written", 28, draw_msr, "msr"),
    AttackClass("own-icr", "every mode with every shorthand", 20, draw_own_icr, "ipi"),
    AttackClass("redirections", "every pin of the IOAPIC, mode, vector and core", 6, draw_redirection, "irq"),
    AttackClass("lvt", "every delivery mode in every local vector", 6, draw_lvt, "msr"),
    AttackClass(
        "instructions",
        "instructions that a sandbox does not have, or not for long",
        14,
        draw_instruction,
        harmless="they act on the own core alone, if at all",
    ),
    AttackClass("control", "every bit of CR0 and CR4", 8, draw_control_register, harmless="they act on the own core alone"),
    AttackClass("calls", "every call, known or not, with any argument", 8, draw_call, harmless="a call without a grant has nothing to do"),
    AttackClass("self-modifying", "instructions that change just before they run", 4, draw_self_modifying, harmless="the own memory alone"),
    AttackClass("storm", "exits without a pause", 2, draw_storm, harmless="each exit is bounded"),
)
