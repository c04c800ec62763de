/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a sandbox whose core faults, or whose monitor has trapped (BH-I6.contained): monitor/run.c, over a machine on which every
 * run of a guest ends as the test says. A monitor never returns, so the test leaves it where it would sleep or restart.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fake_arch.h"
#include "monitor/monitor.h"

enum { CORES = BH_MAX_SANDBOX_CORES, RESTARTS = 3, MACHINE_CORE = 4 };
enum left_by { RUNNING, ENDING, RESTARTING };

/* What hal knows of a core is nothing here but its address. */
static uint64_t cores[CORES];
static const struct boot_snapshot kept;
static struct bh_stats stats;
static struct bh_crash crash;
static struct bh_log the_log;
static struct bh_channel_end shown;
static uint32_t peer;
static jmp_buf out;
static enum hal_action answer; /* to every exit */
static enum bh_exit_reason ends;
static struct {
	unsigned begins, runs, looks, stopped_siblings, notices;
	uint32_t phase;
} seen;

static struct hal_core *core_of(unsigned slot)
{
	return (struct hal_core *)&cores[slot];
}

unsigned hal_core_slot(const struct hal_core *core)
{
	return (unsigned)((const uint64_t *)core - cores);
}

/* Before anything that could trap: what a trap left locked is given back here. */
void hal_core_begin(struct hal_core *core, uint64_t *exits, struct hal_doorbell *doorbells)
{
	CHECK(doorbells == monitor.doorbells);
	CHECK(exits == stats.core[hal_core_slot(core)].exits);
	CHECK_EQ(seen.begins++, 0);
	CHECK_EQ(seen.runs + seen.looks, 0);
}

void hal_core_run(struct hal_core *core, struct hal_exit *exit)
{
	seen.runs++;
	*exit = (struct hal_exit){ .kind = ends };
}

enum hal_action monitor_answer(struct hal_core *core, unsigned slot, const struct hal_exit *exit)
{
	return answer;
}

void hal_core_apply(struct hal_core *core, const struct hal_exit *exit, enum hal_action action)
{
	abort();
}

void hal_core_record(const struct hal_core *core, struct bh_crash *record) {}

bool hal_core_ready(struct hal_core *core)
{
	return true;
}

uint32_t hal_kick_take(struct hal_core *core)
{
	seen.looks += !seen.runs;
	return 0;
}

void hal_gate_turn(struct hal_core *core, const struct hal_gate *gate, bool open)
{
	abort();
}

void hal_kick_siblings(struct hal_core *self)
{
	seen.stopped_siblings++;
}

void hal_notice_send(const struct hal_core *self)
{
	CHECK_EQ(stats.state, BH_STATE_PARKED);
	seen.notices++;
}

void hal_core_wait(struct hal_core *core)
{
	abort();
}

/* Whose part it is: nothing else is asked of a core whose sandbox begins again or has ended. */
void restart_take_part(struct hal_core *core, unsigned slot, uint32_t phase)
{
	CHECK(core == core_of(slot));
	seen.phase = phase;
	longjmp(out, (phase & PHASE_MASK) == PHASE_ENDED ? ENDING : RESTARTING);
}

bool restart_heartbeat_missed(void)
{
	return false;
}

static void prepare(uint32_t restarts_left)
{
	memset(&seen, 0, sizeof(seen));
	memset(&crash, 0, sizeof(crash));
	stats = (struct bh_stats){ .state = BH_STATE_RUNNING };
	monitor = (struct monitor){
		.stats = &stats, .crash = &crash, .log = &the_log, .core_count = CORES, .snapshot = &kept, .restarts_left = restarts_left
	};
	shown = (struct bh_channel_end){ .epoch = 0 };
	monitor.ends[monitor.end_count++] = (struct channel_end){ .seen = &shown, .peer = &peer };
	for (unsigned slot = 0; slot < CORES; slot++)
		monitor.core_numbers[slot] = MACHINE_CORE + slot;
	ends = BH_EXIT_MEMORY;
	answer = HAL_FAULT;
}

static enum left_by enter(unsigned slot)
{
	enum left_by left = (enum left_by)setjmp(out);

	if (left == RUNNING)
		monitor_run(core_of(slot));
	return left;
}

/* It has ended for good, with all its cores; nobody restarts it. */
static void check_parked(uint32_t restarts_left)
{
	CHECK_EQ(monitor.phase & PHASE_MASK, PHASE_ENDED);
	CHECK_EQ(stats.state, BH_STATE_PARKED);
	CHECK(shown.state != BH_CHANNEL_GONE); /* its other cores may still send */
	CHECK_EQ(crash.magic, BH_CRASH_MAGIC);
	CHECK_EQ(crash.reason, ends);
	CHECK_EQ(seen.phase, PHASE_ENDED);
	CHECK_EQ(seen.stopped_siblings, 1);
	CHECK_EQ(seen.notices, 1);
	CHECK_EQ(monitor.restarts_left, restarts_left);
}

static void test_faults(void)
{
	check_context.subject = "a fault";
	prepare(RESTARTS);
	CHECK_EQ(enter(0), RESTARTING);
	CHECK(seen.looks);
	CHECK_EQ(seen.phase & PHASE_MASK, PHASE_RESTARTS);
	CHECK_EQ(monitor.restarts_left, RESTARTS - 1);
	CHECK_EQ(seen.stopped_siblings, 1);
	CHECK_EQ(seen.notices, 0);
	CHECK_EQ(stats.state, BH_STATE_RUNNING);
	CHECK(shown.state == BH_CHANNEL_LIVES && shown.epoch == 1);
	CHECK_EQ(crash.reason, BH_EXIT_MEMORY);
	CHECK_EQ(crash.core, MACHINE_CORE);

	check_context.subject = "one too many";
	prepare(0);
	CHECK_EQ(enter(0), ENDING);
	check_parked(0);

	check_context.subject = "nothing to restart from";
	prepare(RESTARTS);
	monitor.snapshot = NULL;
	CHECK_EQ(enter(0), ENDING);
	check_parked(RESTARTS);
}

/* What it asks for itself is no fault. */
static void test_requests(void)
{
	check_context.subject = "restart asked for";
	prepare(0);
	answer = HAL_RESTART;
	CHECK_EQ(enter(0), RESTARTING);
	CHECK_EQ(crash.magic, 0);

	check_context.subject = "end asked for";
	prepare(RESTARTS);
	answer = HAL_STOP;
	CHECK_EQ(enter(0), ENDING);
	CHECK_EQ(stats.state, BH_STATE_OFF);
	CHECK(shown.state == BH_CHANNEL_LIVES && shown.epoch == 1);
	CHECK_EQ(seen.notices, 0);
	CHECK_EQ(crash.magic, 0);
}

/*
 * A monitor that trapped comes again, as does a core that start-up could not disarm for its first time: its run reports an error. The
 * sandbox is parked, whatever restarts it has left, whatever its other core is doing.
 */
static void test_trapped(void)
{
	for (unsigned slot = 0; slot < CORES; slot++) {
		check_context.round = slot;
		check_context.subject = "entered again";
		prepare(RESTARTS);
		ends = BH_EXIT_ERROR;
		monitor.entered = 1u << slot;
		CHECK_EQ(enter(slot), ENDING);
		CHECK_EQ(seen.begins, 1);
		CHECK_EQ(seen.runs, 1);
		CHECK_EQ(seen.looks, 0);          /* at what it may have trapped over, before the trap is told */
		CHECK(monitor.snapshot == &kept); /* the first core may be at it */
		CHECK_EQ(crash.core, MACHINE_CORE + slot);
		check_parked(RESTARTS);

		check_context.subject = "entered again while another restarts";
		prepare(RESTARTS);
		ends = BH_EXIT_ERROR;
		monitor.entered = 1u << slot;
		monitor.phase = 2 * NEXT_LIFE + PHASE_RESTARTS;
		CHECK_EQ(enter(slot), ENDING);
		check_parked(RESTARTS);

		check_context.subject = "entered again while it ends";
		prepare(RESTARTS);
		monitor.entered = 1u << slot;
		monitor.phase = PHASE_ENDED;
		CHECK_EQ(enter(slot), ENDING);
		CHECK_EQ(seen.begins, 1);
		CHECK_EQ(seen.runs, 0);
		CHECK_EQ(crash.magic, 0);
		CHECK_EQ(monitor.stopped[slot], PHASE_ENDED);    /* it does no more of what it trapped over, */
		CHECK_EQ(shown.state == BH_CHANNEL_GONE, !slot); /* but for telling that it has ended */
	}
	check_context.round = 0;
}

/* Another core's mark is not its own. */
static void test_entered(void)
{
	check_context.subject = "entered by another";
	prepare(RESTARTS);
	monitor.entered = 1u << 1;
	CHECK_EQ(enter(0), RESTARTING);
	CHECK_EQ(monitor.entered, 3);

	check_context.subject = "entered by all others";
	for (unsigned slot = 0; slot < CORES; slot++) {
		check_context.round = slot;
		prepare(RESTARTS);
		monitor.entered = ((1u << CORES) - 1) & ~(1u << slot);
		CHECK_EQ(enter(slot), RESTARTING);
		CHECK_EQ(monitor.entered, (1u << CORES) - 1);
		CHECK_EQ(stats.core[slot].exits[BH_EXIT_MEMORY], 1); /* each core has a row of its own */
		CHECK_EQ(crash.core, MACHINE_CORE + slot);
		for (unsigned other = 0; other < CORES; other++)
			CHECK(other == slot || !stats.core[other].exits[BH_EXIT_MEMORY]);
	}
	check_context.round = 0;
}

int main(void)
{
	test_faults();
	test_requests();
	test_trapped();
	test_entered();
	return 0;
}
