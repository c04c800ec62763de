/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident: what becomes of a guest's write to its interrupt command register (BH-I1.ipi, BH-I3.forms). Touches no hardware
 * itself: the same source runs under unit tests. SDM vol. 3A, 11.12.9 "ICR Operation in x2APIC Mode".
 */
#include "hal/x86/apic/apic.h"
#include "hal/x86/core.h"

enum { SHORTHAND_NONE, SHORTHAND_SELF, SHORTHAND_ALL, SHORTHAND_OTHERS, CLUSTER_CORES = 16 };
#define BROADCAST UINT32_C(0xffffffff)

/*
 * Which part of a destination is this core: its bit in the set of a logical destination, the whole (1) of a physical one, or 0.
 * SDM vol. 3A, 11.12.10.2 "Deriving Logical x2APIC ID from the Local x2APIC ID".
 */
static uint32_t part_of(uint32_t destination, bool logical, uint32_t apic_id)
{
	if (!logical)
		return destination == apic_id;
	return destination >> 16 == apic_id / CLUSTER_CORES ? destination & 0xffff & UINT32_C(1) << apic_id % CLUSTER_CORES : 0;
}

uint32_t apic_named(const struct hal_partition *partition, uint32_t destination, bool logical)
{
	uint32_t rest = logical ? destination & 0xffff : 1, named = 0;

	for (uint32_t slot = partition->core_count; slot--;) {
		uint32_t part = part_of(destination, logical, partition->apic_id[slot]);

		named = named << 1 | (part != 0);
		rest &= ~part;
	}
	return rest ? named | APIC_FOREIGN : named;
}

/* Broadcast and shorthands mean every core there is; in a sandbox, its own. */
static uint32_t targets_of(const struct hal_core *core, uint64_t icr)
{
	uint32_t shorthand = icr >> 18 & 3, destination = (uint32_t)(icr >> 32);
	uint32_t all = (UINT32_C(1) << core->partition->core_count) - 1, self = UINT32_C(1) << core->slot;

	if (shorthand == SHORTHAND_SELF)
		return self;
	if (shorthand == SHORTHAND_OTHERS)
		return all & ~self;
	if (shorthand == SHORTHAND_ALL || destination == BROADCAST)
		return all;
	return apic_named(core->partition, destination, icr & ICR_LOGICAL);
}

/* Everything but this is for apic_write_icr, whose first step it is. */
HAL_OUTLINE bool apic_send_fixed(const struct hal_core *core, uint64_t icr)
{
	const struct hal_partition *partition = core->partition;

	if (icr & (ICR_MODE | ICR_LOGICAL | ICR_SHORTHAND) || !apic_vector_exists(icr))
		return false;
	for (uint32_t slot = 0; slot < partition->core_count; slot++)
		if (partition->apic_id[slot] == icr >> 32) {
			apic_send(partition->apic_id[slot], APIC_FIXED, (uint8_t)icr);
			return true;
		}
	return false;
}

/* What starts, resets or breaks into a core is its monitor's to carry out. An INIT without "assert" is an old form that says nothing. */
static bool post(struct hal_core *core, uint64_t icr)
{
	switch (apic_mode_of(icr)) {
	case APIC_NMI:
		return x86_post_nmi(core);
	case APIC_INIT:
		return icr & ICR_ASSERT && x86_post_init(core);
	case APIC_STARTUP:
		return x86_post_startup(core, (uint8_t)icr);
	default:
		return false;
	}
}

/*
 * An interrupt whose vector is an exception's is dropped here, as hardware would, so that it is everywhere (SDM vol. 3A, 11.5.3 "Error
 * Handling", "Send Illegal Vector"). To oneself there is no INIT, and no kick: a core looks at its own pending events after this exit.
 */
static void deliver(struct hal_core *from, struct hal_core *to, uint64_t icr)
{
	enum apic_mode mode = apic_mode_of(icr);

	if (mode == APIC_FIXED && apic_vector_exists(icr))
		apic_send(to->apic_id, APIC_FIXED, (uint8_t)icr);
	else if (!(to == from && mode == APIC_INIT) && post(to, icr) && to != from)
		x86_kick_core(to);
}

enum hal_action apic_write_icr(struct hal_core *core, uint64_t icr)
{
	const struct hal_partition *partition = core->partition;
	enum apic_mode mode = apic_mode_of(icr);
	uint32_t targets;

	if (apic_send_fixed(core, icr))
		return HAL_SKIP;
	targets = targets_of(core, icr);
	if (mode == APIC_LOWEST || mode == APIC_SMI || mode == APIC_RESERVED || mode == APIC_EXTINT)
		return HAL_REFUSE;
	if (targets & APIC_FOREIGN)
		return HAL_FAULT;
	for (uint32_t slot = 0; slot < partition->core_count; slot++)
		if (targets >> slot & 1)
			deliver(core, partition->core[slot], icr);
	return HAL_SKIP;
}
