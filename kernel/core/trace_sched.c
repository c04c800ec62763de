/* SPDX-License-Identifier: Apache-2.0 */
/* Notes who was charged, and who runs (trace_sched.h). */
#include "kernel/core/trace_sched.h"

#include <stddef.h>

#include "kernel/core/cpu.h"
#include "kernel/core/thread.h"

/* Who ran on a core by its last record, which its core alone touches. */
static struct told {
	const struct vcpu *vcpu;
	bool foreground;
	uint32_t life; /* trace_life; of another one nothing is known */
} told[BH_MAX_SANDBOX_CORES];

static uint32_t row_of(const struct vcpu *vcpu)
{
	return vcpu ? ((const struct thread_vcpu *)vcpu)->row : 0;
}

static const struct replenishment *entry_of(const struct sporadic *server, uint32_t n)
{
	return &server->entries[(server->first + n) % SPORADIC_MOST_ENTRIES];
}

/* What it may use now. */
static uint64_t left_of(const struct vcpu *vcpu, uint64_t now)
{
	uint64_t left = 0;

	if (vcpu->kind == VCPU_IO)
		return vcpu->io.at <= now ? vcpu->io.amount : 0;
	for (uint32_t n = 0; n < vcpu->main.count && entry_of(&vcpu->main, n)->at <= now; n++)
		left += entry_of(&vcpu->main, n)->amount;
	return left;
}

/* What comes back last is what was used last, with what it was merged with. */
static struct replenishment last_of(const struct vcpu *vcpu)
{
	if (vcpu->kind == VCPU_IO)
		return (struct replenishment){ .at = vcpu->io.at, .amount = vcpu->io.amount };
	return vcpu->main.entries[vcpu->main.last];
}

static uint64_t next_of(const struct vcpu *vcpu)
{
	return vcpu->kind == VCPU_IO ? vcpu->io.at : sporadic_next(&vcpu->main);
}

static void note_charged(const struct vcpu *vcpu, uint64_t now)
{
	const struct replenishment last = last_of(vcpu);
	uint32_t row = row_of(vcpu);

	if (last.at > now)
		trace_write_at(now, BH_TRACE_REPLENISH, row, last.amount, last.at);
	if (vcpu->ready && next_of(vcpu) > now)
		trace_write_at(now, BH_TRACE_USED_UP, row, next_of(vcpu), 0);
	else
		trace_write_at(now, BH_TRACE_CHARGED, row, left_of(vcpu, now), 0);
}

void trace_decision(const struct sched *core)
{
	struct told *before = &told[cpu_slot()];
	const struct vcpu *vcpu = core->running;
	uint64_t now = core->since;

	if (before->life != trace_life)
		*before = (struct told){ 0 };
	if (before->vcpu && before->foreground)
		note_charged(before->vcpu, now);
	if (before->life != trace_life || vcpu != before->vcpu || core->foreground != before->foreground)
		trace_write_at(now, BH_TRACE_VCPU, row_of(vcpu), vcpu ? left_of(vcpu, now) : 0, core->foreground);
	*before = (struct told){ .vcpu = vcpu, .foreground = core->foreground, .life = trace_life };
}

void trace_wake(const struct vcpu *vcpu)
{
	trace_write(BH_TRACE_READY, row_of(vcpu), next_of(vcpu), 0);
}

void trace_exception(struct sched *core, uint64_t from, uint64_t to, struct vcpu *owes)
{
	uint64_t since = core->since;

	sched_except(core, from, to, owes);
	trace_write_at(to, BH_TRACE_EXCEPTED, row_of(owes), core->since - since, 0);
}
