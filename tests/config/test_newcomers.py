# SPDX-License-Identifier: Apache-2.0
"""BH-I7.tool. Mistakes of whoever writes a first partition file: each gives one message, at the line to change, in these very words."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.config import source
from bhtool.config.bounded import Done
from bhtool.config.complaints import Sources
from bhtool.config.plan import Plan
from bhtool.config.rules import BY_ID

GOOD = Path(__file__).with_name("newcomer.dts")
OWN = 'control: control {\n\t\t\tcompatible = "bulkhead,sandbox-v1";'
LOG = 'console = "log";'
FIRST = 'image = "sandbox-kernel.elf";'
SIZE = "sensor { size = <MiB(16)>; }"
BOARD = "#include BOARD_DTSI\n"
MIB = "#define MiB(n) 0x0 ((n) << 20)\n"
CELLS = "\t\t#address-cells = <2>;\n\t\t#size-cells = <2>;\n"
NO_BOARD = "1 BH-R001 the board tree is missing: no line says `#include BOARD_DTSI`, without quotes, before the first node"
NO_LIST = "which is no list of references such as <&label> (did you mean <&cpu2>?)"
NO_CONSOLE = 'which is neither "log", "none" nor a reference such as <&label>'
NO_BOARD_HAS_IT = "neither this file nor this platform's board tree; write its value, or put what uses it between"
NO_UNIT = "is no number; numbers have no unit (docs/configuration.md says which each property takes)"
NO_KIND = '`control` in `/domains` has the unknown `compatible` "bulkhead,sandbox"'

# What is written, what is written instead, and the message: line, rule, text without the rule's remedy.
NAMES = [
    (OWN, OWN.replace("-v1", ""), f'25 BH-R002 {NO_KIND} (did you mean "bulkhead,sandbox-v1"?)'),
    (OWN, "control: control {", "24 BH-R003 `control` lacks `compatible`; add it; docs/configuration.md shows its form"),
    (FIRST, "", "24 BH-R003 `control` lacks `image`; add it; docs/configuration.md shows its form"),
    (",partitions-v1", ",partition-v1", "21 BH-R005 `/domains` has the unknown `compatible` \"bulkhead,partition-v1\" (did you mean \"bulkhead,partitions-v1\"?)"),
    ('compatible = "bulkhead,partitions-v1";', "", "20 BH-R005 `/domains` has no `compatible`"),
    ("domains {", "domain {", "20 BH-R002 there is a node `/domain` (did you mean `/domains`?)"),
    ("reserved-memory {", "reserved_memory {", "10 BH-R002 there is a node `/reserved_memory` (did you mean `/reserved-memory`?)"),
    ("memory-region =", "memory_region =", "27 BH-R002 `control` has an unknown property `memory_region` (did you mean `memory-region`?)"),
    (LOG, f'heartbeat-timeout-us = "1s"; {LOG}', "29 BH-R002 `control` has an unknown property `heartbeat-timeout-us` (it belongs in its `health` node)"),
    ("os,type =", "os-type =", "43 BH-R002 `linux` has an unknown property `os-type` (did you mean `os,type`?)"),
    ("idle-cores", "idle-core", "22 BH-R002 `domains` has an unknown property `idle-core` (did you mean `idle-cores`?)"),
    ("takes-the-rest;", "take-the-rest;", "44 BH-R002 `linux` has an unknown property `take-the-rest` (did you mean `takes-the-rest`?)"),
    (LOG, f"{LOG} healt {{ }};", "29 BH-R002 `control` has an unknown child `healt` (did you mean `health`?)"),
    ("<&cpu2>", "<&cpu9>", "34 BH-R001 there is no node with the label `cpu9` (there are `cpu0`, `cpu1`, `cpu2`, `cpu3`)"),
    ("<&uart1>;\n", "<&uart2>, <&uart2>;\n", "36 BH-R001 there is no node with the label `uart2` (there are `uart0`, `uart1`)"),
    ("<&sensor_ram>", "<&sensors_ram>", "35 BH-R001 there is no node with the label `sensors_ram` (did you mean `sensor_ram`?)"),
    ("sensor: sensor", "control: sensor", "32 BH-R001 the label `control` is given twice, to `/domains/control` and to `/domains/sensor`"),
    ("sensor: sensor {", "sensor: control {", "32 BH-R001 a second node is called `/domains/control` (first: FILE:24); rename one of them, or put what both have into one"),
]  # fmt: skip
VALUES = [
    ("<&cpu0>", "<0>", "45 BH-R006 `cores` of `linux` is <0>, a number (did you mean <&cpu0>?)"),
    ("<&cpu2>", "<2>", "34 BH-R006 `cores` of `sensor` is <2>, a number (did you mean <&cpu2>?)"),
    ("<&cpu2>", '"cpu2"', f'34 BH-R003 `cores` of `sensor` is "cpu2", {NO_LIST}'),
    ("<&cpu2>", "&cpu2", f'34 BH-R003 `cores` of `sensor` is "/cpus/cpu@2", {NO_LIST}'),
    ("<&cpu2>", "<&uart0>", "34 BH-R020 `uart0` is not a core of this board"),
    ("<&sensor_ram>", "<&control_ram>", "35 BH-R031 `sensor` takes control_ram, which `control` has already"),
    ("cores = <&cpu2>;", "", "32 BH-R023 `sensor` has no core, and nobody has cpu2"),
    (SIZE, "sensor { size = <0x20000000>; }", "16 BH-R003 `size` of `sensor` is <0x20000000>, one cell, and takes two, the upper half first: <0x0 0x20000000>"),
    (SIZE, "sensor { size = <1 MiB(16)>; }", "16 BH-R003 `size` of `sensor` is <0x01 0x00 0x1000000>, 3 cells, and takes two cells, bytes, a multiple of 2 MiB, such as <0x0 0x1000000>"),
    (SIZE, 'sensor { size = "16M"; }', '16 BH-R003 `size` of `sensor` is "16M", and takes two cells, bytes, a multiple of 2 MiB, such as <0x0 0x1000000>'),
    (SIZE, "sensor { size = <MiB(1)>; }", "16 BH-R033 the size of `sensor_ram`, 0x100000 (1 MiB), is not a multiple of 2 MiB"),
    ("MiB(512)", "MiB(8192)", "17 BH-R001 a number has more than the 32 bits of a cell; write two cells, the upper half first"),
    (FIRST, "image = <1>;", '28 BH-R003 `image` of `control` is <0x01>, which is no text such as "sandbox-kernel.elf"'),
    (FIRST, 'image = "other.elf";', "28 BH-R062 `other.elf` is an x86-64 ELF, and this platform's cores take an AArch64 one"),
    (FIRST, 'image = "a\x1b[31mb\u202e";', '28 BH-R003 `image` of `control` is "a\\x1b[31mb\\u202e", which has characters that are not printable ASCII'),
    ('"quiet"', '"größe"', '50 BH-R003 `bootargs` of `linux` is "größe", which has characters that are not printable ASCII'),
    ('"linux";', '"Linux";', '43 BH-R003 `os,type` of `linux` is "Linux", which is none of native, linux (did you mean `linux`?)'),
    (LOG, 'console = "uart0";', f'29 BH-R003 `console` of `control` is "uart0", {NO_CONSOLE} (did you mean <&uart0>?)'),
    (LOG, 'console = "logs";', f'29 BH-R003 `console` of `control` is "logs", {NO_CONSOLE} (did you mean "log"?)'),
    (LOG, LOG + ' health { on-fault = "restart"; max-restarts = <0>; };', "29 BH-R081 `max-restarts` of `control` is 0; it is 1 to 1,000,000"),
    (LOG, LOG + ' health { on-fault = "restart"; };', "29 BH-R081 `max-restarts` of `control` is missing; it is 1 to 1,000,000"),
    (LOG, LOG + ' health { heartbeat-timeout-us = "1s"; };', '29 BH-R003 `heartbeat-timeout-us` of `health` is "1s", and takes one cell, microseconds, 100 to 10,000,000, such as <20000>'),
]  # fmt: skip
SYNTAX = [
    (BOARD, "", NO_BOARD),
    (BOARD, "/dts-v1/;\n", NO_BOARD),
    (BOARD, '#include "BOARD_DTSI"\n', "7 BH-R001 `BOARD_DTSI` stands in quotes; write `#include BOARD_DTSI`"),
    (BOARD, "#include BOARD_DTS\n", "7 BH-R001 `#include BOARD_DTS` names no file (did you mean `BOARD_DTSI`?)"),
    (BOARD, "#inclde BOARD_DTSI\n", "7 BH-R001 there is no directive `#inclde` (did you mean `include`?)"),
    (MIB, "", "14 BH-R001 there is no macro `MiB`; add `#define MiB(n) 0x0 ((n) << 20)` at the top"),
    ("MiB(512)", "GiB(1)", "17 BH-R001 there is no macro `GiB`; `GiB(n)` is `MiB(n * 1024)`, below 4 GiB"),
    (SIZE, "sensor { size = <MB(16)>; }", "16 BH-R001 there is no macro `MB` (did you mean `MiB`?)"),
    (LOG, LOG + " health { heartbeat-timeout-us = <5ms>; };", f"29 BH-R001 `5ms` {NO_UNIT}"),
    ("domains {", "domains", "20 BH-R001 this line lacks its `;` or `{`"),
    ("takes-the-rest;", "takes-the-rest", "44 BH-R001 this line lacks its `;` or `{`"),
    ("sensor: sensor {", "sensor: sensor", "32 BH-R001 this line lacks its `{`"),
    (LOG, f"{LOG} /* the log", "29 BH-R001 a comment begins here and is never closed: `*/` is missing"),
    ("<&cpu2>", "<cpu2>", "34 BH-R001 `cpu2` is no number; a reference is written `&cpu2`"),
    ("<&cpu2>", "<SECOND_CORE>", f"34 BH-R001 nothing defines `SECOND_CORE`: {NO_BOARD_HAS_IT} `#ifdef SECOND_CORE` and `#endif`"),
    (FIRST, "image = BOARD_KERNEL;", f"28 BH-R001 nothing defines `BOARD_KERNEL`: {NO_BOARD_HAS_IT} `#ifdef BOARD_KERNEL` and `#endif`"),
    ("<&cpu2>", "<&cpu2, &cpu3>", "34 BH-R001 between `<` and `>` stand cells without commas, as in <&cpu0 &cpu1>"),
    ("<&cpu2>;", "<&cpu2>", "34 BH-R001 this line lacks its `;`"),
    ("<&cpu2>;", "<&cpu2", "34 BH-R001 this line lacks its `>;`"),
    ("<&cpu2>;", "<&cpu2;", "34 BH-R001 a list of cells lacks its `>`"),
    ("<&cpu2>;", '<&cpu2> console = "log";', "34 BH-R001 before `console` a `;` is missing"),
    ("<&cpu2>;", "<&cpu2>; = 1;", "34 BH-R001 this is no device tree syntax: `=` cannot stand here"),
    ("<&cpu2>;", '<"cpu2">;', "34 BH-R001 a text stands outside of `<` and `>`"),
    (LOG, LOG + "\n loop { budget-us = <9>; period-us = <99>; }; /* loop { */\n loop\n {\n budget-us = <9>;\n };", "32 BH-R001 a second node is called `/domains/control/loop` (first: FILE:30); rename one of them, or put what both have into one"),
    ("<&cpu2>;", "<08>;", "34 BH-R001 `08` is no number"),
    ("<&cpu2>;", "<&cpu2>; # two", "34 BH-R001 a comment begins with `//`, or stands between `/*` and `*/`"),
    ("<&cpu2>;", "<&cpu2>; cores = <&cpu1>;", "34 BH-R001 `cores` is given twice in one node"),
    (FIRST, FIRST.replace('f"', "f"), '28 BH-R001 a text on this line lacks its closing `"`'),
    (FIRST, FIRST.replace('"', ""), '28 BH-R001 `sandbox-kernel.elf` is neither a text, which stands in quotes, as in "sandbox-kernel.elf", nor a number or a reference, as in <1> and <&label>'),
    (FIRST, f"health {{ }}; {FIRST}", "28 BH-R001 a property stands after a child node; all properties of a node come first"),
    (SIZE + ";", SIZE, "16 BH-R001 this line lacks its `;`"),
    (SIZE, "sensor@60000000 { reg = <0x60000000 0x1000000>; }", "16 BH-R001 `reg` of `/reserved-memory/sensor@60000000` has 8 bytes, and takes cells of 4 bytes: 2 of an address and 2 of a size"),
    ("\t\tranges;\n", "", "10 BH-W001 `/reserved-memory` lacks `ranges;`"),
    ("sensor: sensor {", "sensor: sensor@5 {", "32 BH-W001 `/domains/sensor@5` has an address in its name and no `reg`; take it out of the name, or add `reg`"),
    (SIZE, "sensor { reg = <0x0 0x60000000 MiB(16)>; }", "16 BH-W001 `/reserved-memory/sensor` has `reg` and no address in its name; write `@` and the address after the name"),
    (CELLS, "", "11 BH-R001 `/reserved-memory` lacks `#address-cells = <2>;` and `#size-cells = <2>;`"),
    ("\t};\n};\n", "\t};\n", "52 BH-R001 the file ends inside a node: `};` is missing"),
    ("\t};\n};\n", "\t};\n};\n};\n", "54 BH-R001 there is one `}` too many"),
    # dtc takes them for the end of the file, so that what follows would vanish.
    ("\t};\n};\n", "\t};\n};\n\u00a0\n&cpu3 { };\n", "54 BH-R001 outside a text this line has no-break space, U+00A0, where only ASCII can stand; take it out"),
    ("\t};\n};\n", "\t};\n};\n\x80 };\n", "54 BH-R001 outside a text this line has a character, U+0080, where only ASCII can stand; take it out"),
    ('"quiet"', "“quiet”", "50 BH-R001 outside a text this line has left double quotation mark, U+201C, where only ASCII can stand; take it out"),
]  # fmt: skip
FILES = [
    (b"", "1 BH-R001 this file is empty; dts/partitions has examples"),
    (b"/* later */\n", "1 BH-R001 this file has nothing but comments; dts/partitions has examples"),
    (GOOD.read_text().encode("utf-16"), "1 BH-R001 this file is UTF-16 text; save it as UTF-8"),
    (GOOD.read_text().encode("utf-16-le"), "1 BH-R001 this file has a zero byte in line 1, so it is UTF-16 or no text at all; save it as UTF-8"),
    (GOOD.read_text().replace("quiet", "größe").encode("latin-1"), "50 BH-R001 this line has the byte 0xf6, which is no UTF-8; save the file as UTF-8"),
    (b"\xd0\x0d\xfe\xed" + bytes(60), "1 BH-R001 this file is a compiled device tree; give its source"),
]  # fmt: skip
HARMLESS = [
    GOOD.read_text().encode("utf-8-sig"),
    GOOD.read_text().replace("\n", "\r\n").encode(),
    GOOD.read_text().replace("demo", "größe").encode("latin-1"),  # in a comment
    ("/dts-v1/;\n" + GOOD.read_text()).encode(),
]
Compile = Callable[[Path, str], Plan]


def said(compile_on: Compile, folder: Path, content: bytes) -> list[str]:
    """Every error and warning: line, rule, text without the rule's remedy."""
    file = folder / "mine.dts"
    file.write_bytes(content)
    plan = compile_on(file, "qemu-aarch64")
    found = [*plan.errors, *plan.warnings]
    assert {Path(one.file).name for one in found} <= {"mine.dts", "part.dtsi"}
    assert all(str(one).isprintable() for one in found)
    return [f"{one.line} {one.rule} {one.text.removesuffix('; ' + BY_ID[one.rule].remedy).replace(str(file), 'FILE')}" for one in found]


@pytest.mark.parametrize(("written", "instead", "message"), NAMES + VALUES + SYNTAX, ids=[row[2][:30] for row in NAMES + VALUES + SYNTAX])
def test_one_mistake_is_one_message(written: str, instead: str, message: str, compile_on: Compile, tmp_path: Path) -> None:
    text = GOOD.read_text()
    assert written in text
    assert said(compile_on, tmp_path, text.replace(written, instead, 1).encode()) == [message]


def test_a_comment_that_takes_in_code_is_named_first(compile_on: Compile, tmp_path: Path) -> None:
    text = GOOD.read_text().replace("<&control_ram>;", "<&control_ram>; /* the line to the motors").replace(LOG, f"{LOG} /* the ring */", 1)
    comment = "27 BH-R001 this comment has no `*/` before the next one begins, in line 29, and takes in the lines between"
    assert said(compile_on, tmp_path, text.encode()) == [
        comment,
        "24 BH-R003 `control` lacks `image`; add it; docs/configuration.md shows its form",
    ]


@pytest.mark.parametrize("comment", ["/* as in\n   /* here */", "/*\n * one; see\n * include/*.h;\n */", "/* a;\n *\n */ /* b */"])
def test_a_comment_that_takes_in_no_code_is_none_of_them(comment: str, compile_on: Compile, tmp_path: Path) -> None:
    (message,) = said(compile_on, tmp_path, GOOD.read_text().replace(FIRST, comment, 1).encode())
    assert "lacks `image`" in message


def test_what_is_commented_out_on_purpose_is_no_error(compile_on: Compile, tmp_path: Path) -> None:
    text = GOOD.read_text().replace('bootargs = "quiet";', '/* bootargs = "quiet";\n initrd = "other"; /* both */')
    assert said(compile_on, tmp_path, text.encode()) == []


@pytest.mark.parametrize(("content", "message"), FILES, ids=[row[1][13:40] for row in FILES])
def test_what_is_no_source_is_said_to_be_none(content: bytes, message: str, compile_on: Compile, tmp_path: Path) -> None:
    assert said(compile_on, tmp_path, content) == [message]


@pytest.mark.parametrize("content", HARMLESS, ids=["mark", "crlf", "comment", "version"])
def test_what_is_harmless_is_taken(content: bytes, compile_on: Compile, tmp_path: Path) -> None:
    assert said(compile_on, tmp_path, content) == []


def test_a_number_that_dtc_would_cut_is_refused(compile_on: Compile, monkeypatch: pytest.MonkeyPatch) -> None:
    """dtc 1.7.2, which Debian 13 has, warns of it and goes on."""
    start = source._start

    def cut(sources: Sources, command: list[str]) -> Done:
        said = b"WARNING: partition.dts:17.24-43: Value 0x0000000200000000 truncated to 0x00000000\n"
        done = start(sources, command)
        return Done(done.status, done.output, said) if command[0] == "dtc" else done

    monkeypatch.setattr(source, "_start", cut)
    (error,) = compile_on(GOOD, "qemu-aarch64").errors
    assert (error.line, error.rule) == (17, "BH-R001")
    assert error.text == "a number has more than the 32 bits of a cell; write two cells, the upper half first"


ONCE = "z { budget-us = <9>; period-us = <99>; };"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"&control {{ {ONCE} }};\n&control {{ {ONCE} }};\n", 0),
        (f"&control {{ {ONCE}\n{ONCE} }};\n", 1),
        (f"&control {{ {ONCE}\n{ONCE}\n{ONCE} }};\n", 1),
        (f"&control {{ {ONCE} }};\n&control {{ {ONCE}\n{ONCE} }};\n", 1),
        (f"/ {{ domains {{ control {{ {ONCE}\n{ONCE} }}; }}; }};\n", 1),
        (f"/ {{ domains {{ control {{ {ONCE} }}; }};\ndomains {{ control {{ {ONCE} }}; }}; }};\n", 1),
        ('#include "part.dtsi"\n#include "part.dtsi"\n', 0),
        (f"&control {{ {ONCE} }};\n&control {{ /delete-node/ z; {ONCE} }};\n", 0),
    ],
)
def test_a_node_that_one_block_has_twice_is_refused_wherever_it_stands(text: str, count: int, compile_on: Compile, tmp_path: Path) -> None:
    """To add to a node that another block has made is what device trees are made for; a file that is included twice adds the same twice."""
    (tmp_path / "part.dtsi").write_text(f"&control {{ {ONCE} }};\n")
    found = said(compile_on, tmp_path, f"{GOOD.read_text()}\n{text}".encode())
    assert len([one for one in found if "BH-R001 a second node is called" in one]) == count
    assert count or not any("BH-R001" in one for one in found)
