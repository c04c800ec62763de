# SPDX-License-Identifier: Apache-2.0
"""All mistakes for test_machine_mutations.py. What two machines share is broken on both."""

from dataclasses import replace

from tests.emulated.case import ARMV7, GICV2, SVM, VTX
from tests.mutation.machine_mutation import MachineMutation
from tests.mutation.rows_arm import ARM_GICV2, ARM_GICV3, ARM_V7
from tests.mutation.rows_at_once_arm import AT_ONCE_ARM
from tests.mutation.rows_campaign import FILTERS
from tests.mutation.rows_console import CONSOLE
from tests.mutation.rows_cores import ARM_CORES, BOOT_CORE, EARLY_NOTICES, NOTICES
from tests.mutation.rows_dirty import DIRTY
from tests.mutation.rows_dma import DMA
from tests.mutation.rows_ends import ENDS_ROWS
from tests.mutation.rows_gicv3 import INTERFACES
from tests.mutation.rows_hostile_ends import HOSTILE_ENDS
from tests.mutation.rows_level import LEVEL, LEVEL_IPIS
from tests.mutation.rows_open import OPEN
from tests.mutation.rows_oracle import ORACLE_ARM, ORACLE_PC
from tests.mutation.rows_pci import PCI, PCI_PORTS
from tests.mutation.rows_restart import RESTARTS
from tests.mutation.rows_scheduler import DIVIDE, ENDLESS, MOVED, TURNS
from tests.mutation.rows_start import STUCK
from tests.mutation.rows_user import CALLS, CORES, PROCESSOR, USER
from tests.mutation.rows_wires import WIRES
from tests.mutation.rows_x86 import SVM_ALONE, VT_X, X86

OF_ONE_MACHINE = ("hal/x86/svm/", "hal/x86/vmx/", "hal/arm/aarch64/", "hal/arm/armv7/")


def shared(rows: tuple[MachineMutation, ...], first: str, second: str) -> tuple[MachineMutation, ...]:
    """The rows of one machine whose source another machine has too, for that one."""
    return tuple(replace(row, platform=second) for row in rows if row.platform == first and not row.file.startswith(OF_ONE_MACHINE))


ON_BOTH_PCS = shared((*X86, *LEVEL_IPIS), SVM, VTX)
ON_BOTH_GICV2 = shared((*ARM_GICV2, *ARM_CORES), GICV2, ARMV7)
ON_PCS = (*X86, *LEVEL_IPIS, *LEVEL, *SVM_ALONE, *VT_X, *ON_BOTH_PCS, *ORACLE_PC)
ON_ARM = (*ARM_GICV3, *INTERFACES, *ARM_GICV2, *ARM_V7, *ARM_CORES, *ON_BOTH_GICV2, *ORACLE_ARM, *AT_ONCE_ARM)
MUTATIONS = (
    *RESTARTS,
    *BOOT_CORE,
    *NOTICES,
    *EARLY_NOTICES,
    *ON_PCS,
    *ON_ARM,
    *FILTERS,
    *HOSTILE_ENDS,
    *PCI,
    *DMA,
    *OPEN,
    *PCI_PORTS,
    *DIRTY,
    *WIRES,
    *STUCK,
    *CONSOLE,
    *USER,
    *ENDS_ROWS,
    *CORES,
    *PROCESSOR,
    *CALLS,
    *ENDLESS,
    *MOVED,
    *DIVIDE,
    *TURNS,
)
