/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What start-up writes for a sandbox (BH-I4.private): its pool's pages, its copy of the monitor, its kernel's clock text. All that a guest
 * or a core without caches may read is behind the caches in the end, nothing of another sandbox's is written, nothing of it is granted.
 * monitor/boot/partition_boot.c over a machine that notes; memory is where the partition table of good_table.c has the pools.
 */
#include "caches.h"
#include "frames.h"
#include "good_table.h"
#include "resident_image.h"

enum { START = 0x40400000, BYTES = 0x300000, CLOCK_TEXT = 0x40600ffb, HZ = 1234567890, ENTERED = 77, JUNK = 0xa5 };
enum { INDEX = 1, CORES = 1, PARTITION_FRAMES = 3 };

static uint8_t behind[BYTES], before[BYTES];
static struct bh_table table;
static struct {
	unsigned maps, regions, ports, lines, rung, functions, cores, sealed;
	uint64_t absent;
} seen;

static uint8_t *at(uint64_t hpa)
{
	return (uint8_t *)(uintptr_t)hpa;
}

size_t hal_resident_parts(const struct hal_part **parts)
{
	static const struct hal_part part = { of_this_machine, __resident_rodata_start };

	*parts = &part;
	return 1;
}

enum hal_status hal_partition_create(struct hal_arena *arena, const struct hal_partition_config *config, struct hal_partition **out)
{
	CHECK_EQ(config->index, INDEX);
	CHECK_EQ(config->core_count, CORES);
	CHECK_EQ(config->cores[0], table.sandboxes[INDEX].cores[0]);
	*out = hal_arena_take(arena, PARTITION_FRAMES);
	return HAL_OK;
}

enum hal_status hal_partition_gate(struct hal_partition *partition, gpa_t gpa, uint64_t size, struct hal_gate *out)
{
	abort();
}

enum hal_status hal_partition_map(struct hal_partition *partition, gpa_t gpa, hpa_t hpa, uint64_t size, unsigned permissions,
				  enum hal_memory memory)
{
	seen.maps++;
	for (uint32_t n = 0; n < table.region_count; n++) {
		const struct bh_region *region = &table.regions[n];

		unsigned for_functions = region->kind == BH_REGION_RAM ? HAL_DMA : 0; /* BH-I1.dma: of nothing else */

		if (region->sandbox == INDEX && region->gpa == gpa.v && region->hpa == hpa.v && region->size == size &&
		    (region->permissions | for_functions) == permissions && region->memory_type == memory)
			seen.regions |= 1u << n;
	}
	return HAL_OK;
}

enum hal_status hal_partition_allow_ports(struct hal_partition *partition, uint32_t first, uint32_t count)
{
	for (uint32_t n = 0; n < table.port_count; n++)
		if (table.ports[n].first == first && table.ports[n].count == count)
			seen.ports |= 1u << n;
	return HAL_OK;
}

enum hal_status hal_partition_grant_line(struct hal_partition *partition, uint32_t line, uint32_t core, uint32_t vector, uint32_t flags)
{
	for (uint32_t n = 0; n < table.line_count; n++)
		if (table.lines[n].line == line && table.lines[n].core == core)
			seen.lines |= 1u << n;
	return HAL_OK;
}

/* On the page of its channel, at the end that is rung. */
enum hal_status hal_partition_grant_doorbell(struct hal_partition *to, const struct bh_line *line, struct bh_channel_end *told)
{
	CHECK_EQ(line->flags, BH_LINE_RUNG);
	CHECK((uintptr_t)told == 0x72001000 + offsetof(struct bh_channel, end[1]));
	seen.rung |= 1u << (line - table.lines);
	return HAL_OK;
}

enum hal_status hal_partition_grant_function(struct hal_partition *partition, const struct bh_pci_function *function)
{
	seen.functions |= 1u << (function - table.pci_functions);
	return HAL_OK;
}

enum hal_status hal_partition_show_functions(struct hal_partition *partition, hpa_t absent)
{
	seen.absent = absent.v;
	return HAL_OK;
}

uint32_t hal_partition_reset_ms(const struct hal_partition *partition)
{
	return 0;
}

void hal_partition_seal(struct hal_partition *partition)
{
	seen.sealed++;
}

enum hal_status hal_core_create(struct hal_partition *partition, struct hal_arena *arena, uint32_t slot, const struct hal_entry *entry,
				struct hal_core **out)
{
	CHECK_EQ(seen.sealed, 1);
	seen.cores++;
	*out = hal_arena_take(arena, 1);
	return HAL_OK;
}

_Noreturn void monitor_refuse(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	exit(1);
}

void snapshot_keep(const struct bh_table *of, uint32_t index, struct build *build)
{
	CHECK_EQ(seen.cores, CORES); /* after all that start-up writes into the sandbox's memory */
}

/* build_space is space_test.c's. */
void snapshot_map(struct build *build)
{
	abort();
}

enum hal_status hal_space_create(struct hal_arena *arena, struct hal_space **out)
{
	abort();
}

enum hal_status hal_space_map(struct hal_space *space, const void *va, hpa_t hpa, uint64_t size, unsigned permissions,
			      enum hal_memory memory)
{
	abort();
}

enum hal_status hal_space_map_ram(struct hal_space *space, hpa_t hpa, uint64_t size)
{
	abort();
}

enum hal_status hal_space_map_devices(struct hal_space *space, const struct hal_partition *partition)
{
	abort();
}

enum hal_status hal_partition_allow_kick(struct hal_partition *from, struct hal_partition *to)
{
	abort();
}

void hal_partition_allow_notice(struct hal_partition *from, const struct hal_partition *to)
{
	abort();
}

static struct build build_one(uint32_t pci_function_count)
{
	static const struct boot_clock clock = { .hz = HZ, .entered = ENTERED };
	struct build build = { 0 };

	good_table(&table);
	table.pci_function_count = pci_function_count;
	table.sandboxes[INDEX].clock_text = CLOCK_TEXT;
	frames_arena(FRAMES_MAX);
	memcpy(before, at(START), BYTES);
	caches_watch(at(START), behind, BYTES);
	memset(&seen, 0, sizeof(seen));
	build_partition(&table, INDEX, &clock, &build);
	return build;
}

static void check_same(const void *one, const void *other, size_t bytes)
{
	for (size_t n = 0; n < bytes; n++)
		CHECK_EQ(((const uint8_t *)one)[n], ((const uint8_t *)other)[n]);
}

static void check_filled(uint64_t hpa, size_t bytes, uint8_t value)
{
	for (size_t n = 0; n < bytes; n++)
		CHECK_EQ(at(hpa)[n], value);
}

/* With caches off it is what start-up wrote. */
static void check_behind(uint64_t hpa, size_t bytes)
{
	check_same(behind + (hpa - START), at(hpa), bytes);
}

static void test_pool(void)
{
	const uint64_t pool = build_one(GOOD_FUNCTIONS).sandbox->pool;
	const struct bh_stats *stats = (const struct bh_stats *)at(pool + BH_POOL_STATS);
	const uint64_t rest = offsetof(struct bh_stats, start_clock);

	check_context.subject = "pool";
	CHECK_EQ(stats->magic, BH_STATS_MAGIC);
	CHECK_EQ(stats->state, BH_STATE_COLD);
	CHECK_EQ(stats->core_count, CORES);
	CHECK_EQ(stats->sandbox, INDEX);
	CHECK_EQ(stats->boot_clock, ENTERED);
	check_filled(pool + BH_POOL_STATS + rest, BH_PAGE_BYTES - rest, 0);
	check_filled(pool + BH_POOL_CRASH, BH_PAGE_BYTES, 0); /* nothing here takes the rest of it */
	check_filled(pool + BH_POOL_LOG, sizeof(struct bh_log) - BH_LOG_TEXT_BYTES, 0);
	check_filled(pool + BH_POOL_ABSENT, BH_PAGE_BYTES, 0xff);
	CHECK_EQ(seen.absent, pool + BH_POOL_ABSENT);
	CHECK_EQ(((const struct bh_info *)at(pool + BH_POOL_INFO))->clock_hz, HZ);
	check_behind(pool, BH_POOL_ARENA);
	check_behind(pool + BH_POOL_ABSENT, BH_PAGE_BYTES);
	CHECK(!memcmp(at(CLOCK_TEXT), "1234567\xa5\xa5\xa5\xa5", 11));
	check_behind(CLOCK_TEXT, BH_CLOCK_DIGITS);
}

/* The crash record is nobody else's; the rest of its frame is handed out. */
static void test_rest_of_a_frame(void)
{
	const struct build build = build_one(GOOD_FUNCTIONS);
	const uint64_t crash = build.sandbox->pool + BH_POOL_CRASH;

	check_context.subject = "rest of a frame";
	CHECK(build.arena.small >= crash + sizeof(struct bh_crash));
	CHECK(build.arena.small <= crash + 1024);
	CHECK_EQ(build.arena.small_end, crash + BH_PAGE_BYTES);
}

static void test_copy(void)
{
	const struct build build = build_one(GOOD_FUNCTIONS);
	const size_t bytes = (size_t)(__resident_data_end - __resident_text_start);
	const size_t data = (size_t)((const char *)&monitor - __resident_text_start);
	const struct monitor *private = (const struct monitor *)at(build.copy + data);
	static const uint8_t zeros[BH_PAGE_BYTES];

	check_context.subject = "private copy";
	CHECK_EQ(bytes, RESIDENT_PAGES * BH_PAGE_BYTES);
	for (unsigned page = 0; page < RESIDENT_PAGES; page++) {
		const char *original = page == OTHER_MACHINE ? (const char *)zeros : __resident_text_start + page * BH_PAGE_BYTES;
		const size_t size = page == DATA ? data % BH_PAGE_BYTES : BH_PAGE_BYTES;

		check_context.round = page;
		check_same(at(build.copy + page * BH_PAGE_BYTES), original, size);
		check_behind(build.copy + page * BH_PAGE_BYTES, size);
	}
	CHECK(private->stats == (const void *)at(build.sandbox->pool + BH_POOL_STATS));
	CHECK_EQ(private->core_numbers[0], table.sandboxes[INDEX].cores[0]);
	CHECK_EQ(private->end_count, GOOD_CHANNELS);
	CHECK((uintptr_t)private->ends[GOOD_RING].seen == 0x72001000 + offsetof(struct bh_channel, end[1]));
	CHECK((uintptr_t)private->ends[GOOD_RING].peer == 0x72002000 + offsetof(struct bh_channel_control, peer));
	CHECK((uintptr_t)private->ends[GOOD_MAILBOX].seen == 0x72005000 + offsetof(struct bh_channel, end[0]));
	CHECK((uintptr_t)private->ends[GOOD_MAILBOX].peer == 0x72003000 + offsetof(struct bh_channel_control, peer));
	CHECK_EQ(private->restarts_left, table.sandboxes[INDEX].max_restarts);
	check_same(&monitor, zeros, sizeof(monitor));
}

/* Own rows of the table, all of them; and frames of the own pool, but for the digits of the clock. */
static void test_nothing_else(void)
{
	const struct bh_sandbox *sandbox = build_one(GOOD_FUNCTIONS).sandbox;
	const uint64_t pool = sandbox->pool, end = pool + sandbox->pool_bytes;

	check_context.subject = "nothing else";
	CHECK_EQ(seen.regions, 1u << GOOD_FOREIGN_RAM | 1u << GOOD_FOREIGN_DEVICE | 1u << GOOD_FOREIGN_BANKED | 1u << GOOD_PORTS_BAR |
				       1u << GOOD_TAKES | 1u << GOOD_RECEIVER_SEES);
	CHECK_EQ(seen.maps, 6);
	CHECK_EQ(seen.ports, 1u << 1 | 1u << 2);
	CHECK_EQ(seen.lines, 1u << GOOD_FOREIGN_LINE);
	CHECK_EQ(seen.rung, 1u << GOOD_RUNG);
	CHECK_EQ(seen.functions, 1u << GOOD_FOREIGN_FUNCTION);
	check_same(at(START), before, pool - START);
	check_same(at(end), before + (end - START), CLOCK_TEXT - end);
	check_filled(CLOCK_TEXT + 7, START + BYTES - CLOCK_TEXT - 7, JUNK);

	check_context.subject = "no PCI functions of its own";
	CHECK_EQ(build_one(GOOD_FUNCTION + 1).copy, pool + BH_POOL_ARENA);
	CHECK_EQ(seen.absent, 0);
}

enum { POLLS = 3 };
static struct {
	struct build build;
	struct monitor *private;
	struct bh_stats *stats;
	unsigned polls;
} condemned;

/* The first core begins after a while. */
static void first_core(void)
{
	CHECK_EQ(condemned.private->entered, 1u << 1);
	CHECK_EQ(condemned.stats->state, BH_STATE_COLD);
	if (++condemned.polls == POLLS)
		condemned.stats->state = BH_STATE_RUNNING;
}

/* A core that cannot be disarmed has been in its monitor, for all that the monitor knows; nothing that is said of the first core is lost.
 */
static void test_condemned(void)
{
	const size_t data = (size_t)((const char *)&monitor - __resident_text_start);

	check_context.subject = "a core that cannot be disarmed";
	condemned.build = build_one(GOOD_FUNCTIONS);
	condemned.private = (struct monitor *)at(condemned.build.copy + data);
	condemned.stats = condemned.private->stats;
	CHECK_EQ(condemned.private->entered, 0);
	fake_arch.on_relax = first_core;
	build_condemn(&condemned.build, 1);
	CHECK_EQ(condemned.polls, POLLS);
	CHECK_EQ(condemned.private->entered, 1u << 1);

	check_context.subject = "the first core never begins";
	condemned.stats->state = BH_STATE_COLD;
	condemned.private->kick_timeout = POLLS;
	fake_arch.on_relax = NULL;
	build_condemn(&condemned.build, 1);
	CHECK_EQ(condemned.stats->state, BH_STATE_COLD);
	fake_arch.on_relax = first_core;

	check_context.subject = "the first core cannot be disarmed";
	condemned.stats->state = BH_STATE_COLD;
	build_condemn(&condemned.build, 0);
	CHECK_EQ(condemned.polls, POLLS);
	CHECK_EQ(condemned.private->entered, 1u << 1 | 1u << 0);
}

int main(void)
{
	test_pool();
	test_rest_of_a_frame();
	test_copy();
	test_nothing_else();
	test_condemned();
	return 0;
}
