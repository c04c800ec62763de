# SPDX-License-Identifier: Apache-2.0
"""What a partition costs in memory: what no sandbox has, for each of them and once for the machine."""

from bhtool.abi import lib
from bhtool.config.explain import CHANNEL, FIRMWARE, IMAGE, IOMMU_TABLES, KICK_MAILBOXES, MONITOR
from bhtool.config.plan import Plan, SandboxPlan

UNUSED = "unused RAM"


def memory_of(one: SandboxPlan) -> dict[str, int]:
    """Bytes that are not its RAM. The monitor's hold tables of its stage 2, what each core takes, and the log."""
    snapshot = one.snapshot_size if one.restarts else 0
    return {
        "ram_bytes": one.ram_size,
        "monitor_bytes": one.pool_size,
        "table_bytes": one.ram_table_bytes + one.other_table_bytes + one.iommu_table_bytes,
        "core_bytes": one.core_bytes,
        "log_bytes": lib.BH_LOG_BYTES,
        "snapshot_bytes": snapshot,
        "given_up_bytes": one.pool_size + snapshot,
    }


def machine_memory(plan: Plan) -> list[tuple[str, int]]:
    """Once for the machine: what no sandbox has, in the words of the allocation, in bytes; and what nobody has."""
    sizes: dict[str, int] = {}
    for held in plan.holdings:
        if held.owner == MONITOR and (held.what in (IMAGE, FIRMWARE, KICK_MAILBOXES, IOMMU_TABLES) or held.what.startswith(CHANNEL)):
            sizes[held.what] = sizes.get(held.what, 0) + held.size
    return [*sizes.items(), (UNUSED, unused_memory(plan))]


def unused_memory(plan: Plan) -> int:
    """Bytes of RAM that nobody has: what no sandbox takes, and what is left beside the monitors, as sandboxes get whole 2 MiB."""
    taken = [
        held.size for held in plan.holdings if held.kind == "memory" and any(0 <= held.start - start < size for start, size in plan.ram)
    ]
    return sum(size for _, size in plan.ram) - sum(taken)
