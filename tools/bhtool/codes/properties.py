# SPDX-License-Identifier: Apache-2.0
"""Properties and nodes of partition files. Read as text out of docs/configuration.md, which is made of the bindings: to import those takes a compiler."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from bhtool.codes.entry import Entry
from bhtool.codes.whys import CHANNEL, VCPUS
from bhtool.paths import ROOT

PAGE = ROOT / "docs" / "configuration.md"
CELLS = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class NodeKind:
    """A kind of node, by the heading that its properties have in the page."""

    name: str
    aliases: tuple[str, ...]
    of: str  # its properties are properties of this
    means: str
    causes: tuple[str, ...] = ()
    example: str = ""


KINDS = {
    "`/domains`": NodeKind("domains", (), "`/domains`", "The node that splits the machine: sandboxes and channels are its children."),
    "A sandbox, a child of `/domains`": NodeKind(
        "sandbox",
        ("bulkhead,sandbox-v1",),
        "a sandbox",
        "A child of `/domains` with cores, memory and devices of its own, and the software that runs there.",
        example="""\
control: control {
	compatible = "bulkhead,sandbox-v1";
	cores = <&cpu1>; memory-region = <&control_ram>; image = "sandbox-kernel.elf";
};""",
    ),
    "`health` of a sandbox": NodeKind("health", (), "a sandbox's `health`", "What becomes of a sandbox when it faults or falls silent."),
    "A VCPU, any other child of a sandbox": NodeKind(
        "VCPU",
        (),
        "a VCPU",
        "A reservation of a core of a native sandbox: a budget of time in each period. It is any child of the sandbox but `health`, and its name is that of its program unless"
        " `program` says otherwise.",
        example=VCPUS,
    ),
    "A channel, another child of `/domains`": NodeKind(
        "channel",
        ("bulkhead,channel-v1", "channels"),
        "a channel",
        "Memory that exactly two sandboxes share, native ones or Linux: a mailbox, a ring or a latest value. It is a child of `/domains`, and its name is the node's."
        " docs/channels.md says how programs use it.",
        example=CHANNEL,
    ),
    "A child of `/reserved-memory`": NodeKind(
        "reserved-memory", (), "a memory region", "Each of its children is a region of RAM, for the `memory-region` of a sandbox."
    ),
}
OF_CHANNELS = "## Channels"  # the heading of the table that tells the kinds of channels


def sections() -> Iterator[tuple[str, list[list[str]]]]:
    """(heading, rows of cells) of each table of the page, its own heading aside."""
    heading, rows = "", list[list[str]]()
    for line in [*PAGE.read_text(encoding="utf-8").splitlines(), "#"]:
        if line.startswith("#"):
            yield heading, rows[2:]
            heading, rows = line, []
        elif line.startswith("|"):
            rows.append([cell.strip().replace("\\|", "|") for cell in CELLS.split(line)[1:-1]])


@functools.cache
def entries() -> tuple[Entry, ...]:
    found = list[Entry]()
    for heading, rows in sections():
        if heading == OF_CHANNELS:
            found += [_kind_of_channel(*row) for row in rows]
        if kind := KINDS.get(heading.removeprefix("### ")):
            found += [_node(kind, rows), *(_property(kind, *row) for row in rows)]
    return tuple(found)


def _node(kind: NodeKind, rows: list[list[str]]) -> Entry:
    names = ", ".join(row[0].replace(" (required)", "") for row in rows)
    needed = " and ".join(row[0].removesuffix(" (required)") for row in rows if row[0].endswith("(required)"))
    told = f"Its properties, each of which `explain` knows: {names}." + (f" Required: {needed}." if needed else "")
    return Entry("node of a partition file", kind.name, f"{kind.means} {told}", None, kind.aliases, (), (), kind.example)


def _property(kind: NodeKind, name: str, meaning: str, form: str, default: str, example: str, rules: str) -> Entry:
    plain, is_required = name.removesuffix(" (required)").strip("`"), name.endswith("(required)")
    told = [f"{meaning.rstrip('.')}.", f"Form: {form}.", "Required." if is_required else f"Default: {default}."]
    judged = (f"what it may be is judged by {rules}: `explain` says more of each",) if rules != "-" else ()
    return Entry(f"property of {kind.of}", plain, " ".join(told), None, (), (), judged, example.strip("`"))


def _kind_of_channel(name: str, purpose: str, slots: str) -> Entry:
    plain = name.strip("`")
    means = f"A channel for this: {purpose.rstrip('.')}. Slots: {slots}."
    return Entry("kind of a channel", plain, means, None, ("latest value",) if plain == "latest" else (), (), (), f'kind = "{plain}";')
