# SPDX-License-Identifier: Apache-2.0
"""A guest's own exception without vectors is told from a jump to nowhere."""

from dataclasses import replace

import pytest
from bhtool.config.explain import explain
from bhtool.config.plan import Plan
from bhtool.machine.memory import Crash
from bhtool.report.places import Place, Places
from bhtool.report.summary import crash_prose

ENTERED, UNMASKED = 0x3C5, 0x005  # PSTATE at EL1h
ELR, UDF, ABORT = 0x40081004, 0x02000000, 0x96000007
ALIGNMENT = 0x96000021
CODE = Places(raised=Place(ELR, "bulkhead_main", "hello.c", 9))


def aarch64(pc: int, syndrome: int = UDF, status: int = ENTERED, elr: int = ELR) -> Crash:
    registers = (*(0,) * 32, status, 0, elr, syndrome)
    return Crash("memory", 1, "execute", pc, pc, pc, 0, 4, (0, 0), 0, registers)


def armv7(pc: int, mode: int, fault: int = 0) -> Crash:
    registers = (*(0,) * 14, ELR + 4, 0x1C0 | mode, fault, 0, 0, 0)
    return Crash("memory", 1, "execute", pc, 0, pc, 0, 4, (0, 0), 0, registers)


def said(plan: Plan, crash: Crash, arch: str = "aarch64", places: Places = CODE) -> str:
    return crash_prose(plan, 1, crash, arch, places)[-1].strip()


@pytest.mark.parametrize(
    ("crash", "what"),
    [
        (aarch64(0x200), "undefined instruction"),
        (aarch64(0x200, ABORT), "data abort"),
        (aarch64(0x200, ALIGNMENT), "alignment fault"),
        (aarch64(0x200, 0x1FE00000), "use of floating-point or SIMD registers, which CPACR_EL1 does not allow"),
        (aarch64(0x400, 0x56000000), "SVC instruction"),
        (aarch64(0x280), "an interrupt (IRQ)"),
        (aarch64(0x780), "SError"),
        (aarch64(0x200, 0x68000000), "class 0x1a of ESR_EL1 0x68000000"),
    ],
)
def test_what_it_was_and_where_is_told(crash: Crash, what: str, plan: Plan) -> None:
    where = "ELR_EL1 0x40081004 in bulkhead_main (hello.c:9)"
    assert said(plan, crash) == f"an exception of its own at {where}: {what}; it has no vectors at VBAR_EL1 0x0"


@pytest.mark.parametrize(
    ("crash", "what"),
    [
        (armv7(0x04, 0x1B), "undefined instruction"),
        (armv7(0x08, 0x13), "SVC instruction"),
        (armv7(0x0C, 0x17), "prefetch abort"),
        (armv7(0x10, 0x17, 0x5), "data abort"),
        (armv7(0x10, 0x17, 0x1), "alignment fault"),
        (armv7(0x10, 0x17, 0x221), "alignment fault"),
        (armv7(0x18, 0x12), "an interrupt (IRQ)"),
    ],
)
def test_on_armv7_the_mode_bears_it_out(crash: Crash, what: str, plan: Plan) -> None:
    behind = 8 if crash.pc == 0x10 else 4
    where = f"{ELR + 4 - behind:#x} in bulkhead_main (hello.c:9)"
    assert said(plan, crash, "armv7") == f"an exception of its own at {where}: {what}; it has no vectors at VBAR 0x0"


def test_where_the_program_has_no_such_code_it_is_perhaps_one(plan: Plan) -> None:
    text = said(plan, aarch64(0x200), places=Places())
    assert text == "perhaps an exception of its own at ELR_EL1 0x40081004: undefined instruction; it has no vectors at VBAR_EL1 0x0"


def test_at_0_a_null_pointer_is_as_likely(plan: Plan) -> None:
    assert "; a jump through a null pointer, or perhaps an exception of its own at ELR_EL1 0x40081004" in said(plan, aarch64(0))


@pytest.mark.parametrize(
    ("crash", "arch"),
    [
        (aarch64(0, 0, elr=0), "aarch64"),
        (aarch64(0x204), "aarch64"),
        (aarch64(0x800), "aarch64"),
        (aarch64(0x200, status=UNMASKED), "aarch64"),
        (replace(aarch64(0x200), access="read"), "aarch64"),
        (replace(aarch64(0x200), registers=()), "aarch64"),
        (armv7(0, 0x13), "armv7"),
        (armv7(0x10, 0x13), "armv7"),
        (replace(armv7(0x10, 0x17), registers=()), "armv7"),
        (aarch64(0x200), "x86_64"),
    ],
)
def test_everything_else_is_an_access(crash: Crash, arch: str, plan: Plan) -> None:
    assert said(plan, crash, arch) == explain(plan, 1, "memory", crash.address)
