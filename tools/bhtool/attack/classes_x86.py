# SPDX-License-Identifier: Apache-2.0
"""What an x86 sandbox can try. Code is called with its arguments in RDI and RSI: AMD64 APM vol. 3 for every encoding."""

import random
import struct
from functools import partial

from bhtool.attack.aliases import ALIASES_X86
from bhtool.attack.attack_class import AttackClass, draw_access, walk
from bhtool.attack.classes_channel import Forms as ChannelForms
from bhtool.attack.classes_channel import RingLoop, channel_classes
from bhtool.attack.classes_request import CLOSE, OPEN, Call, request_classes
from bhtool.attack.classes_request import Forms as RequestForms
from bhtool.attack.configuration_space import Forms, Kept, draw_as_memory, draw_by_ports
from bhtool.attack.modes_x86 import MODES_X86
from bhtool.attack.races import RACES_X86
from bhtool.attack.registers_x86 import (
    FIXED,
    PLAIN_VECTORS,
    RET,
    VALUE_INTO_EAX,
    code,
    draw_icr,
    draw_lvt,
    draw_msr,
    draw_own_icr,
)
from bhtool.attack.request import ANYTHING, NEVER_BACK, NO_VALUE, NOT_DONE, NOTHING_THERE, Aim, Attempt, Outcome
from bhtool.attack.resets import RESETS_X86, ends_caller
from bhtool.attack.surroundings import Surroundings

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
FORMS = {"read": READS, "write": WRITES, "locked": LOCKED, "execute": EXECUTE}
MEMORY = {kind: {name: body + RET for name, body in forms.items()} for kind, forms in FORMS.items()}


def draw_straddle(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """From the last bytes of an own page over its end."""
    edge = around.edges[index % len(around.edges)]
    name = rng.choice(("read 4", "read 8", "write 4", "write 8"))
    address = edge - rng.randrange(1, 4)
    value = rng.getrandbits(64) if name in WRITES else 0
    return Attempt(f"{name} {address:#x}, half of it foreign", (READS | WRITES)[name] + RET, address, value, Aim.ADDRESS, NOT_DONE)


def draw_tables(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    target = around.draw(rng)
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


def draw_port(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    place, port = divmod(walk(index, len(PORT_FORMS) * PORTS), PORTS)
    name = list(PORT_FORMS)[place]
    form, contained = PORT_FORMS[name]
    if rng.random() < 0.3:
        port = rng.choice(DANGEROUS_PORTS)
    if 0xCF8 <= port < 0xD00 or any(one.first <= port < one.first + one.count for one in around.sandbox.ports):
        contained = ANYTHING
    value = rng.getrandbits(32) if name.startswith("out") else 0
    return Attempt(f"{name}, port {port:#x}", INTO_EDX + form + RET, port, value, Aim.NUMBER, contained)


# ---- Instructions, calls, registers of the core -----------------------------------------------------------------------

ALONE = {
    "stgi": "0f01dc",
    "clgi": "0f01dd",
    "skinit": "0f01de",
    "invlpga": "0f01df",
    "vmxoff": "0f01c4",
    "vmlaunch": "0f01c2",
    "vmresume": "0f01c3",
    "rsm": "0faa",
    "invd": "0f08",
    "wbinvd": "0f09",
    "monitor": "4889e00f01c8",
    "rdtscp": "0f01f9",
    "swapgs twice": "0f01f80f01f8",
    "clts": "0f06",
    "ud2": "0f0b",
    "int3": "cc",
    "int1": "f1",
    "sysret": "480f07",
    "syscall": "0f05",
    "iret to nowhere": "6a006a006a006a006a0048cf",
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
}
OF_AN_ADDRESS = {  # in RDI
    "vmrun": "4889f80f01d8",
    "vmload": "4889f80f01da",
    "vmsave": "4889f80f01db",
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
    "rdpmc": "89f90f33",
    "xgetbv": "89f90f01d0",
    "load task register": "0f00df",
    "load LDT": "0f00d7",
}
OF_A_NUMBER = {  # in RSI, and the address
    "xsetbv": "31c989f031d20f01d1",
    "cpuid": "5389f889f10fa25b",
}
SELECTOR, TASK = 0xFFFC, 0x30  # bits that a null selector has not; that of the sandbox kernel's task
INSTRUCTIONS = {name: code(text) for name, text in (ALONE | OF_AN_ADDRESS | OF_A_NUMBER).items()}


def draw_instruction(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    name = list(INSTRUCTIONS)[index % len(INSTRUCTIONS)]
    target = 0 if name in ALONE else around.draw(rng).address
    if name == "load task register" and not target & SELECTOR:
        target |= TASK  # a null selector is #GP, APM vol. 3, LTR; but QEMU takes it, and ends itself with the next exception
    value = rng.choice((rng.getrandbits(3), rng.getrandbits(32))) if name in OF_A_NUMBER else 0
    return Attempt(f"{name}, with {target:#x} and {value:#x}", INSTRUCTIONS[name] + RET, target, value, Aim.NUMBER, ANYTHING)


CONTROL = {"cr0": ("0f20c0", "0f22c2", "0f22c0"), "cr4": ("0f20e0", "0f22e2", "0f22e0")}  # to RAX, from RDX, from RAX


def draw_control_register(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """One bit of it turned over, and back in the same breath."""
    name = list(CONTROL)[index % len(CONTROL)]
    read, turned, restored = CONTROL[name]
    bit = walk(index // len(CONTROL), 32)
    if (name == "cr0" and bit in (0, 31, 3, 2)) or (name == "cr4" and bit == 5):  # the program's own around
        bit = 40
    body = code(read + "4889c24831f2" + turned + restored)
    return Attempt(f"{name} with bit {bit} turned over", body + RET, 0, 1 << bit, Aim.NUMBER, ANYTHING)


CALL = {True: code("534889f84889f389f10f01c15b"), False: code("534889f84889f389f10f01d95b")}  # VMCALL, VMMCALL
CALLS = 0xC6000000
DOORBELL = CALLS + 5


def draw_call(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    known = CALLS + index // 2 % 32
    function = rng.choice((known, known, known & 0xFFFFFFFF | rng.getrandbits(32) << 32, rng.getrandbits(32), rng.getrandbits(64)))
    if ends_caller(function):
        function = CALLS + 3
    value = rng.choice((rng.getrandbits(4), rng.getrandbits(64)))
    if index % 16 in (7, 14):  # by both instructions, of which one is the processor's
        function, value = DOORBELL, rng.choice((rng.randrange(8), rng.randrange(40), 0xFFFFFFFF, 1 << 63, rng.getrandbits(64)))
    return Attempt(f"call {function:#x} with {value:#x}", CALL[bool(index % 2)] + RET, function, value, Aim.NUMBER, ANYTHING)


TIMER_PIN = 2  # interrupts without being asked
# The pin stands in bits 39:32 of the value: high word, then low word of its entry; that, read back, and what idle ones read taken away.
REDIRECT = code("4889f048c1e8200fb6c88d4c0911890f25000000ff894710ffc9890f897710" + "8b47103500000100")


def kept_idle(pin: int, around: Surroundings) -> frozenset[Outcome]:
    return ANYTHING if any(one.line == pin for one in around.sandbox.lines) else NOTHING_THERE


def draw_redirection(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """Both words of a pin's entry: every delivery mode and vector, to every core. 82093AA data sheet, 3.2.4. Others' read as masked and idle.

    Every other one would give somebody else an interrupt at once.
    """
    if index % 2:
        pin = walk(index // 2, 24)
        form = rng.choice((FIXED, FIXED, FIXED, *range(1, 8))) << 8 | rng.getrandbits(1) << 11 | rng.getrandbits(1) << 15
        core = rng.choice((*range(4), 0xFF))
    else:
        pin, form, core = TIMER_PIN, FIXED << 8, rng.choice([core for core in range(4) if core not in around.sandbox.cores])
    value = rng.randrange(*PLAIN_VECTORS) | form | core << 56
    return Attempt(
        f"redirection of pin {pin} = {value:#018x}",
        REDIRECT + RET,
        around.controller.start,
        value | pin << 32,
        Aim.ADDRESS,
        kept_idle(pin, around),
    )


PINS, MASKED = 24, 1 << 16
# The same place for the pin; the low word of its entry, read back, and what idle ones read taken away.
REREAD = code("4889f048c1e8208d4c0010890f8977108b47103500000100")


def draw_foreign_pin(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """Masked, with a vector: others' pins read as masked and idle, whatever is written."""
    pin = walk(index, PINS)
    value = rng.randrange(*PLAIN_VECTORS) | MASKED
    return Attempt(
        f"pin {pin} = {value:#x}, and read", REREAD + RET, around.controller.start, value | pin << 32, Aim.ADDRESS, kept_idle(pin, around)
    )


def kept_register(kept: Kept) -> bytes:
    """mov dword [rdi], held; mov [rdi], esi; mov eax, [rdi]; xor eax, held; and eax, mask."""
    return struct.pack("<HIHHBIBI", 0x07C7, kept.held, 0x3789, 0x078B, 0x35, kept.held, 0x25, kept.mask) + RET


CONFIGURATION = Forms(
    {width: READS[f"read {width}"] + RET for width in (1, 2, 4, 8)},
    {width: WRITES[f"write {width}"] + RET for width in (1, 2, 4, 8)},
    kept_register,
)


def draw_filtered(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """Registers of the IOAPIC, whole and in pieces; what others' pins keep; configuration space, where it is memory."""
    if index % 3 == 0:
        return draw_foreign_pin(rng, index // 3, around)
    if index % 3 == 1 and around.configuration.size:
        return draw_as_memory(CONFIGURATION, rng, index // 3, around)
    address = around.controller.start + rng.choice((rng.randrange(0, around.controller.size, 4), 0, 0x10, 0x20, 0x40))
    name = rng.choice([*READS, *WRITES, *LOCKED])
    return Attempt(f"{name} {address:#x}", (READS | WRITES | LOCKED)[name] + RET, address, rng.getrandbits(64), Aim.ADDRESS, ANYTHING)


ADDRESS_SIZE, NOPS = 0x67, b"\x90" * 4
PLAIN_MOVES = tuple(map(code, ("88", "89", "8a", "8b", "c6", "c7", "63", "0fb6", "0fb7", "0fbe", "0fbf")))


def draw_garbage(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """What a decoder may take for something else: prefixes without order, an opcode, an operand that a monitor answers for.

    Every other one is on a foreign page, at no distance, from which no move comes back. Not every opcode accesses it.
    """
    prefixes = bytes(rng.choice(b"\x66\x67\xf2\xf3\xf0\x2e\x36\x3e\x26\x64\x65") for _ in range(rng.randrange(5)))
    rex = bytes([0x40 | rng.getrandbits(4) & 0b1100]) if rng.random() < 0.5 else b""
    opcode = rng.choice((b"", b"\x0f", b"\x0f\x38", b"\x0f\x3a")) + bytes([rng.getrandbits(8)])
    if rng.getrandbits(1):
        opcode = rng.choice(PLAIN_MOVES)
    operand = bytes([rng.choice((0x07, 0x37, 0x3F, 0x0F) if index % 2 else (0x07, 0x37, 0x3F, 0x0F, 0x47, 0x87))])
    rest = rng.randbytes(4)
    address, contained = around.controller.start, ANYTHING
    if index % 2:
        address = around.draw(rng).address
        if opcode in PLAIN_MOVES and ADDRESS_SIZE not in prefixes:  # which would cut the address to 32 bits
            rest, contained = NOPS, NOT_DONE  # a move that was done comes back, whatever it had for an immediate operand
    body = prefixes + rex + opcode + operand + rest
    return Attempt(f"bytes {body.hex()} on {address:#x}", body + RET, address, rng.getrandbits(64), Aim.ADDRESS, contained)


def draw_self_modifying(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """MOV of one byte over the instruction after it. None that jumps: a loop that modifies itself takes an emulator minutes."""
    byte = rng.choice(code("90060e161e272f373f6098999b9e9ff1ccf5f8f9fafc"))
    body = code("c60500000000") + bytes([byte]) + b"\x90" * rng.randrange(1, 6)
    return Attempt(f"an instruction made {byte:#x} just before it runs", body + RET, 0, 0, Aim.NUMBER, ANYTHING)


def draw_storm(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """So many exits one after the other."""
    times = rng.randrange(16, 257)
    body = code("5389f9" + "5131c00fa259ffc975f6" + "5b")
    return Attempt(f"{times} times CPUID", body + RET, times, 0, Aim.NUMBER, ANYTHING)


def ring_loop(times: int, rounds: int, number: int, around: Surroundings) -> RingLoop:
    """push rbx; mov rbx, rsi; mov ecx, times; again: mov eax, edi; the call; mov edx, rounds; dec edx; jnz; dec ecx; jnz again; pop rbx."""
    call = code("0f01c1" if around.platform.backend == "vmx" else "0f01d9")
    loop = code("89f8") + call + b"\xba" + struct.pack("<I", rounds) + code("ffca75fcffc9")
    body = code("534889f3b9") + struct.pack("<I", times) + loop + b"\x75" + struct.pack("<b", -(len(loop) + 2)) + code("5b")
    return RingLoop(body + RET, DOORBELL, number)


STORES = {name: body + RET for name, body in (WRITES | LOCKED).items()}


def fill(words: int, distance: int) -> bytes:
    """mov ecx, words; again: mov [rdi], esi; add rdi, distance; dec ecx; jnz again."""
    return b"\xb9" + struct.pack("<I", words) + code("89374881c7") + struct.pack("<I", distance) + code("ffc975f3") + RET


def call_of(around: Surroundings) -> bytes:
    return code("0f01c1" if around.platform.backend == "vmx" else "0f01d9")


def request_call(number: int, argument: int, around: Surroundings) -> Call:
    return Call(CALL[around.platform.backend == "vmx"] + RET, CALLS + number, argument)


def looped(head: bytes, times: int, body: bytes) -> bytes:
    """push rbx; head; mov ecx, times; again: body; dec ecx; jnz again; pop rbx."""
    back = b"\xff\xc9\x75" + struct.pack("<b", -(len(body) + 4))
    return code("53") + head + b"\xb9" + struct.pack("<I", times) + body + back + code("5b") + RET


def turns(times: int, numbers: tuple[int, int], around: Surroundings) -> bytes:
    """mov rbx, rsi; mov edi, the first; again: mov eax, edi; the call; xor edi, 1, if there is another."""
    first, second = numbers
    body = code("89f8") + call_of(around) + (b"" if first == second else code("83f701"))
    return looped(code("4889f3bf") + struct.pack("<I", CALLS + first), times, body)


def shuffled(times: int, seed: int, around: Surroundings) -> Call:
    """again: imul rsi, rsi, 33; mov rbx, rsi; shr rbx, 60; mov eax, edi; bt esi, 20; adc eax, 0; the call."""
    return Call(looped(b"", times, code("486bf6214889f348c1eb3c89f80fbae61483d000") + call_of(around)), CALLS + OPEN, seed)


def closing(access: bytes, around: Surroundings) -> bytes:
    """mov eax, [rdi]; push rbx; mov rbx, rsi; mov eax, CLOSE; the call; pop rbx."""
    return code("8b07534889f3b8") + struct.pack("<I", CALLS + CLOSE) + call_of(around) + code("5b") + access


CHANNELS = (
    *channel_classes(ChannelForms(MEMORY["read"], STORES, MEMORY["execute"], code("0137") + RET, fill, ring_loop), 10),
    *request_classes(RequestForms(MEMORY, request_call, turns, shuffled, closing), 3),
)
CLASSES = (
    AttackClass(
        "memory",
        f"reads, writes, locked accesses and jumps, in {sum(map(len, MEMORY.values()))} forms",
        0,
        partial(draw_access, MEMORY),
        "memory",
        ends=True,
        endless=True,
    ),
    AttackClass("straddle", "accesses that begin in own memory", 0, draw_straddle, "memory", ends=True),
    AttackClass("tables", "own page tables that lie in foreign memory", 0, draw_tables, "memory", ends=True),
    ALIASES_X86,
    RACES_X86,
    *MODES_X86,
    RESETS_X86,
    AttackClass("ports", f"ports, in {len(PORT_FORMS)} forms", 0, draw_port, "io", ends=True),
    AttackClass("pci-ports", "configuration registers by ports 0xCF8 and 0xCFC; what own ones keep", 11, draw_by_ports, "io"),
    AttackClass("filtered", "registers that the monitor answers for: IOAPIC, configuration space", 0, draw_filtered, "irq", ends=True),
    AttackClass(
        "garbage",
        "instructions that a decoder could misread, on a page that it answers for and on foreign ones",
        0,
        draw_garbage,
        "memory",
        ends=True,
    ),
    AttackClass("icr", "interrupts, INIT and STARTUP to every destination", 0, draw_icr, "ipi", ends=True),
    AttackClass("msr", "model-specific registers, read and written", 24, draw_msr, "msr", endless=True),
    AttackClass("own-icr", "every mode with every shorthand", 16, draw_own_icr, "ipi"),
    AttackClass("redirections", "every pin of the IOAPIC and mode, any vector and core", 10, draw_redirection, "irq"),
    AttackClass("lvt", "every delivery mode in every local vector", 6, draw_lvt, "irq"),
    AttackClass(
        "instructions",
        "instructions that a sandbox does not have, or not for long",
        8,
        draw_instruction,
        harmless="they act on the own core alone, if at all",
    ),
    AttackClass("control", "bits of CR0 and CR4", 1, draw_control_register, harmless="they act on the own core alone"),
    AttackClass(
        "calls",
        "every call, known or not, with any argument",
        8,
        draw_call,
        harmless="without a grant there is nothing to do; a doorbell rings no oftener than granted",
    ),
    *CHANNELS,
    AttackClass("self-modifying", "instructions that change just before they run", 1, draw_self_modifying, harmless="the own memory alone"),
    AttackClass("storm", "exits without a pause", 2, draw_storm, harmless="each exit is bounded"),
)
