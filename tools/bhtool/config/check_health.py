# SPDX-License-Identifier: Apache-2.0
"""Rules on what becomes of a sandbox that faults or falls silent."""

from __future__ import annotations

from collections.abc import Iterator

from bhtool.abi import lib
from bhtool.config.domains import Domains, Sandbox
from bhtool.config.rule import Finding
from bhtool.config.tree import Node

TIMEOUT, RESTARTS, NOTIFY = "heartbeat-timeout-us", "max-restarts", "notify"
SHORTEST_US, LONGEST_US = 100, 10_000_000


def _with_health(domains: Domains) -> Iterator[tuple[Sandbox, Node]]:
    for sandbox in domains.sandboxes:
        if sandbox.health:
            yield sandbox, sandbox.health


def has_a_watcher(domains: Domains) -> Iterator[Finding]:
    """A monitor looks at the heartbeat of its sandbox when it is kicked, and at no other time."""
    for sandbox, health in _with_health(domains):
        kicked = any(sandbox.node in other.kick_nodes for other in domains.sandboxes)
        if TIMEOUT in health.properties and not kicked:
            yield Finding(health.where(TIMEOUT), f"nobody may kick `{sandbox.name}`, whose heartbeat is to be watched")


def says_how_often(domains: Domains) -> Iterator[Finding]:
    for sandbox, health in _with_health(domains):
        if sandbox.restarts and not 1 <= health.number(RESTARTS, 0) <= lib.BH_MAX_RESTARTS:
            value = f"is {health.number(RESTARTS, 0):,}" if RESTARTS in health.properties else "is missing"
            yield Finding(health.where(RESTARTS), f"`{RESTARTS}` of `{sandbox.name}` {value}; it is 1 to {lib.BH_MAX_RESTARTS:,}")


def has_a_heartbeat(domains: Domains) -> Iterator[Finding]:
    for sandbox, health in _with_health(domains):
        if TIMEOUT in health.properties and sandbox.is_linux:
            yield Finding(health.where(TIMEOUT), f"`{sandbox.name}` runs Linux, which has no heartbeat")


def timeout_in_range(domains: Domains) -> Iterator[Finding]:
    for sandbox, health in _with_health(domains):
        if TIMEOUT in health.properties and not SHORTEST_US <= health.number(TIMEOUT, 0) <= LONGEST_US:
            yield Finding(health.where(TIMEOUT), f"the heartbeat of `{sandbox.name}` may be late by {health.number(TIMEOUT, 0)} us")


def tells_of_restarts(domains: Domains) -> Iterator[Finding]:
    for sandbox, health in _with_health(domains):
        for name in (RESTARTS, "then"):
            if name in health.properties and not sandbox.restarts:
                yield Finding(health.where(name), f"`{sandbox.name}` never restarts, and has `{name}`")


def notifies_another(domains: Domains) -> Iterator[Finding]:
    for sandbox, health in _with_health(domains):
        for index, node in enumerate(sandbox.notify_nodes):
            if node in sandbox.notify_nodes[:index]:
                yield Finding(health.where(NOTIFY), f"`{sandbox.name}` tells `{node.label}` twice of its end")
            elif domains.sandbox_at(node) in (None, sandbox):
                yield Finding(health.where(NOTIFY), f"`{sandbox.name}` tells itself or no sandbox of its end")


def _told(domains: Domains) -> Iterator[tuple[Sandbox, Node, Sandbox]]:
    """Sandbox, its health, and whom it tells."""
    for sandbox, health in _with_health(domains):
        for told in map(domains.sandbox_at, sandbox.notify_nodes):
            if told and told is not sandbox:
                yield sandbox, health, told


def notice_is_accepted(domains: Domains) -> Iterator[Finding]:
    for sandbox, health, told in _told(domains):
        if sandbox.node not in told.accept_nodes:
            yield Finding(health.where(NOTIFY), f"`{told.name}` does not accept that `{sandbox.name}` tells it of its end")


def notice_is_understood(domains: Domains) -> Iterator[Finding]:
    for sandbox, health, told in _told(domains):
        if told.is_linux:
            yield Finding(health.where(NOTIFY), f"`{told.name}`, which runs Linux, is to be told of the end of `{sandbox.name}`")
