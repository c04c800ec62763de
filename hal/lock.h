/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks that monitors share, for registers that exist once in the machine (docs/shared-state.md). A lock serves cores in the order in
 * which they ask. At most BH_MAX_CORES wait, and a holder makes a few device accesses, so no guest can stretch a wait beyond a fixed
 * bound. A core that waits answers no kick until it has the lock. NMI handlers take no lock. A holder does nothing that a guest could make
 * fail.
 */
#pragma once
#include "abi/table.h"
#include "hal/hal.h"

struct hal_lock {
	_Alignas(64) uint32_t next; /* ticket of the next core that asks */
	uint32_t serving;
};

/* The locks lie on the shared page, after the kick mailboxes. */
enum hal_lock_name { HAL_LOCK_IOAPIC, HAL_LOCK_PCI, HAL_LOCKS };
_Static_assert(BH_MAX_CORES * sizeof(struct hal_kick_mailbox) + HAL_LOCKS * sizeof(struct hal_lock) <= BH_PAGE_BYTES, "one page");

static inline struct hal_lock *hal_lock_of(struct hal_kick_mailbox *boxes, enum hal_lock_name name)
{
	return (struct hal_lock *)(boxes + BH_MAX_CORES) + name;
}

/* Waits until every core that asked earlier has had the lock, then takes it. Requires: this core does not hold it. */
void hal_lock_take(struct hal_lock *lock);
/* Requires: this core holds it. */
void hal_lock_give(struct hal_lock *lock);
