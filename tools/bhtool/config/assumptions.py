# SPDX-License-Identifier: Apache-2.0
"""BH-I9.said. Which lines of docs/not-isolated.md a partition relies on: what it does not have cannot go wrong there."""

from collections.abc import Callable

from bhtool.codes.assumptions import Assumption, assumptions
from bhtool.config.plan import Plan, Platform, SandboxPlan, Translated, Unprotected
from bhtool.families.table import FAMILIES

Relies = Callable[[Plan, Platform], bool]
POLLED = ("stage2-gicv2", "stage2-armv7")  # backends with a GICv2, whose kicks are signals that the victim waits for


def always(_plan: Plan, _platform: Platform) -> bool:
    return True


def several(plan: Plan, _platform: Platform) -> bool:
    return len(plan.sandboxes) > 1


def some(what: Callable[[SandboxPlan], object]) -> Relies:
    return lambda plan, _: any(map(what, plan.sandboxes))


def on(controller: str) -> Relies:
    """Families, by what interrupts them."""
    return lambda _, platform: FAMILIES[platform.arch].interrupts.controller == controller


def backend(*names: str) -> Relies:
    return lambda _, platform: platform.backend in names


def every(*all_of: Relies) -> Relies:
    return lambda plan, platform: all(one(plan, platform) for one in all_of)


def has_iommu(plan: Plan, _platform: Platform) -> bool:
    return bool(plan.iommu)


def kicks_several_cores(plan: Plan, _platform: Platform) -> bool:
    return any(len(plan.sandboxes[other].cores) > 1 for one in plan.sandboxes for other in one.may_kick)


ARM, PC = on("gic"), on("apic")
restarts, functions = some(lambda one: one.restarts), some(lambda one: one.functions)
kicks, cores = some(lambda one: one.may_kick), some(lambda one: len(one.cores) > 1)
masters = some(lambda one: any(isinstance(known, Translated) for known in one.devices.values()))
lines, sleeps = some(lambda one: one.lines), some(lambda one: one.trusted_idle)

RELIES: dict[str, Relies] = {
    "BH-A01": some(lambda one: one.unprotected or any(isinstance(known, Unprotected) for known in one.devices.values())),
    "BH-A02": several,
    "BH-A03": every(PC, several),
    "BH-A04": every(ARM, several),
    "BH-A05": always,
    "BH-A06": always,
    "BH-A07": always,
    "BH-A08": functions,
    "BH-A09": every(functions, restarts),
    "BH-A10": several,
    "BH-A11": ARM,
    "BH-A12": several,
    "BH-A13": always,
    "BH-A14": every(ARM, sleeps),
    "BH-A15": restarts,
    "BH-A16": restarts,
    "BH-A17": every(backend(*POLLED), kicks),
    "BH-A18": every(backend(*POLLED), restarts, cores),
    "BH-A19": PC,
    "BH-A20": always,
    "BH-A21": some(lambda one: one.heartbeat_timeout_us),
    "BH-A22": backend("svm"),
    "BH-A23": cores,
    "BH-A24": every(ARM, kicks_several_cores),
    "BH-A25": PC,
    "BH-A26": every(several, lines),
    "BH-A27": every(ARM, several, lines),
    "BH-A28": PC,
    "BH-A29": masters,
    "BH-A30": masters,
    "BH-A31": every(PC, has_iommu),
}


def relied_on(plan: Plan, platform: Platform) -> list[Assumption]:
    """In the order of the document."""
    return [one for one in assumptions() if RELIES[one.id](plan, platform)]
