# SPDX-License-Identifier: Apache-2.0
"""The other maker's hypercall is named in a crash record; nothing else is taken for one."""

from types import SimpleNamespace
from typing import cast

import pytest
from bhtool.config.plan import Location, Plan, Region, SandboxPlan
from bhtool.machine.memory import Crash, Memory
from bhtool.report.summary import crash_lines
from bhtool.report.wrong_call import VMCALL, VMMCALL, wrong_call

GPA, SIZE, PC = 0, 0x10000, 0x2345
# Two stretches, each with another's RAM after it. PC lies in the first, LATER in the second.
FIRST, SECOND = Region("ram", "ram", 0, 0x1000000, 0x8000, "rwx"), Region("ram", "ram", 0x8000, 0x3000000, 0x8000, "rwx")
LATER, ACROSS = 0xA345, 0x7FFE


def sandbox() -> SandboxPlan:
    where = Location("f.dts", 1)
    return SandboxPlan(
        "guest", 0, "native", where, where, [1], [1], "log", "guest.elf", "", GPA, FIRST.hpa, SIZE, 0, regions=[FIRST, SECOND]
    )


def crash(reason: str = "reset", pc: int = PC) -> Crash:
    return Crash(reason, 1, "none", 0, 0, pc, 0, 0, (0, 0), 0, ())


def said(code: bytes, backend: str, record: Crash) -> str:
    return wrong_call(Ram(code, record.pc), sandbox(), record, backend)


class Ram(Memory):
    """The sandbox's, with code at PC, or at another address that is asked for; elsewhere another's, full of that code."""

    def __init__(self, code: bytes, at: int) -> None:
        whole, place = bytearray(SIZE), at if at in (LATER, ACROSS) else PC
        whole[place : place + len(code)] = code
        self._whole, self._code = bytes(whole), code

    def read(self, hpa: int, size: int) -> bytes:
        inside = (self._whole[one.gpa + hpa - one.hpa :][:size] for one in (FIRST, SECOND) if one.hpa <= hpa < one.hpa + one.size)
        return next(inside, self._code[:size])


@pytest.mark.parametrize(
    ("backend", "code", "right"), [("vmx", VMMCALL, "it is #UD: use VMCALL"), ("svm", VMCALL, "it is #UD: use VMMCALL")]
)
def test_is_named(backend: str, code: bytes, right: str) -> None:
    text = said(code, backend, crash())
    assert right in text
    plan = cast(Plan, SimpleNamespace(sandboxes=[sandbox()]))
    assert f"  {text}" in crash_lines(plan, 0, crash(), "x86_64", 80, hint=text)


@pytest.mark.parametrize(
    ("backend", "code", "record"),
    [
        ("vmx", VMCALL, crash()),
        ("svm", VMMCALL, crash()),
        ("stage2-gicv3", VMMCALL, crash()),
        ("vmx", VMMCALL, crash("memory")),
        ("vmx", VMMCALL, crash(pc=PC + 1)),
        ("vmx", VMMCALL, crash(pc=SIZE - 2)),
        ("vmx", VMMCALL, crash(pc=0xFFFFFFFF81000000)),
        ("vmx", VMMCALL, crash(pc=FIRST.size + 0x100)),
    ],
    ids=[
        "the right one",
        "the right one on SVM",
        "on ARM",
        "another end",
        "another instruction",
        "at the end of RAM",
        "elsewhere",
        "where another's RAM is after the first stretch",
    ],
)
def test_nothing_else_is(backend: str, code: bytes, record: Crash) -> None:
    assert said(code, backend, record) == ""


@pytest.mark.parametrize("pc", [LATER, ACROSS])
def test_is_named_in_every_stretch_of_ram(pc: int) -> None:
    assert "VMMCALL at pc" in said(VMMCALL, "vmx", crash(pc=pc))
