/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: a ticket lock. */
#include "hal/lock.h"

#include "arch/arch.h"

void hal_lock_take(struct hal_lock *lock)
{
	uint32_t ticket = __atomic_fetch_add(&lock->next, 1, __ATOMIC_RELAXED);

	while (__atomic_load_n(&lock->serving, __ATOMIC_ACQUIRE) != ticket)
		arch_relax();
}

void hal_lock_give(struct hal_lock *lock)
{
	__atomic_store_n(&lock->serving, lock->serving + 1, __ATOMIC_RELEASE);
}
