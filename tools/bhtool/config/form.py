# SPDX-License-Identifier: Apache-2.0
"""The form of a partition file: known by name and not supported yet, then dt-schema's judgement by dts/bindings."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dtschema
from dtschema.dtb import prop_value

from bhtool import paths
from bhtool.config.domains import OBJECTS, PARTITIONS, SANDBOX, later_object, objects
from bhtool.config.nodes import unknown_children, unknown_nodes
from bhtool.config.plan import Diagnostic
from bhtool.config.rules import diagnose
from bhtool.config.tree import Node, Property
from bhtool.config.wording import BINDINGS, MISSING, node_text, property_text
from bhtool.config.written import badly_written, known_names, names_by_kind, numbers_for_references, odd_buses, unknown_names
from bhtool.text import did_you_mean

signal.signal(signal.SIGINT, signal.default_int_handler)  # importing dtschema takes Ctrl-C away: sys.exit(-2), wherever it comes
OURS = "schemas/bulkhead,"
UNKNOWN, FORM, UNSUPPORTED, REFERENCE = "BH-R002", "BH-R003", "BH-R004", "BH-R006"

ADD_IT = "add it; docs/configuration.md shows its form"

# Designed, announced, and not in this version. Of VCPUs it is check_vcpus.py that knows: other rules judge them all the same.
LATER_PROPERTIES = {
    "cache-colors": "page colouring (`cache-colors`)",
}


def judge_form(root: Node) -> list[Diagnostic]:
    """Everything wrong with the form of the tree, in the order of the file."""
    found, known = _unsupported(root)
    wrong = [(path, one) for path, one in _badly_written(root) if path not in known]
    known |= {path for path, _ in wrong}
    found += [one for _, one in wrong]
    found += [one for path, one in _by_schema(root) if known.isdisjoint((path, path.partition(":")[0]))]
    return sorted(dict.fromkeys(found), key=lambda one: (one.file, one.line, one.rule))


def _unsupported(root: Node) -> tuple[list[Diagnostic], set[str]]:
    """Findings, and the paths (node or node:property) they settle."""
    found: list[Diagnostic] = []
    known: set[str] = set()

    def note(path: str, where: Any, text: str) -> None:
        found.append(diagnose(UNSUPPORTED, where, text))
        known.add(path)

    for domains in (node for node in root.children.values() if PARTITIONS in node.compatible):
        for node in domains.children.values():
            if later := later_object(node):
                note(node.path, node.location, f"{later} (`{node.name}`)")
            for name, what in _later_properties(node).items():
                if name in node.properties:
                    note(f"{node.path}:{name}", node.where(name), what)
            if SANDBOX not in node.compatible:
                continue
            if len(node.properties["memory-region"].cells if "memory-region" in node.properties else []) > 1:
                note(f"{node.path}:memory-region", node.where("memory-region"), f"several memory regions for one sandbox (`{node.name}`)")
    return found, known


def _later_properties(node: Node) -> dict[str, str]:
    return LATER_PROPERTIES if SANDBOX in node.compatible else {}


def _badly_written(root: Node) -> Iterator[tuple[str, Diagnostic]]:
    """The same as _by_schema, of what it cannot see or lets pass."""
    unknown = {f"{node.path}:{name}": _unknown(node, name) for node, name in unknown_names(root)}
    unknown |= {child.path: _unknown(child.parent, child.name) for child in unknown_children(root) if child.parent}
    yield from unknown.items()
    yield from ((path, diagnose(FORM, one.location, one.text)) for path, one in badly_written(root) if path not in unknown)
    yield from ((path, diagnose(REFERENCE, one.location, one.text)) for path, one in numbers_for_references(root))
    yield from ((path, diagnose(FORM, one.location, one.text)) for path, one in odd_buses(root))
    yield from ((path, diagnose(UNKNOWN, one.location, one.text)) for path, one in unknown_nodes(root))


def load_schemas() -> None:
    """Once in a process: for whoever forks, to have it done before."""
    _validator()


@functools.cache
def _validator() -> Any:
    validator = dtschema.DTValidator([str(_processed())])
    validator.decode_errors = None
    return validator


def _processed() -> Path:
    """dt-schema's bindings and ours as its dt-mk-schema would store them: that takes half a second, so it is done once for each text of ours."""
    texts = [dtschema.__version__, *(path.read_text(encoding="utf-8") for path in sorted(BINDINGS.rglob("*.yaml")))]
    file = paths.BUILD / "bindings" / f"{hashlib.sha256(''.join(texts).encode()).hexdigest()}.json"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(dtschema.DTValidator([str(BINDINGS)]).schemas), encoding="utf-8")
        part.replace(file)
    return file


class _Value(bytes):
    """A property as dt-schema's decoder takes it: bytes with a name."""

    name: str

    def __new__(cls, one: Property) -> _Value:
        is_text = one.written.startswith('"')  # in which no ASCII is said before, and would break the decoder
        value = super().__new__(cls, bytes(min(byte, 0x7F) for byte in one.data) if is_text else one.data)
        value.name = one.name
        return value


def _instance(node: Node) -> dict[str, Any]:
    """The subtree in dt-schema's form. Only ours is decoded: dt-schema's own whole-tree decoder can hang on a wrong board."""
    tree: dict[str, Any] = {"$nodename": [node.name]}
    for one in node.properties.values():
        tree[one.name] = [list(pair) for pair in node.reg()] if one.name == "reg" else prop_value(_validator(), node.name, _Value(one))
    for child in node.children.values():
        tree[child.name] = {name: value for name, value in _instance(child).items() if name != "$nodename"}
    return tree


def _by_schema(root: Node) -> Iterator[tuple[str, Diagnostic]]:
    """(path it is about, finding) for every error against one of our own bindings."""
    for top in root.children.values():
        if top.name not in ("bulkhead", "domains", "reserved-memory"):
            continue
        for node in [top, *(child for kind in OBJECTS for child in objects(top, kind))]:
            try:
                with contextlib.redirect_stderr(io.StringIO()):  # the decoder prints what the errors say again
                    instance = _instance(node)
                errors = list(_validator().iter_errors(instance, filter=[OURS]))
            except ValueError:  # the decoder's own words are about its types
                yield node.path, diagnose(FORM, node.location, f"`{node.name}` has a property of a size its form cannot have")
                continue
            for error in errors:
                yield from _findings(node, error)


def _findings(node: Node, error: Any) -> Iterator[tuple[str, Diagnostic]]:
    """One dt-schema error as findings with the place of the property or child they are about."""
    names = [name for name in error.absolute_path if isinstance(name, str) and name != "$nodename"]
    for name in list(names):
        if name in node.children:
            node, names = node.children[name], names[1:]
    if error.validator == "additionalProperties" and isinstance(error.schema.get("additionalProperties"), bool):
        known = error.schema.get("properties", {})
        for name in [*node.properties, *node.children]:
            if name not in known and name not in ("phandle", "$nodename") and not name.startswith("#"):
                yield f"{node.path}:{name}", _unknown(node, name)
    elif names and names[0] not in node.properties:
        yield node.path, _of_node(node, error)
    elif names and error.validator == "type" and error.schema.get("type") == "object":
        yield f"{node.path}:{names[0]}", _unknown(node, names[0])
    elif names:
        yield (
            f"{node.path}:{names[0]}",
            diagnose(FORM, node.where(names[0]), f"`{names[0]}` of `{node.name}` {property_text(names[0], error)}"),
        )
    else:
        yield node.path, _of_node(node, error)


def _of_node(node: Node, error: Any) -> Diagnostic:
    return diagnose(FORM, node.location, f"`{node.name}` {node_text(error)}", ADD_IT if MISSING.match(str(error.message)) else "")


def _unknown(node: Node, name: str) -> Diagnostic:
    hint = _elsewhere(name) or did_you_mean(name, known_names(node))
    if name in node.children:
        return diagnose(UNKNOWN, node.children[name].location, f"`{node.name}` has an unknown child `{name}`{hint}")
    if name == "status":
        text = f"`status` of `{node.name}` has no effect; a node that is not wanted is deleted (`/delete-node/`)"
        return diagnose(UNKNOWN, node.where(name), text)
    return diagnose(UNKNOWN, node.where(name), f"`{node.name}` has an unknown property `{name}`{hint}")


def _elsewhere(name: str) -> str:
    """Where a name belongs that is right in another kind of node."""
    return next((f" (it belongs in {kind})" for kind, names in names_by_kind().items() if name in names), "")
