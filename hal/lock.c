/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: locks between monitors. */
#include "hal/lock.h"

#include "arch/arch.h"

void hal_lock_take(struct hal_lock *lock, uint32_t self)
{
	uint32_t holder = 0;

	__atomic_fetch_or(&lock->wanted, self, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&lock->holder, &holder, self, true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE) && holder != self) {
		holder = 0;
		arch_relax();
	}
}

/* A core that wants the lock goes on wanting it until it has held it, so whoever is named here takes it. The own bit is set. */
void hal_lock_give(struct hal_lock *lock, uint32_t self)
{
	uint32_t wanted, after;

	__atomic_fetch_xor(&lock->wanted, self, __ATOMIC_RELAXED);
	wanted = __atomic_load_n(&lock->wanted, __ATOMIC_RELAXED);
	after = wanted & -self;
	if (after)
		wanted = after;
	__atomic_store_n(&lock->holder, wanted & -wanted, __ATOMIC_RELEASE);
}

/*
 * The trap may have struck between any two instructions of the functions above: whichever word has the bit, to take the lock completes
 * both. What the holder has written to registers arrives before the lock is free, as wherever the lock is given.
 */
void hal_lock_leave(struct hal_lock *lock, uint32_t self)
{
	if ((__atomic_load_n(&lock->wanted, __ATOMIC_RELAXED) | __atomic_load_n(&lock->holder, __ATOMIC_RELAXED)) & self) {
		hal_lock_take(lock, self);
		arch_barrier();
		hal_lock_give(lock, self);
	}
}
