# SPDX-License-Identifier: Apache-2.0
"""The unit tests' programs as seeded mistakes need them: what each is made of, and how it is compiled."""

import subprocess
from pathlib import Path

from tests.mutation.mutation import ROOT
from tests.mutation.rows_admission import EDGE_PARTS, EDGE_PROGRAMS
from tests.mutation.rows_amdvi import AMDVI, AMDVI_START, BACKENDS_X86
from tests.mutation.rows_at_once import FIELDS, ICR, SVM
from tests.mutation.rows_at_once_host import PARTS as AT_ONCE_PARTS
from tests.mutation.rows_at_once_host import PMU, PMU_START
from tests.mutation.rows_channel import CHANNEL_PARTS, CHANNEL_PROGRAMS
from tests.mutation.rows_channel_memory import CHANNELS, CHANNELS_START, MEMORY_PARTS, MEMORY_PROGRAMS
from tests.mutation.rows_contract import CORE_X86, LINES_ARM, PARTITION_X86
from tests.mutation.rows_engine import ENGINE
from tests.mutation.rows_fetch import DECODE, FETCH, NOTED
from tests.mutation.rows_filters import PORT
from tests.mutation.rows_iommu_live import AMDVI_INVALIDATES, IOMMU_EDITOR, IOMMU_EDITOR_START, SMMU_INVALIDATES
from tests.mutation.rows_kernel import KERNEL_PARTS, KERNEL_PROGRAMS
from tests.mutation.rows_kicks import KICK_ARM, KICK_X86
from tests.mutation.rows_live import EDITOR, EDITOR_START
from tests.mutation.rows_lives import LOCK, RESTART
from tests.mutation.rows_run import COMMANDS, INTERRUPTS, RUN
from tests.mutation.rows_sched import SCHED_PARTS, SCHED_PROGRAMS
from tests.mutation.rows_shell import LINE_EDIT, SHELL_PARTS, SHELL_PROGRAMS
from tests.mutation.rows_smmuv3 import BACKENDS_ARM, IOMMU_START, SMMU, SMMU_START
from tests.mutation.rows_smp import SMP_PARTS, SMP_PROGRAMS
from tests.mutation.rows_space import PARTITION, PCI_START, ROOTS_ARM, SNAPSHOT, SPACE_ARM, SPACE_X86
from tests.mutation.rows_start import ARM_DISARM, DISARM, DISARM_LOOP, LPIS
from tests.mutation.rows_sync import SYNC_PARTS, SYNC_PROGRAMS
from tests.mutation.rows_table import VALIDATOR
from tests.mutation.rows_vmx import CONTROLS, VMX
from tests.mutation.rows_vtd import VTD, VTD_INVALIDATES, VTD_START

BUILDER = "hal/pt/pt_boot.c"
X86 = "hal/pt/formats_x86_boot.c"
ARM = "hal/pt/formats_arm_boot.c"
ARENA = "hal/arena_boot.c"
BASES = "hal/pci/bases_boot.c"
EVENTS = "hal/x86/pending_events.c"
IOAPIC, IOAPIC_BOOT = "hal/x86/apic/ioapic.c", "hal/x86/apic/ioapic_boot.c"
SPREADER = "monitor/boot/module_boot.c"
BOOT_INFORMATION = "arch/x86_64/multiboot2_boot.c"
PCI_FILTER = "hal/pci/filter.c"
MESSAGES, MESSAGES_START = "hal/pci/messages.c", "hal/pci/messages_boot.c"
SUBJECTS = [BUILDER, X86, ARM, ARENA, *VALIDATOR, BASES, SPREADER, BOOT_INFORMATION, CONTROLS]
SUPPORT = ["tests/unit/fake_arch.c", "tests/unit/frames.c", "tests/unit/model.c", "tests/unit/good_table.c"]
GEOMETRY = "pt_geometry_test"
PROGRAMS = {
    "arena_test": "tests/unit/arena_test.c",
    "words_test": "tests/unit/words_test.c",
    "entries_test": "tests/golden/entries_test.c",
    "vmx_controls_test": "tests/golden/vmx_controls_test.c",
    "pt_size_test": "tests/unit/pt_size_test.c",
    "pt_live_test": "tests/unit/pt_live_test.c",
    GEOMETRY: "tests/unit/pt_geometry_test.c",
    "pt_failure_test": "tests/unit/pt_failure_test.c",
    "pt_model_test": "tests/unit/pt_model_test.c",
    "table_test": "tests/unit/table_test.c",
    "icr_test": "tests/unit/icr_test.c",
    "contract_arm_test": "tests/unit/contract_arm_test.c",
    "contract_x86_test": "tests/unit/contract_x86_test.c",
    "disarm_test": "tests/unit/disarm_test.c",
    "disarm_aarch64_test": "tests/unit/disarm_arm_test.c",
    "lpi_test": "tests/unit/lpi_test.c",
    "off_arm_test": "tests/unit/off_arm_test.c",
    "spin_table_test": "tests/unit/spin_table_test.c",
    "console_arm_test": "tests/unit/console_arm_test.c",
    "start_map_test": "tests/unit/start_map_test.c",
    "decode_test": "tests/unit/decode_test.c",
    "fetch_test": "tests/unit/fetch_test.c",
    "ioapic_test": "tests/unit/ioapic_test.c",
    "module_test": "tests/unit/module_test.c",
    "lock_test": "tests/unit/lock_test.c",
    "pci_test": "tests/unit/pci_test.c",
    "port_test": "tests/unit/port_test.c",
    "irq_test": "tests/unit/irq_test.c",
    "command_test": "tests/unit/command_test.c",
    "multiboot2_test": "tests/unit/multiboot2_test.c",
    "partition_test": "tests/unit/partition_test.c",
    "restart_test": "tests/unit/restart_test.c",
    "smmuv3_test": "tests/unit/smmuv3_test.c",
    "amdvi_test": "tests/unit/amdvi_test.c",
    "engine_test": "tests/unit/engine_test.c",
    "vtd_test": "tests/unit/vtd_test.c",
    "messages_test": "tests/unit/messages_test.c",
    "grant_test": "tests/unit/grant_test.c",
    "at_once_arm_test": "tests/unit/at_once_arm_test.c",
    "run_test": "tests/unit/run_test.c",
    "pmu_test": "tests/unit/pmu_test.c",
    "kick_stage2_test": "tests/unit/kick_stage2_test.c",
    "kick_x86_test": "tests/unit/kick_x86_test.c",
    "space_test": "tests/unit/space_test.c",
    "space_stage2_test": "tests/unit/space_stage2_test.c",
    "space_x86_test": "tests/unit/space_x86_test.c",
    "svm_test": "tests/unit/svm_test.c",
    "vmx_test": "tests/unit/vmx_test.c",
}
CONTRACT_PARTS = [PCI_START, BUILDER, "hal/pt/gate_boot.c", X86, ARM, ARENA, *SUPPORT[:2]]
IOMMU_PC = "tests/unit/iommu_pc.c"
IOMMU_LIVE_PARTS = [IOMMU_EDITOR, IOMMU_EDITOR_START, EDITOR, EDITOR_START]
IOMMU_VTD = "tests/unit/iommu_vtd.c"
IOMMU_X86 = [AMDVI, AMDVI_START, AMDVI_INVALIDATES, VTD, VTD_START, VTD_INVALIDATES, "hal/iommu/iommu.c", LOCK]
IOMMU_ARM = [SMMU, SMMU_START, SMMU_INVALIDATES, IOMMU_START, BACKENDS_ARM, "hal/iommu/iommu.c", LOCK]
PARTS = {  # of the others: SUBJECTS and SUPPORT
    "icr_test": [ICR, EVENTS],
    "pt_live_test": [EDITOR, EDITOR_START, BUILDER, X86, ARM, ARENA, *SUPPORT[:2]],
    "contract_arm_test": [ROOTS_ARM, SPACE_ARM, LINES_ARM, KICK_ARM, *IOMMU_ARM, *CONTRACT_PARTS],
    "engine_test": [ENGINE, SUPPORT[0]],
    "contract_x86_test": [
        PARTITION_X86,
        CORE_X86,
        SPACE_X86,
        KICK_X86,
        IOAPIC_BOOT,
        "hal/iommu/iommu.c",
        IOMMU_PC,
        MESSAGES_START,
        BASES,
        *CONTRACT_PARTS,
    ],
    "amdvi_test": [*IOMMU_X86, BACKENDS_X86, IOMMU_PC, *IOMMU_LIVE_PARTS, BUILDER, X86, ARM, ARENA, *SUPPORT[:2]],
    "vtd_test": [*IOMMU_X86, IOMMU_VTD, *IOMMU_LIVE_PARTS, "tests/unit/fake_vtd.c", BUILDER, X86, ARM, ARENA, *SUPPORT[:2]],
    "grant_test": [PCI_FILTER, PCI_START, LOCK, SUPPORT[0]],
    "messages_test": [MESSAGES, MESSAGES_START, PCI_FILTER, PCI_START, BASES, LOCK, SUPPORT[0]],
    "disarm_test": [DISARM],
    "disarm_aarch64_test": [DISARM_LOOP, ARM_DISARM],
    "lpi_test": [LPIS, DISARM_LOOP],
    "off_arm_test": ["arch/arm/machine_boot.c", "arch/arm/console_boot.c"],
    "spin_table_test": ["hal/arm/spin_table_boot.c", SUPPORT[0]],
    "console_arm_test": ["arch/arm/console_boot.c"],
    "start_map_test": ["arch/arm/start_map_boot.c"],
    "decode_test": [DECODE],
    "partition_test": [PARTITION, CHANNELS_START, ARENA, SUPPORT[0], SUPPORT[1], SUPPORT[3]],
    "at_once_arm_test": [*AT_ONCE_PARTS, SUPPORT[0]],
    "run_test": [RUN, CHANNELS, SUPPORT[0]],
    "pmu_test": [PMU, PMU_START],
    "kick_stage2_test": [KICK_ARM, SUPPORT[0]],
    "kick_x86_test": [KICK_X86, SUPPORT[0]],
    "restart_test": [RESTART, CHANNELS, SNAPSHOT, ARENA, SUPPORT[0]],
    "space_test": [PARTITION, CHANNELS_START, SNAPSHOT, ARENA, SUPPORT[0], SUPPORT[1], SUPPORT[3]],
    "smmuv3_test": ["tests/unit/fake_smmuv3.c", *IOMMU_ARM, *IOMMU_LIVE_PARTS, BUILDER, X86, ARM, ARENA, *SUPPORT[:2]],
    "space_stage2_test": [SPACE_ARM, ROOTS_ARM, ARENA, SUPPORT[1], "tests/unit/no_iommu.c"],
    "space_x86_test": [SPACE_X86, PCI_START, ARENA, SUPPORT[1], "tests/unit/no_iommu.c"],
    "svm_test": [SVM, FIELDS],
    "vmx_test": [VMX],
    "fetch_test": [FETCH, NOTED, DECODE, BUILDER, X86, ARM, ARENA, *SUPPORT[:2]],
    "pci_test": [PCI_FILTER, LOCK, SUPPORT[0]],
    "port_test": [PORT],
    "lock_test": [LOCK, SUPPORT[0]],
    "irq_test": [INTERRUPTS],
    "words_test": [],
    "command_test": [COMMANDS, LINE_EDIT, "kernel/core/text.c"],
    "ioapic_test": [IOAPIC, IOAPIC_BOOT, ICR, EVENTS, FETCH, DECODE, LOCK, SUPPORT[0]],
}
PROGRAMS |= (
    KERNEL_PROGRAMS | SCHED_PROGRAMS | SYNC_PROGRAMS | EDGE_PROGRAMS | SHELL_PROGRAMS | SMP_PROGRAMS | CHANNEL_PROGRAMS | MEMORY_PROGRAMS
)
PARTS |= KERNEL_PARTS | SCHED_PARTS | SYNC_PARTS | EDGE_PARTS | SHELL_PARTS | SMP_PARTS | CHANNEL_PARTS | MEMORY_PARTS
ARGUMENTS = {"pt_model_test": ["60"]}
COMPILE = [
    "clang-19",
    "-std=c17",
    "-O1",
    "-w",
    "-D_GNU_SOURCE",
    f"-I{ROOT}",
    f"-I{ROOT}/monitor",
    f"-I{ROOT}/tests/unit",
    f"-I{ROOT}/tests/unit/fake",
    f"-I{ROOT}/hal/arm/aarch64",
    f"-I{ROOT}/hal/arm/gic",
    f"-I{ROOT}/kernel/arch/arm",
    *(
        f"-I{ROOT}/{folder}"
        for folder in (
            "abi",
            "tools/linux/console",
            "tools/linux/top",
            "tools/linux/lib",
            "tools/linux/include",
            "tools/linux/include/uapi",
        )
    ),  # programs for Linux have these beside them
    "-DAARCH64",  # of the formats of the sandbox kernel's tables
]
BOARDS = dict.fromkeys((LPIS, PROGRAMS["lpi_test"]), "qemu-aarch64")  # of the others: qemu-svm
BOARDS |= dict.fromkeys((*IOMMU_ARM, PROGRAMS["smmuv3_test"], ENGINE, PROGRAMS["engine_test"]), "qemu-aarch64")
BOARDS |= dict.fromkeys(("arch/arm/machine_boot.c", PROGRAMS["off_arm_test"]), "qemu-aarch64")
BOARDS |= dict.fromkeys((LINES_ARM, PROGRAMS["contract_arm_test"], *AT_ONCE_PARTS, PROGRAMS["at_once_arm_test"]), "qemu-aarch64-gicv2")
BOARDS |= dict.fromkeys((IOMMU_VTD, VTD, VTD_START, VTD_INVALIDATES, PROGRAMS["vtd_test"]), "qemu-svm-vtd")
TIME_LIMIT_SECONDS = 60
CPU_LIMIT_SECONDS = 3  # no program takes one; a mistake that makes a loop endless is noticed by then, however busy the host is


def compile_object(source: Path, target: Path, name: str, *before: str) -> Path:
    """`name`: of the file that `source` is, or stands for. `before`: options that come before others."""
    board = f"-I{ROOT}/platforms/{BOARDS.get(name, 'qemu-svm')}"
    subprocess.run([COMPILE[0], *before, *COMPILE[1:], board, "-c", str(source), "-o", str(target)], check=True, timeout=TIME_LIMIT_SECONDS)
    return target


def sources_of(program: str) -> list[str]:
    return [*PARTS.get(program, [*SUBJECTS, *SUPPORT]), PROGRAMS[program]]
