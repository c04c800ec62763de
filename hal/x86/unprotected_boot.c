/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up: a sandbox that is to do without a protection (BH-D102) has it switched off here, so that
 * nothing resident asks. Memory and the IOAPIC's page are mapped by the table, as open regions.
 */
#include "arch/x86_64/x86.h"
#include "hal/x86/apic/apic.h"
#include "hal/x86/core.h"

enum { PORTS = 0x10000, APIC_LAST = 0x8ff };

/*
 * Kept whatever is open: the control block or the monitor itself would break. EFER has SVME, on which VMRUN insists, and with PAT lies in
 * the control block; APIC_BASE would take the mode away by which monitors kick. The APIC's are ipi's and irq's to open. The vendor keeps
 * some more: x86_vendor_boot.msrs_kept.
 */
static const struct {
	uint32_t first, last;
} kept[] = {
	{ APIC_FIRST, APIC_LAST },
	{ MSR_EFER, MSR_EFER },
	{ MSR_PAT, MSR_PAT },
	{ MSR_APIC_BASE, MSR_APIC_BASE },
};

static bool is_kept(uint32_t msr)
{
	const struct x86_msrs vendors = x86_vendor_boot->msrs_kept;

	for (size_t n = 0; n < sizeof(kept) / sizeof(kept[0]); n++)
		if (msr >= kept[n].first && msr <= kept[n].last)
			return true;
	for (size_t n = 0; n < vendors.count; n++)
		if (msr == vendors.at[n])
			return true;
	return false;
}

static void open_msrs(struct hal_partition *partition)
{
	const struct x86_msrs ranges = x86_vendor_boot->msr_ranges;

	for (size_t range = 0; range < ranges.count; range++)
		for (uint32_t msr = ranges.at[range]; msr < ranges.at[range] + X86_MSRS_PER_RANGE; msr++)
			if (!is_kept(msr))
				x86_vendor_boot->allow_msr(partition, msr, HAL_READ | HAL_WRITE);
}

static void open_ports(struct hal_partition *partition)
{
	for (size_t byte = 0; byte < PORTS / 8; byte++)
		partition->port_map[byte] = 0;
}

/* What the local APIC lets through. */
static void open_lvts(struct hal_partition *partition)
{
	x86_vendor_boot->allow_msr(partition, APIC_LVT_CMCI, HAL_WRITE);
	for (uint32_t msr = APIC_LVT_TIMER; msr <= APIC_LVT_ERROR; msr++)
		x86_vendor_boot->allow_msr(partition, msr, HAL_WRITE);
}

void x86_unprotect(struct hal_partition *partition)
{
	if (partition->unprotected & BH_PROTECT_IO)
		open_ports(partition);
	if (partition->unprotected & BH_PROTECT_MSR)
		open_msrs(partition);
	if (partition->unprotected & BH_PROTECT_IPI)
		x86_vendor_boot->allow_msr(partition, APIC_ICR, HAL_WRITE);
	if (partition->unprotected & BH_PROTECT_IRQ)
		open_lvts(partition);
}
