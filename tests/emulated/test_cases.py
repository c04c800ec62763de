# SPDX-License-Identifier: Apache-2.0
"""Every row of the table of cases, on each of its platforms."""

import pytest
from bhtool.platforms import Platform

from tests.claims import evidence
from tests.emulated.case import QEMU, SECOND_SVM, SVM, Case
from tests.emulated.evidence import GUARDS, OF_GUARDS, of_case
from tests.emulated.observe import judge, observe
from tests.emulated.scene import stage
from tests.emulated.shown import note_passed
from tests.emulated.table import CASES, twice

STORMS = ("kick-storming-few", "storm-call")  # ten times what they cost on ARM, whose quick run has them


def is_quick(platform: str, case: Case) -> bool:
    """Bochs is slow: what QEMU has shown in a quick run, it need not show again."""
    if platform == SVM and case.name in STORMS:
        return False
    return case.quick and (platform in QEMU or not set(case.platforms) & set(QEMU))


def is_repeated(platform: str, case: Case) -> bool:
    """The ordinary run has it with more kicks; a quick run has it elsewhere."""
    return case.name.endswith("-few") and not is_quick(platform, case)


def marks(platform: str, case: Case) -> list[pytest.MarkDecorator]:
    shows = evidence(*of_case(case))
    if case.long or is_repeated(platform, case):
        return [shows, pytest.mark.long]
    return [shows] if is_quick(platform, case) else [shows, pytest.mark.slow]


ROWS = [
    pytest.param(platform, case, id=f"{platform}-{case.name}", marks=marks(platform, case)) for case in CASES for platform in case.platforms
]
# A second opinion: what holds on SVM in QEMU, once more in Bochs, of which the ordinary run looks at the quick ones; filters of devices are the same code on VT-x, and shown there.
FILTERS = ("ioapic-", "pci-")
OF_VTX = ("dirty-",)  # with functions of QEMU's; Bochs' are there on VT-x
OF_IOMMUS = ("dma-", "disc-")  # Bochs has none, and no disc
LACKING = ("unprotected-msr-rdmsr=0xc0000104", "unprotected-msr-wrmsr=0x3b,0")  # TSC_RATIO, TSC_ADJUST: its processor has neither to open
# Its VMRUN leaves CR2 as it is, though the control block has 0: APM vol. 2, 15.5.1 "Basic Operation". Reserved bits of CR4 are #GP, as they should be.
OTHERWISE = ("restart-forgets-every-register", "cr4-reserved")
OFTEN = ("restart-with-exceptions-vectors-pending-often",)  # Bochs is slow
ROWS += [
    pytest.param(
        SECOND_SVM,
        case,
        id=f"{SECOND_SVM}-{case.name}",
        marks=[evidence(*of_case(case)), pytest.mark.slow if case.quick else pytest.mark.long],
    )
    for case in CASES
    if SVM in case.platforms
    and not case.concurrent
    and not case.name.startswith((*FILTERS, *OF_VTX, *OF_IOMMUS, *LACKING, *OTHERWISE, *OFTEN))
]


def test_names_are_unique() -> None:
    """BH-E1.harness."""
    assert not twice()


def test_what_cases_guard_is_said_once_and_by_some_case() -> None:
    """BH-E1.harness."""
    assert len(OF_GUARDS) == sum(map(len, GUARDS.values())), "a sentence stands in two rows"
    assert set(OF_GUARDS) - {case.guards for case in CASES} == set()


@pytest.mark.parametrize(("platform", "case"), ROWS)
def test_case(machine_platform: Platform, case: Case) -> None:
    scene = stage(machine_platform, case)
    seen = observe(machine_platform, case, scene)
    wrong = judge(case, seen)
    assert not wrong, "\n".join([*wrong, "guards: " + case.guards, seen.state()])
    note_passed(machine_platform, case, scene, seen)
