/* SPDX-License-Identifier: Apache-2.0 */
/* The probe's commands: measurements, cores and calls as tests want them, and the idle, spinning and stormy victims of kicks. */
#include <stddef.h>

#include "arch/arch.h"
#include "kernel/core/clock.h"
#include "kernel/core/command.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/fault.h"
#include "kernel/core/frames.h"
#include "kernel/core/heartbeat.h"
#include "kernel/core/idle.h"
#include "kernel/core/info.h"
#include "kernel/core/smp.h"
#include "kernel/core/text.h"
#include "probe/mapping.h"
#include "probe/bells.h"
#include "probe/bench.h"
#include "probe/campaign.h"
#include "probe/channels.h"
#include "probe/divide.h"
#include "probe/echo.h"
#include "probe/ends.h"
#include "probe/exchange.h"
#include "probe/gate.h"
#include "probe/lives.h"
#include "probe/moves.h"
#include "probe/pair.h"
#include "probe/rival.h"
#include "probe/sched.h"
#include "probe/sentinel.h"
#include "probe/slices.h"
#include "probe/storm.h"
#include "probe/sweep.h"
#include "probe/transfer.h"
#include "probe/user.h"

/* uart-irqs=N */
static void run_uart_irqs(const struct command_line *line)
{
	if (console_count_interrupts(line->operand[0]))
		console_say("uart-irqs %ju", line->operand[0]);
	else
		console_say("uart-irqs: no UART was granted");
}

/* touch=ADDRESS,MS: four bytes by the kernel's own mapping, again and again for so long, once at least, and without an exit */
static void run_touch(const struct command_line *line)
{
	const uint64_t start = arch_counter(), ticks = clock_from_us(line->operand[1] * 1000);
	uint64_t times = 0;

	do {
		(void)arch_mmio_read32(line->operand[0]);
		times++;
	} while (arch_counter() - start < ticks);
	console_say("touch 0x%jx: %ju times", line->operand[0], times);
}

static void run_uart_found(const struct command_line *line)
{
	console_say("uart found 0x%jx", (uint64_t)console_uart_found());
}

/* bench-sched */
static void run_bench_sched(const struct command_line *line)
{
	sched_measure();
}

/* bench-timer=busy, bench-timer=wfi, bench-timer=KIND of storm */
static void run_bench_timer(const struct command_line *line)
{
	if (text_equal(line->text, "busy") || text_equal(line->text, "wfi"))
		bench_timer(text_equal(line->text, "wfi"));
	else if (!bench_timer_in_storm(line->text))
		console_say("no such command: bench-timer=%s", line->text);
}

/* ---- Calls to the monitor ------------------------------------------------------------------------------------------ */

/* kick-until-late=SANDBOX,N: after one that is not answered in time there is no other, whose answer could be taken for its own. */
static void run_kick_until_late(const struct command_line *line)
{
	uint64_t answered = 0;
	int64_t result = BH_OK;

	for (uint64_t i = 0; i < line->operand[1] && result == BH_OK; i++) {
		result = info_call_monitor(BH_CALL_KICK, line->operand[0], 0);
		answered += result == BH_OK;
	}
	console_say("kicked %ju of %ju%s", answered, line->operand[1], result == BH_E_DENIED ? ", denied" : "");
}

/* ---- Other cores --------------------------------------------------------------------------------------------------- */

/* ipi=CORE,N: one after the other */
static void run_ipi(const struct command_line *line)
{
	uint64_t counted = 0;

	while (counted < line->operand[1] && smp_interrupt((unsigned)line->operand[0]))
		counted++;
	console_say("ipis %ju of %ju to core %ju", counted, line->operand[1], line->operand[0]);
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

/* flood=WORD,PAGE: a neighbour of a campaign's network card */
static void run_flood(const struct command_line *line)
{
	if (!frames_claim(line->operand[1], BH_PAGE_BYTES, FRAME_PROGRAM))
		fault_stop("a flood needs its page");
	transfer_flood(line->operand[0], line->operand[1]);
}

/* core=CORE,rival: what a campaign has its other core do */
static void run_rival(const struct command_line *line)
{
	rival_run();
}

/* sentinel, sentinel=CALLS,PASSES: with so many calls to the monitor after each slice, until all was checked so many times */
static void run_sentinel(const struct command_line *line)
{
	sentinel_run(line->operand[0], line->operand[1]);
}

/* sweep=KIND */
static void run_sweep(const struct command_line *line)
{
	if (!sweep_run(line->text))
		console_say("no such command: sweep=%s", line->text);
}

/* ends=KIND */
static void run_ends(const struct command_line *line)
{
	if (!ends_run(line->text))
		console_say("no such command: ends=%s", line->text);
}

/* user=KIND */
static void run_user(const struct command_line *line)
{
	if (!user_run(line->text))
		console_say("no such command: user=%s", line->text);
}

const struct command program_commands[] = {
	{ "gate", 0, run_gate },
	{ "uart-irqs", 1, run_uart_irqs },
	{ "uart-found", 0, run_uart_found },
	{ "touch", 2, run_touch },
	{ "divide", 1, run_divide },
	{ "echo", 0, run_echo },
	{ "bench-bells", 0, run_bench_bells },
	{ "bench-channels", 0, run_bench_channels },
	{ "bench-sched", 0, run_bench_sched },
	{ "bench-timer", 0, run_bench_timer },
	{ "kick-until-late", 2, run_kick_until_late },
	{ "ipi", 2, run_ipi },
	{ "cycle", 2, run_cycle },
	{ "start-away", 1, run_start_away },
	{ "unmap-beside", 1, run_unmap_beside },
	{ "unmap-left", 1, run_unmap_left },
	{ "leave", 0, run_leave },
	{ "attempts", 1, run_attempts },
	{ "attempt-within", 0, run_attempt_within },
	{ "look", 0, run_look },
	{ "restarted", 0, run_restarted },
	{ "first", 0, run_first },
	{ "watch", 3, run_watch },
	{ "spin", 0, run_spin },
	{ "sleep", 0, run_sleep },
	{ "storm", 0, run_storm },
	{ "trips", 0, run_trips },
	{ "pelt", 1, run_pelt },
	{ "campaign", 1, run_campaign },
	{ "flood", 2, run_flood },
	{ "rival", 0, run_rival },
	{ "sentinel", 0, run_sentinel },
	{ "sweep", 0, run_sweep },
	{ "user", 0, run_user },
	{ "ends", 0, run_ends },
	{ "exchange", 3, run_exchange },
	{ "exchange-answer", 2, run_exchange_answer },
	{ "exchange-pause", 2, run_exchange_pause },
	{ "exchange-shell", 2, run_exchange_shell },
	{ "exchange-vcpu", 3, run_exchange_vcpu },
	{ "moves", 1, run_moves },
	{ "moves-away", 0, run_moves_away },
	{ "slices", 1, run_slices },
	{ NULL, 0, NULL },
};
