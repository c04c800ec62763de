# SPDX-License-Identifier: Apache-2.0
"""Rules on memory, before anything is placed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from bhtool.config.domains import Domains, Memory, Sandbox
from bhtool.config.rule import Finding
from bhtool.config.span import MIB2, Span
from bhtool.text import size_text

LINUX_LEAST = 64 << 20


def _used(domains: Domains) -> Iterator[tuple[Sandbox, Memory]]:
    for sandbox in domains.sandboxes:
        memory = domains.memory_of(sandbox)
        if memory:
            yield sandbox, memory


def _pinned(domains: Domains) -> list[tuple[Memory, Span]]:
    return [(memory, span) for memory in domains.memories if (span := memory.span)]


def is_reserved_memory(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        for node in sandbox.memory_nodes:
            if not domains.memory_at(node):
                yield Finding(sandbox.where("memory-region"), f"`{node.label}` is not a child of `reserved-memory`")


def given_once(domains: Domains) -> Iterator[Finding]:
    first: dict[str, Sandbox] = {}
    for sandbox, memory in _used(domains):
        if memory.name in first:
            text = f"`{sandbox.name}` takes {memory.name}, which `{first[memory.name].name}` has already"
            yield Finding(sandbox.where("memory-region"), text)
        first.setdefault(memory.name, sandbox)


def has_memory(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        if not sandbox.memory_nodes and not sandbox.takes_the_rest:
            yield Finding(sandbox.location, f"`{sandbox.name}` has no memory")


def aligned(domains: Domains) -> Iterator[Finding]:
    for memory in domains.memories:
        if memory.size % MIB2 or not memory.size:
            yield Finding(
                memory.location, f"the size of `{memory.name}`, {memory.size:#x} ({size_text(memory.size)}), is not a multiple of 2 MiB"
            )
        if memory.start is not None and memory.start % MIB2:
            yield Finding(memory.location, f"the address of `{memory.name}`, {memory.start:#x}, is not a multiple of 2 MiB")


def inside_ram(domains: Domains) -> Iterator[Finding]:
    ram = domains.machine.ram
    for memory, span in _pinned(domains):
        if not any(one.holds(span) for one in ram):
            yield Finding(memory.location, f"`{memory.name}`, {span}, is not inside the machine's RAM, {', '.join(map(str, ram))}")


def clear_of_monitor(domains: Domains) -> Iterator[Finding]:
    for memory, span in _pinned(domains):
        for reserved in domains.machine.reserved:
            if span.overlaps(reserved):
                text = f"`{memory.name}`, {span}, overlaps {reserved}, which firmware and the monitor image occupy"
                yield Finding(memory.location, text)


def apart(domains: Domains) -> Iterator[Finding]:
    for (first, first_span), (second, span) in combinations(_pinned(domains), 2):
        if first_span.overlaps(span):
            text = f"`{second.name}`, {span}, overlaps `{first.name}`, {first_span} ({first.location})"
            yield Finding(second.location, text)


def large_enough(domains: Domains) -> Iterator[Finding]:
    for sandbox, memory in _used(domains):
        if sandbox.is_linux and memory.size < LINUX_LEAST:
            yield Finding(memory.location, f"`{sandbox.name}` runs Linux in {size_text(memory.size)}")


def below_window(domains: Domains) -> Iterator[Finding]:
    machine = domains.machine
    for sandbox, memory in _used(domains):
        seen = Span(machine.guest_ram, memory.size)
        if machine.guest_ram < machine.window < seen.end:
            yield Finding(memory.location, f"`{sandbox.name}` would see its RAM at {seen}, over its window at {machine.window:#x}")


def clear_of_devices(domains: Domains) -> Iterator[Finding]:
    """Devices keep their machine addresses in a sandbox, RAM does not."""
    for sandbox, memory in _used(domains):
        seen = Span(domains.machine.guest_ram, memory.size)
        for device in sandbox.devices:
            for registers in device.registers:
                if registers.pages().overlaps(seen):
                    text = f"`{sandbox.name}` would see {device.name}, {registers}, in the middle of its RAM, {seen}"
                    yield Finding(memory.location, text)


def all_used(domains: Domains) -> Iterator[Finding]:
    used = {memory.name for _, memory in _used(domains)}
    for memory in domains.memories:
        if memory.name not in used:
            yield Finding(memory.node.location, f"no sandbox uses `{memory.name}`")
