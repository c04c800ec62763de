# SPDX-License-Identifier: Apache-2.0
"""Nodes of a partition file that nobody would heed: a name or a `compatible` that is almost one of ours."""

from __future__ import annotations

from collections.abc import Iterator

from bhtool.config.domains import OBJECTS, PARTITIONS, SANDBOX, later_object
from bhtool.config.plan import Diagnostic
from bhtool.config.rule import Finding
from bhtool.config.rules import diagnose
from bhtool.config.tree import Node
from bhtool.config.vcpus import HEALTH, is_vcpu
from bhtool.text import close_to, did_you_mean

NO_DOMAINS = "BH-R005"
DOMAINS, RESERVED, MACHINE = "domains", "reserved-memory", "bulkhead"
NEARLY = 0.84  # difflib's ratio; `reserved_memory`, `domain`, but no node of a board


def unknown_nodes(root: Node) -> Iterator[tuple[str, Finding]]:
    """(path of the node, finding). Boards have nodes of their own at the root, so there only what is almost ours is taken for a mistake."""
    for node in root.children.values():
        if node.name in (DOMAINS, RESERVED, MACHINE):
            continue
        meant = DOMAINS if PARTITIONS in node.compatible else close_to(node.name, (DOMAINS, RESERVED, MACHINE), NEARLY)
        if meant:
            yield node.path, Finding(node.location, f"there is a node `/{node.name}` (did you mean `/{meant}`?)")
    domains = root.children.get(DOMAINS)
    for node in domains.children.values() if domains and PARTITIONS in domains.compatible else ():
        if not _is_known(node):
            yield node.path, _unknown_child(node)


def _is_known(node: Node) -> bool:
    """Without `compatible` it is the binding that complains."""
    is_object = any(one in OBJECTS for one in node.compatible) or later_object(node)
    return bool(is_object) or "compatible" not in node.properties


def _unknown_child(node: Node) -> Finding:
    given = node.text("compatible")
    hint = did_you_mean(given, OBJECTS, quote='"')
    return Finding(node.where("compatible"), f'`{node.name}` in `/domains` has the unknown `compatible` "{given}"{hint}')


def unknown_children(root: Node) -> Iterator[Node]:
    """Of sandboxes, what is neither `health` nor a VCPU: those have names of their users' own."""
    for domains in (node for node in root.children.values() if PARTITIONS in node.compatible):
        for sandbox in (child for child in domains.children.values() if SANDBOX in child.compatible):
            yield from (child for child in sandbox.children.values() if child.name != HEALTH and not is_vcpu(child))


def no_domains(root: Node) -> Diagnostic:
    """Why no node splits the machine."""
    node = root.children.get(DOMAINS)
    if node is None:
        return diagnose(NO_DOMAINS, root.location, "no node splits this machine")
    if "compatible" not in node.properties:
        return diagnose(NO_DOMAINS, node.location, "`/domains` has no `compatible`")
    given = node.text("compatible")
    hint = did_you_mean(given, (PARTITIONS,), quote='"')
    return diagnose(NO_DOMAINS, node.where("compatible"), f'`/domains` has the unknown `compatible` "{given}"{hint}')
