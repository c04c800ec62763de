/* SPDX-License-Identifier: Apache-2.0 */
/* Locks between the cores of a sandbox, first come, first served (lock.h). */
#include "kernel/core/lock.h"

#include "kernel/core/cpu.h"

static bool begun;

void lock_begin(void)
{
	begun = true;
}

bool lock_take(struct lock *lock)
{
	bool enabled = cpu_interrupts_disable();

	if (begun) {
		uint32_t ticket = __atomic_fetch_add(&lock->next, 1, __ATOMIC_RELAXED);

		while (__atomic_load_n(&lock->serving, __ATOMIC_ACQUIRE) != ticket)
			arch_relax();
	}
	return enabled;
}

void lock_give(struct lock *lock, bool interrupts_enabled)
{
	if (begun)
		__atomic_store_n(&lock->serving, lock->serving + 1, __ATOMIC_RELEASE);
	cpu_interrupts_restore(interrupts_enabled);
}
