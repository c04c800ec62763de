# SPDX-License-Identifier: Apache-2.0
"""What the device tree compiler and dt-schema find, in the words of who writes partition files."""

from __future__ import annotations

import functools
import re
from typing import Any

from ruamel.yaml import YAML

from bhtool.paths import ROOT
from bhtool.text import did_you_mean

BINDINGS = ROOT / "dts" / "bindings"
LABEL = re.compile(r'label "(\w+)"|^Label or path (\w+) not found')
SECOND_NODE = re.compile(r"\(duplicate_node_names\): (?P<name>/\S*): .*")
FILE = re.compile(r"'([^']+)' file not found")
COMPILERS_WORDS = (
    (re.compile(r"'(?P<name>[^']+)' file not found"), "there is no file `{name}` to include"),
    (re.compile(r"Label or path (?P<name>\S+) not found"), "there is no node with the label `{name}`"),
    (re.compile(r"\(\w+\): \S+: Reference to non-existent node or label \"(?P<name>\w+)\""), "there is no node with the label `{name}`"),
    (re.compile(r"\(duplicate_property_names\): \S*:(?P<name>[^:\s]+): .*"), "`{name}` is given twice in one node"),
    (SECOND_NODE, "a second node is called `{name}`"),
    (
        re.compile(r"\(duplicate_label\): \S+ Duplicate label '(?P<name>\w+)' on (?P<one>\S+) and (?P<two>\S+)"),
        "the label `{name}` is given twice, to `{two}` and to `{one}`",
    ),
    (re.compile(r"Properties must precede subnodes"), "a property stands after a child node; all properties of a node come first"),
    (
        re.compile(r"Value out of range for 32-bit array element|Value \S+ truncated to \S+"),
        "a number has more than the 32 bits of a cell; write two cells, the upper half first",
    ),
    (re.compile(r"Bad integer literal '(?P<name>[^']*)'"), "`{name}` is no number"),
    (re.compile(r'expected "FILENAME" or <FILENAME>'), "`#include` takes the name of a file in quotes, or BOARD_DTSI without quotes"),
    (re.compile(r"unterminated /\* comment"), "a comment begins here and is never closed: `*/` is missing"),
    (re.compile(r"UTF-16 .*"), "this file is UTF-16 text; save it as UTF-8"),
    (
        re.compile(
            r"\((?:reg|ranges|dma_ranges)_format\): (?P<node>/\S*):(?P<name>[^:\s]+): property has invalid length \((?P<size>\d+) bytes\)"
            r" \(#address-cells == (?P<address>\d+), #size-cells == (?P<cells>\d+)\)"
        ),
        "`{name}` of `{node}` has {size} bytes, and takes cells of 4 bytes: {address} of an address and {cells} of a size",
    ),
    (
        re.compile(r'\(ranges_format\): /reserved-memory:ranges: empty "ranges" property but its #\w+-cells .*'),
        "`/reserved-memory` lacks `#address-cells = <2>;` and `#size-cells = <2>;`",
    ),
    (
        re.compile(r"\(avoid_unnecessary_addr_size\): /reserved-memory: unnecessary #address-cells/#size-cells without .*"),
        "`/reserved-memory` lacks `ranges;`",
    ),
    (
        re.compile(r"\(unit_address_vs_reg\): (?P<name>/\S*): node has a unit name, but no reg.*"),
        "`{name}` has an address in its name and no `reg`; take it out of the name, or add `reg`",
    ),
    (
        re.compile(r"\(unit_address_vs_reg\): (?P<name>/\S*): node has a reg.* but no unit name"),
        "`{name}` has `reg` and no address in its name; write `@` and the address after the name",
    ),
    (re.compile(r"\((?P<check>\w+)\): (?P<name>/\S*): (?P<text>.*)"), "`{name}`: {text} (dtc's check `{check}`)"),
)
MISSING = re.compile(r"'(?P<name>[^']+)' is a required property")


def compilers_text(message: str) -> str:
    """A message of the preprocessor or of dtc without the compiler's own vocabulary."""
    for pattern, words in COMPILERS_WORDS:
        if found := pattern.fullmatch(message.strip()):
            return words.format(**found.groupdict())
    return message.strip()


def file_in(message: str) -> str:
    """The file that there is none of; empty if the message is about something else."""
    found = FILE.search(message)
    return found[1] if found else ""


def label_in(message: str) -> str:
    """The label that dtc found nothing for; empty if the message is about something else."""
    found = LABEL.search(message)
    return (found[1] or found[2]) if found else ""


def second_node_in(message: str) -> str:
    """The path that two nodes of one block have; empty if the message is about something else."""
    found = SECOND_NODE.fullmatch(message)
    return found["name"] if found else ""


def node_text(error: Any) -> str:
    """What is wrong with a node as a whole, as the end of a sentence that begins with its name."""
    if found := MISSING.match(str(error.message)):
        return f"lacks `{found['name']}`"
    if error.validator == "oneOf":
        names = [name for one in error.validator_value for name in one.get("required", ())]
        held = [name for name in names if name in error.instance]
        quoted = [f"`{name}`" for name in names]
        return f"has {' and '.join(quoted)}, which exclude each other" if held else f"has neither {' nor '.join(quoted)}"
    return f"does not fit its binding ({error.validator})"


def property_text(name: str, error: Any) -> str:
    """What is wrong with a property's value, as the end of a sentence that begins with its name."""
    value = value_text(error.instance)
    if error.validator == "type" and error.validator_value == "boolean":
        return f"is {value}, and takes no value: it is there or it is not"
    if error.validator == "enum":
        known = [str(one) for one in error.validator_value]
        return f"is {value}, which is none of {', '.join(known)}{did_you_mean(str(error.instance), known)}"
    if error.validator == "type" and error.validator_value == "array":
        return f"is {value}, which is no list of references such as <&label>"
    meaning = descriptions().get(name, "")
    return f"is {value}, which it cannot be" + (f" ({meaning.rstrip('.')})" if meaning else "")


def value_text(value: Any) -> str:
    """A decoded property as its source writes it."""
    if isinstance(value, bytes):
        return value_text(value.rstrip(b"\0").decode("utf-8", "replace"))
    if isinstance(value, list | tuple):
        return ", ".join(value_text(one) for one in value) if value else "empty"
    if isinstance(value, bool):
        return "there" if value else "not there"
    return _cell_text(value) if isinstance(value, int) else f'"{value}"'


def _cell_text(value: int) -> str:
    """The decoder takes a text of three characters for a cell."""
    text = value.to_bytes(4, "big")[:-1] if 0 <= value < 1 << 32 and not value & 0xFF else b""
    return f'"{text.decode()}"' if text.isalpha() and text.isascii() else f"<{value:#x}>"


@functools.cache
def descriptions() -> dict[str, str]:
    """What our bindings say of each property."""
    found: dict[str, str] = {}
    for binding in sorted(BINDINGS.glob("bulkhead,*.yaml")):
        for name, entry in YAML(typ="safe").load(binding.read_text()).get("properties", {}).items():
            if isinstance(entry, dict) and "description" in entry:
                found.setdefault(name, " ".join(str(entry["description"]).split()))
    return found
