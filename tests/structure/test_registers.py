# SPDX-License-Identifier: Apache-2.0
"""BH-I1.register. docs/registers-*.md and the source say the same: every row of the one has a row in the other."""

import re
from pathlib import Path

import pytest
from bhtool.attack.registers_x86 import SANDBOX_MSRS

from tests import register_documents as documents

ROOT = Path(__file__).resolve().parents[2]
X86, A64, V7 = "registers-x86_64.md", "registers-aarch64.md", "registers-armv7.md"


def source(path: str) -> str:
    return (ROOT / path).read_text()


# ---- x86 ---------------------------------------------------------------------------------------------------------------------


def constants() -> dict[str, int]:
    text = source("arch/x86_64/x86.h") + source("hal/x86/apic/apic.h")
    pairs = re.findall(r"\b((?:MSR|APIC)_\w+)(?: =|) +(0x[0-9a-f]+)u?\b", text)
    return {name: int(value, 0) for name, value in pairs}


def x86_rows(path: str, last: str) -> list[tuple[range, str]]:
    """Rows { FIRST, LAST, ... } of a table of registers, and what follows."""
    known = constants()
    found = re.findall(rf"\{{ ((?:MSR|APIC)_\w+), ((?:MSR|APIC)_\w+), ({last}) \}}", source(path))
    return [(range(known[first], known[end] + 1), rest) for first, end, rest in found]


def numbers(ranges: list[range]) -> set[int]:
    return set().union(*ranges)


def documented(how: str, access: str) -> set[int]:
    rows = documents.rows(X86, "Model-specific registers")
    return set().union(*(row.numbers for row in rows if row.how == how and access in row.access))


@pytest.mark.parametrize(("access", "word"), [("read", "HAL_READ"), ("write", "HAL_WRITE")])
def test_direct_msrs(access: str, word: str) -> None:
    rows = x86_rows("hal/x86/msr_boot.c", "HAL_[A-Z |_]+")
    assert documented("direct", access) == numbers([row for row, permissions in rows if word in permissions])


@pytest.mark.parametrize(("access", "column"), [("read", 0), ("write", 1)])
def test_answered_msrs(access: str, column: int) -> None:
    """LVT_CMCI to LVT_ERROR has ICR and a gap between: those go elsewhere, or are no entries."""
    rows = x86_rows("hal/x86/msr.c", r"\w+, \w+")
    answered = numbers([row for row, functions in rows if functions.split(", ")[column] != "NULL"])
    ours = documented("exit", access)
    assert ours <= answered | {constants()["APIC_ICR"]}
    assert answered - ours <= {0x830, 0x831}


def test_the_campaign_expects_no_others() -> None:
    """What it lets come back: the x2APIC's, of which it knows the rest, and what is documented."""
    x2apic = set(range(0x800, 0x840))
    offered = set().union(*(documented(how, access) for how in ("direct", "exit") for access in ("read", "write")))
    assert SANDBOX_MSRS - x2apic == offered - x2apic


# ---- ARM ---------------------------------------------------------------------------------------------------------------------


def control_words(document: str) -> dict[str, int]:
    words: dict[str, int] = {}
    for register, bits, *_ in documents.cells(document, "What closes the rest"):
        words[register] = words.get(register, 0) | sum(1 << bit for bit in documents.span(bits))
    return words


def golden(path: str) -> list[int]:
    """The first row of a golden test: what neither interrupt controller nor counters add to, and no protection is missing from."""
    row = re.search(r"\{ 0, (?:false, )?0, 0, \{ ([^}]*) \} \}", source(path))
    assert row
    return [int(word, 0) for word in row[1].split(", ")]


@pytest.mark.parametrize(
    ("document", "test", "registers"),
    [
        (A64, "tests/golden/aarch64_controls_test.c", ["HCR_EL2", "CPTR_EL2", "MDCR_EL2", "HSTR_EL2", "CNTHCTL_EL2"]),
        (V7, "tests/golden/armv7_controls_test.c", ["HCR", "HCPTR", "HDCR", "HSTR", "CNTHCTL"]),
    ],
)
def test_control_words(document: str, test: str, registers: list[str]) -> None:
    words = {register: word for register, word in zip(registers, golden(test), strict=True) if word}
    assert control_words(document) == words


def quiet(path: str) -> set[int]:
    """Registers that are answered with a constant: SYSREG(...) of the table, ARMv7's 14th coprocessor with a word before it."""
    table = re.search(r"\} quiet\[\] = \{(.*?)\n\};", source(path), re.DOTALL)
    assert table
    found = set()
    for coprocessor, fields in re.findall(r"(SYSREG_CP14 \| )?SYSREG\(([^)]*)\)", table[1]):
        values = fields.split(", ")
        if len(values) == len(documents.SYSTEM_FIELDS):
            found |= documents.numbers_of(",".join(values))[0]
        else:
            found |= documents.numbers_of(",".join(["p14" if coprocessor else "p15", *values]))[0]
    return found


INTERFACE = "ICC_"  # registers of a GICv3's CPU interface, by the beginning of their names: hal/arm/gic/gicv3.c answers


@pytest.mark.parametrize(("document", "path"), [(A64, "hal/arm/aarch64/registers.c"), (V7, "hal/arm/armv7/registers.c")])
def test_answered_registers(document: str, path: str) -> None:
    rows = [row for row in documents.rows(document, "Registers") if row.how == "exit" and not row.names.startswith(INTERFACE)]
    assert set().union(*(row.numbers for row in rows)) == quiet(path)


def test_answered_registers_of_the_interrupt_controller() -> None:
    named = re.findall(r"#define SYSREG_(ICC_\w+)\s+SYSREG\((.*)\)", source("hal/arm/aarch64/registers.h"))
    rows = {row.names: row.numbers for row in documents.rows(A64, "Registers") if row.how == "exit" and row.names.startswith(INTERFACE)}
    assert {f"{name}_EL1": documents.numbers_of(fields.replace(", ", ","))[0] for name, fields in named} == rows
    answered = re.search(r"gic_emulate_register\(.*?\n}", source("hal/arm/gic/gicv3.c"), re.DOTALL)
    assert answered
    assert set(re.findall(r"case SYSREG_(\w+):", answered[0])) | {"ICC_SGI1R"} == {name for name, _ in named}


# ---- Calls -------------------------------------------------------------------------------------------------------------------


def offered() -> tuple[set[int], set[int]]:
    """PSCI functions by the width of their arguments, as psci.c computes them."""
    text = source("hal/arm/psci.c")
    known = {name: int(value) for name, value in re.findall(r"\t([A-Z_0-9]+) = (\d+),", text)}
    both = re.search(r"WITH_ADDRESSES = ([^,]*),", text)
    narrow = re.search(r"OFFERED_32_BITS = WITH_ADDRESSES \|([^,]*),", text)
    assert both
    assert narrow
    wide = {known[name] for name in re.findall(r"1 << (\w+)", both[1])}
    return wide | {known[name] for name in re.findall(r"1 << (\w+)", narrow[1])}, wide


@pytest.mark.parametrize(("document", "has_wide"), [(A64, True), (V7, False)])
def test_calls(document: str, has_wide: bool) -> None:
    narrow, wide = offered()
    expected = {0x80000000} | {0x84000000 + number for number in narrow}
    expected |= {0xC4000000 + number for number in wide} if has_wide else set()
    assert documents.allowed(document, "Calls", "SMC") == expected


@pytest.mark.parametrize("document", [X86, A64, V7])
def test_every_row_says_why(document: str) -> None:
    section = "Model-specific registers" if document == X86 else "Registers"
    for row in documents.cells(document, section):
        assert row[3] in {"direct", "exit"}, row
        assert len(row[4]) > 5, row
