# SPDX-License-Identifier: Apache-2.0
"""What a PC's processor can do outside long mode: 32-bit protected mode and real mode, without paging. SDM vol. 3, 10.9 "Mode Switching"."""

import random

from bhtool.attack.attack_class import AttackClass
from bhtool.attack.ground import ECAM, IOAPIC, Ground
from bhtool.attack.request import ANYTHING, NEVER_BACK, Aim, Attempt

# On the address in EDI with the value in ESI, in 32-bit code.
ACCESSES = {
    "read 1": "8a07",
    "read 2": "668b07",
    "read 4": "8b07",
    "read 4 at a distance": "8b8700000000",
    "push from": "ff3758",
    "write 1": "89f08807",
    "write 4": "8937",
    "write an immediate to": "c607a5",
    "add to": "0137",
    "lock xadd": "f00fc137",
    "lock cmpxchg8b": "53f00fc70f5b",
    "rep stos to": "b910000000f3aa",
    "compare with": "89fea7",
    "test bit of": "0fba2700",
    "sidt to": "0f010f",
}
# The same in 16-bit code: 66 for operands of 32 bits, 67 for addresses of 32 bits.
ACCESSES_16 = {
    "read 1": "678a07",
    "read 2": "678b07",
    "read 4": "67668b07",
    "read 4 at a distance": "67668b8700000000",
    "push from": "6766ff376658",
    "write 1": "6689f0678807",
    "write 4": "67668937",
    "write an immediate to": "67c607a5",
    "add to": "67660137",
    "lock xadd": "f067660fc137",
    "lock cmpxchg8b": "6653f0670fc70f665b",
    "rep stos to": "66b91000000067f3aa",
    "compare with": "6689fe6766a7",
    "test bit of": "67660fba2700",
    "sidt to": "670f010f",
}
# What the monitor answers, or the processor alone: CPUID, RDMSR, IN, OUT and OUTS, VMCALL and VMMCALL, MOV to CR2, INVD, WBINVD. The code
# saves what is the caller's by instructions that mean the same in 16-bit code.
EXITS = ("5389f80fa25b", "89f90f32", "89fa31c0ed", "89fa89f0ee", "5389f80f01c15b", "5389f80f01d95b", "89fa89f06f", "0f22d0", "0f08", "0f09")
MODES = {Aim.PROTECTED: ("protected mode", ACCESSES), Aim.REAL: ("real mode", ACCESSES_16)}
RET = b"\xc3"
BELOW = 1 << 32


def draw_mode(rng: random.Random, index: int, ground: Ground) -> Attempt:
    """A foreign address; then a page that the monitor answers for, and whatever else it answers, with any instruction."""
    mode = list(MODES)[index % len(MODES)]
    name, accesses = MODES[mode]
    kind = index // len(MODES) % 4
    form = rng.choice(list(accesses))
    if kind < 2:
        target = next(one for one in iter(lambda: ground.draw(rng), None) if one.address < BELOW)
        text = f"{form} {target.address:#x} ({target.whose}) in {name}"
        return Attempt(text, bytes.fromhex(accesses[form]) + RET, target.address, rng.getrandbits(32), mode, NEVER_BACK)
    if kind == 2:
        address = rng.choice((IOAPIC.start, IOAPIC.start + 16, ECAM.start + rng.randrange(ECAM.size) & ~3))
        body = bytes.fromhex(accesses[form])
        if rng.random() < 0.5:
            body = bytes(rng.choice(b"\x66\x67\xf2\xf3\xf0\x2e\x36\x64") for _ in range(rng.randrange(4))) + body
        return Attempt(f"bytes {body.hex()} on {address:#x} in {name}", body + RET, address, rng.getrandbits(32), mode, ANYTHING)
    body, number = bytes.fromhex(rng.choice(EXITS)), rng.choice((rng.getrandbits(32), rng.getrandbits(16), 0xC0000080, 0x80B, 0xCF8))
    return Attempt(f"bytes {body.hex()} with {number:#x} in {name}", body + RET, number, rng.getrandbits(32), mode, ANYTHING)


MODES_X86 = AttackClass(
    "modes", "accesses, exits and garbage in 32-bit protected mode and in real mode, paging off", 0, draw_mode, "memory", ends=True
)
