/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what the sandbox does, and writes it (telemetry.h). Others' counts are read while they count: each by itself is right. */
#include "kernel/core/telemetry.h"

#include "abi/telemetry.h"
#include "kernel/core/channels.h"
#include "kernel/core/clock.h"
#include "kernel/core/cpu.h"
#include "kernel/core/heartbeat.h"
#include "kernel/core/info.h"
#include "kernel/core/trace.h"
#include "kernel/core/vcpus.h"

_Atomic uint64_t telemetry_next = UINT64_MAX;
static struct bh_end *out;
static struct bh_telemetry said;

/* What follows the name is 0, as it was: a row keeps its name for good. */
static void put_name(uint8_t *to, const char *name, uint32_t room)
{
	for (uint32_t n = 0; name && name[n] && n < room - 1; n++)
		to[n] = (uint8_t)name[n];
}

static void put_exits(void)
{
	const struct bh_stats *stats = info_statistics();

	if (!stats->ready_clock)
		return;
	for (uint32_t reason = 0; reason < BH_EXIT_REASONS; reason++) {
		uint64_t count = 0;

		for (uint32_t core = 0; core < said.core_count; core++)
			count += __atomic_load_n(&stats->core[core].exits[reason], __ATOMIC_RELAXED) - stats->at_ready[core][reason];
		said.exits[reason] = count;
	}
}

/* Of the table that the tool reads, too. */
static void put_vcpu(struct bh_telemetry_vcpu *to, uint32_t row)
{
	const struct bh_trace_vcpu *vcpu = &trace_state.vcpu[row];
	const struct bh_trace_had *had = (const struct bh_trace_had *)(uintptr_t)vcpu->had;
	const struct bh_trace_run *run = (const struct bh_trace_run *)(uintptr_t)__atomic_load_n(&vcpu->run, __ATOMIC_ACQUIRE);

	put_name(to->name, (const char *)(uintptr_t)vcpu->name, sizeof(to->name));
	put_name(to->program, vcpus_program(row), sizeof(to->program));
	to->budget = clock_to_ns(__atomic_load_n(&vcpu->budget, __ATOMIC_RELAXED));
	to->period = clock_to_ns(__atomic_load_n(&vcpu->period, __ATOMIC_RELAXED));
	to->had = clock_to_ns(__atomic_load_n(&had->foreground, __ATOMIC_RELAXED));
	to->background = clock_to_ns(__atomic_load_n(&had->background, __ATOMIC_RELAXED));
	to->rounds = run ? __atomic_load_n(&run->rounds, __ATOMIC_RELAXED) : 0;
	to->missed = run ? __atomic_load_n(&run->missed, __ATOMIC_RELAXED) : 0;
	to->core = info->cores[vcpu->slot];
}

/* A row that a core is still making is not told of, nor what follows it. */
static void put_vcpus(void)
{
	const uint32_t count = __atomic_load_n(&trace_state.vcpu_count, __ATOMIC_RELAXED);
	uint32_t row = 1;

	while (row <= count && row <= BH_TELEMETRY_VCPUS && __atomic_load_n(&trace_state.vcpu[row].had, __ATOMIC_ACQUIRE)) {
		put_vcpu(&said.vcpu[row - 1], row);
		row++;
	}
	said.vcpu_count = row - 1;
	said.vcpus_left_out = count - said.vcpu_count;
}

static void put_channel(struct bh_telemetry_channel *to, const struct bh_grant *grant)
{
	const struct bh_end *end = channel_of(grant);

	put_name(to->name, (const char *)grant->name, sizeof(to->name));
	put_name(to->peer, (const char *)grant->compatible, sizeof(to->peer));
	to->end = grant->vector;
	to->state = BH_TELEMETRY_CLOSED;
	if (!end)
		return;
	to->state = __atomic_load_n(&end->connected, __ATOMIC_RELAXED) ? BH_TELEMETRY_CONNECTED : BH_TELEMETRY_ALONE;
	to->sent = __atomic_load_n(&end->sent, __ATOMIC_RELAXED);
	to->taken = __atomic_load_n(&end->taken, __ATOMIC_RELAXED);
	to->connections = __atomic_load_n(&end->connections, __ATOMIC_RELAXED);
	to->refused = __atomic_load_n(&end->refused, __ATOMIC_RELAXED);
}

static void put_channels(void)
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < info->grant_count && n < BH_MAX_GRANTS; n++)
		if (info->grants[n].kind == BH_GRANT_CHANNEL && count++ < BH_TELEMETRY_CHANNELS)
			put_channel(&said.channel[count - 1], &info->grants[n]);
	said.channel_count = count < BH_TELEMETRY_CHANNELS ? count : BH_TELEMETRY_CHANNELS;
	said.channels_left_out = count - said.channel_count;
}

static void collect(uint64_t now)
{
	const struct bh_stats *stats = info_statistics();

	said.life = stats->restarts;
	said.is_ready = stats->ready_clock != 0;
	said.number++;
	said.time = clock_to_ns(now);
	said.up = clock_to_ns(now - stats->start_clock);
	heartbeat_tell(&said);
	put_exits();
	put_vcpus();
	put_channels();
}

void telemetry_init(void)
{
	for (uint32_t n = 0; n < info->grant_count && n < BH_MAX_GRANTS && !out; n++) {
		const struct bh_grant *grant = &info->grants[n];

		if (grant->kind == BH_GRANT_CHANNEL && grant->flags & BH_CHANNEL_TELEMETRY)
			out = channel_take((const char *)grant->name);
	}
	if (!out)
		return;
	said.magic = BH_TELEMETRY_MAGIC;
	said.version = BH_TELEMETRY_VERSION;
	said.exit_kinds = BH_EXIT_REASONS;
	said.core_count = info->core_count < BH_MAX_SANDBOX_CORES ? info->core_count : BH_MAX_SANDBOX_CORES;
	atomic_store_explicit(&telemetry_next, arch_counter(), memory_order_relaxed);
}

void telemetry_report(void)
{
	uint64_t now = arch_counter();

	if (!telemetry_is_due(now))
		return;
	atomic_store_explicit(&telemetry_next, now + info_clock_hz() / TELEMETRY_HZ, memory_order_relaxed);
	collect(now);
	if (bh_latest_write(out, &said, sizeof(said)) == BH_END_NEW) /* which is told of once */
		(void)bh_latest_write(out, &said, sizeof(said));
}
