# SPDX-License-Identifier: Apache-2.0
"""Registers of a crash record, by gdb's names."""

from bhtool.families.table import FAMILIES
from bhtool.machine.memory import Crash


def recorded(arch: str, crash: Crash) -> dict[str, int]:
    """What a crash record holds, by gdb's names."""
    registers = FAMILIES[arch].registers
    values = dict(zip(registers.recorded, crash.registers, strict=False)) | {registers.pc: crash.pc}
    at = registers.stack_of_user
    if at is not None and not values.get("cpsr", 1) & 1 and len(crash.registers) > at:
        values["sp"] = crash.registers[at]
    return values
