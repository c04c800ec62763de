# SPDX-License-Identifier: Apache-2.0
"""How the values of our own properties are written: references and numbers in cells, words as text, each as long as it has to be.

A compiled tree has bytes alone, and three of them are neither a reference nor an error: so the source is asked.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ruamel.yaml import YAML

from bhtool.config.domains import PARTITIONS, SANDBOX
from bhtool.config.rule import Finding
from bhtool.config.tree import Node, Property
from bhtool.config.wording import BINDINGS

CELL = 4
SHOWN = 60  # characters of a wrong value in a message
TOP = {"bulkhead": "machine-v1", "domains": "partitions-v1", "reserved-memory": "memory"}  # our nodes at the root, and their bindings
CELLS, WIDE, TEXT, BYTES = "cells", "wide", "text", "bytes"
REFERENCES = ("cores", "memory-region", "access", "may-kick", "log-access", "accepts-notify", "notify", "idle-cores")
WORDS = ("compatible", "os,type", "image", "initrd", "bootargs", "unprotected", "on-fault", "then")
NUMBERS = {"max-restarts": 1, "heartbeat-timeout-us": 1, "size": 2, "reg": 4, "guest-ram": 2, "guest-window": 2}  # cells
MOST = {"#address-cells": 3, "#size-cells": 2, "#interrupt-cells": 4}  # that a bus or a controller asks for

_PART = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*")|(?P<wide>/bits/ 64 <[^>]*>)|(?P<cells>(?<!/bits/ 8 )(?<!/bits/ 16 )<[^>]*>)')
_BETWEEN = re.compile(r"[\s,]|\w+:")  # commas and labels


def badly_written(root: Node) -> Iterator[tuple[str, Finding]]:
    """(path of the property, finding) for each of our own whose value has another form than it needs."""
    for node in _ours(root):
        for one in node.properties.values():
            words = _wrong(one)
            if words:
                value = one.written if len(one.written) <= SHOWN else one.written[: SHOWN - 3] + "..."
                yield f"{node.path}:{one.name}", Finding(one.location, f"`{one.name}` of `{node.name}` is {value or 'empty'}, {words}")


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
                yield from (sandbox, *(child for child in sandbox.children.values() if child.name == "health"))


def known_names(node: Node) -> set[str]:
    """Names in the node's own binding; none where it has none."""
    assert node.parent is not None
    if node.parent.parent is None and node.name in TOP:
        return set(_binding(TOP[node.name])["properties"])
    if SANDBOX in node.compatible:
        return set(_binding("sandbox-v1")["properties"])
    if node.name == "health":
        return set(_binding("sandbox-v1")["properties"]["health"]["properties"])
    if node.parent.name == "reserved-memory":
        return set(_binding("memory")["additionalProperties"]["properties"])
    return set()


@functools.cache
def _binding(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = YAML(typ="safe").load((BINDINGS / f"bulkhead,{name}.yaml").read_text())
    return found


def _wrong(one: Property) -> str:
    """What is wrong with a value, as the end of a sentence; empty: nothing."""
    forms = _forms(one.written)
    if one.name in REFERENCES and forms != {CELLS}:
        return "which is no list of references such as <&label>"
    if one.name in WORDS and forms != {TEXT}:
        return 'which is no text such as "word"'
    if one.name in NUMBERS and (not forms <= {CELLS, WIDE} or len(one.data) != NUMBERS[one.name] * CELL):
        return f"and takes {NUMBERS[one.name]} cell{'s' * (NUMBERS[one.name] > 1)} of a number such as <1>"
    if one.name == "console" and forms not in ({CELLS}, {TEXT}):
        return 'which is neither a reference such as <&label> nor text such as "log"'
    return ""


def _forms(written: str) -> set[str]:
    """The forms of a value's parts; BYTES for whatever is neither cells nor text."""
    forms = {str(found.lastgroup) for found in _PART.finditer(written)}
    whole = not _BETWEEN.sub("", _PART.sub("", written))
    return forms if forms and whole else forms | {BYTES}
