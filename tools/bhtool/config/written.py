# SPDX-License-Identifier: Apache-2.0
"""Checks in the source how values of our own properties are written: references and numbers in cells, words as text, each of the right length.

A compiled tree has bytes alone: there, three bytes are neither a reference nor an error.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ruamel.yaml import YAML

from bhtool.config import properties
from bhtool.config.channels import CHANNEL, DEADLINE, DOORBELL, FROM, KIND, READERS, SERVICE, SLOT_BYTES, SLOTS, TO
from bhtool.config.dma import REASON
from bhtool.config.domains import LOG, NO_CONSOLE, PARTITIONS, SANDBOX
from bhtool.config.rule import Finding
from bhtool.config.tree import Node, Property
from bhtool.config.vcpus import BUDGET, HEALTH, PERIOD, RATE, SHARE, is_vcpu
from bhtool.config.wording import BINDINGS
from bhtool.text import did_you_mean

CELL = 4
SHOWN = 60  # characters of a wrong value in a message
TOP = {"bulkhead": "machine-v1", "domains": "partitions-v1", "reserved-memory": "memory"}  # our nodes at the root, and their bindings
CELLS, WIDE, TEXT, BYTES = "cells", "wide", "text", "bytes"
REFERENCES = (
    "cores",
    "memory-region",
    "access",
    "may-kick",
    "log-access",
    "accepts-notify",
    "notify",
    "idle-cores",
    "serves",
    "core",
    "terminal",
    "telemetry",
    FROM,
    TO,
)
WORDS = (
    "compatible",
    "os,type",
    "image",
    "initrd",
    "kernel-package",
    "modules",
    "bootargs",
    "ready-line",
    "unprotected",
    "allow-unprotected-dma",
    "on-fault",
    "then",
    "program",
    "scheduler",
    KIND,
)
OF_BOARDS = ("reg-shift", "reg-io-width", "numa-node-id")  # of nodes that are not ours, read all the same: one cell each
NUMBERS = {"max-restarts": 1, "heartbeat-timeout-us": 1, "size": 2, "load-address": 2, "reg": 4, "guest-ram": 2, "guest-window": 2}  # cells
NUMBERS |= dict.fromkeys((*OF_BOARDS, BUDGET, PERIOD, SHARE, RATE, SLOT_BYTES, SLOTS, READERS, DEADLINE, SERVICE, DOORBELL), 1)
MOST_CELLS = {DOORBELL: 2}  # of what may have more than that
FACTS = properties.CHANNEL | properties.VCPU | properties.HEALTH | properties.REGION | properties.SANDBOX
EXAMPLES = {
    "image": '"sandbox-kernel.elf"',
    "scheduler": '"edf"',
    "program": '"loop"',
    KIND: '"ring"',
    "initrd": '"initrd.cpio.gz"',
    "kernel-package": '"linux-image-amd64"',
    "allow-unprotected-dma": '"no IOMMU on this board"',
}
CONSOLES = (LOG, NO_CONSOLE)
MOST = {"#address-cells": 3, "#size-cells": 2, "#interrupt-cells": 4}  # that a bus or a controller asks for

_PART = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*")|(?P<wide>/bits/ 64 <[^>]*>)|(?P<cells>(?<!/bits/ 8 )(?<!/bits/ 16 )<[^>]*>)')
_BETWEEN = re.compile(r"[\s,]|\w+:")  # commas and labels


def badly_written(root: Node) -> Iterator[tuple[str, Finding]]:
    """(path of the property, finding) for each of our own, and of a board's that the tool reads, whose value has another form than it needs."""
    labels = {label: one.path for one in root.walk() for label in one.labels}
    of_boards = ((node, one) for node in root.walk() for name in OF_BOARDS if (one := node.properties.get(name)))
    for node, one in (*_our_properties(root), *of_boards):
        if words := _wrong(one, labels):
            yield f"{node.path}:{one.name}", _badly(node, one, words)
    for node in root.walk():
        reason = node.properties.get(REASON)
        if reason and not (_forms(reason.written) == {TEXT} and len(reason.strings) == 1 and reason.text.strip()):
            yield f"{node.path}:{REASON}", _badly(node, reason, "and takes the reason why the device does no DMA, as one text")


def _badly(node: Node, one: Property, words: str) -> Finding:
    return Finding(one.location, f"`{one.name}` of `{node.name}` is {_in_decimal(one) or _shown(one)}, {words}")


def numbers_for_references(root: Node) -> Iterator[tuple[str, Finding]]:
    """The same for a list of references in which the source has none: a number may happen to be some node's."""
    labels = {label for one in root.walk() for label in one.labels}
    for node, one in _our_properties(root):
        if one.name in REFERENCES and _forms(one.written) == {CELLS} and one.source and "&" not in one.source:
            meant = f"cpu{one.cells[0]}" if one.name in ("cores", "idle-cores") and one.cells else ""
            hint = f" (did you mean <&{meant}>?)" if meant in labels else ""
            yield f"{node.path}:{one.name}", Finding(one.location, f"`{one.name}` of `{node.name}` is {one.source}, a number{hint}")


def _our_properties(root: Node) -> Iterator[tuple[Node, Property]]:
    return ((node, one) for node in _ours(root) for one in node.properties.values())


def _shown(one: Property) -> str:
    """A value as it is written; of a text that is not ASCII dtc writes the bytes."""
    text = one.written if "\\x" not in one.written else f'"{one.data.rstrip(bytes(1)).decode("utf-8", "surrogateescape")}"'
    return (text if len(text) <= SHOWN else text[: SHOWN - 3] + "...") or "empty"


def _in_decimal(one: Property) -> str:
    """A number of one cell, of however many it was given as; dtc writes all of them in hexadecimal. Empty: it is no such value."""
    return f"<{' '.join(map(str, one.cells))}>" if NUMBERS.get(one.name) == 1 and _forms(one.written) == {CELLS} and one.cells else ""


def odd_buses(root: Node) -> Iterator[tuple[str, Finding]]:
    """The same for every node that counts the cells of addresses, sizes or interrupts as no bus does."""
    for node in root.walk():
        for name, most in MOST.items():
            if node.number(name, 0) > most:
                text = f"`{name}` of `{node.name}` is <{node.number(name, 0):#x}>, which is more than {most}"
                yield f"{node.path}:{name}", Finding(node.where(name), text)


def unknown_names(root: Node) -> Iterator[tuple[Node, str]]:
    """Properties of ours that dt-schema lets pass in every node, such as `status`: the tool would not heed them."""
    for node in _ours(root):
        known = known_names(node)
        yield from ((node, name) for name in node.properties if known and name not in known and name != "phandle")


def _ours(root: Node) -> Iterator[Node]:
    for top in root.children.values():
        if top.name in ("bulkhead", "domains", "reserved-memory"):
            yield top
        if top.name == "reserved-memory":
            yield from top.children.values()
        if PARTITIONS in top.compatible:
            for sandbox in (child for child in top.children.values() if SANDBOX in child.compatible):
                yield from (sandbox, *(child for child in sandbox.children.values() if child.name == HEALTH or is_vcpu(child)))
            yield from (child for child in top.children.values() if CHANNEL in child.compatible)


def known_names(node: Node) -> set[str]:
    """Names in the node's own binding; none where it has none."""
    assert node.parent is not None
    if node.parent.parent is None and node.name in TOP:
        return set(_binding(TOP[node.name])["properties"])
    if SANDBOX in node.compatible:
        return names_by_kind()["a sandbox's node"]
    if CHANNEL in node.compatible:
        return names_by_kind()["a channel's node"]
    if node.name == HEALTH:
        return names_by_kind()["its `health` node"]
    if is_vcpu(node):
        return names_by_kind()["a VCPU's node"]
    if node.parent.name == "reserved-memory":
        return names_by_kind()["a region of `reserved-memory`"]
    return set()


def names_by_kind() -> dict[str, set[str]]:
    """The names that are known in each kind of our nodes, by the words for that kind."""
    binding = _binding("sandbox-v1")
    sandbox = binding["properties"]
    return {
        "a sandbox's node": set(sandbox),
        "its `health` node": set(sandbox[HEALTH]["properties"]),
        "a VCPU's node": set(binding["additionalProperties"]["properties"]) - {"phandle"},
        "a channel's node": set(_binding("channel-v1")["properties"]),
        "a region of `reserved-memory`": set(_binding("memory")["additionalProperties"]["properties"]),
        "`domains`": set(_binding(TOP["domains"])["properties"]),
    }


@functools.cache
def _binding(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = YAML(typ="safe").load((BINDINGS / f"bulkhead,{name}.yaml").read_text())
    return found


def _wrong(one: Property, labels: Mapping[str, str]) -> str:
    """What is wrong with a value, as the end of a sentence; empty: nothing."""
    forms = _forms(one.written)
    if one.name in REFERENCES and forms != {CELLS}:
        return f"which is no list of references such as <&label>{_referred(one, labels)}"
    if one.name in WORDS and forms != {TEXT}:
        return "which is no text such as " + EXAMPLES.get(one.name, '"word"')
    if one.name in (*WORDS, "console") and forms == {TEXT} and not _is_plain(one):
        return "which has characters that are not printable ASCII"
    if one.name in NUMBERS and not (forms <= {CELLS, WIDE} and _is_so_long(one)):
        return _no_number(one, forms)
    if one.name == "console" and forms not in ({CELLS}, {TEXT}):
        return 'which is neither a reference such as <&label> nor text such as "log"'
    if one.name == "console" and forms == {TEXT} and one.text not in CONSOLES:
        hint = _referred(one, labels) or did_you_mean(one.text, CONSOLES, quote='"')
        return f'which is neither "log", "none" nor a reference such as <&label>{hint}'
    return ""


def _referred(one: Property, labels: Mapping[str, str]) -> str:
    """The reference that was meant by a label without `&`, or by one without `<` and `>`, which dtc takes for a path."""
    meant = [label for label, path in labels.items() if one.text in (label, path)]
    return f" (did you mean <&{meant[0]}>?)" if meant else ""


def _is_plain(one: Property) -> bool:
    """Devicetree specification, 2.2.4 "Property Values": <string> is printable and NUL-terminated."""
    return all(0x20 <= byte < 0x7F for byte in one.data.replace(b"\0", b""))


def _is_so_long(one: Property) -> bool:
    least = NUMBERS[one.name]
    return least * CELL <= len(one.data) <= MOST_CELLS.get(one.name, least) * CELL and len(one.data) % CELL == 0


def _no_number(one: Property, forms: set[str]) -> str:
    cells = NUMBERS[one.name]
    if forms == {CELLS} and cells == 2 and len(one.data) == CELL:
        return f"one cell, and takes two, the upper half first: <0x0 {one.cells[0]:#x}>"
    count = len(one.data) // CELL
    given = f"{count} cells, " if forms == {CELLS} and count > 1 else ""
    if fact := FACTS.get(one.name):
        example = fact.example.partition(" = ")[2].rstrip(";")
        return f"{given}and takes {fact.form.partition(';')[0]}, such as {example}"
    return f"{given}and takes {cells} {'cells' if cells > 1 else 'cell'} of a number such as <1>"


def _forms(written: str) -> set[str]:
    """The forms of a value's parts; BYTES for whatever is neither cells nor text."""
    forms = {str(found.lastgroup) for found in _PART.finditer(written)}
    whole = not _BETWEEN.sub("", _PART.sub("", written))
    return forms if forms and whole else forms | {BYTES}
