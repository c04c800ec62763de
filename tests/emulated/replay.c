/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's own files on the development machine, told what a traced core was told, a line each, and telling what it makes of it:
 *
 *   vcpu ROW BUDGET PERIOD     one more, which is not ready
 *   ready ROW AT, sleep ROW AT
 *   except FROM TO ROW         an interrupt, owed by ROW, 0: nobody
 *   decide AT                  answers: who runs, in the foreground or not, what that one has left, and until when;
 *                              then of who was charged: its row, the last of its list (amount, time), from when on it may run, what it has
 * left
 */
#include "kernel/sched/sched.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LEAVES = 64 };

static struct sched core;
static struct vcpu vcpus[LEAVES]; /* by row; row 0 is nobody's */
static struct vcpu *by_rank[LEAVES];
static uint64_t words[4 * LEAVES];

static struct vcpu *vcpu_of(uint64_t row)
{
	return row ? &vcpus[row] : NULL;
}

static uint64_t row_of(const struct vcpu *vcpu)
{
	return vcpu ? (uint64_t)(vcpu - vcpus) : 0;
}

static struct replenishment entry(const struct vcpu *vcpu, unsigned n)
{
	return vcpu->main.entries[(vcpu->main.first + n) % SPORADIC_MOST_ENTRIES];
}

static uint64_t left_of(const struct vcpu *vcpu, uint64_t now)
{
	uint64_t left = 0;

	for (unsigned n = 0; vcpu && n < vcpu->main.count; n++)
		if (entry(vcpu, n).at <= now)
			left += entry(vcpu, n).amount;
	return left;
}

static void decide(uint64_t at)
{
	const struct vcpu *before = core.foreground ? core.running : NULL, *now = sched_decide(&core, at);
	struct replenishment last = { 0 };

	if (before)
		last = entry(before, before->main.count - 1);
	printf("%" PRIu64 " %d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", row_of(now),
	       core.foreground, left_of(now, at), core.until, row_of(before), last.amount, last.at, before ? entry(before, 0).at : 0,
	       left_of(before, at));
}

/* Returns false for a line that it cannot follow. */
static bool follow(const char *what, const uint64_t *number)
{
	if (!strcmp(what, "decide"))
		decide(number[0]);
	else if (!strcmp(what, "except"))
		sched_except(&core, number[0], number[1], vcpu_of(number[2] % LEAVES));
	else if (number[0] == 0 || number[0] >= LEAVES)
		return false;
	else if (!strcmp(what, "vcpu"))
		return sched_add_main(&core, &vcpus[number[0]], number[1], number[2], SPORADIC_MOST_ENTRIES, 0) == SCHED_OK;
	else if (!strcmp(what, "ready"))
		sched_ready(&core, &vcpus[number[0]], number[1]);
	else if (!strcmp(what, "sleep"))
		sched_idle(&core, &vcpus[number[0]], number[1]);
	else
		return false;
	return true;
}

int main(void)
{
	char line[128], what[8];
	uint64_t number[3];

	sched_init(&core, words, by_rank, LEAVES, 0);
	while (fgets(line, sizeof(line), stdin)) {
		memset(number, 0, sizeof(number));
		if (sscanf(line, "%7s %" SCNu64 " %" SCNu64 " %" SCNu64, what, &number[0], &number[1], &number[2]) < 2 ||
		    !follow(what, number)) {
			fprintf(stderr, "cannot follow: %s", line);
			return 1;
		}
	}
	return 0;
}
