# SPDX-License-Identifier: Apache-2.0
"""Tells sandbox kernels to trace, by their boot arguments, and reads what they left."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from bhtool import abi
from bhtool.config.plan import Plan, SandboxPlan
from bhtool.debugger.breaks import is_elf
from bhtool.debugger.memory import are_memory, pieces
from bhtool.errors import BulkheadError, Status
from bhtool.image.names import Resolver
from bhtool.machine.memory import Memory
from bhtool.platforms import Platform
from bhtool.symbols import read_symbols
from bhtool.trace.rings import SYMBOL, Read, Trace, read_trace


def traced_at(platform: Platform, plan: Plan) -> dict[str, int]:
    """Where each sandbox has its `trace_state`. Only sandbox kernels do; others are left out."""
    resolve = Resolver(platform, plan.file, lambda _: None)
    found: dict[str, int] = {}
    for sandbox in plan.sandboxes:
        image = resolve(sandbox.image) if sandbox.os == "native" else Path()
        if image.is_file() and is_elf(image) and (at := read_symbols(image).get(SYMBOL)):
            found[sandbox.name] = at
    return found


def arguments_of(sandbox: SandboxPlan, ring_bytes: int) -> str:
    """With a word in front that switches tracing on, unless the partition file has one."""
    words = sandbox.bootargs.split()
    if any(word.partition("=")[0] == "trace" for word in words):
        return sandbox.bootargs
    told = " ".join((f"trace={ring_bytes}", *words))
    if len(told.encode()) >= abi.sizeof_field("bh_info", "arguments"):
        raise BulkheadError(f"{sandbox.name}'s `bootargs` have no room for `trace={ring_bytes}` in front", Status.USAGE)
    return told


def with_tracing(plan: Plan, names: Collection[str], ring_bytes: int) -> Plan:
    """As if the partition file told these to trace: arguments stand in information pages and move nothing."""
    sandboxes = [replace(one, bootargs=arguments_of(one, ring_bytes)) if one.name in names else one for one in plan.sandboxes]
    pages = {one.pool_hpa + int(abi.lib.BH_POOL_INFO): one.bootargs for one in sandboxes if one.name in names}
    segments = [replace(one, data=_told(one.data, pages[one.hpa])) if one.hpa in pages else one for one in plan.segments]
    return replace(plan, sandboxes=sandboxes, segments=segments)


def _told(page: bytes, arguments: str) -> bytes:
    copy = abi.new("bh_info")
    abi.ffi.memmove(copy, page, len(page))
    abi.ffi.memmove(copy.arguments, bytes(abi.sizeof_field("bh_info", "arguments")), abi.sizeof_field("bh_info", "arguments"))
    abi.put_text(copy.arguments, arguments)
    return abi.bytes_of(copy)


def traces_of(memory: Memory, plan: Plan, at: dict[str, int]) -> list[Trace]:
    """Of those that have traced. Requires: the machine stands."""
    found = [
        read_trace(reader(memory, sandbox), at[sandbox.name], sandbox.name, sandbox.index, sandbox.cores)
        for sandbox in plan.sandboxes
        if sandbox.name in at
    ]
    return [one for one in found if one]


def reader(memory: Memory, sandbox: SandboxPlan) -> Read:
    """Of its RAM, and of its information page: names of VCPUs stand there."""

    def read(gpa: int, size: int) -> bytes | None:
        where = pieces(sandbox, gpa, size)
        return b"".join(memory.read(piece.hpa, piece.size) for piece in where) if where and are_memory(where) else None

    return read
