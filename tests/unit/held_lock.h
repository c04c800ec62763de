/* SPDX-License-Identifier: Apache-2.0 */
/* Another sandbox's monitor, which holds a lock until somebody waits for it. */
#pragma once
#include "check.h"
#include "fake_arch.h"
#include "hal/lock.h"

enum { HELD_BY = 1 << 30 }; /* its core's bit */
static struct hal_lock *held_lock;
static unsigned held_waits;

static inline void held_give(void)
{
	held_waits++;
	hal_lock_give(held_lock, HELD_BY);
}

static inline void held_by_another(struct hal_lock *lock)
{
	held_lock = lock;
	held_waits = 0;
	hal_lock_take(lock, HELD_BY);
	fake_arch.on_relax = held_give;
}

static inline void held_check_waited(const char *who)
{
	fake_arch.on_relax = NULL;
	check_context.subject = who;
	CHECK_EQ(held_waits, 1);
}
