/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a sporadic server's list of replenishments (sporadic.h). */
#include "kernel/sched/sporadic.h"

enum { RING_MASK = SPORADIC_MOST_ENTRIES - 1 };
_Static_assert((SPORADIC_MOST_ENTRIES & RING_MASK) == 0, "places of a ring are found by a mask");

static struct replenishment *first_of(struct sporadic *server)
{
	return &server->entries[server->first];
}

static struct replenishment *last_of(struct sporadic *server)
{
	return &server->entries[server->last];
}

static void drop_first(struct sporadic *server)
{
	server->first = (server->first + 1) & RING_MASK;
	server->count--;
}

/* Never past SPORADIC_FAR: no sum of two such times wraps. */
static uint64_t later(uint64_t at, uint64_t span)
{
	return at + span < SPORADIC_FAR ? at + span : SPORADIC_FAR;
}

void sporadic_init(struct sporadic *server, uint64_t budget, uint64_t period, unsigned entries, uint64_t now)
{
	server->budget = budget;
	server->period = period;
	server->most = entries;
	server->first = server->last = 0;
	server->count = 1;
	server->entries[0] = (struct replenishment){ .at = now, .amount = budget };
}

/* What touches the last entry extends it: it is used after what was there, so not before `at`. */
static void append(struct sporadic *server, uint64_t at, uint64_t amount)
{
	struct replenishment *last = last_of(server);

	if (last->at + last->amount >= at) {
		last->amount += amount;
	} else if (server->count < server->most) {
		server->count++;
		server->last = (server->last + 1) & RING_MASK;
		*last_of(server) = (struct replenishment){ .at = at, .amount = amount };
	} else {
		last->at = at - last->amount;
		last->amount += amount;
	}
}

/* The first replenishment is used up, and another one is there: what was used is less than the budget. */
static void use_first(struct sporadic *server)
{
	const struct replenishment used = *first_of(server);

	drop_first(server);
	append(server, later(used.at, server->period), used.amount);
}

static void delay_all(struct sporadic *server, uint64_t delay)
{
	for (uint32_t n = 0; n < server->count; n++)
		server->entries[(server->first + n) & RING_MASK].at += delay;
}

/* Several whole budgets, as in a long stretch with interrupts disabled, or one at the end of all time: divisions take hundreds of
 * instructions on a 32-bit processor, so this is kept out of the way. */
static __attribute__((cold, noinline)) bool charge_many(struct sporadic *server, uint64_t used)
{
	uint64_t delay;

	if (__builtin_mul_overflow(used / server->budget, server->period, &delay))
		delay = SPORADIC_FAR;
	for (uint32_t n = 0; n < server->count; n++) {
		struct replenishment *entry = &server->entries[(server->first + n) & RING_MASK];

		entry->at = later(entry->at, delay);
	}
	return sporadic_charge(server, used % server->budget) || used >= server->budget;
}

bool sporadic_charge(struct sporadic *server, uint64_t used)
{
	struct replenishment *first = first_of(server);
	const bool none_left = used >= first->amount;

	if (used >= server->budget) { /* the whole: everything comes a period later */
		if (used - server->budget >= server->budget || last_of(server)->at >= SPORADIC_FAR - server->period)
			return charge_many(server, used);
		delay_all(server, server->period);
		used -= server->budget;
	}
	while (used >= first->amount) {
		used -= first->amount;
		use_first(server);
		first = first_of(server);
	}
	if (used) {
		first->amount -= used;
		first->at += used;
		append(server, later(first->at - used, server->period), used);
	}
	return none_left;
}

void sporadic_wake(struct sporadic *server, uint64_t now)
{
	struct replenishment *first = first_of(server);
	uint64_t amount = first->amount;

	if (first->at >= now)
		return;
	while (server->count > 1) {
		struct replenishment *next = &server->entries[(server->first + 1) & RING_MASK];

		if (next->at > now + amount)
			break;
		amount += next->amount;
		drop_first(server);
		first = next;
	}
	*first = (struct replenishment){ .at = now, .amount = amount };
}
