/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sandbox begins again, or ends for good (BH-I6.contained, BH-I8.bounded), by its own monitor alone: nobody else helps, waits or notices.
 *
 *   any core      claims the restart or the end (run.c), kicks its siblings
 *   every core    quiesces, reports itself stopped
 *   others        wait for the next life
 *   first core    waits until all others have stopped, within a bound; then nothing of the sandbox runs
 *                 devices ── hal_partition_quiesce: what they still write comes before the zeros. Here an end is complete, and others
 *                 are told that it is: nothing of the sandbox sends any more
 *                 memory ── zeros, then the pieces of the boot snapshot, cleaned; meanwhile devices reset themselves
 *                 hardware ── hal_core_restart
 *                 statistics, the next life
 *
 * The work is a store for each word of its RAM, a load and a store for each of its pieces, and the cache maintenance of both; kicks
 * are answered in between. A monitor that traps once never restarts its sandbox again: run.c.
 */
#include "monitor.h"

#include "arch/arch.h"

enum { CHUNK_WORDS = 1 << 11, WORDS_A_TURN = 4 };
_Static_assert(BH_PAGE_BYTES % (WORDS_A_TURN * sizeof(uint64_t)) == 0 && CHUNK_WORDS % WORDS_A_TURN == 0,
	       "turns fill whole pages and chunks");

/* What a restart reads and writes is mapped one to one. */
static uint64_t *words_at(uint64_t hpa)
{
	return (uint64_t *)(uintptr_t)hpa;
}

/* The words from `to` to `end` become those at `from`, or zeros if that is NULL. Kicks do not wait for a large sandbox. */
static void fill(struct hal_core *core, uint64_t *to, uint64_t *end, const uint64_t *from)
{
	while (to < end) {
		const uint64_t *start = to, *stop = end - to < CHUNK_WORDS ? end : to + CHUNK_WORDS;

		while (from && to < stop)
			*to++ = *from++;
		for (; to < stop; to += WORDS_A_TURN)
			to[0] = to[1] = to[2] = to[3] = 0;
		arch_cache_clean(start, (size_t)(stop - start) * sizeof(*to));
		monitor_take_kicks(core, 0);
		arch_relax(); /* an emulator that runs one core at a time lets the others have theirs */
	}
}

static void restore_memory(struct hal_core *core)
{
	const struct boot_snapshot *snapshot = monitor.snapshot;

	for (uint32_t n = 0; n < snapshot->span_count; n++)
		fill(core, words_at(snapshot->spans[n].start), words_at(snapshot->spans[n].start + snapshot->spans[n].bytes), NULL);
	for (uint32_t n = 0; n < snapshot->piece_count; n++) {
		const struct bh_piece *piece = &snapshot->pieces[n];

		fill(core, words_at(piece->target), words_at(piece->target + piece->size), words_at(snapshot->copy + piece->offset));
	}
}

/* A core that was never started, or hangs in its monitor, is not waited for for ever; one that waits for another's answer may do so. */
static bool others_have_stopped(struct hal_core *core, uint32_t phase, uint64_t since)
{
	for (uint32_t slot = 1; slot < monitor.core_count; slot++)
		while (__atomic_load_n(&monitor.stopped[slot], __ATOMIC_ACQUIRE) != phase) {
			if (arch_counter() - since > 2 * monitor.kick_timeout)
				return false;
			monitor_take_kicks(core, 0);
			arch_relax();
		}
	return true;
}

/* Devices may take longer to be reset than memory. */
static void await_devices(struct hal_core *core, uint64_t since)
{
	while (arch_counter() - since < monitor.reset_ticks) {
		monitor_take_kicks(core, 0);
		arch_relax();
	}
}

/* The log goes on; who watches the heartbeat waits for the first of this life. A core whose monitor trapped meanwhile has ended it all. */
static void begin_life(struct hal_core *core, uint32_t phase, uint64_t since)
{
	struct bh_stats *stats = monitor.stats;

	monitor.watch.beats = monitor.log->beats;
	monitor.watch.since = 0;
	stats->restarts++;
	stats->ready_clock = 0;
	stats->start_clock = arch_counter();
	stats->restart_ticks = stats->start_clock - since;
	if (stats->restart_ticks > stats->longest_restart_ticks)
		stats->longest_restart_ticks = stats->restart_ticks;
	channels_tell(core, BH_CHANNEL_LIVES);
	if (monitor_change_phase(phase, (phase & ~(uint32_t)PHASE_MASK) + NEXT_LIFE + PHASE_RUNS))
		__atomic_store_n(&stats->state, BH_STATE_RUNNING, __ATOMIC_RELEASE);
}

/*
 * The first core's part. An end cannot fail: if a core does not come, its guest never runs again, and the devices are silenced without it.
 * A restart writes the sandbox's memory only when nobody else can: if its functions do not fall silent, it becomes an end, and the frames
 * stay as they are.
 */
static void lead(struct hal_core *core, uint32_t phase)
{
	uint64_t since = arch_counter(), reset;
	bool ends = phase == PHASE_ENDED, quiet = others_have_stopped(core, phase, since);

	quiet = (quiet || ends) && hal_partition_quiesce(core);
	if (ends) {
		channels_tell(core, BH_CHANNEL_GONE);
		return;
	}
	if (!quiet) {
		if (monitor_change_phase(phase, PHASE_ENDED))
			monitor_end(core, BH_STATE_PARKED);
		return;
	}
	reset = arch_counter();
	restore_memory(core);
	await_devices(core, reset);
	hal_core_restart(core);
	begin_life(core, phase, since);
}

/* Whoever looks at an old phase has reported himself stopped in it: phases carry the number of their life. */
void restart_take_part(struct hal_core *core, unsigned slot, uint32_t phase)
{
	if (monitor.stopped[slot] == phase) {
		hal_core_wait(core);
		return;
	}
	hal_core_quiesce(core);
	__atomic_store_n(&monitor.stopped[slot], phase, __ATOMIC_RELEASE);
	if (!slot)
		lead(core, phase);
}

/*
 * Looked at on every kick, so there are no exits but those of the watcher's kicks. Before the first beat of a life nothing is missed:
 * how long software takes to start is its own affair.
 */
HAL_OUTLINE bool restart_heartbeat_missed(void)
{
	struct watch *watch = &monitor.watch;
	uint64_t beats = __atomic_load_n(&monitor.log->beats, __ATOMIC_RELAXED), now = arch_counter();

	if (!watch->timeout)
		return false;
	if (beats == watch->beats)
		return watch->since && now - watch->since > watch->timeout;
	watch->beats = beats;
	watch->since = now;
	return false;
}
