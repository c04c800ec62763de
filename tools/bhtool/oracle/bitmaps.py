# SPDX-License-Identifier: Apache-2.0
"""Permission maps of both x86 vendors: a set bit exits, a clear one lets the guest through to the hardware."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

PORTS = 0x10000
LONGEST = 4  # ports that one access touches


@dataclass(frozen=True)
class Stretch:
    """One range of registers: where its bits lie in the map."""

    first: int
    count: int
    byte: int
    step: int  # bits from one register to the next
    bit: int


# APM vol. 2, 15.11 "MSR Intercepts", table 15-8: 2 bits each, read below write.
SVM_READS = [Stretch(first, 0x2000, byte, 2, 0) for first, byte in ((0, 0), (0xC0000000, 0x800), (0xC0010000, 0x1000))]
SVM_WRITES = [Stretch(one.first, one.count, one.byte, 2, 1) for one in SVM_READS]
# SDM vol. 3C, 25.6.9 "MSR-Bitmap Address": reads low, reads high, writes low, writes high, 1 KiB each.
VMX_READS = [Stretch(0, 0x2000, 0, 1, 0), Stretch(0xC0000000, 0x2000, 0x400, 1, 0)]
VMX_WRITES = [Stretch(0, 0x2000, 0x800, 1, 0), Stretch(0xC0000000, 0x2000, 0xC00, 1, 0)]


def clear_bits(data: bytes, count: int) -> Iterable[int]:
    """Numbers of the bits that are 0. Bytes of ones, nearly all, are passed over."""
    for n, byte in enumerate(data[: count // 8]):
        if byte != 0xFF:
            yield from (8 * n + bit for bit in range(8) if not byte >> bit & 1)


def open_registers(data: bytes, stretches: list[Stretch]) -> set[int]:
    """Registers that do not exit."""
    found = set()
    for one in stretches:
        end = one.byte + one.count * one.step // 8
        for bit in clear_bits(data[one.byte : end], one.count * one.step):
            if bit % one.step == one.bit:
                found.add(one.first + bit // one.step)
    return found


def open_ports(data: bytes) -> set[int]:
    """APM vol. 2, 15.10.1 "I/O Permissions Map"; SDM vol. 3C, 25.6.4 "I/O-Bitmap Addresses".

    SVM's third frame begins with bits for the bytes after port 0xffff, of accesses that run over the end: numbers from PORTS.
    """
    return {port for port in clear_bits(data, 8 * len(data)) if port < PORTS + LONGEST - 1}


def runs(numbers: set[int]) -> list[tuple[int, int]]:
    """(first, last) of every unbroken run."""
    found: list[tuple[int, int]] = []
    for one in sorted(numbers):
        if found and found[-1][1] == one - 1:
            found[-1] = (found[-1][0], one)
        else:
            found.append((one, one))
    return found
