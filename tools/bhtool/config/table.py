# SPDX-License-Identifier: Apache-2.0
"""Writes the binary structures of abi/: the partition table for the monitor, the info page for a sandbox."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

from bhtool.abi import bytes_of, ffi, lib, new, put_text, sizeof
from bhtool.config.channels import KIND_NUMBERS
from bhtool.config.grants import Grant
from bhtool.config.machine import Core, Costs
from bhtool.config.plan import ChannelPlan, Function, Plan, Ports, Region, SandboxPlan

FNV_OFFSET, FNV_PRIME, MASK64 = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1

_KINDS = {
    "ram": lib.BH_REGION_RAM,
    "device": lib.BH_REGION_DEVICE,
    "pool": lib.BH_REGION_POOL,
    "banked": lib.BH_REGION_BANKED,
    "bar": lib.BH_REGION_BAR,
    "faults": lib.BH_REGION_FAULTS,
    "open": lib.BH_REGION_OPEN,
    "dma": lib.BH_REGION_DMA,
    "channel": lib.BH_REGION_CHANNEL,
}
PROTECTIONS = {
    "memory": lib.BH_PROTECT_MEMORY,
    "io": lib.BH_PROTECT_IO,
    "msr": lib.BH_PROTECT_MSR,
    "ipi": lib.BH_PROTECT_IPI,
    "irq": lib.BH_PROTECT_IRQ,
    "abort": lib.BH_PROTECT_ABORT,
    "dma": lib.BH_PROTECT_DMA,
}
_DMA = {
    "unknown": lib.BH_DMA_UNKNOWN,
    "free": lib.BH_DMA_FREE,
    "translated": lib.BH_DMA_TRANSLATED,
    "unprotected": lib.BH_DMA_UNPROTECTED,
}
_PERMISSIONS = {"r": lib.BH_PERM_READ, "w": lib.BH_PERM_WRITE, "x": lib.BH_PERM_EXECUTE}


def checksum_words(data: bytes) -> int:
    """FNV-1a over 64-bit words."""
    value = FNV_OFFSET
    for (word,) in struct.iter_unpack("<Q", data):
        value = (value ^ word) * FNV_PRIME & MASK64
    return value


def checksum(table: bytes) -> int:
    """The table's own: the checksum field itself counts as 0."""
    field = ffi.offsetof("struct bh_table", "checksum")
    return checksum_words(table[:field] + bytes(8) + table[field + 8 :])


def make_table(plan: Plan, cores: list[Core]) -> bytes:
    """The table for the plan; every count has been checked against its maximum."""
    table = new("bh_table")
    table.magic, table.version, table.size = lib.BH_TABLE_MAGIC, lib.BH_TABLE_VERSION, sizeof("bh_table")
    put_text(table.platform, plan.platform)
    put_text(table.partition, plan.file.name.encode("ascii", "replace").decode()[: lib.BH_NAME_BYTES - 1])
    table.shared = plan.shared_hpa
    table.iommu, table.iommu_tables = plan.iommu, plan.iommu_hpa
    table.core_count = len(cores)
    for core in cores:
        table.hardware_id[core.number] = core.hardware_id
    table.sandbox_count = _each(table.sandboxes, _put_sandbox, [(one,) for one in plan.sandboxes])
    table.region_count = _each(table.regions, _put_region, [(one.index, region) for one in plan.sandboxes for region in one.all_regions])
    table.port_count = _each(table.ports, _put_ports, [(one.index, ports) for one in plan.sandboxes for ports in one.ports])
    table.line_count = _each(table.lines, _put_line, [(one.index, line) for one in plan.sandboxes for line in one.lines])
    table.piece_count = _each(table.pieces, _put_piece, [row for one in plan.sandboxes for row in _pieces(one)])
    table.pci_function_count = _each(
        table.pci_functions, _put_function, [(one.index, each) for one in plan.sandboxes for each in one.functions]
    )
    table.channel_count = _each(table.channels, _put_channel, [(one,) for one in plan.channels])
    table.checksum = checksum(bytes_of(table))
    return bytes_of(table)


def make_info(plan: SandboxPlan, grants: list[Grant], costs: Costs) -> bytes:
    """The sandbox's struct bh_info; clock_hz is the monitor's to fill."""
    info = new("bh_info")
    info.magic, info.version = lib.BH_INFO_MAGIC, lib.BH_INFO_VERSION
    info.sandbox, info.core_count = plan.index, len(plan.cores)
    for slot, (core, hardware_id) in enumerate(zip(plan.cores, plan.hardware_ids, strict=True)):
        info.cores[slot], info.hardware_id[slot] = core, hardware_id
    put_text(info.name, plan.name)
    if plan.os == "native":
        put_text(info.arguments, plan.bootargs)
    info.switch_ns, info.top_half_ns = costs.told_switch, costs.told_top_half
    info.grant_count = _each(info.grants, _put_grant, [(grant,) for grant in grants])
    return bytes_of(info)


def _each(rows: Any, put: Any, values: Iterable[tuple[Any, ...]]) -> int:
    """Fills rows in order; how many."""
    count = 0
    for row, value in zip(rows, values, strict=False):
        put(row, *value)
        count += 1
    return count


def _put_sandbox(row: Any, plan: SandboxPlan) -> None:
    put_text(row.name, plan.name)
    row.flags = (lib.BH_SANDBOX_TRUSTED_IDLE if plan.trusted_idle else 0) | (lib.BH_SANDBOX_LINUX if plan.os == "linux" else 0)
    row.core_count = len(plan.cores)
    for slot, core in enumerate(plan.cores):
        row.cores[slot] = core
    row.unprotected = sum(PROTECTIONS[one] for one in set(plan.unprotected))
    row.may_kick = sum(1 << other for other in set(plan.may_kick))
    row.notifies = sum(1 << other for other in set(plan.notifies))
    row.accepts = sum(1 << other for other in set(plan.accepts_notify))
    row.pool, row.pool_bytes = plan.pool_hpa, plan.pool_size
    row.entry, row.arg, row.stack = plan.entry, plan.arg, plan.stack
    row.entry_area, row.clock_text = plan.entry_area, plan.clock_text
    row.on_fault = lib.BH_ON_FAULT_RESTART if plan.restarts else lib.BH_ON_FAULT_PARK
    row.max_restarts, row.heartbeat_timeout_us = plan.max_restarts, plan.heartbeat_timeout_us
    row.snapshot, row.snapshot_bytes = plan.snapshot_hpa, plan.snapshot_size


def _pieces(plan: SandboxPlan) -> Iterator[tuple[int, int, int, int]]:
    """One after the other in the boot snapshot."""
    offset = 0
    for target, size in plan.pieces:
        yield plan.index, offset, target, size
        offset += size


def _put_piece(row: Any, sandbox: int, offset: int, target: int, size: int) -> None:
    row.sandbox, row.offset, row.target, row.size = sandbox, offset, target, size


def _put_region(row: Any, sandbox: int, region: Region) -> None:
    row.gpa, row.hpa, row.size, row.sandbox = region.gpa, region.hpa, region.size, sandbox
    row.permissions = sum(_PERMISSIONS[one] for one in region.permissions)
    row.memory_type = lib.BH_MEMORY_DEVICE if region.registers else lib.BH_MEMORY_RAM
    row.kind = _KINDS[region.kind]
    row.dma = _dma(region)


def _dma(device: Region | Ports | Function) -> int:
    """BH-I1.dma: start-up refuses devices that were granted without being judged."""
    return int(_DMA[device.dma])


def _put_ports(row: Any, sandbox: int, ports: Ports) -> None:
    row.sandbox, row.first, row.count, row.dma = sandbox, ports.first, ports.count, _dma(ports)


def _put_line(row: Any, sandbox: int, line: Any) -> None:
    row.sandbox, row.line, row.core, row.vector = sandbox, line.line, line.core, line.vector
    flags = {
        lib.BH_LINE_LEVEL: line.level,
        lib.BH_LINE_ACTIVE_LOW: line.active_low,
        lib.BH_LINE_MASKED: line.masked,
        lib.BH_LINE_RUNG: line.rung,
    }
    row.flags = sum(flag for flag, is_set in flags.items() if is_set)


def _put_function(row: Any, sandbox: int, function: Function) -> None:
    row.sandbox, row.id, row.identity, row.dma = sandbox, function.id, function.identity, _dma(function)
    row.table, row.messages = function.table, function.messages
    row.line = function.line
    for n, (value, mask) in enumerate(function.words):
        row.bar[n], row.bar_mask[n] = value, mask


def _put_channel(row: Any, channel: ChannelPlan) -> None:
    put_text(row.name, channel.name)
    row.hpa, row.kind, row.slots, row.slot_bytes = channel.hpa, KIND_NUMBERS[channel.kind], channel.slots, channel.slot_bytes
    row.flags = lib.BH_CHANNEL_ON_REQUEST if channel.on_request else 0
    for end in (0, 1):
        row.area_bytes[end], row.sandbox[end] = channel.area_bytes[end], channel.ends[end]
        row.gap_us[end], row.rung_line[end] = channel.gap_us[end], channel.rung_line[end]


def _flags(grant: Grant) -> int:
    shift, width = grant.layout
    return (
        int(grant.level)
        | shift << int(lib.BH_GRANT_REG_SHIFT)
        | width << int(lib.BH_GRANT_REG_WIDTH)
        | grant.function << 16
        | grant.own_flags
    )


def _put_grant(row: Any, grant: Grant) -> None:
    row.kind, row.line, row.vector, row.flags = grant.kind, grant.line, grant.vector, _flags(grant)
    row.gpa, row.size = grant.gpa, grant.size
    put_text(row.name, grant.name)
    put_text(row.compatible, grant.compatible[: lib.BH_NAME_BYTES - 1])
