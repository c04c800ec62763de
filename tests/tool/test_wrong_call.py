# SPDX-License-Identifier: Apache-2.0
"""The other maker's hypercall is named in a crash record; nothing else is taken for one."""

from types import SimpleNamespace
from typing import cast

import pytest
from bhtool.config.plan import Location, Plan, SandboxPlan
from bhtool.memory import Crash, Memory
from bhtool.reports import crash_lines
from bhtool.wrong_call import VMCALL, VMMCALL, wrong_call

GPA, HPA, SIZE, PC = 0, 0x1000000, 0x10000, 0x2345


def sandbox() -> SandboxPlan:
    where = Location("f.dts", 1)
    return SandboxPlan("guest", 0, "native", where, where, [1], [1], "log", "guest.elf", "", GPA, HPA, SIZE, 0)


def crash(reason: str = "reset", pc: int = PC) -> Crash:
    return Crash(reason, 1, "none", 0, 0, pc, 0, 0, (0, 0), 0, ())


def said(code: bytes, backend: str, record: Crash) -> str:
    ram = bytes(PC) + code + bytes(SIZE - PC - len(code))
    memory = SimpleNamespace(read=lambda hpa, size: ram[hpa - HPA : hpa - HPA + size])
    return wrong_call(cast(Memory, memory), sandbox(), record, backend)


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
    ],
    ids=["the right one", "the right one on SVM", "on ARM", "another end", "another instruction", "at the end of RAM", "elsewhere"],
)
def test_nothing_else_is(backend: str, code: bytes, record: Crash) -> None:
    assert said(code, backend, record) == ""
