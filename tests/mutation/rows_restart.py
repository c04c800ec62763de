# SPDX-License-Identifier: Apache-2.0
"""Mistakes in restarts: what is broken where, which case notices, and what its report then shows."""

from tests.emulated.case import GICV3, VTX
from tests.mutation.machine_mutation import MachineMutation

RESTARTS = (
    MachineMutation(
        "memory is not scrubbed",
        "monitor/restart.c",
        "for (; to < end; to += 4)",
        "for (; end < to; to += 4)",
        "restart-forgets-memory",
        GICV3,
        "not 'returned 0x0'",
    ),
    MachineMutation(
        "nothing is kept for a restart",
        "monitor/pristine_boot.c",
        "copy_words(pristine->copy + piece->offset, piece->target, piece->size);",
        "copy_words(pristine->copy + piece->offset, piece->target, 0);",
        "restart-after-a-crash",
        GICV3,
        "mortal never said 'life 1",
    ),
    MachineMutation(
        "restarts are not counted",
        "monitor/run.c",
        "monitor.restarts_left -= again;",
        "",
        "restart-until-it-is-enough",
        GICV3,
        "mortal was restarted",
    ),
    MachineMutation(
        "stage 2 stays closed",
        "hal/stage2/psci.c",
        "kick_reopen(core);",
        "",
        "restart-after-a-crash",
        GICV3,
        "mortal never said 'life 1",
    ),
    MachineMutation(
        "lines keep what they were",
        "hal/stage2/psci.c",
        "gic_reset_lines(partition);",
        "",
        "restart-forgets-lines",
        GICV3,
        "not 'returned 0x0'",
    ),
    MachineMutation(
        "a core that starts finds what was pending",
        "hal/stage2/psci.c",
        "gic_reset_core(core);",
        "",
        "restart-forgets-ipis",
        GICV3,
        "mortal never said",
    ),
    MachineMutation(
        "silence is not noticed",
        "monitor/restart.c",
        "return watch->since && now - watch->since > watch->timeout;",
        "return false;",
        "heartbeat-missed",
        GICV3,
        "mortal was restarted 0 times",
    ),
    MachineMutation(
        "registers of system calls stay",
        "hal/x86/core.c",
        "x86_wrmsr(msr, 0);",
        "",
        "restart-forgets-registers",
        VTX,  # on SVM they are part of the state that is loaded
        "not 'returned 0x0'",
    ),
)
