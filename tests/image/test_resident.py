# SPDX-License-Identifier: Apache-2.0
"""What the linked monitor must be (BH-I5.tiny): no FP or SIMD, no red zone, no way back into start-up code, within its budget."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.families.table import FAMILIES
from bhtool.verbs.size import BUDGET_BYTES
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

ROOT = Path(__file__).resolve().parents[2]
PLATFORMS = ["qemu-svm", "qemu-svm-vtd", "bochs-vtx", "qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7"]
PCS = ["qemu-svm", "qemu-svm-vtd", "bochs-vtx"]
VENDORS, IOMMUS = ["svm", "vmx"], ["amdvi", "vtd"]  # of which every PC image holds all
COMMON_SECTIONS = [".text", ".rodata", ".data"]
VENDOR_SECTIONS = {vendor: [f".{vendor}_text", f".{vendor}_rodata"] for vendor in (*VENDORS, *IOMMUS)}
VECTOR_REGISTER = {
    "x86_64": re.compile(r"%[xyz]mm\d|%mm\d|%st\b|\bf(ld|st|add|mul|xsave|xrstor)\w*\s"),
    "aarch64": re.compile(r"(?<![\w.])[vqdszhb]\d{1,2}(\.\w+)?\b(?!:)"),
    "armv7": re.compile(r"^v[a-z]|\bfp(exc|sid)\b|(?<![\w.])[qds]\d{1,2}\b"),
}
CLEARS = "guest_clear_vectors"  # zeroes the registers of a guest that starts, and touches them in no other way
DATA = "\t.word\t"  # literals, and NOPs between exception vectors
BELOW_STACK = {
    "x86_64": re.compile(r"-0x[0-9a-f]+\(%rsp\)"),
    "aarch64": re.compile(r"\[sp, #-0x[0-9a-f]+\](?!!)"),
    "armv7": re.compile(r"\[sp, #-0x[0-9a-f]+\](?!!)"),
}
EVERYBODYS_CACHES = {
    "aarch64": re.compile(r"ic\s+ialluis"),
    "armv7": re.compile(r"mcr\s+p15, #0x0, \w+, c7, c1, #0x[06]"),  # ICIALLUIS, BPIALLIS
}
REMARK = re.compile(r"\s*(<.*|//.*|# .*|@ .*)$")  # of the disassembler; "#" alone begins an immediate
DISASSEMBLE = {"x86_64": [], "aarch64": [], "armv7": ["--mcpu=cortex-a15"]}


def image(platform: str) -> Path:
    path = ROOT / "build" / platform / "bulkhead.elf"
    assert path.is_file(), f"{path} is not built; run tools/bulkhead test"
    return path


def architecture(platform: str) -> str:
    return {**dict.fromkeys(PCS, "x86_64"), "qemu-armv7": "armv7"}.get(platform, "aarch64")


def resident_sections(platform: str) -> list[str]:
    vendors = VENDOR_SECTIONS.values() if platform in PCS else ()
    return [*COMMON_SECTIONS, *(name for sections in vendors for name in sections)]


def symbol_table(elf: ELFFile) -> SymbolTableSection:
    table = elf.get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)
    return table


def symbols(elf: ELFFile) -> dict[str, int]:
    return {symbol.name: symbol["st_value"] for symbol in symbol_table(elf).iter_symbols()}


def instructions(platform: str, but: str = "") -> Iterator[tuple[str, str]]:
    """(address, mnemonic and operands) of resident text; not of function `but`."""
    sections = [f"--section={name}" for name in resident_sections(platform) if name.endswith("text")]
    command = ["llvm-objdump-19", "-d", "--no-show-raw-insn", *sections, *DISASSEMBLE[architecture(platform)], str(image(platform))]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    function = ""
    for line in listing.splitlines():
        if named := re.match(r"[0-9a-f]+ <(.*)>:", line):
            function = named[1]
        match = re.match(r"\s*([0-9a-f]+):\s+(.*)", line)
        if match and DATA not in match[2] and function != but:
            yield match[1], REMARK.sub("", match[2])


@pytest.mark.parametrize("platform", PLATFORMS)
def test_no_fp_or_simd(platform: str) -> None:
    pattern = VECTOR_REGISTER[architecture(platform)]
    found = [f"{address}: {text}" for address, text in instructions(platform, CLEARS) if pattern.search(text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_no_red_zone(platform: str) -> None:
    pattern = BELOW_STACK[architecture(platform)]
    found = [f"{address}: {text}" for address, text in instructions(platform) if pattern.search(text)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("platform", [one for one in PLATFORMS if architecture(one) in EVERYBODYS_CACHES])
def test_no_instruction_cache_but_the_own_is_emptied(platform: str) -> None:
    """BH-I6.contained: a restart, which writes code, is felt by no other core."""
    pattern = EVERYBODYS_CACHES[architecture(platform)]
    found = [f"{address}: {text}" for address, text in instructions(platform) if pattern.search(text)]
    assert not found, "\n".join(found)


def test_the_patterns_find_what_they_look_for() -> None:
    assert VECTOR_REGISTER["x86_64"].search("movaps\t%xmm0, (%rdi)")
    assert VECTOR_REGISTER["aarch64"].search("str\tq0, [x0]")
    assert VECTOR_REGISTER["aarch64"].search("movi\tv0.2d, #0")
    assert not VECTOR_REGISTER["aarch64"].search("mrs\tx0, ESR_EL2")
    assert VECTOR_REGISTER["armv7"].search("vldr\td0, [r0]")
    assert not VECTOR_REGISTER["armv7"].search("mrs\tr0, sp_fiq")
    assert EVERYBODYS_CACHES["aarch64"].search("ic\tialluis")
    assert EVERYBODYS_CACHES["armv7"].search("mcr\tp15, #0x0, r1, c7, c1, #0x0")
    assert BELOW_STACK["x86_64"].search("movq\t%rax, -0x8(%rsp)")
    assert BELOW_STACK["aarch64"].search(REMARK.sub("", "str\tx0, [sp, #-0x8] // nothing"))
    assert BELOW_STACK["armv7"].search(REMARK.sub("", "str\tr0, [sp, #-0x8] @ nothing"))
    assert not BELOW_STACK["armv7"].search("str\tr0, [sp, #-0x4]!")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_resident_code_cannot_reach_what_is_dropped(platform: str) -> None:
    """Every relocation of the resident sections points into the resident sections (or is an absolute constant)."""
    with image(platform).open("rb") as file:
        elf = ELFFile(file)
        value = symbols(elf)
        table = symbol_table(elf)
        dropped = range(value["__boot_start"], value["__boot_end"])
        checked = 0
        for name in resident_sections(platform):
            section = elf.get_section_by_name(".rela" + name) or elf.get_section_by_name(".rel" + name)
            if not isinstance(section, RelocationSection):
                continue
            for relocation in section.iter_relocations():
                symbol = table.get_symbol(relocation["r_info_sym"])
                checked += 1
                assert symbol["st_value"] not in dropped, (
                    f"{name}+{relocation['r_offset']:#x} refers to {symbol.name or 'a start-up section'}"
                )
        assert checked > 50, "the image carries no relocations: was --emit-relocs lost?"


@pytest.mark.parametrize("platform", PCS)
def test_no_part_reaches_another_vendor(platform: str) -> None:
    """Of several vendors' parts one is mapped: nothing may point into the others."""
    with image(platform).open("rb") as file:
        elf = ELFFile(file)
        value = symbols(elf)
        for vendor in (*VENDORS, *IOMMUS):
            absent = [range(value[f"__{vendor}_{part}_start"], value[f"__{vendor}_{part}_end"]) for part in ("text", "rodata")]
            for name in set(resident_sections(platform)) - set(VENDOR_SECTIONS[vendor]):
                section = elf.get_section_by_name(".rela" + name)
                if isinstance(section, RelocationSection):
                    for relocation in section.iter_relocations():
                        symbol = symbol_table(elf).get_symbol(relocation["r_info_sym"])
                        found = [part for part in absent if symbol["st_value"] in part]
                        assert not found, f"{name}+{relocation['r_offset']:#x} refers to {vendor}'s {symbol.name}"


def used(value: dict[str, int], part: str) -> int:
    return sum(value[f"__{part}_{kind}_used"] - value[f"__{part}_{kind}_start"] for kind in ("text", "rodata"))


@pytest.mark.parametrize("platform", PLATFORMS)
def test_resident_size_is_within_budget(platform: str) -> None:
    with image(platform).open("rb") as file:
        value = symbols(ELFFile(file))
    for vendor in VENDORS if platform in PCS else []:
        assert used(value, vendor) > 1000, f"{vendor}'s part is not where the linker script wants it"
        for iommu in IOMMUS:
            there = f"BH_IOMMU_{iommu.upper()}" in (paths.PLATFORMS / platform / "board.h").read_text()
            assert (used(value, iommu) > 500) == there, f"{iommu}'s part is not where the linker script wants it, or is not this board's"
            assert used(value, "resident") + used(value, vendor) + used(value, iommu) <= BUDGET_BYTES
    assert 0 < used(value, "resident") <= BUDGET_BYTES


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_private_copy_has_the_frames_that_the_tool_counts(platform: str) -> None:
    with image(platform).open("rb") as file:
        value = symbols(ELFFile(file))
    frames = FAMILIES[architecture(platform)].monitor.copy_frames
    assert value["__resident_data_end"] - value["__resident_text_start"] == frames * 4096
