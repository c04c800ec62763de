/* SPDX-License-Identifier: Apache-2.0 */
/* Doorbells by the name of their channel (doorbells.h). */
#include "kernel/core/doorbells.h"

#include <stddef.h>

#include "kernel/core/channels.h"
#include "kernel/core/cpu.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"
#include "kernel/core/sync.h"
#include "kernel/core/text.h"
#include "kernel/core/timer.h"

enum { MOST = 16 /* BH_MAX_CHANNELS */ };

static struct doorbell {
	const struct bh_grant *grant;
	uint32_t channel;         /* its number, as the monitor counts them */
	const uint64_t *served;   /* how often this end was rung; NULL: it never is */
	uint64_t seen;            /* of these, what has been told of */
	struct semaphore rung;    /* 1 at most */
	struct timer_event later; /* a ring that came too soon */
	bool left;                /* it is, or will be: `later` belongs to the core that has set this */
	struct doorbell *next;    /* of those by which this end is rung */
} doorbells[MOST];
static struct doorbell *heard; /* the first of these */
static unsigned count;

static bool is_rung(const struct doorbell *one)
{
	return one->served;
}

/* All that are heard have this handler, which is not told whose interrupt it is: it looks at whose were counted. */
static void serve(struct cpu_frame *frame)
{
	for (struct doorbell *one = heard; one; one = one->next) {
		if (*one->served == one->seen)
			continue;
		one->seen = *one->served;
		semaphore_give_in_handler(&one->rung); /* fails if it has been rung, and nobody has waited since */
	}
}

int64_t doorbell_ring(const struct doorbell *doorbell)
{
	return (int64_t)cpu_call_monitor(BH_CALL_DOORBELL, doorbell->channel, 0, 0); /* only a monitor grants one */
}

/* The event is in one core's queue at most, whichever core tells. */
static __attribute__((noinline, cold)) void leave_to_timer(struct doorbell *doorbell)
{
	bool enabled = cpu_interrupts_disable();

	if (!__atomic_exchange_n(&doorbell->left, true, __ATOMIC_SEQ_CST))
		timer_add(&doorbell->later, arch_counter() + clock_from_ns(doorbell->grant->gpa));
	cpu_interrupts_restore(enabled);
}

/* Again, if somebody has rung since the event was set: what was told of before this has been left to it. */
static void ring_now(struct timer_event *event, struct cpu_frame *frame)
{
	struct doorbell *one = (struct doorbell *)((char *)event - offsetof(struct doorbell, later));

	__atomic_store_n(&one->left, false, __ATOMIC_SEQ_CST);
	if (doorbell_ring(one) == BH_E_LATER)
		leave_to_timer(one);
}

/*
 * Between the look, the call and the event another thread may ring or set the event. Then the other end is rung more often than need be.
 * Relaxed: between what was written and this look is the fence of bh_end_is_wanted, or it is the event's own core.
 */
void doorbell_tell(struct doorbell *doorbell)
{
	if (!__atomic_load_n(&doorbell->left, __ATOMIC_RELAXED) && doorbell_ring(doorbell) == BH_E_LATER)
		leave_to_timer(doorbell);
}

static void hear(struct doorbell *doorbell)
{
	doorbell->served = irq_count(irq_attach_device(doorbell->grant, serve));
	doorbell->next = heard;
	heard = doorbell;
}

void doorbells_init(void)
{
	for (uint32_t n = 0; n < info->grant_count && n < BH_MAX_GRANTS && count < MOST; n++) {
		const struct bh_grant *grant = &info->grants[n];

		if (grant->kind != BH_GRANT_DOORBELL)
			continue;
		doorbells[count] = (struct doorbell){
			.grant = grant,
			.channel = channel_number((const char *)grant->name),
			.rung = { .most = 1 },
			.later = { .fire = ring_now },
		};
		if (grant->line != BH_LINE_NONE)
			hear(&doorbells[count]);
		count++;
	}
}

struct doorbell *doorbell_find(const char *name)
{
	for (struct doorbell *one = doorbells; one < doorbells + count; one++)
		if (text_equal((const char *)one->grant->name, name))
			return one;
	return NULL;
}

uint64_t doorbell_gap_ns(const struct doorbell *doorbell)
{
	return doorbell->grant->gpa;
}

bool doorbell_is_heard(const struct doorbell *doorbell)
{
	return is_rung(doorbell) && !cpu_slot();
}

enum thread_result doorbell_wait(struct doorbell *doorbell, uint64_t deadline)
{
	if (!doorbell_is_heard(doorbell))
		return THREAD_E_INVALID;
	return semaphore_take(&doorbell->rung, deadline);
}

uint64_t doorbell_count(const struct doorbell *doorbell)
{
	return is_rung(doorbell) ? *doorbell->served : 0;
}
