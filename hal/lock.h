/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks between monitors, for registers that hardware has once for all (docs/shared-state.md). Whoever comes first is served first: with at
 * most BH_MAX_CORES waiting, each for a few device accesses, a wait has a bound that no guest can stretch; kicks are answered after it.
 * NMI handlers take none, and nothing that a guest can make fail is done under one.
 */
#pragma once
#include "abi/table.h"
#include "hal/hal.h"

struct hal_lock {
	_Alignas(64) uint32_t next; /* ticket for who comes now */
	uint32_t serving;
};

/* They lie on the shared page, behind the kick mailboxes. */
enum hal_lock_name { HAL_LOCK_IOAPIC, HAL_LOCK_PCI, HAL_LOCKS };
_Static_assert(BH_MAX_CORES * sizeof(struct hal_kick_mailbox) + HAL_LOCKS * sizeof(struct hal_lock) <= BH_PAGE_BYTES, "one page");

static inline struct hal_lock *hal_lock_of(struct hal_kick_mailbox *boxes, enum hal_lock_name name)
{
	return (struct hal_lock *)(boxes + BH_MAX_CORES) + name;
}

/* Waits until everybody who came before has had the lock, and takes it. Requires: this core does not hold it. */
void hal_lock_take(struct hal_lock *lock);
/* Requires: this core holds it. */
void hal_lock_give(struct hal_lock *lock);
