/* SPDX-License-Identifier: Apache-2.0 */
/* How often a doorbell rings at most: what both machines' doorbells have in common. BH-I4.doorbell, BH-D1109. */
#pragma once
#include "abi/guest.h"
#include "arch/arch.h"
#include "hal/hal.h"

/*
 * Returns BH_OK if the caller is to ring now, or another core of its sandbox does, which began later than the caller was asked; else what
 * the guest is to be told. The barrier is for who does not ring itself: what it has written is seen before it finds that nobody has rung
 * yet, and so before the other's ring.
 */
static inline int64_t hal_doorbell_claim(struct hal_doorbell *bell, bool *rings)
{
	uint64_t next, now;

	*rings = false;
	if (!bell->gap)
		return BH_E_DENIED;
	arch_barrier();
	next = __atomic_load_n(&bell->next, __ATOMIC_RELAXED);
	now = arch_counter();
	if ((int64_t)(now - next) < 0)
		return BH_E_LATER;
	*rings = __atomic_compare_exchange_n(&bell->next, &next, now + bell->gap, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return BH_OK;
}
