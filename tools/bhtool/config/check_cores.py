# SPDX-License-Identifier: Apache-2.0
"""Rules on cores."""

from __future__ import annotations

from collections.abc import Iterator

from bhtool.abi import lib
from bhtool.config.domains import Domains
from bhtool.config.plan import Location
from bhtool.config.rule import Finding


def _claims(domains: Domains) -> Iterator[tuple[str, Location, str, int]]:
    """Every claim to a core: who, where, the core's name and number."""
    for sandbox in domains.sandboxes:
        for core in sandbox.cores:
            yield f"`{sandbox.name}`", sandbox.where("cores"), core.name, core.number
    for core in domains.idle:
        yield "`idle-cores`", domains.node.where("idle-cores"), core.name, core.number


def names_a_core(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        for node in sandbox.core_nodes:
            if not domains.machine.core_at(node):
                yield Finding(sandbox.where("cores"), f"`{node.label}` is not a core of this board")
    for node in domains.idle_nodes:
        if not domains.machine.core_at(node):
            yield Finding(domains.node.where("idle-cores"), f"`{node.label}` is not a core of this board")


def owned_once(domains: Domains) -> Iterator[Finding]:
    first: dict[int, tuple[str, Location]] = {}
    for who, where, name, number in _claims(domains):
        if number in first:
            owner, at = first[number]
            yield Finding(where, f"{who} lists {name}, which {owner} lists already ({at})")
        else:
            first[number] = (who, where)


def siblings_together(domains: Domains) -> Iterator[Finding]:
    owners = {core.number: sandbox for sandbox in domains.sandboxes for core in sandbox.cores}
    names = {core.number: core.name for core in domains.machine.cores}
    for group in domains.machine.siblings:
        held = sorted(number for number in group if number in owners)
        for number in held:
            if owners[number] is not owners[held[0]]:
                first, other = owners[held[0]], owners[number]
                text = f"{names[number]} of `{other.name}` and {names[held[0]]} of `{first.name}` are threads of one physical core"
                yield Finding(other.where("cores"), text)


def has_cores(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        if not sandbox.cores and not sandbox.core_nodes:
            yield Finding(sandbox.location, f"`{sandbox.name}` has no core, and {_free(domains)}")


def _free(domains: Domains) -> str:
    claimed = {number for _, _, _, number in _claims(domains)}
    free = [core.name for core in domains.machine.cores if core.number not in claimed]
    return f"nobody has {', '.join(free)}" if free else "every core is taken"


def not_too_many(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        if len(sandbox.cores) > lib.BH_MAX_SANDBOX_CORES:
            names = ", ".join(core.name for core in sandbox.cores)
            yield Finding(sandbox.where("cores"), f"`{sandbox.name}` has {len(sandbox.cores)} cores ({names})")


def all_owned(domains: Domains) -> Iterator[Finding]:
    claimed = {number for _, _, _, number in _claims(domains)}
    for core in domains.machine.cores:
        if core.number not in claimed:
            yield Finding(domains.node.location, f"{core.name} belongs to nobody and stays off")
