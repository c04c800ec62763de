# SPDX-License-Identifier: Apache-2.0
"""A stack that has grown out of RAM is told from an access that lacks a grant."""

from dataclasses import replace

import pytest
from bhtool.config.plan import Location, Plan, Region, SandboxPlan
from bhtool.machine.memory import Crash
from bhtool.report.stack_end import NEAR
from bhtool.report.summary import crash_prose

RAM = 0x40000000
STACK = {"aarch64": 31, "armv7": 13, "x86_64": 4}
INFO = Region("info", "pool", RAM - 0x8000, 0, 0x1000, "r")


def sandbox() -> SandboxPlan:
    here = Location("x.dts", 1)
    regions = [Region("RAM", "ram", RAM, RAM, 0x100000, "rwx"), Region("RAM", "ram", RAM + 0x100000, 0, 0x1000, "rwx"), INFO]
    return SandboxPlan("one", 0, "native", here, here, [0], [0], "log", "x.elf", "", RAM, RAM, 0x100000, 0, regions=regions)


def crash(arch: str, address: int, pointer: int) -> Crash:
    registers = [0x3C5] * 36
    registers[STACK[arch]] = pointer
    return Crash("memory", 0, "write", address, 0, 0x40081000, 0, 8, (0, 0), 0, tuple(registers))


def said(plan: Plan, record: Crash, arch: str) -> str:
    return crash_prose(replace(plan, sandboxes=[sandbox()]), 0, record, arch)[-1].strip()


@pytest.mark.parametrize("arch", STACK)
@pytest.mark.parametrize("pointer", [RAM, RAM - 16])
def test_a_stack_that_has_grown_out_of_ram_is_named(arch: str, pointer: int, plan: Plan) -> None:
    text = said(plan, crash(arch, RAM - 16, pointer), arch)
    assert text == f"0x3ffffff0 is just below its RAM, near its stack pointer {pointer:#x}: has its stack grown out of it?"


@pytest.mark.parametrize("arch", STACK)
@pytest.mark.parametrize(
    ("address", "pointer"), [(RAM - 16, RAM + NEAR), (RAM - NEAR - 16, RAM - NEAR), (INFO.gpa, RAM), (RAM + 0x101000, RAM + 0x101000)]
)
def test_everything_else_is_an_access(arch: str, address: int, pointer: int, plan: Plan) -> None:
    assert "stack" not in said(plan, crash(arch, address, pointer), arch)


def test_by_virtual_address_where_the_record_has_it(plan: Plan) -> None:
    high = 0xFFFF000000000000
    record = crash("aarch64", RAM - 16, high)
    assert "stack" not in said(plan, record, "aarch64")
    assert "has its stack grown" in said(plan, replace(record, virtual=high - 16), "aarch64")
