/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locks that monitors share, for registers that exist once in the machine (docs/shared-state.md). A lock serves the cores that wait in
 * turn, by their numbers, so each other core has it at most once before a core that waits. At most BH_MAX_CORES wait, and a holder makes a
 * few device accesses, so no guest can stretch a wait beyond a fixed bound. A core that waits answers no kick until it has the lock. NMI
 * handlers take no lock. A holder does nothing that a guest could make fail. If its monitor traps all the same, it gives the lock back when
 * it begins anew (hal_core_begin, BH-D346): so whatever a holder writes, after each single write the next holder must be able to go on.
 */
#pragma once
#include "abi/table.h"
#include "hal/hal.h"

struct hal_lock {
	_Alignas(64) uint32_t wanted; /* bits of the cores that wait, and of the holder */
	uint32_t holder;              /* its bit; 0: the lock is free */
};
_Static_assert(BH_MAX_CORES <= 32, "a bit a core");

/* The bit of machine core `core`, by which locks know it. Start-up is alone, and uses any core's. */
static inline uint32_t hal_lock_bit(uint32_t core)
{
	return UINT32_C(1) << core;
}
enum { HAL_LOCK_START_UP = 1 };

/* The locks lie on the shared page, after the kick mailboxes. */
enum hal_lock_name { HAL_LOCK_IOAPIC, HAL_LOCK_PCI, HAL_LOCK_IOMMU, HAL_LOCKS };
_Static_assert(BH_MAX_CORES * sizeof(struct hal_kick_mailbox) + HAL_LOCKS * sizeof(struct hal_lock) <= BH_PAGE_BYTES, "one page");

static inline struct hal_lock *hal_lock_of(struct hal_kick_mailbox *boxes, enum hal_lock_name name)
{
	return (struct hal_lock *)(boxes + BH_MAX_CORES) + name;
}

/* Waits until it is this core's turn, then takes the lock. `self`: hal_lock_bit of this core. Requires: this core does not hold it. */
void hal_lock_take(struct hal_lock *lock, uint32_t self);
/* Requires: this core holds it. */
void hal_lock_give(struct hal_lock *lock, uint32_t self);
/*
 * Gives back the lock that this core held, or waited for, when its monitor trapped; in the latter case it waits for its turn first. Where
 * neither is so, does nothing. Requires: the monitor begins anew.
 */
void hal_lock_leave(struct hal_lock *lock, uint32_t self);
