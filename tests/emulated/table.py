# SPDX-License-Identifier: Apache-2.0
"""The table of cases. A name occurs once per platform; every case says which protection it guards."""

from tests.emulated import (
    cases_console,
    cases_cores,
    cases_dirty,
    cases_dma,
    cases_ends,
    cases_interrupts,
    cases_ioapic,
    cases_kicks,
    cases_memory,
    cases_notices,
    cases_pci,
    cases_psci,
    cases_registers,
    cases_restart,
    cases_scheduler,
    cases_spaces,
    cases_stress,
    cases_sweeps,
    cases_unprotected,
    cases_user,
    cases_wires,
)
from tests.emulated.case import Case

CASES: tuple[Case, ...] = (
    *cases_memory.CASES,
    *cases_interrupts.CASES,
    *cases_ioapic.CASES,
    *cases_registers.CASES,
    *cases_sweeps.CASES,
    *cases_kicks.CASES,
    *cases_cores.CASES,
    *cases_notices.CASES,
    *cases_psci.CASES,
    *cases_pci.CASES,
    *cases_dma.CASES,
    *cases_restart.CASES,
    *cases_scheduler.CASES,
    *cases_spaces.CASES,
    *cases_stress.CASES,
    *cases_unprotected.CASES,
    *cases_user.CASES,
    *cases_ends.CASES,
    *cases_dirty.CASES,
    *cases_wires.CASES,
    *cases_console.CASES,
)


def twice() -> list[tuple[str, str]]:
    """Names given twice on a platform."""
    rows = [(platform, case.name) for case in CASES for platform in case.platforms]
    return sorted({row for row in rows if rows.count(row) > 1})
