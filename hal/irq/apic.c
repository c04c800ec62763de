/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: sending, and the two filters of what a guest sends or arms (BH-I1.ipi, BH-I3.forms). */
#include "hal/irq/apic.h"

#include "arch/x86_64/x86.h"
#include "hal/x86/core.h"

enum { SHORTHAND_NONE, SHORTHAND_SELF, SHORTHAND_ALL, SHORTHAND_OTHERS };
enum { VECTOR_BITS = 0xff, CLUSTER_CORES = 16 };
#define BROADCAST UINT32_C(0xffffffff)

/* WRMSR to the x2APIC does not wait for earlier stores. SDM vol. 3A, 11.12.3 "MSR Access in x2APIC Mode". */
void apic_send(uint32_t apic_id, enum apic_mode mode, uint8_t vector)
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
 * them: nothing is wired there, so such an entry is kept masked.
 */
bool apic_write_lvt(struct hal_core *core, uint32_t msr, uint64_t *value)
{
	uint64_t keep = VECTOR_BITS | LVT_MASKED | (msr == APIC_LVT_TIMER ? LVT_PERIODIC : 0);
	enum apic_mode mode = apic_mode_of(*value);
	bool wired = msr == APIC_LVT_LINT0 || msr == APIC_LVT_LINT1 || msr == APIC_LVT_PERFORMANCE;

	if (!lvt_exists(msr) || (mode != APIC_FIXED && !(wired && (mode == APIC_NMI || mode == APIC_EXTINT))))
		return false;
	x86_wrmsr(msr, (*value & keep) | (mode == APIC_FIXED ? 0 : LVT_MASKED));
	return true;
}

/*
 * Which part of a destination is this core: its bit in the set of a logical destination, the whole (1) of a physical one, or 0.
 * SDM vol. 3A, 11.12.10.2 "Deriving Logical x2APIC ID from the Local x2APIC ID".
 */
static uint32_t part_of(uint64_t icr, uint32_t destination, uint32_t apic_id)
{
	if (!(icr & ICR_LOGICAL))
		return destination == apic_id;
	return destination >> 16 == apic_id / CLUSTER_CORES ? destination & 0xffff & UINT32_C(1) << apic_id % CLUSTER_CORES : 0;
}

struct targets {
	uint32_t slots; /* bit n: own core n */
	bool foreign;   /* a core was named that is not the sandbox's */
};

/* Broadcast and shorthands mean every core there is; in a sandbox, its own. */
static struct targets targets_of(const struct hal_core *core, uint64_t icr)
{
	const struct hal_partition *partition = core->partition;
	uint32_t shorthand = icr >> 18 & 3, destination = (uint32_t)(icr >> 32);
	uint32_t all = (UINT32_C(1) << partition->core_count) - 1, self = UINT32_C(1) << core->slot;
	uint32_t rest = icr & ICR_LOGICAL ? destination & 0xffff : 1;
	struct targets targets = { 0 };

	if (shorthand == SHORTHAND_SELF)
		return (struct targets){ .slots = self };
	if (shorthand == SHORTHAND_OTHERS)
		return (struct targets){ .slots = all & ~self };
	if (shorthand == SHORTHAND_ALL || destination == BROADCAST)
		return (struct targets){ .slots = all };
	for (uint32_t slot = 0; slot < partition->core_count; slot++) {
		uint32_t part = part_of(icr, destination, partition->apic_id[slot]);

		targets.slots |= part ? UINT32_C(1) << slot : 0;
		rest &= ~part;
	}
	targets.foreign = rest;
	return targets;
}

/* Fixed interrupts go to own cores, one by one. NMI: to oneself. INIT and STARTUP find only cores that need none. */
enum hal_action apic_write_icr(struct hal_core *core, const struct hal_exit *exit)
{
	const struct hal_partition *partition = core->partition;
	enum apic_mode mode = apic_mode_of(exit->value);
	struct targets targets = targets_of(core, exit->value);

	if (mode == APIC_LOWEST || mode == APIC_SMI || mode == APIC_RESERVED || mode == APIC_EXTINT)
		return HAL_REFUSE;
	if (targets.foreign)
		return HAL_FAULT;
	if (mode == APIC_NMI && targets.slots >> core->slot & 1)
		x86_vendor->inject(core, X86_EVENT_NMI);
	for (uint32_t slot = 0; mode == APIC_FIXED && slot < partition->core_count; slot++)
		if (targets.slots >> slot & 1)
			apic_send(partition->apic_id[slot], APIC_FIXED, (uint8_t)exit->value);
	return HAL_SKIP;
}
