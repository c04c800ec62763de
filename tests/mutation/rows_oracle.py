# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the monitor that the table oracle must name: wrong permissions, memory types, maps and tags."""

from tests.emulated.case import GICV3, SVM, VTX
from tests.mutation.machine_mutation import MachineMutation
from tests.mutation.one_case import ORACLE

ORACLE_PC = (
    MachineMutation(
        "a port map is open for one port too many",
        "hal/x86/partition_boot.c",
        "port < first + count; port++",
        "port <= first + count; port++",
        ORACLE,
        SVM,
        "east: port 0x300: to 0x300: may be used, but is not granted",
    ),
    MachineMutation(
        "guests may set the clock",
        "hal/x86/msr_boot.c",
        "{ MSR_TSC, MSR_TSC, HAL_READ },",
        "{ MSR_TSC, MSR_TSC, HAL_READ | HAL_WRITE },",
        ORACLE,
        SVM,
        "north: register 0x10: to 0x10: may be written, but is not granted",
    ),
    MachineMutation(
        "the last word of a map stays open",
        "hal/x86/partition_boot.c",
        "word < frames * BH_PAGE_BYTES / sizeof(*map);",
        "word < frames * BH_PAGE_BYTES / sizeof(*map) - 1;",
        ORACLE,
        SVM,
        "north: port 0x17fc0: to 0x17fff: may be used beyond the last one",
    ),
    MachineMutation(
        "what is not to be executed can be (NPT)",
        "hal/pt/formats_x86_boot.c",
        "[RW] = X86_NO_EXECUTE | X86_WRITE | X86_DIRTY,",
        "[RW] = X86_WRITE | X86_DIRTY,",
        ORACLE,
        SVM,
        "north: memory .*: log is open for rwx, granted for rw",
    ),
    MachineMutation(
        "all sandboxes have one address-space identifier",
        "hal/svm/svm_boot.c",
        "control->guest_asid = partition->index + 1;",
        "control->guest_asid = 1;",
        ORACLE,
        SVM,
        "north: control 0x0: tag 1 is also east's",
    ),
    MachineMutation(
        "what is read-only can be written (EPT)",
        "hal/pt/formats_x86_boot.c",
        "[R] = EPT_READ,",
        "[R] = EPT_READ | EPT_WRITE,",
        ORACLE,
        VTX,
        "north: memory .*: statistics is open for rw, granted for r",
    ),
    MachineMutation(
        "RAM is uncached (EPT)",
        "hal/pt/formats_x86_boot.c",
        "[HAL_MEMORY_RAM] = EPT_TYPE_WB,",
        "[HAL_MEMORY_RAM] = 0,",
        ORACLE,
        VTX,
        "north: memory .*: RAM has memory type device, should have ram",
    ),
    MachineMutation(
        "writes of the second range are the first's",
        "hal/vmx/vmx_boot.c",
        "if (n < RANGE_MSRS && permissions & HAL_WRITE) reads[WRITES]",
        "if (n < RANGE_MSRS && permissions & HAL_WRITE) partition->msr_map[WRITES + n / 8]",
        ORACLE,
        VTX,
        "north: register 0x81: to 0x84: may be written, but is not granted",
    ),
)
ORACLE_ARM = (
    MachineMutation(
        "what is read-only can be executed",
        "hal/pt/formats_arm_boot.c",
        "[R] = XN | S2AP_READ,",
        "[R] = S2AP_READ,",
        ORACLE,
        GICV3,
        "north: memory .*: statistics is open for rx, granted for r",
    ),
    MachineMutation(
        "RAM is not cached",
        "hal/pt/formats_arm_boot.c",
        "#define MEMATTR_NORMAL_WB (UINT64_C(0xf) << 2)",
        "#define MEMATTR_NORMAL_WB (UINT64_C(0x5) << 2)",
        ORACLE,
        GICV3,
        "north: memory .*: RAM has memory type MemAttr 0b0101, SH 0b11, should have ram",
    ),
    MachineMutation(
        "a crash record is in the window",
        "monitor/partition_boot.c",
        "(hpa_t){ region->hpa }, region->size, region->permissions,",
        "(hpa_t){ region->hpa }, region->size << (region->kind == BH_REGION_POOL && region->gpa & 0x1000), region->permissions,",
        ORACLE,
        GICV3,
        "north: memory .*: reaches .*, crash record of north",
    ),
    MachineMutation(
        "two sandboxes have one VMID",
        "hal/stage2/partition_boot.c",
        "(uint64_t)(index + 1) << 48",
        "(uint64_t)(index / 2 + 1) << 48",
        ORACLE,
        GICV3,
        "north: control 0x0: tag 1 is also east's",
    ),
)
