# SPDX-License-Identifier: Apache-2.0
"""What would end or reset a machine, and must end or reset one sandbox: ports, firmware calls, faults of faults, a core that goes off."""

import random
import struct
from functools import partial

from bhtool.attack.attack_class import AttackClass
from bhtool.attack.request import ANYTHING, NEVER_BACK, NOT_DONE, Aim, Attempt
from bhtool.attack.surroundings import Surroundings

PARK_EVERY = 32  # of these attempts, one ends the sandbox for good, and takes another machine
RESTART, PARK = 4, 2  # numbers of calls: abi/guest.h

# Port and value: ICH9 datasheet 13.7.5 "RST_CNT", 13.8.3.3 "PM1_CNT", 13.7.4 "PORT92", 8042 command 0xFE; then what emulators end by.
PORTS = (
    *((0xCF9, 0x06), (0xCF9, 0x0E), (0x64, 0xFE), (0x92, 0x01), (0x604, 0x2000), (0x604, 0x3C00), (0x605, 0x34)),
    *((0xB004, 0x2000), (0x4004, 0x3400), (0x8900, 0x53), (0xF4, 0), (0xB2, 0xF1)),
)
OUT = {name: bytes.fromhex("89fa89f0" + text + "c3") for name, text in {"out al": "ee", "out ax": "66ef", "out eax": "ef"}.items()}
X86 = {
    "triple fault without an IDT": "6a006a000f011c240f0b",
    "triple fault in a double fault": "6a006a000f011c2431e4cd08",
    "triple fault without a stack": "6a006a000f011c2431e450",
    "halt with interrupts off, for a reset by INIT to itself": "b930080000b80045040031d20f30",
    "tables at nowhere": "48b8f0ffffffffff000048c1e8080f22d8",
    "segments at nowhere": "6a006a000f0114246a00cb",
}


def call(number: int, intel: bool) -> bytes:
    """With the second argument in RBX."""
    vmcall = bytes.fromhex("0f01c1" if intel else "0f01d9")
    return bytes.fromhex("534889f3b8") + struct.pack("<I", 0xC6000000 + number) + vmcall + bytes.fromhex("5bc3")


def draw_reset_x86(rng: random.Random, index: int, around: Surroundings) -> Attempt:
    intel, value = around.platform.backend == "vmx", rng.getrandbits(64)
    if index % PARK_EVERY == 7:
        return Attempt(f"call PARK with {value:#x}", call(PARK, intel), 0, value, contained=NEVER_BACK)
    kind = index % 3
    if kind == 0:
        return Attempt(f"call RESTART with {value:#x}", call(RESTART, intel), 0, value, contained=NEVER_BACK)
    if kind == 1:
        name = rng.choice(list(X86))
        return Attempt(name, bytes.fromhex(X86[name] + "c3"), 0, contained=ANYTHING)
    port, value = PORTS[index // 3 % len(PORTS)]
    name = rng.choice(list(OUT))
    contained = ANYTHING if port == 0xCF9 else NOT_DONE  # of the PCI address register, if the sandbox has a function
    return Attempt(f"{name}, {value:#x} to port {port:#x}", OUT[name], port, value, Aim.NUMBER, contained)


# PSCI: DEN 0022, 5.1; the monitor's calls beside them. By HVC and SMC, of 32 and 64 bits.
SYSTEM_RESET, SYSTEM_RESET2, SYSTEM_OFF, CPU_OFF, CPU_SUSPEND, CPU_FREEZE, SYSTEM_SUSPEND = 9, 18, 8, 2, 1, 11, 14
ENDS = (SYSTEM_OFF, CPU_OFF)
REFUSED = (CPU_SUSPEND, CPU_FREEZE, SYSTEM_SUSPEND, 12, 13, 15, 16, 17, 19, 20)
PSCI, MONITOR, WITH_64_BITS = 0x84000000, 0x86000000, 0x40000000
ENDING_CALLS = {PSCI + number for number in (CPU_OFF, SYSTEM_OFF, SYSTEM_RESET, SYSTEM_RESET2)} | {MONITOR + PARK, MONITOR + RESTART}


def ends_caller(function: int) -> bool:
    """Whether a call ends the sandbox that makes it, or its core: what class `resets` alone tries. Every other number, known or not, is class `calls`'."""
    return function & ~WITH_64_BITS in ENDING_CALLS


def draw_reset_arm(calls: dict[str, bytes], wide: int, rng: random.Random, index: int, around: Surroundings) -> Attempt:
    """`calls`: by the instruction; `wide`: in the numbers of the calls that the sandbox's own kernel makes."""
    if index % PARK_EVERY == 7:
        function, contained = rng.choice((PSCI + ENDS[0], PSCI + ENDS[1], MONITOR + wide + PARK)), NEVER_BACK
    elif index % 3 == 0:
        function, contained = MONITOR + wide + RESTART, NEVER_BACK
    elif index % 3 == 1:
        function, contained = PSCI + SYSTEM_RESET, NEVER_BACK
    else:
        number = rng.choice((SYSTEM_RESET2, *REFUSED))
        function, contained = PSCI + number + rng.choice((0, wide)), ANYTHING
    name = "hvc" if function & ~wide >= MONITOR else rng.choice(("hvc", "smc"))
    value = rng.choice((0, 1, 0x80000000, rng.getrandbits(32)))  # of SYSTEM_RESET2: warm, or the vendor's
    return Attempt(f"{name} {function:#x} with {value:#x}", calls[name], function, value, Aim.NUMBER, contained)


def resets_arm(calls: dict[str, bytes], wide: int) -> AttackClass:
    tries = "resets and power-off by every call there is"
    return AttackClass("resets", tries, 0, partial(draw_reset_arm, calls, wide), harmless="the own sandbox alone", ends=True)


RESETS_AARCH64 = resets_arm(
    {name: struct.pack("<4I", 0xAA1F03E2, 0xAA1F03E3, word, 0xD65F03C0) for name, word in (("hvc", 0xD4000002), ("smc", 0xD4000003))},
    WITH_64_BITS,
)
RESETS_ARMV7 = resets_arm(
    {
        name: struct.pack("<5I", 0xE1A01002, 0xE3A02000, word, 0xE3A01000, 0xE12FFF1E)
        for name, word in (("hvc", 0xE1400070), ("smc", 0xE1600070))
    },
    0,
)
RESETS_X86 = AttackClass("resets", "resets and power-off by ports, calls and triple faults", 0, draw_reset_x86, "io", ends=True)
