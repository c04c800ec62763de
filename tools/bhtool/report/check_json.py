# SPDX-License-Identifier: Apache-2.0
"""What `check --json` writes. Each key is written out here: scripts rely on them (docs/versions.md)."""

from typing import Any

from bhtool.config.assumptions import relied_on
from bhtool.config.plan import ChannelPlan, CoreLoad, DmaFree, Holding, Plan, Platform, SandboxPlan, Translated, Unprotected
from bhtool.image.stages import diagnostic_json, warnings_json
from bhtool.report.given_up import machine_memory, memory_of


def holding_json(held: Holding) -> dict[str, Any]:
    """`owner`: "" nobody, "monitor", or a sandbox's name. Addresses and sizes in bytes; of a port, its number and how many."""
    return {
        "kind": held.kind,
        "start": held.start,
        "size": held.size,
        "what": held.what,
        "owner": held.owner,
        "file": held.location.file if held.location else None,
        "line": held.location.line if held.location else None,
    }


def restart_json(one: SandboxPlan) -> dict[str, Any] | None:
    if not one.restarts:
        return None
    return {
        "max_restarts": one.max_restarts,
        "zeroed_bytes": one.ram_size,
        "snapshot_bytes": one.snapshot_size,
        "instructions_at_most": one.restart_instructions,
    }


DMA = {DmaFree: "free", Translated: "translated", Unprotected: "unprotected"}


def device_json(known: DmaFree | Translated | Unprotected) -> dict[str, str]:
    """`dma`: "free" (it does none), "translated" (an IOMMU leads it to RAM of its sandbox alone) or "unprotected" (it reaches all memory)."""
    return {"dma": DMA[type(known)], "source": known.source, "reason": known.reason}


def reach_json(plan: Plan, one: SandboxPlan) -> list[dict[str, str]]:
    """`how`: "kick", "log" (reads it), "notice" (tells it by an interrupt that this one was parked) or "channel" (sends to it)."""
    return [{"sandbox": plan.sandboxes[other].name, "how": how} for other, how in one.reaches]


def sandbox_json(plan: Plan, one: SandboxPlan) -> dict[str, Any]:
    return {
        "name": one.name,
        "cpus": one.cores,
        "ram": [{"gpa": ram.gpa, "hpa": ram.hpa, "bytes": ram.size} for ram in one.ram],
        "numa": {"cpus": one.numa_of_cores, "ram": one.numa_of_ram},
        "rest": one.rest,
        "unprotected": one.unprotected,
        "devices": {name: device_json(known) for name, known in one.devices.items()},
        "withheld": one.withheld,
        "reaches": reach_json(plan, one),
        "memory": memory_of(one),
        "restart": restart_json(one),
    }


def assumptions_json(plan: Plan, platform: Platform) -> list[dict[str, str]]:
    """Of docs/not-isolated.md, those that it relies on; none of what is refused."""
    found = relied_on(plan, platform) if plan.valid else []
    return [{"id": one.id, "not_isolated": one.title, "verify": one.verify} for one in found]


def load_json(one: SandboxPlan, load: CoreLoad) -> dict[str, Any]:
    """Of one core, VCPUs by rank, the kernel's own included. Utilizations are parts of 1; `asked` counts for an I/O VCPU what the bound does.
    `admitted_by`: "bound", "response-time" or, by deadline, "demand"; `exact`: no response time is counted longer than it can be.
    """
    test = "demand" if load.scheduler == "edf" else "response-time"
    return {
        "sandbox": one.name,
        "cpu": load.core,
        "scheduler": load.scheduler,
        "admitted_by": "bound" if load.by_bound else test,
        "asked": load.asked,
        "bound": load.allowed,
        "exact": load.exact,
        "vcpus": [
            {
                "name": vcpu.name,
                "kind": vcpu.kind,
                "budget_us": vcpu.budget_us,
                "period_us": vcpu.period_us,
                "utilization": vcpu.utilization,
                "response_us": vcpu.response_us,
            }
            for vcpu in load.vcpus
        ],
    }


def channel_json(plan: Plan, one: ChannelPlan) -> dict[str, Any]:
    """`slots` are those of `from`; `bytes` and `hpa` of all of it, where the machine has it. `delay`: of a mailbox until its answer is read, of others
    until a message is; null: not told, or no bound, and `no_bound` says why; `terms` say what a bound is made of."""
    sender, receiver = (plan.sandboxes[end].name for end in one.ends)
    return {
        "name": one.name,
        "from": sender,
        "to": receiver,
        "kind": one.kind,
        "slot_bytes": one.slot_bytes,
        "slots": one.slots,
        "bytes": one.size,
        "hpa": one.hpa,
        "on_request": one.on_request,
        "delay": {
            "deadline_us": one.delay.deadline_us or None,
            "service_us": one.delay.service_us or None,
            "paper_ns": one.delay.paper_ns,
            "bound_ns": one.delay.bound_ns,
            "no_bound": list(one.delay.why),
            "terms": list(one.delay.terms),
        },
    }


def plan_json(plan: Plan, platform: Platform) -> dict[str, Any]:
    allocation = {
        "sandboxes": [sandbox_json(plan, one) for one in plan.sandboxes],
        "holdings": [holding_json(held) for held in plan.holdings],
        "machine_memory": [{"kind": kind, "bytes": size} for kind, size in machine_memory(plan)],
    }
    return {
        "platform": plan.platform,
        "valid": plan.valid,
        "errors": [diagnostic_json(error) for error in plan.errors],
        **warnings_json(plan),
        "allocation": allocation,
        "schedulability": [load_json(one, load) for one in plan.sandboxes for load in one.loads],
        "channels": [channel_json(plan, one) for one in plan.channels],
        "assumptions": assumptions_json(plan, platform),
    }
