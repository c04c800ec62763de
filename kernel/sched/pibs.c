/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the budget of a priority-inheriting bandwidth server (pibs.h). */
#include "kernel/sched/pibs.h"

#include "kernel/sched/sporadic.h"

/* With so many, one percent of a core takes 100 * 2^24, and uses of up to 2^32 ticks are multiplied in 64 bits. */
enum { PLACES = 24 };

static uint64_t budget_of(const struct pibs *server)
{
	uint64_t budget = server->period * server->percent / PIBS_PERCENT;

	return budget ? budget : 1;
}

void pibs_init(struct pibs *server, uint32_t percent, uint64_t period, uint64_t now)
{
	*server = (struct pibs){
		.percent = percent,
		.period = period,
		.at = now,
		.ticks_per_use = (((uint64_t)PIBS_PERCENT << PLACES) + percent - 1) / percent,
	};
	server->amount = budget_of(server);
}

/* used / utilization, rounded up: never eligible too early. */
static uint64_t span_of(const struct pibs *server, uint64_t used)
{
	if (used >> 32)
		return used < SPORADIC_FAR / PIBS_PERCENT ? (used * PIBS_PERCENT + server->percent - 1) / server->percent : SPORADIC_FAR;
	return (used * server->ticks_per_use + (1ULL << PLACES) - 1) >> PLACES;
}

void pibs_wake(struct pibs *server, uint64_t period, bool idle, uint64_t now)
{
	if (!idle && period >= server->period)
		return;
	server->period = period;
	if (idle && server->at < now)
		server->at = now;
	if (budget_of(server) > server->used)
		server->amount = budget_of(server) - server->used;
	else
		pibs_end(server);
}

void pibs_end(struct pibs *server)
{
	uint64_t span = span_of(server, server->used);

	server->at = span < SPORADIC_FAR - server->at ? server->at + span : SPORADIC_FAR;
	server->used = 0;
	server->amount = budget_of(server);
}

bool pibs_charge(struct pibs *server, uint64_t used)
{
	server->used += used;
	if (used < server->amount) {
		server->amount -= used;
		return false;
	}
	pibs_end(server);
	return true;
}
