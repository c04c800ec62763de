/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of a well-behaved sandbox, and the idle, spinning and stormy victims that kick tests want. */
#include <stdatomic.h>
#include <stddef.h>

#include "arch/arch.h"
#include "kernel/core/clock.h"
#include "kernel/core/command.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/follow.h"
#include "kernel/core/gate.h"
#include "kernel/core/heartbeat.h"
#include "kernel/core/idle.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"
#include "kernel/core/smp.h"
#include "kernel/core/text.h"
#include "kernel/core/timer.h"
#include "probe/mapping.h"
#include "probe/bench.h"
#include "probe/campaign.h"
#include "probe/lives.h"
#include "probe/rival.h"
#include "probe/sentinel.h"
#include "probe/storm.h"
#include "probe/sweep.h"
#include "probe/work.h"

enum { TICK_NS = 100000 };

static void run_help(const struct command_line *line)
{
	for (const struct command *command = commands; command->name; command++)
		console_say("%s", command->name);
	console_say("and attacks: tests/guests/probe/attack.c and beside it, by processor");
}

/* heartbeat=HZ, 0: none */
static void run_heartbeat(const struct command_line *line)
{
	heartbeat_start(line->operand[0]);
}

/* delay=US: one beat comes so late */
static void run_delay(const struct command_line *line)
{
	heartbeat_delay(line->operand[0] * 1000);
	console_say("delay %ju", line->operand[0]);
}

/* ---- ticks=N: so many interrupts of the timer beside those of the heartbeat ----------------------------------------- */

static _Atomic uint64_t ticks_left;

static void tick(struct timer_event *event, struct cpu_frame *frame)
{
	if (atomic_fetch_sub_explicit(&ticks_left, 1, memory_order_relaxed) > 1)
		timer_add(event, event->deadline + clock_from_ns(TICK_NS));
}

static bool ticks_done(void)
{
	return atomic_load_explicit(&ticks_left, memory_order_relaxed) == 0;
}

static void run_ticks(const struct command_line *line)
{
	static struct timer_event event = { .fire = tick };

	if (line->operand[0]) {
		atomic_store_explicit(&ticks_left, line->operand[0], memory_order_relaxed);
		timer_add(&event, arch_counter() + clock_from_ns(TICK_NS));
		idle_until(ticks_done);
	}
	console_say("ticks %ju", line->operand[0]);
}

/* uart-irqs=N */
static void run_uart_irqs(const struct command_line *line)
{
	if (console_count_interrupts(line->operand[0]))
		console_say("uart-irqs %ju", line->operand[0]);
	else
		console_say("uart-irqs: no UART was granted");
}

static void run_uart_found(const struct command_line *line)
{
	console_say("uart found 0x%jx", (uint64_t)console_uart_found());
}

/* bench-timer=busy, bench-timer=wfi, bench-timer=KIND of storm */
static void run_bench_timer(const struct command_line *line)
{
	if (text_equal(line->text, "busy") || text_equal(line->text, "wfi"))
		bench_timer(text_equal(line->text, "wfi"));
	else if (!bench_timer_in_storm(line->text))
		console_say("no such command: bench-timer=%s", line->text);
}

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

/* ---- notices=N: until so many sandboxes that this one is told of have been parked ------------------------------------ */

static _Atomic uint64_t notices, notices_awaited;

static void count_notice(struct cpu_frame *frame)
{
	atomic_fetch_add_explicit(&notices, 1, memory_order_relaxed);
}

static bool notices_came(void)
{
	return atomic_load_explicit(&notices, memory_order_relaxed) >= atomic_load_explicit(&notices_awaited, memory_order_relaxed);
}

static void run_notices(const struct command_line *line)
{
	atomic_store_explicit(&notices_awaited, line->operand[0], memory_order_relaxed);
	irq_attach_notice(count_notice);
	idle_until(notices_came);
	console_say("notices %ju", atomic_load_explicit(&notices, memory_order_relaxed));
}

/* follow=SANDBOX: does not return if that one's log was granted */
static void run_follow(const struct command_line *line)
{
	if (!follow_log(line->text))
		console_say("follow %s: no such log was granted", line->text);
}

/* ---- Calls to the monitor ------------------------------------------------------------------------------------------ */

static void kick(const struct command_line *line, bool until_late)
{
	uint64_t answered = 0;
	int64_t result = BH_OK;

	for (uint64_t i = 0; i < line->operand[1] && (result == BH_OK || (result == BH_E_TIMEOUT && !until_late)); i++) {
		result = info_call_monitor(BH_CALL_KICK, line->operand[0], 0);
		answered += result == BH_OK;
	}
	console_say("kicked %ju of %ju%s", answered, line->operand[1], result == BH_E_DENIED ? ", denied" : "");
}

/* kick=SANDBOX,N */
static void run_kick(const struct command_line *line)
{
	kick(line, false);
}

/* kick-until-late=SANDBOX,N: after one that is not answered in time there is no other, whose answer could be taken for its own. */
static void run_kick_until_late(const struct command_line *line)
{
	kick(line, true);
}

static void run_park(const struct command_line *line)
{
	console_say("park");
	cpu_interrupts_disable();
	info_call_monitor(BH_CALL_PARK, 0, 0);
	cpu_halt();
}

/* ---- Other cores --------------------------------------------------------------------------------------------------- */

static void run_cores(const struct command_line *line)
{
	for (unsigned slot = 0; slot < smp_count(); slot++) {
		const struct smp_census census = smp_ask(slot);

		console_say("core %ju %s, %ju ticks, %ju ipis", (uint64_t)slot, census.on ? "on" : "off", census.ticks, census.ipis);
	}
}

/* ipi=CORE,N: one after the other */
static void run_ipi(const struct command_line *line)
{
	uint64_t counted = 0;

	while (counted < line->operand[1] && smp_interrupt((unsigned)line->operand[0]))
		counted++;
	console_say("ipis %ju of %ju to core %ju", counted, line->operand[1], line->operand[0]);
}

static const char *behind_comma(const char *text)
{
	while (*text && *text != ',')
		text++;
	return *text ? text + 1 : text;
}

/* core=CORE,on  core=CORE,off  core=CORE,WORD: a command that this core runs */
static void run_core(const struct command_line *line)
{
	unsigned slot = (unsigned)line->operand[0];
	const char *word = behind_comma(line->text);
	bool done;

	if (text_equal(word, "on"))
		done = smp_start(slot);
	else if (text_equal(word, "off"))
		done = smp_stop(slot);
	else
		done = smp_run(slot, word);
	console_say("core %ju %s%s", line->operand[0], word, done ? "" : ": no");
}

/* cycle=CORE,N: off and on again */
static void run_cycle(const struct command_line *line)
{
	unsigned slot = (unsigned)line->operand[0];
	uint64_t cycles = 0;

	while (cycles < line->operand[1] && smp_stop(slot) && smp_start(slot))
		cycles++;
	console_say("cycles %ju of %ju of core %ju", cycles, line->operand[1], line->operand[0]);
}

/* ---- Victims: none of these returns -------------------------------------------------------------------------------- */

/* Everything masked, never an exit, and nothing that yields to others. */
static void run_spin(const struct command_line *line)
{
	console_say("spin");
	cpu_interrupts_disable();
	for (;;)
		__asm__ volatile("");
}

static bool never(void)
{
	return false;
}

/* sleep, sleep=masked */
static void run_sleep(const struct command_line *line)
{
	console_say("sleep %s", line->text);
	heartbeat_start(0);
	if (text_equal(line->text, "masked")) {
		cpu_interrupts_disable();
		cpu_halt();
	}
	idle_until(never);
}

/* An exit or a long instruction after the other: storm, storm=call, or a kind that the architecture has. */
static void run_storm(const struct command_line *line)
{
	struct strike strike;

	if (!storm_prepare(line->text, &strike)) {
		console_say("no such command: storm=%s", line->text);
		return;
	}
	console_say("storm %s", strike.storm->kind);
	for (;;)
		storm_strike(&strike);
}

/* trips=KIND: how long a thousand of them take, each by itself; a kick's goes to sandbox 0 */
static void run_trips(const struct command_line *line)
{
	if (!bench_trips(line->text))
		console_say("no such command: trips=%s", line->text);
}

/* pelt=ADDRESS: a store to a device's register after the other */
static void run_pelt(const struct command_line *line)
{
	uint64_t at = mapping_reach(line->operand[0], sizeof(uint32_t));

	console_say("pelt");
	for (;;)
		arch_mmio_write32(at, 0);
}

/* campaign=QUEUE: then asleep, with a beating heart */
static void run_campaign(const struct command_line *line)
{
	campaign_run(line->operand[0]);
}

/* core=CORE,rival: what a campaign has its other core do */
static void run_rival(const struct command_line *line)
{
	rival_run();
}

static void run_sentinel(const struct command_line *line)
{
	sentinel_run();
}

/* sweep=KIND */
static void run_sweep(const struct command_line *line)
{
	if (!sweep_run(line->text))
		console_say("no such command: sweep=%s", line->text);
}

const struct command commands[] = {
	{ "help", 0, run_help },
	{ "heartbeat", 1, run_heartbeat },
	{ "delay", 1, run_delay },
	{ "gate", 0, run_gate },
	{ "ticks", 1, run_ticks },
	{ "uart-irqs", 1, run_uart_irqs },
	{ "uart-found", 0, run_uart_found },
	{ "bench-timer", 0, run_bench_timer },
	{ "stream", 1, run_stream },
	{ "random", 1, run_random },
	{ "notices", 1, run_notices },
	{ "follow", 0, run_follow },
	{ "kick", 2, run_kick },
	{ "kick-until-late", 2, run_kick_until_late },
	{ "cores", 0, run_cores },
	{ "ipi", 2, run_ipi },
	{ "core", 1, run_core },
	{ "cycle", 2, run_cycle },
	{ "park", 0, run_park },
	{ "life", 0, run_life },
	{ "restarted", 0, run_restarted },
	{ "first", 0, run_first },
	{ "crash", 0, run_crash },
	{ "reboot", 0, run_reboot },
	{ "watch", 3, run_watch },
	{ "spin", 0, run_spin },
	{ "sleep", 0, run_sleep },
	{ "storm", 0, run_storm },
	{ "trips", 0, run_trips },
	{ "pelt", 1, run_pelt },
	{ "campaign", 1, run_campaign },
	{ "rival", 0, run_rival },
	{ "sentinel", 0, run_sentinel },
	{ "sweep", 0, run_sweep },
	{ NULL, 0, NULL },
};
