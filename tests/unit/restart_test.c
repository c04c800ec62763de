/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a restart does to memory (BH-I6.contained): start-up keeps pieces of a payload, the restart makes them and zeros of whatever the
 * last life has left, nothing beside, nothing before all other cores have stopped, and all of it is behind the caches when the first core
 * begins. What the end for good does to devices: it silences them, once, and touches no memory. monitor/boot/snapshot_boot.c and
 * monitor/restart.c, over a machine that has nothing but memory.
 */
#include "caches.h"
#include "monitor/boot/boot.h"

enum { PAGES = 64, WORDS = BH_PAGE_BYTES / 8, PHASE = 5 * NEXT_LIFE + PHASE_RESTARTS, POLLS = 3 };
enum { SANDBOX = 1, LEFT = 0xee };

/* RAM of the sandbox: two stretches, the larger of several chunks and half of one. The rest is others'. */
static const struct extent {
	unsigned page, pages;
} spans[] = { { 2, 18 }, { 30, 3 } };
/* What of it start-up has loaded; one piece is larger than a chunk and does not begin with one. The copy is in another place. */
static const unsigned buffers[] = { 2, 3 };
static const struct extent pieces[] = { { 3, 7 }, { 19, 1 }, { 30, 1 } };
enum { COPY = 40, COPY_PAGES = 9, ARENA = 60, ARENA_PAGES = 1 };

static _Alignas(BH_PAGE_BYTES) uint64_t ram[PAGES][WORDS], behind[PAGES][WORDS], expected[PAGES][WORDS];
static struct bh_table table;
static struct bh_stats stats;
static struct bh_log the_log;
static struct bh_channel_end end;
static uint32_t peer; /* of its control: what the last life has left there */
static unsigned kicks, restarts, polls, quiesced, waited, silences;
static uint32_t ended;
static unsigned late = 1;        /* the core that stops last: here the second */
static bool stops;               /* it does, once it has been asked for a while */
static bool falls_silent = true; /* its IOMMU answers */
static bool is_last_life;        /* another core ends it all before the first begins */
static bool silenced;            /* the devices: until then one writes to memory whenever it can */

struct monitor monitor;

static uint64_t address_of(unsigned page)
{
	return (uintptr_t)ram[page];
}

/* Each word tells its page and its place, so that nothing can be moved unnoticed. */
static void fill(uint64_t (*pages)[WORDS], struct extent extent, unsigned content)
{
	for (unsigned page = extent.page; page < extent.page + extent.pages; page++)
		for (unsigned n = 0; n < WORDS; n++)
			pages[page][n] = (uint64_t)(content + page) << 32 | (n + 1);
}

/* By DMA, so past the caches, to what its driver once gave it: a page that is zeroed and one that comes back. */
static void device_writes(void)
{
	if (silenced)
		return;
	for (unsigned n = 0; n < sizeof(buffers) / sizeof(buffers[0]); n++)
		ram[buffers[n]][0] = behind[buffers[n]][0] = UINT64_C(0xd3a);
}

uint32_t monitor_take_kicks(struct hal_core *core, unsigned slot)
{
	CHECK_EQ(slot, 0);
	kicks++;
	device_writes();
	return 0;
}

void hal_gate_turn(struct hal_core *core, const struct hal_gate *gate, bool open)
{
	abort();
}

bool monitor_change_phase(uint32_t found, uint32_t to)
{
	CHECK_EQ(found, monitor.phase);
	if ((to & PHASE_MASK) == PHASE_RUNS)
		CHECK(end.state == BH_CHANNEL_LIVES && end.epoch == 2 && peer == 0); /* before anybody can tell its end */
	if (!is_last_life)
		monitor.phase = to;
	return !is_last_life;
}

void monitor_end(const struct hal_core *core, uint32_t state)
{
	ended = state;
}

static uint64_t silenced_at, rested;

/* The guest's first instruction is near: with its caches off it sees what is behind them. */
void hal_core_restart(struct hal_core *core)
{
	restarts++;
	CHECK(silenced);
	rested = arch_counter() - silenced_at;
	CHECK_EQ(monitor.phase, PHASE);
	CHECK(end.state == BH_CHANNEL_LIVES && end.epoch == 1 && peer == 1);
	CHECK(!memcmp(ram, expected, sizeof(ram)));
	CHECK(!memcmp(behind, expected, sizeof(behind)));
}

/* Nothing of the sandbox runs any more, and nothing of its memory has been written yet. What the device wrote last is there. */
bool hal_partition_quiesce(struct hal_core *core)
{
	CHECK_EQ(monitor.stopped[0], monitor.phase);
	CHECK_EQ(quiesced, 1); /* this core */
	CHECK(monitor.core_count == 1 || monitor.stopped[late] == monitor.phase || (monitor.phase == PHASE_ENDED && !stops));
	CHECK_EQ(restarts, 0);
	CHECK(end.state != BH_CHANNEL_GONE);
	silences++;
	CHECK_EQ(((const uint8_t *)ram[spans[1].page])[0], LEFT);
	device_writes();
	silenced = falls_silent;
	silenced_at = arch_counter();
	return falls_silent;
}

void hal_core_quiesce(struct hal_core *core)
{
	quiesced++;
}

void hal_core_wait(struct hal_core *core)
{
	waited++;
}

_Noreturn void monitor_refuse(const char *what, const char *why)
{
	abort();
}

void build_must(enum hal_status status, const char *what)
{
	CHECK_EQ(status, HAL_OK);
}

enum hal_status hal_space_map(struct hal_space *space, const void *va, hpa_t hpa, uint64_t size, unsigned permissions,
			      enum hal_memory memory)
{
	abort();
}

/* Others' pieces and regions lie between. */
static void make_table(void)
{
	uint64_t offset = 0;

	table = (struct bh_table){ .sandbox_count = 2 };
	table.sandboxes[SANDBOX].on_fault = BH_ON_FAULT_RESTART;
	table.sandboxes[SANDBOX].snapshot = address_of(COPY);
	table.sandboxes[SANDBOX].snapshot_bytes = (uint64_t)COPY_PAGES * BH_PAGE_BYTES;
	for (unsigned n = 0; n < sizeof(spans) / sizeof(spans[0]); n++) {
		const uint64_t start = address_of(spans[n].page), bytes = (uint64_t)spans[n].pages * BH_PAGE_BYTES;

		table.regions[table.region_count++] = (struct bh_region){
			.hpa = address_of(34 + n), .size = BH_PAGE_BYTES, .sandbox = 0, .kind = BH_REGION_RAM
		};
		table.regions[table.region_count++] = (struct bh_region){
			.hpa = address_of(36 + n), .size = BH_PAGE_BYTES, .sandbox = SANDBOX, .kind = BH_REGION_POOL
		};
		table.regions[table.region_count++] = (struct bh_region){
			.hpa = start, .size = bytes, .sandbox = SANDBOX, .kind = BH_REGION_RAM
		};
	}
	for (unsigned n = 0; n < sizeof(pieces) / sizeof(pieces[0]); n++) {
		const uint64_t size = (uint64_t)pieces[n].pages * BH_PAGE_BYTES;

		table.pieces[table.piece_count++] = (struct bh_piece){ 0, address_of(34 + n), BH_PAGE_BYTES, 0, 0 };
		table.pieces[table.piece_count++] = (struct bh_piece){ offset, address_of(pieces[n].page), size, SANDBOX, 0 };
		offset += size;
	}
	CHECK_EQ(offset, table.sandboxes[SANDBOX].snapshot_bytes);
}

static void keep(struct build *build, uint32_t sandbox)
{
	*build = (struct build){ .sandbox = &table.sandboxes[sandbox] };
	build->arena = (struct hal_arena){ .next = address_of(ARENA), .end = address_of(ARENA + ARENA_PAGES) };
	snapshot_keep(&table, sandbox, build);
}

/* The sandbox has had one life; the copy was kept before it. */
static void prepare(uint32_t core_count)
{
	struct build build;

	make_table();
	fill(ram, (struct extent){ 0, PAGES }, 0x100);
	caches_watch(ram, behind, sizeof(ram));
	keep(&build, SANDBOX);
	for (unsigned n = 0, page = COPY; n < sizeof(pieces) / sizeof(pieces[0]); page += pieces[n++].pages) {
		CHECK(!memcmp(ram[page], ram[pieces[n].page], pieces[n].pages * sizeof(ram[0])));
		CHECK(!memcmp(behind[page], ram[pieces[n].page], pieces[n].pages * sizeof(ram[0])));
	}
	memcpy(expected, ram, sizeof(ram));
	for (unsigned n = 0; n < sizeof(spans) / sizeof(spans[0]); n++) {
		memset(expected[spans[n].page], 0, spans[n].pages * sizeof(ram[0]));
		memset(ram[spans[n].page], LEFT, spans[n].pages * sizeof(ram[0]));
	}
	for (unsigned n = 0; n < sizeof(pieces) / sizeof(pieces[0]); n++)
		fill(expected, pieces[n], 0x100);
	caches_watch(ram, behind, sizeof(ram));
	monitor = (struct monitor){ .stats = &stats, .log = &the_log, .core_count = core_count, .phase = PHASE, .kick_timeout = 1000 };
	monitor.snapshot = build.snapshot;
	end = (struct bh_channel_end){ .epoch = 1, .state = BH_CHANNEL_LIVES };
	peer = 1;
	monitor.ends[monitor.end_count++] = (struct channel_end){ .seen = &end, .peer = &peer };
	stats = (struct bh_stats){ .state = BH_STATE_READY };
	silenced = false;
	kicks = restarts = polls = quiesced = waited = silences = ended = 0;
}

/* But by the device. */
static void check_untouched(void)
{
	for (unsigned n = 0; n < sizeof(buffers) / sizeof(buffers[0]); n++)
		memset(ram[buffers[n]], LEFT, sizeof(ram[0][0]));
	for (unsigned n = 0; n < sizeof(spans) / sizeof(spans[0]); n++)
		for (unsigned at = 0; at < spans[n].pages * sizeof(ram[0]); at++)
			CHECK_EQ(((const uint8_t *)ram[spans[n].page])[at], LEFT);
}

/* The first core asks whether the last has stopped. */
static void second_core(void)
{
	if (!restarts && monitor.stopped[late] != monitor.phase) {
		if (++polls <= POLLS)
			check_untouched();
		if (stops && polls == POLLS)
			monitor.stopped[late] = monitor.phase;
	}
}

static void check_restarted(void)
{
	CHECK_EQ(restarts, 1);
	CHECK_EQ(monitor.phase, PHASE - PHASE_RESTARTS + NEXT_LIFE + PHASE_RUNS);
	CHECK_EQ(stats.state, BH_STATE_RUNNING);
	CHECK_EQ(stats.restarts, 1);
	CHECK(end.state == BH_CHANNEL_LIVES && end.epoch == 2 && peer == 0);
	CHECK_EQ(ended, 0);
}

/* Whoever shares a channel hears of it last of all that it is gone. */
static void test_last_life(void)
{
	check_context.subject = "ended while it begins again";
	prepare(1);
	is_last_life = true;
	restart_take_part(NULL, 0, PHASE);
	is_last_life = false;
	CHECK(end.state == BH_CHANNEL_LIVES && end.epoch == 2);
	prepare(1); /* what follows */
	monitor.phase = PHASE_ENDED;
	restart_take_part(NULL, 0, PHASE_ENDED);
	CHECK(end.state == BH_CHANNEL_GONE && end.epoch == 1);
}

/* Kicks are answered at least every 16 KiB, whatever is written. */
static void test_memory(void)
{
	unsigned pages = 0;

	check_context.subject = "memory";
	prepare(1);
	restart_take_part(NULL, 0, PHASE);
	check_restarted();
	for (unsigned n = 0; n < sizeof(spans) / sizeof(spans[0]); n++)
		pages += spans[n].pages;
	CHECK(kicks >= (pages + COPY_PAGES) / 4);
}

/* Devices that are being reset are not accessed in the meantime, and kicks are answered. The fake counter ticks once a look. */
static void test_devices_that_are_reset(void)
{
	enum { TICKS = 5000 };
	unsigned before;

	check_context.subject = "no device is reset";
	prepare(1);
	restart_take_part(NULL, 0, PHASE);
	check_restarted();
	CHECK(rested < 100);
	before = kicks;
	check_context.subject = "devices are reset";
	prepare(1);
	monitor.reset_ticks = TICKS;
	restart_take_part(NULL, 0, PHASE);
	check_restarted();
	CHECK(rested >= TICKS && rested < TICKS + 100);
	CHECK(kicks >= before + TICKS - 10);
}

static void test_two_cores(void)
{
	check_context.subject = "two cores";
	prepare(2);
	stops = true;
	fake_arch.on_relax = second_core;
	restart_take_part(NULL, 0, PHASE);
	CHECK_EQ(polls, POLLS);
	check_restarted();

	check_context.subject = "one has stopped in an earlier life";
	prepare(2);
	stops = false;
	monitor.stopped[1] = PHASE - NEXT_LIFE;
	fake_arch.on_relax = second_core;
	restart_take_part(NULL, 0, PHASE);
	CHECK_EQ(restarts, 0);
	CHECK_EQ(ended, BH_STATE_PARKED);
	CHECK_EQ(monitor.phase, PHASE_ENDED);
	CHECK_EQ(silences, 0);
	check_untouched();
}

/* The first core waits for the others, within a bound, and silences the devices once, whether they have come or not. */
static void check_end(uint32_t core_count, bool second_stops)
{
	prepare(core_count);
	monitor.phase = PHASE_ENDED;
	monitor.snapshot = NULL; /* nor is one needed */
	stops = second_stops;
	fake_arch.on_relax = second_core;
	restart_take_part(NULL, 0, PHASE_ENDED);
	CHECK_EQ(silences, 1);
	CHECK_EQ(waited, 0);
	restart_take_part(NULL, 0, PHASE_ENDED);
	CHECK_EQ(silences, 1);
	CHECK_EQ(waited, 1);
	CHECK_EQ(quiesced, 1);
	CHECK_EQ(restarts, 0);
	CHECK_EQ(ended, 0); /* who has ended it has said so */
	CHECK_EQ(stats.restarts, 0);
	CHECK_EQ(monitor.phase, PHASE_ENDED);
	check_untouched();
}

static void test_end(void)
{
	check_context.subject = "the end of one core";
	check_end(1, false);
	check_context.subject = "the end of two cores";
	check_end(2, true);
	CHECK_EQ(polls, POLLS);
	check_context.subject = "the end, and a core that does not come";
	check_end(2, false);
	CHECK(polls > POLLS);
}

/* Of sixteen, whichever comes last: nothing is done before it has. If it does not come, no restart, but an end. */
static void test_many_cores(void)
{
	for (late = 1; late < BH_MAX_SANDBOX_CORES; late++) {
		check_context.subject = "sixteen cores";
		check_context.round = late;
		for (unsigned life = 0; life < 3; life++) {
			uint32_t phase = life == 2 ? (uint32_t)PHASE_ENDED : (uint32_t)PHASE;

			prepare(BH_MAX_SANDBOX_CORES);
			monitor.phase = phase;
			for (unsigned slot = 1; slot < BH_MAX_SANDBOX_CORES; slot++)
				monitor.stopped[slot] = slot == late ? 0 : phase;
			stops = life != 1;
			fake_arch.on_relax = second_core;
			restart_take_part(NULL, 0, phase);
			CHECK_EQ(silences, life != 1);
			CHECK_EQ(restarts, !life);
			CHECK(life == 1 ? ended == BH_STATE_PARKED : !ended && polls == POLLS);
			if (life == 1) /* the bound is that of all cores together; the fake counter ticks once a look */
				CHECK(polls > 2 * monitor.kick_timeout - 4 && polls <= 2 * monitor.kick_timeout + 1);
		}
		prepare(BH_MAX_SANDBOX_CORES);
		restart_take_part(NULL, late, PHASE);
		CHECK_EQ(monitor.stopped[late], PHASE);
		CHECK_EQ(quiesced, 1);
		CHECK_EQ(restarts + silences, 0);
	}
	late = 1;
	check_context.round = 0;
}

/* BH-I1.dma: what its devices still do is unknown, so its memory stays as it is, and it ends. */
static void test_devices_that_do_not_fall_silent(void)
{
	check_context.subject = "a restart, and devices that do not fall silent";
	prepare(1);
	falls_silent = false;
	restart_take_part(NULL, 0, PHASE);
	CHECK_EQ(silences, 1);
	CHECK_EQ(restarts, 0);
	CHECK_EQ(ended, BH_STATE_PARKED);
	CHECK_EQ(monitor.phase, PHASE_ENDED);
	check_untouched();
	falls_silent = true;
}

/* It has given its locks back: its devices fall silent as those of any other do. */
static void test_end_by_a_trap(void)
{
	check_context.subject = "the end of a monitor that trapped";
	prepare(1);
	monitor.phase = PHASE_ENDED;
	monitor.trapped = true;
	restart_take_part(NULL, 0, PHASE_ENDED);
	CHECK_EQ(silences, 1);
	CHECK_EQ(quiesced, 1);
}

/* The second core has stopped for a restart that was cut off; the end asks for more than its old word. */
static void test_end_of_a_restart(void)
{
	check_context.subject = "the end of a restart";
	prepare(2);
	monitor.phase = PHASE_ENDED;
	monitor.stopped[0] = monitor.stopped[1] = PHASE;
	stops = true;
	fake_arch.on_relax = second_core;
	restart_take_part(NULL, 0, PHASE_ENDED);
	CHECK_EQ(polls, POLLS);
	CHECK_EQ(silences, 1);
	CHECK_EQ(quiesced, 1);
}

/* A core that is not the first quiesces before it says that it has stopped, and touches no memory. */
static void test_others(void)
{
	check_context.subject = "second core";
	prepare(2);
	restart_take_part(NULL, 1, PHASE);
	CHECK_EQ(quiesced, 1);
	CHECK_EQ(monitor.stopped[1], PHASE);
	restart_take_part(NULL, 1, PHASE);
	CHECK_EQ(quiesced, 1);
	CHECK_EQ(waited, 1);
	CHECK_EQ(restarts + silences, 0);
	check_untouched();
}

static void test_none_kept(void)
{
	struct build build;

	check_context.subject = "none kept";
	prepare(1);
	memcpy(expected, ram, sizeof(ram));
	keep(&build, 0);
	CHECK(!build.snapshot);
	CHECK(!memcmp(ram, expected, sizeof(ram)));
}

int main(void)
{
	test_memory();
	test_last_life();
	test_devices_that_are_reset();
	test_two_cores();
	test_end();
	test_many_cores();
	test_devices_that_do_not_fall_silent();
	test_end_by_a_trap();
	test_end_of_a_restart();
	test_others();
	test_none_kept();
	return 0;
}
