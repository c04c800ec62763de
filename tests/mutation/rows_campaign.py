# SPDX-License-Identifier: Apache-2.0
"""Mistakes in the monitor's filters that a campaign of random attempts runs into: one_case.py's CAMPAIGN."""

from tests.emulated.case import ARMV7, GICV2, GICV3, SVM, VTX
from tests.mutation.machine_mutation import MachineMutation
from tests.mutation.one_case import CAMPAIGN, CARDS

FILTERS = (
    MachineMutation(
        "ports without a grant are the machine's, attacked",
        "hal/x86/partition_boot.c",
        "deny(partition->port_map, PORT_MAP_BYTES);",
        "",
        CAMPAIGN,
        SVM,
        r"(?m)^attempt \d+, ports|machine ended",
    ),
    MachineMutation(
        "registers without a row are the machine's, attacked",
        "hal/x86/partition_boot.c",
        "deny(partition->msr_map, msr_map_bytes);",
        "",
        CAMPAIGN,
        SVM,
        r"(?m)^attempt \d+, msr|machine ended",
    ),
    MachineMutation(
        "the command register is direct, attacked",
        "hal/x86/msr_boot.c",
        "{ APIC_ESR, APIC_ESR, HAL_WRITE },",
        "{ APIC_ESR, APIC_ICR, HAL_WRITE },",
        CAMPAIGN,
        SVM,
        "stray interrupt|heart beat|machine ended",
    ),
    MachineMutation(
        "SGIs are sent as they were written, attacked",
        "hal/arm/gic/gicv3.c",
        "if (partition->unprotected & BH_PROTECT_IPI)",
        "if (true)",
        CAMPAIGN,
        GICV3,
        "stray interrupt",
    ),
    MachineMutation(
        "sending is not trapped, attacked",
        "hal/arm/gic/gicv3_boot.c",
        "SYSREG_WRITE(ICH_HCR_EL2, ICH_HCR_TC);",
        "SYSREG_WRITE(ICH_HCR_EL2, 0); SYSREG_WRITE(HCR_EL2, SYSREG_READ(HCR_EL2) & ~(uint64_t)HCR_FMO);",
        CAMPAIGN,
        GICV3,
        "stray interrupt",
    ),
    MachineMutation(
        "debug registers are the guest's, attacked",
        "hal/arm/armv7/controls_boot.c",
        "HDCR_CONFINED (HDCR_TDA | HDCR_TDOSA | HDCR_TDRA)",
        "HDCR_CONFINED (HDCR_TDOSA | HDCR_TDRA)",
        CAMPAIGN,
        ARMV7,
        r"(?m)^attempt \d+, registers",
    ),
    # By one leaf of 2 MiB: a page would take a further table, and pools have none to spare.
    MachineMutation(
        "RAM is longer than granted, attacked",
        "monitor/boot/partition_boot.c",
        "(hpa_t){ region->hpa }, region->size,",
        "(hpa_t){ region->hpa }, region->size + (region->kind == BH_REGION_RAM) * 512 * BH_PAGE_BYTES,",
        CAMPAIGN,
        SVM,
        r"(?m)^attempt \d+, straddle",
    ),
    MachineMutation(
        "RAM is longer than granted, attacked",
        "monitor/boot/partition_boot.c",
        "(hpa_t){ region->hpa }, region->size,",
        "(hpa_t){ region->hpa }, region->size + (region->kind == BH_REGION_RAM) * 512 * BH_PAGE_BYTES,",
        CAMPAIGN,
        GICV3,
        r"(?m)^attempt \d+, straddle",
    ),
    MachineMutation(
        "foreign pins are programmed as they are written, attacked",
        "hal/x86/apic/ioapic.c",
        "return !line || write_entry",
        "return (!line && (view->count ? ioapic_write(view->index, (uint32_t)exit->value) : (void)0, true)) || write_entry",
        CAMPAIGN,
        SVM,
        "stray interrupt|heart beat|watch. ",
    ),
    MachineMutation(
        "other cores' redistributors are answered for, attacked",
        "hal/arm/gic/gicv3.c",
        "return frame;",
        "return frame.foreign ? (struct gic_frame){ distributor + FIRST_BANKED, frame.base + GICR_SGI_FRAME, banked_lines, 1, false } : frame;",
        CAMPAIGN,
        GICV3,
        r"(?m)^attempt \d+, distributor-pieces",
    ),
    MachineMutation(
        "firmware hears the guest's calls, attacked",
        "hal/arm/aarch64/controls_boot.c",
        "#define HCR_CONFINED (HCR_OPEN | HCR_TIDCP",
        "#define HCR_CONFINED (HCR_TIDCP",
        CAMPAIGN,
        GICV3,
        r"(?m)machine ended|^attempt \d+, (resets|calls)",
    ),
    *(
        MachineMutation(
            "the distributor filter knows no owner, attacked",
            "hal/arm/gic/gic_filter.c",
            "return word < words ? lines[word] : 0;",
            "return UINT32_MAX;",
            CAMPAIGN,
            platform,
            r"(?m)^attempt \d+, distributor",
        )
        for platform in (GICV3, GICV2, ARMV7)
    ),
    *(
        MachineMutation(
            "every core is sent to, attacked",
            "hal/arm/gic/gicv2.c",
            " || targets & ~core->partition->gic.reachable",
            "",
            CAMPAIGN,
            platform,
            "stray interrupt",
        )
        for platform in (GICV2, ARMV7)
    ),
    MachineMutation(
        "own lines are routed to any core, attacked",
        "hal/arm/gic/gicv3.c",
        "if (access->granted && partition->hardware_id[slot] == value)",
        "if (access->granted)",
        CAMPAIGN,
        GICV3,
        r"(?m)^attempt \d+, distributor: .* own line's target",
    ),
    MachineMutation(
        "own lines are routed to any core, attacked",
        "hal/arm/gic/gicv2.c",
        "value &= access->core->partition->gic.interfaces * UINT64_C(0x01010101);",
        "",
        CAMPAIGN,
        ARMV7,
        r"(?m)^attempt \d+, distributor: .* own line's target",
    ),
    *(
        MachineMutation(
            "what is closed stays open, attacked",
            "hal/pt/pt.h",
            "open ? gate->open : 0",
            "gate->open",
            CAMPAIGN,
            platform,
            r"(?m)^attempt \d+, channel-(closed|beside)",
        )
        for platform in (GICV3, ARMV7, SVM)
    ),
    *(
        MachineMutation(
            "what is closed is known all the same, attacked",
            "hal/arm/kick.c",
            "pt_gate_turn(gate, open); invalidate(vttbr, vttbr);",
            "pt_gate_turn(gate, open); (void)vttbr;",
            CAMPAIGN,
            platform,
            r"(?m)^attempt \d+, channel-(closed: .*closed just before|beside)",
        )
        for platform in (GICV3, ARMV7)
    ),
    MachineMutation(
        "a life finds open what the one before had open, attacked",
        "monitor/channels.c",
        "hal_gate_exists(&end->gate) ? BH_CHANNEL_GONE : 0",
        "0",
        CAMPAIGN,
        GICV3,
        r"(?m)^attempt \d+, channel-closed: .*before it is opened",
    ),
    MachineMutation(
        "any channel is opened and closed, attacked",
        "monitor/channels.c",
        "if (!hal_gate_exists(&end->gate)) return BH_E_DENIED;",
        "",
        CAMPAIGN,
        GICV3,
        r"(?m)^attempt \d+, channel-turns: .*: zero, where|has lived \d+ times, and channel",
    ),
    MachineMutation(
        "another channel's gate, attacked",
        "monitor/boot/channels_boot.c",
        "gates[row - table->channels]",
        "gates[0]",
        CAMPAIGN,
        GICV3,
        "it cannot be opened",
    ),
    MachineMutation(
        "channels are not emptied, attacked",
        "monitor/boot/channels_boot.c",
        "words_fill(words, bytes / WORD_BYTES, 0);",
        "words_fill(words, bytes / WORD_BYTES, 1);",
        CAMPAIGN,
        GICV3,
        "its area was not empty when it was opened for the first time",
    ),
    MachineMutation(
        "ports lead to foreign functions, attacked",
        "hal/pci/filter.c",
        "*value = UINT32_MAX; if (function) {",
        "*value = UINT32_MAX; if (!function) *value = pci_config_read(place); if (function) {",
        CAMPAIGN,
        VTX,
        r"(?m)^attempt \d+, pci-ports",
    ),
    # By one leaf of 2 MiB, in the IOMMU's root alone: what follows own RAM there.
    *(
        MachineMutation(
            "functions reach more than RAM of their sandbox, attacked",
            "hal/iommu/iommu_boot.c",
            "pt_commit(&view->pt, gpa.v, hpa, size, HAL_READ | HAL_WRITE, HAL_MEMORY_RAM);",
            "pt_commit(&view->pt, gpa.v, hpa, size, HAL_READ | HAL_WRITE, HAL_MEMORY_RAM);\n"
            "\tif (both) pt_commit(&view->pt, gpa.v + size, (hpa_t){ hpa.v + size }, size, HAL_READ | HAL_WRITE, HAL_MEMORY_RAM);",
            CARDS,
            platform,
            r"(?m)^attempt \d+, brink",
        )
        for platform in (GICV3, GICV2, ARMV7)
    ),
    # Its card goes on, by entries that stay open.
    *(
        MachineMutation(
            "functions go on while their sandbox begins again, attacked",
            "monitor/restart.c",
            "quiet = (quiet || ends) && hal_partition_quiesce(core);",
            "quiet = quiet || ends;",
            CARDS,
            platform,
            r"(?m)^attempt \d+, .*: outlived, where",
        )
        for platform in (GICV3, SVM)
    ),
    MachineMutation(
        "functions go on when their sandbox has ended, attacked",
        "monitor/restart.c",
        "quiet = (quiet || ends) && hal_partition_quiesce(core);",
        "quiet = ends || (quiet && hal_partition_quiesce(core));",
        CARDS,
        GICV3,
        r"(?m)^hostile0 has ended, and its card went on: it took \d+ frames",
    ),
    MachineMutation(
        "an entry stays open, and its function on, attacked",
        "hal/arm/psci.c",
        "pci_reset(&core->partition->pci, core->self, PCI_SILENT); gic_reset_lines(core->partition);"
        " quiet = iommu_close(&core->partition->iommu, core->self); pci_reset(&core->partition->pci, core->self, PCI_FUNCTION_RESET);",
        "gic_reset_lines(core->partition); quiet = true;",
        CARDS,
        GICV3,
        r"(?m)^attempt \d+, .*: outlived, where",
    ),
    MachineMutation(
        "a sentinel's register is not what it was, attacked",
        "tests/guests/probe/aarch64/marks.c",
        "SYSREG_WRITE(tpidrro_el0, mark(1));",
        "SYSREG_WRITE(tpidrro_el0, 0);",
        CAMPAIGN,
        GICV3,
        r"changed, the last at 0x0\b",
    ),
)
