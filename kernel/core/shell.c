/* SPDX-License-Identifier: Apache-2.0 */
/* Shows threads, interrupts, exits, memory and the log (shell.h). */
#include "kernel/core/shell.h"

#include <stddef.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/frames.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"
#include "kernel/core/space.h"
#include "kernel/core/thread.h"
#include "kernel/core/thread_end.h"
#include "kernel/core/vcpus.h"

enum { NS_PER_US = 1000, NS_PER_MS = 1000000, DMESG_LINES = 20 };

/* ---- Threads -------------------------------------------------------------------------------------------------------- */

static const char *state_of(const struct thread *thread)
{
	static const char *const names[] = {
		[THREAD_IS_READY] = "ready",  [THREAD_RUNS] = "running",    [THREAD_WAITS] = "waiting",
		[THREAD_SLEEPS] = "sleeping", [THREAD_HAS_ENDED] = "ended", [THREAD_IS_STOPPED] = "stopped",
	};

	return thread->behind ? "behind another" : names[thread_state(thread)];
}

static void say_thread(const struct thread *thread)
{
	const struct vcpu *vcpu = &thread->on->vcpu;

	console_say("thread %s: vcpu %s, level %ju, %s, %ju us", thread->name, thread->on->name, (uint64_t)thread->level, state_of(thread),
		    clock_to_ns(vcpu->given + vcpu->background) / NS_PER_US);
}

void run_threads(const struct command_line *line)
{
	const struct thread *thread;

	if (!thread_begun()) {
		console_say("no threads");
		return;
	}
	say_thread(thread_running());
	for (unsigned n = 0; (thread = vcpus_thread(n)); n++)
		say_thread(thread);
}

/* ---- Interrupts and exits --------------------------------------------------------------------------------------------- */

void run_irqs(const struct command_line *line)
{
	struct irq_census census;
	uint64_t interrupts, masked;

	for (unsigned n = 0; irq_ask(n, &census); n++)
		if (census.in_hex)
			console_say("irq 0x%jx %s: %ju", (uint64_t)census.number, census.name, census.count);
		else
			console_say("irq %ju %s: %ju", (uint64_t)census.number, census.name, census.count);
	console_count(&interrupts, &masked);
	if (masked)
		console_say("irq of the console: masked %ju times", masked);
}

static const char *const reasons[] = {
	[BH_EXIT_KICK] = "kick",         [BH_EXIT_MEMORY] = "memory", [BH_EXIT_DEVICE] = "device", [BH_EXIT_PORT] = "port",
	[BH_EXIT_REGISTER] = "register", [BH_EXIT_IPI] = "ipi",       [BH_EXIT_CALL] = "call",     [BH_EXIT_FIRMWARE] = "firmware",
	[BH_EXIT_IDENTIFY] = "identify", [BH_EXIT_IDLE] = "idle",     [BH_EXIT_LONG] = "long",     [BH_EXIT_FORBIDDEN] = "forbidden",
	[BH_EXIT_RESET] = "reset",       [BH_EXIT_ERROR] = "error",   [BH_EXIT_HANG] = "hang",
};
_Static_assert(sizeof(reasons) / sizeof(reasons[0]) == BH_EXIT_REASONS, "every reason has a name");

void run_exits(const struct command_line *line)
{
	const struct bh_stats *stats = info_statistics();

	for (unsigned reason = 0; reason < BH_EXIT_REASONS; reason++) {
		uint64_t all = 0, boot = 0;

		for (unsigned core = 0; core < BH_MAX_SANDBOX_CORES; core++) {
			all += __atomic_load_n(&stats->core[core].exits[reason], __ATOMIC_RELAXED);
			boot += stats->at_ready[core][reason];
		}
		if (all)
			console_say("exits %s: %ju until ready, %ju since", reasons[reason], boot, all - boot);
	}
}

/* ---- Memory --------------------------------------------------------------------------------------------------------- */

extern const char text_start[], text_end[], rodata_end[], image_end[]; /* kernel.lds */

/* One after the other, each under the frames' lock: in between interrupts are served. */
static void count_frames(uint64_t start, uint64_t end, uint32_t *count)
{
	for (uint64_t at = start; at < end; at += FRAME_BYTES) {
		unsigned owner = frames_owner(at);

		count[owner < FRAME_OTHERS ? owner : FRAME_OTHERS]++;
	}
}

void run_mem(const struct command_line *line)
{
	uint64_t end, start = ((uintptr_t)image_end + FRAME_BYTES - 1) & -(uint64_t)FRAME_BYTES;
	uint32_t count[FRAME_OTHERS + 1] = { 0 };

	frames_rest(&end);
	count_frames(start, end, count);
	console_say("mem frames: %ju free of %ju, of %ju bytes", (uint64_t)count[FRAME_FREE], (end - start) / FRAME_BYTES,
		    (uint64_t)FRAME_BYTES);
	console_say("mem stacks: %ju frames", (uint64_t)count[FRAME_STACK]);
	console_say("mem tables: %ju frames", (uint64_t)count[FRAME_TABLE]);
	console_say("mem notes: %ju frames", (uint64_t)count[FRAME_NOTES]);
	console_say("mem others: %ju frames", (uint64_t)count[FRAME_PROGRAM] + count[FRAME_OTHERS]);
	console_say("mem image: %ju bytes of text, %ju of constants, %ju of data", (uint64_t)(text_end - text_start),
		    (uint64_t)(rodata_end - text_end), (uint64_t)(image_end - rodata_end));
}

/* ---- Log ------------------------------------------------------------------------------------------------------------- */

/* Returns where the last `lines` lines begin, of those that are still there, without one whose beginning has been overwritten. */
static uint64_t begin_of(const struct bh_log *log, uint64_t head, uint64_t lines)
{
	uint64_t oldest = head > BH_LOG_TEXT_BYTES ? head - BH_LOG_TEXT_BYTES : 0, at = head, begin = head;

	while (at > oldest && lines) {
		at--;
		if (at == 0 || (at > oldest && log->text[(at - 1) % BH_LOG_TEXT_BYTES] == '\n')) {
			begin = at;
			lines--;
		}
	}
	return begin;
}

/* Not said: it would come into the log once more. */
void run_dmesg(const struct command_line *line)
{
	const struct bh_log *log = console_log();
	uint64_t head = log ? log->head : 0;

	for (uint64_t at = log ? begin_of(log, head, line->operands ? line->operand[0] : DMESG_LINES) : 0; at < head; at++)
		console_echo("%c", (char)log->text[at % BH_LOG_TEXT_BYTES]);
}

/* ---- Time ------------------------------------------------------------------------------------------------------------- */

void run_uptime(const struct command_line *line)
{
	const struct bh_stats *stats = info_statistics();

	console_say("up %ju ms, life %ju", clock_to_ns(arch_counter() - stats->start_clock) / NS_PER_MS, (uint64_t)stats->restarts);
}
