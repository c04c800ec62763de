# SPDX-License-Identifier: Apache-2.0
"""NUMA nodes, as the board tree has them: `numa-node-id` of its cores and its memory. Devicetree binding "NUMA binding description" (numa.txt).

A node's name is the label of its memory. Nothing is granted by node in this version: a sandbox's RAM and its monitor's pool are placed in the
node of its cores where there is room, `check` shows the nodes of both, and says where they differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bhtool.config.domains import Domains, Sandbox
from bhtool.config.machine import Core, Machine, described_ram
from bhtool.config.plan import SandboxPlan
from bhtool.config.rule import Finding
from bhtool.config.span import Span
from bhtool.config.tree import Node

ID = "numa-node-id"


def near(domains: Domains, sandbox: Sandbox) -> tuple[Span, ...]:
    """RAM of the one node that has all of the sandbox's cores; empty: they have several, or the board names none."""
    nodes = {_id(core.node) for core in sandbox.cores}
    return tuple(span for span, node in described_ram(domains.machine.root) if nodes == {_id(node)} and _id(node) is not None)


def nodes_of_cores(machine: Machine, cores: Sequence[Core]) -> list[str]:
    """Names of the nodes that have these cores, each once."""
    ids = [_id(core.node) for core in cores]
    return [_name(machine, one) for one in dict.fromkeys(ids) if one is not None]


def nodes_of_ram(machine: Machine, spans: Sequence[Span]) -> list[str]:
    ids = [_id(node) for held, node in described_ram(machine.root) if any(held.overlaps(span) for span in spans)]
    return [_name(machine, one) for one in dict.fromkeys(ids) if one is not None]


def judge_crossings(domains: Domains, plans: Sequence[SandboxPlan]) -> Iterator[Finding]:
    """Sandboxes whose cores reach RAM over the way between nodes."""
    for sandbox, one in zip(domains.sandboxes, plans, strict=True):
        if len({*one.numa_of_cores, *one.numa_of_ram}) > 1:
            text = f"`{one.name}` has cores of {_listed(one.numa_of_cores)} and RAM of {_listed(one.numa_of_ram)}"
            yield Finding(sandbox.where("cores"), text)


def half_described(machine: Machine) -> Iterator[Finding]:
    """Either everything has a node, or nothing."""
    nodes = [*(core.node for core in machine.cores), *(node for _, node in described_ram(machine.root))]
    having = [node for node in nodes if _id(node) is not None]
    if having and len(having) < len(nodes):
        lacking = next(node for node in nodes if _id(node) is None)
        yield Finding(having[0].where(ID), f"`{having[0].label}` has a `{ID}`, and `{lacking.label}` has none")


def _id(node: Node) -> int | None:
    return node.number(ID, 0) if ID in node.properties else None


def _name(machine: Machine, number: int) -> str:
    return next((node.label for _, node in described_ram(machine.root) if _id(node) == number and node.label), f"node {number}")


def _listed(names: Sequence[str]) -> str:
    return " and ".join(f"`{one}`" for one in names)
