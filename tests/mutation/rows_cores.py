# SPDX-License-Identifier: Apache-2.0
"""Mistakes where several cores of a sandbox meet: what is broken where, which case notices, and what its report then shows."""

from tests.emulated.case import GICV2, GICV3
from tests.mutation.machine_mutation import MachineMutation

ARM_CORES = (
    MachineMutation(
        "the end is not told to the other cores",
        "monitor/run.c",
        "hal_kick_siblings(core);",
        "",
        "cores-end-by-fault",
        GICV3,
        "pair said .*ticks 500",
    ),
    MachineMutation(
        "any core can be named",
        "hal/stage2/psci.c",
        "if (partition->hardware_id[slot] == affinity)",
        "if (affinity)",
        "psci-start-foreign-core",
        GICV3,
        "not 'returned 0xfffffffffffffffe'",
    ),
    MachineMutation(
        "a core that runs can be started",
        "hal/stage2/psci.c",
        "uint32_t found = POWER_OFF;",
        "uint32_t found = POWER_ON;",
        "psci-start-running-core",
        GICV3,
        "not 'returned 0xfffffffffffffffc'",
    ),
    MachineMutation(
        "a sandbox may be left without a core",
        "hal/stage2/psci.c",
        "if (!__atomic_sub_fetch(&core->partition->cores_on, 1, __ATOMIC_ACQ_REL)) return HAL_STOP;",
        "",
        "psci-last-core-goes",
        GICV3,
        "pair is ready, not off",
    ),
    MachineMutation(
        "a core that is off hears no kick",
        "hal/irq/gicv2.c",
        "core->power == POWER_ON ? GICC_PMR_OPEN : GIC_GUEST_PRIORITY",
        "core->power == POWER_ON ? GICC_PMR_OPEN : 0",
        "cores-kick-first-off",
        GICV2,
        "kicker never said",
    ),
)
