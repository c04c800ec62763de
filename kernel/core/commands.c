/* SPDX-License-Identifier: Apache-2.0 */
/* What one can tell any sandbox kernel to do: docs/guest.md. `kernel_commands` at the end of this file lists all of it. */
#include <stdatomic.h>
#include <stddef.h>

#include "kernel/core/clock.h"
#include "kernel/core/command.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/dma_faults.h"
#include "kernel/core/follow.h"
#include "kernel/core/heartbeat.h"
#include "kernel/core/idle.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"
#include "kernel/core/shell.h"
#include "kernel/core/shell_channels.h"
#include "kernel/core/shell_help.h"
#include "kernel/core/shell_vcpus.h"
#include "kernel/core/space.h"
#include "kernel/core/smp.h"
#include "kernel/core/text.h"
#include "kernel/core/timer.h"
#include "kernel/core/trace_run.h"
#include "kernel/core/vcpus.h"
#include "kernel/core/work.h"

enum { TICK_NS = 100000, NS_PER_MS = 1000000, LONGEST_DELAY_US = 10000000 };

static void say_names(const struct command *command, const char *(*help)(const char *name))
{
	for (; command->name; command++)
		console_say("%s%s", command->name, help(command->name));
}

static const char *no_help(const char *name)
{
	return "";
}

static void run_help(const struct command_line *line)
{
	say_names(program_commands, no_help);
	say_names(kernel_commands, shell_help);
}

/* info: who this is, and its grants */
static void run_info(const struct command_line *line)
{
	console_say("sandbox %ju, %ju cores", (uint64_t)info->sandbox, (uint64_t)smp_count());
	for (uint32_t n = 0; n < info->grant_count && n < BH_MAX_GRANTS; n++) {
		const struct bh_grant *grant = &info->grants[n];

		if (grant->kind == BH_GRANT_VCPU)
			continue; /* no place: run_vcpus */
		console_say("%s%s at 0x%jx, 0x%jx long", grant->kind == BH_GRANT_FOREIGN_LOG ? "log of " : "", (const char *)grant->name,
			    grant->gpa, grant->size);
	}
}

/* ---- Time ----------------------------------------------------------------------------------------------------------- */

/* heartbeat=HZ, 0: none. It is the first core's. */
static void run_heartbeat(const struct command_line *line)
{
	if (cpu_slot())
		console_say("heartbeat: the first core has it");
	else
		heartbeat_start(line->operand[0]);
}

/* delay=US: one beat comes so late */
static void run_delay(const struct command_line *line)
{
	if (cpu_slot() || thread_begun() || line->operand[0] > LONGEST_DELAY_US) {
		console_say("delay: %ju us at most, on the first core, before there are VCPUs", (uint64_t)LONGEST_DELAY_US);
		return;
	}
	heartbeat_delay(line->operand[0] * 1000);
	console_say("delay %ju", line->operand[0]);
}

/* Of a core, which alone waits for it. */
static struct timed {
	struct timer_event event;
	_Atomic uint64_t left;      /* how often it is to come */
	const struct thread *waits; /* NULL: there are no threads */
} timed[BH_MAX_SANDBOX_CORES];

/* The main program waits for it, so its VCPU pays. */
static void tick(struct timer_event *event, struct cpu_frame *frame)
{
	if (timed[cpu_slot()].waits)
		thread_pays_for_interrupt(timed[cpu_slot()].waits);
	if (atomic_fetch_sub_explicit(&timed[cpu_slot()].left, 1, memory_order_relaxed) > 1)
		timer_add(event, event->deadline + clock_from_ns(TICK_NS));
}

static bool ticks_done(void)
{
	return atomic_load_explicit(&timed[cpu_slot()].left, memory_order_relaxed) == 0;
}

/* Until the timer has come so often, every TICK_NS, and first after `ns`. */
static void wait_for(uint64_t count, uint64_t ns)
{
	struct timed *own = &timed[cpu_slot()];

	own->event.fire = tick;
	own->waits = thread_begun() ? thread_running() : NULL;
	atomic_store_explicit(&own->left, count, memory_order_relaxed);
	timer_add(&own->event, arch_counter() + clock_from_ns(ns));
	idle_until(ticks_done);
}

/* ticks=N: so many interrupts of the timer beside those of the heartbeat */
static void run_ticks(const struct command_line *line)
{
	if (line->operand[0])
		wait_for(line->operand[0], TICK_NS);
	console_say("ticks %ju", line->operand[0]);
}

/* wait=MS: the next command comes so much later */
static void run_wait(const struct command_line *line)
{
	wait_for(1, line->operand[0] * NS_PER_MS);
}

/* ---- Work for memory -------------------------------------------------------------------------------------------------- */

/* stream=PASSES */
static void run_stream(const struct command_line *line)
{
	work_stream(line->operand[0]);
}

/* random=UPDATES */
static void run_random(const struct command_line *line)
{
	work_random(line->operand[0]);
}

/* ---- Other sandboxes -------------------------------------------------------------------------------------------------- */

static _Atomic uint64_t notices, notices_awaited;

static void count_notice(struct cpu_frame *frame)
{
	atomic_fetch_add_explicit(&notices, 1, memory_order_relaxed);
}

static bool notices_came(void)
{
	return atomic_load_explicit(&notices, memory_order_relaxed) >= atomic_load_explicit(&notices_awaited, memory_order_relaxed);
}

/* notices=N: until so many sandboxes that this one is told of have been parked */
static void run_notices(const struct command_line *line)
{
	static bool attached;

	if (cpu_slot()) {
		console_say("notices: the first core is told");
		return;
	}
	atomic_store_explicit(&notices_awaited, line->operand[0], memory_order_relaxed);
	if (!attached)
		irq_attach_notice(count_notice);
	attached = true;
	idle_until(notices_came);
	console_say("notices %ju", atomic_load_explicit(&notices, memory_order_relaxed));
}

/* follow=SANDBOX: does not return if that one's log was granted */
static void run_follow(const struct command_line *line)
{
	if (cpu_slot())
		console_say("follow: the first core does that");
	else if (!follow_log(line->text))
		console_say("follow %s: no such log was granted", line->text);
}

/* kick=SANDBOX,N: also after one that was not answered in time */
static void run_kick(const struct command_line *line)
{
	uint64_t answered = 0;
	int64_t result = BH_OK;

	for (uint64_t i = 0; i < line->operand[1] && (result == BH_OK || result == BH_E_TIMEOUT); i++) {
		result = info_call_monitor(BH_CALL_KICK, line->operand[0], 0);
		answered += result == BH_OK;
	}
	console_say("kicked %ju of %ju%s", answered, line->operand[1], result == BH_E_DENIED ? ", denied" : "");
}

/* ---- Other cores ------------------------------------------------------------------------------------------------------ */

static void run_cores(const struct command_line *line)
{
	for (unsigned slot = 0; slot < smp_count(); slot++) {
		const struct smp_census census = smp_ask(slot);

		console_say("core %ju %s, %ju ticks, %ju ipis", (uint64_t)slot, census.on ? "on" : "off", census.ticks, census.ipis);
	}
}

static const char *after_comma(const char *text)
{
	while (*text && *text != ',')
		text++;
	return *text ? text + 1 : text;
}

/* What may be the reason that another core does not do it, as of now. */
static const char *refusal_of(unsigned slot, bool is_start)
{
	if (slot >= smp_count())
		return "no, there is no such core of this sandbox, see cores";
	if (!slot)
		return "no, that is the first core, which carries this out";
	if (smp_ask(slot).on)
		return is_start ? "no, it is on" : "no, it is busy with a command, or has vcpus";
	return is_start ? "no, it does not start" : "no, it is off";
}

/* core=CORE,on  core=CORE,off  core=CORE,WORD: a command that this core runs */
static void run_core(const struct command_line *line)
{
	unsigned slot = line->operand[0] < smp_count() ? (unsigned)line->operand[0] : smp_count();
	const char *word = after_comma(line->text);
	bool done;

	if (text_equal(word, "on"))
		done = smp_start(slot);
	else if (text_equal(word, "off"))
		done = smp_stop(slot);
	else
		done = smp_run(slot, word);
	console_say("core %ju %s%s%s", line->operand[0], word, done ? "" : ": ", done ? "" : refusal_of(slot, text_equal(word, "on")));
}

/* ---- What is not granted, and ends ------------------------------------------------------------------------------------ */

enum { PROGRAM_BYTES = 1 << 30 }; /* the last of the kernel's own addresses, which a program that is linked with it may use as it likes */

/*
 * Maps the page that holds the four bytes at `physical` once more, for reading and writing, so that it is the monitor that judges an access
 * to them, and not this kernel's tables. Returns the virtual address of `physical`, or 0 if that is no multiple of 4 or lies too high, or
 * there are no more tables.
 */
static uint64_t reach(uint64_t physical)
{
	static uint64_t taken; /* bytes before the program's: mappings of its own begin at the other end. Cores reach at the same time. */
	uint64_t virtual = 2 * space_format.grants_end - PROGRAM_BYTES - __atomic_add_fetch(&taken, BH_PAGE_BYTES, __ATOMIC_RELAXED);

	if (physical % sizeof(uint32_t))
		return 0;
	if (space_map(&kernel_space, virtual, physical & -(uint64_t)BH_PAGE_BYTES, BH_PAGE_BYTES, SPACE_DATA) != SPACE_OK)
		return 0;
	return virtual + physical % BH_PAGE_BYTES;
}

/* read=ADDRESS: of four bytes */
static void run_read(const struct command_line *line)
{
	uint64_t at = reach(line->operand[0]);

	if (at)
		console_say("read 0x%jx: 0x%jx", line->operand[0], (uint64_t)arch_mmio_read32(at));
	else
		console_say("read 0x%jx: no multiple of 4, or out of reach", line->operand[0]);
}

/* write=ADDRESS, write=ADDRESS,VALUE: of four bytes */
static void run_write(const struct command_line *line)
{
	uint64_t at = reach(line->operand[0]);

	if (at)
		arch_mmio_write32(at, (uint32_t)line->operand[1]);
	console_say("write 0x%jx: %s", line->operand[0], at ? "done" : "no multiple of 4, or out of reach");
}

static uint64_t life(void)
{
	return info_statistics()->restarts;
}

/* Without an operand in every life. */
static bool in_this_life(const struct command_line *line)
{
	return !line->operands || life() < line->operand[0];
}

/* life: which one this is, the first is 0 */
static void run_life(const struct command_line *line)
{
	console_say("life %ju", life());
}

/* crash, crash=N: writes to the statistics page, which is there, and only to be read; N: in the first N lives only */
static void run_crash(const struct command_line *line)
{
	const struct bh_grant *grant = info_find(BH_GRANT_STATS, NULL);
	uint64_t at;

	if (!grant || !in_this_life(line))
		return;
	console_say("crash");
	at = reach(grant->gpa);
	if (at)
		arch_mmio_write32(at, 0);
}

/* reboot, reboot=N: asks the monitor to begin again; N likewise */
static void run_reboot(const struct command_line *line)
{
	if (!in_this_life(line))
		return;
	console_say("reboot");
	info_call_monitor(BH_CALL_RESTART, 0, 0);
}

static void run_park(const struct command_line *line)
{
	console_say("park");
	cpu_interrupts_disable();
	info_call_monitor(BH_CALL_PARK, 0, 0);
	cpu_halt();
}

const struct command kernel_commands[] = {
	{ "help", 0, run_help },
	{ "info", 0, run_info },
	{ "heartbeat", 1, run_heartbeat },
	{ "delay", 1, run_delay },
	{ "ticks", 1, run_ticks },
	{ "stream", 1, run_stream },
	{ "random", 1, run_random },
	{ "notices", 1, run_notices },
	{ "follow", 0, run_follow },
	{ "kick", 2, run_kick },
	{ "channels", 0, run_channels },
	{ "send", 0, run_send },
	{ "receive", 0, run_receive },
	{ "open", 0, run_open },
	{ "close", 0, run_close },
	{ "reopen", 0, run_reopen },
	{ "ring", 0, run_ring },
	{ "rung", 0, run_rung },
	{ "cores", 0, run_cores },
	{ "core", 1, run_core },
	{ "read", 1, run_read },
	{ "write", 1, run_write },
	{ "wait", 1, run_wait },
	/* vcpus.h, shell.h, shell_vcpus.h, trace_run.h */
	{ "vcpu", 2, run_vcpu },
	{ "vcpus", 0, run_vcpus },
	{ "threads", 0, run_threads },
	{ "start", 0, run_start },
	{ "stop", 0, run_stop },
	{ "set", 0, run_set },
	{ "irqs", 0, run_irqs },
	{ "exits", 0, run_exits },
	{ "mem", 0, run_mem },
	{ "dmesg", 0, run_dmesg },
	{ "uptime", 0, run_uptime },
	{ "trace", 0, run_trace },
	/* lives, faults and ends */
	{ "life", 0, run_life },
	{ "crash", 0, run_crash },
	{ "dma-faults", 0, run_dma_faults },
	{ "reboot", 0, run_reboot },
	{ "park", 0, run_park },
	{ NULL, 0, NULL },
};
