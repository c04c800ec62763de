/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: the local APIC itself, and the filter of what a guest arms in it (BH-I3.forms). */
#include "hal/x86/apic/apic.h"

#include "arch/x86_64/x86.h"
#include "hal/x86/vendor.h"

enum { VECTOR_BITS = 0xff, VECTORS = 256, CLASSES = 16, SVR_SPURIOUS = 0xff };

/* WRMSR to the x2APIC does not wait for earlier stores. SDM vol. 3A, 11.12.3 "MSR Access in x2APIC Mode". */
HAL_OUTLINE void apic_send(uint32_t apic_id, enum apic_mode mode, uint8_t vector)
{
	__asm__ volatile("mfence; lfence" : : : "memory");
	x86_wrmsr(APIC_ICR, (uint64_t)apic_id << 32 | ICR_ASSERT | (uint32_t)mode << 8 | vector);
}

/* In the order in which processors have them: APIC version register, "Max LVT Entry". SDM vol. 3A, 11.4.8. */
static const uint16_t lvts[] = {
	APIC_LVT_TIMER, APIC_LVT_LINT0, APIC_LVT_LINT1, APIC_LVT_ERROR, APIC_LVT_PERFORMANCE, APIC_LVT_THERMAL, APIC_LVT_CMCI,
};
enum { LVTS = sizeof(lvts) / sizeof(lvts[0]), APIC_VERSION = 0x803 };

static unsigned lvt_count(void)
{
	unsigned count = (x86_rdmsr(APIC_VERSION) >> 16 & 0xff) + 1;

	return count < LVTS ? count : LVTS;
}

void apic_quiet(void)
{
	unsigned count = lvt_count();

	for (unsigned n = 0; n < count; n++)
		x86_wrmsr(lvts[n], LVT_MASKED);
	x86_wrmsr(APIC_TIMER_INITIAL, 0);
}

void apic_enable(void)
{
	x86_wrmsr(APIC_SVR, SVR_ENABLE | SVR_SPURIOUS);
}

/*
 * As after INIT: off, and nothing requested or in service. SDM vol. 3A, 11.4.7.3 "Local APIC State After an INIT Reset". Requests
 * cannot be taken back, so the core takes each and ends it, after those in service: one a priority class. Senders that do not
 * stop find the bound.
 */
void apic_reset(void)
{
	apic_quiet();
	apic_enable();
	x86_wrmsr(APIC_TPR, 0);
	for (unsigned n = 0; n < CLASSES + VECTORS; n++) {
		if (n >= CLASSES)
			x86_vendor->drain();
		x86_wrmsr(APIC_EOI, 0);
	}
	x86_wrmsr(APIC_SVR, SVR_SPURIOUS);
	x86_wrmsr(APIC_TIMER_DIVIDE, 0);
	x86_wrmsr(APIC_ESR, 0); /* takes over what has been logged, */
	x86_wrmsr(APIC_ESR, 0); /* and then nothing */
}

static bool lvt_exists(uint32_t msr)
{
	unsigned count = lvt_count();

	for (unsigned n = 0; n < count; n++)
		if (lvts[n] == msr)
			return true;
	return false;
}

/*
 * Only fixed interrupts reach the hardware, edge-triggered. Kernels leave LINT0 and LINT1 as ExtINT and NMI, as a PC has
 * them: nothing is wired there, so such an entry is kept masked. So is one with a vector that no interrupt may have.
 */
bool apic_write_lvt(struct hal_core *core, uint32_t msr, uint64_t *value)
{
	uint64_t keep = VECTOR_BITS | LVT_MASKED | (msr == APIC_LVT_TIMER ? LVT_PERIODIC : 0);
	enum apic_mode mode = apic_mode_of(*value);
	bool wired = msr == APIC_LVT_LINT0 || msr == APIC_LVT_LINT1 || msr == APIC_LVT_PERFORMANCE;

	if (!lvt_exists(msr) || (mode != APIC_FIXED && !(wired && (mode == APIC_NMI || mode == APIC_EXTINT))))
		return false;
	x86_wrmsr(msr, (*value & keep) | (mode == APIC_FIXED && apic_vector_exists(*value) ? 0 : LVT_MASKED));
	return true;
}
