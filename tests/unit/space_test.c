/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a monitor's own address space holds (BH-I4.private): every mapping start-up asks for, against what docs/shared-state.md and the
 * comments in hal.h give a monitor, neither one less nor one more. Two sandboxes, in every combination of what may differ between them.
 * monitor/boot/partition_boot.c and monitor/boot/snapshot_boot.c over a machine that notes; what a machine makes of it is
 * space_x86_test.c's and space_stage2_test.c's.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "frames.h"
#include "good_table.h"
#include "resident_image.h"

enum { SANDBOXES = 2, SEEN_MAX = 64, FRAMES = 0x600, R = HAL_READ, RW = HAL_READ | HAL_WRITE, RX = HAL_READ | HAL_EXECUTE };
/* What differs, a bit each: of both sandboxes, of both again, ... */
enum { MAY_KICK = 1 << 0, RESTARTS = 1 << 2, NOTIFIES = 1 << 4, FUNCTIONS = 1 << 6, COMBINATIONS = 1 << 7 };

struct hal_partition {
	uint32_t index;
};
struct hal_space {
	uint32_t index;
};

struct mapping {
	const void *va;
	uint64_t hpa, size;
	unsigned permissions;
	enum { MEMORY, GUEST_CODE } what; /* hal_space_map or hal_space_map_ram */
};
struct list {
	const struct mapping *mappings;
	size_t count;
};
/* clang-format off */
#define LIST(array) { (array), sizeof(array) / sizeof((array)[0]) }
#define ONE_TO_ONE(hpa) (const void *)(hpa), (hpa)
/* clang-format on */

/*
 * Of every monitor: its copy at the link addresses, its pool but for the copy, the kick mailboxes, the pages of its sandbox's channels. The
 * copy is the first that is taken, or the second, after the page of ones.
 */
/* clang-format off */
#define ALWAYS(pool, bytes, copy) {                                                                \
	{ __resident_text_start, (copy), 0x3000, RX, MEMORY },                                     \
	{ __resident_rodata_start, (copy) + 0x3000, 0x1000, R, MEMORY },                           \
	{ __resident_data_start, (copy) + 0x4000, 0x1000, RW, MEMORY },                            \
	{ ONE_TO_ONE(pool), (copy) - (pool), RW, MEMORY },                                         \
	{ ONE_TO_ONE((copy) + 0x5000), (pool) + (bytes) - (copy) - 0x5000, RW, MEMORY },           \
	{ ONE_TO_ONE(0x40400000), 0x1000, RW, MEMORY },                                            \
}
/* clang-format on */
static const struct mapping first_always[] = ALWAYS(0x40410000, 0x50000, 0x40417000);
static const struct mapping second_always[] = ALWAYS(0x40490000, 0x40000, 0x40497000);
static const struct mapping first_functions[] = ALWAYS(0x40410000, 0x50000, 0x40418000);
static const struct mapping second_functions[] = ALWAYS(0x40490000, 0x40000, 0x40498000);

/* Of channels, one from the first to the second and one back: pages, and the beginnings of areas. */
static const struct mapping first_channels[] = {
	{ ONE_TO_ONE(0x72000000), 0x1000, RW, MEMORY },
	{ ONE_TO_ONE(0x72001000), 0x1000, RW, MEMORY },
	{ ONE_TO_ONE(0x72005000), 0x2000, RW, MEMORY },
};
static const struct mapping second_channels[] = {
	{ ONE_TO_ONE(0x72001000), 0x2000, RW, MEMORY },
	{ ONE_TO_ONE(0x72003000), 0x1000, RW, MEMORY },
	{ ONE_TO_ONE(0x72005000), 0x1000, RW, MEMORY },
};

/* Who may restart its sandbox writes the sandbox's RAM, from a copy that it only reads. */
static const struct mapping first_restarts[] = {
	{ ONE_TO_ONE(0x71000000), 0x5000, R, MEMORY },
	{ ONE_TO_ONE(0x50000000), 0x1000000, RW, MEMORY },
	{ ONE_TO_ONE(0x52000000), 0x200000, RW, MEMORY },
};
static const struct mapping second_restarts[] = {
	{ ONE_TO_ONE(0x70000000), 0x3000, R, MEMORY },
	{ ONE_TO_ONE(0x60000000), 0x1000000, RW, MEMORY },
	{ ONE_TO_ONE(0x62000000), 0x400000, RW, MEMORY },
};

/* All others at most look at its instructions. */
static const struct mapping first_parks[] = {
	{ ONE_TO_ONE(0x50000000), 0x1000000, 0, GUEST_CODE },
	{ ONE_TO_ONE(0x52000000), 0x200000, 0, GUEST_CODE },
};
static const struct mapping second_parks[] = {
	{ ONE_TO_ONE(0x60000000), 0x1000000, 0, GUEST_CODE },
	{ ONE_TO_ONE(0x62000000), 0x400000, 0, GUEST_CODE },
};

static const struct list always[] = { LIST(first_always), LIST(second_always) };
static const struct list with_functions[] = { LIST(first_functions), LIST(second_functions) };
static const struct list channels[] = { LIST(first_channels), LIST(second_channels) };
static const struct list restarts[] = { LIST(first_restarts), LIST(second_restarts) };
static const struct list parks[] = { LIST(first_parks), LIST(second_parks) };

static struct bh_table table;
static struct build builds[SANDBOXES];
static uint32_t building; /* whose monitor */
static struct seen {
	unsigned spaces, devices, functions;
	uint32_t kicks, notices; /* bit n: of sandbox n */
	size_t count;
	struct mapping mappings[SEEN_MAX];
} seen[SANDBOXES];

/* ---- The machine ---- */

size_t hal_resident_parts(const struct hal_part **parts)
{
	static const struct hal_part part = { of_this_machine, __resident_rodata_start };

	*parts = &part;
	return 1;
}

enum hal_status hal_partition_create(struct hal_arena *arena, const struct hal_partition_config *config, struct hal_partition **out)
{
	*out = hal_arena_take(arena, 1);
	(*out)->index = config->index;
	return HAL_OK;
}

enum hal_status hal_partition_gate(struct hal_partition *partition, gpa_t gpa, uint64_t size, struct hal_gate *out)
{
	abort();
}

enum hal_status hal_partition_map(struct hal_partition *partition, gpa_t gpa, hpa_t hpa, uint64_t size, unsigned permissions,
				  enum hal_memory memory)
{
	return HAL_OK;
}

enum hal_status hal_partition_allow_ports(struct hal_partition *partition, uint32_t first, uint32_t count)
{
	return HAL_OK;
}

enum hal_status hal_partition_grant_line(struct hal_partition *partition, uint32_t line, uint32_t core, uint32_t vector, uint32_t flags)
{
	return HAL_OK;
}

enum hal_status hal_partition_grant_doorbell(struct hal_partition *to, const struct bh_line *line, struct bh_channel_end *told)
{
	return HAL_OK;
}

enum hal_status hal_partition_grant_function(struct hal_partition *partition, const struct bh_pci_function *function)
{
	seen[partition->index].functions++;
	return HAL_OK;
}

enum hal_status hal_partition_show_functions(struct hal_partition *partition, hpa_t absent)
{
	return HAL_OK;
}

uint32_t hal_partition_reset_ms(const struct hal_partition *partition)
{
	return 0;
}

void hal_partition_seal(struct hal_partition *partition) {}

enum hal_status hal_core_create(struct hal_partition *partition, struct hal_arena *arena, uint32_t slot, const struct hal_entry *entry,
				struct hal_core **out)
{
	*out = hal_arena_take(arena, 1);
	return HAL_OK;
}

_Noreturn void monitor_refuse(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	exit(1);
}

/* Its tables are frames of its own pool. */
enum hal_status hal_space_create(struct hal_arena *arena, struct hal_space **out)
{
	CHECK(arena == &builds[building].arena);
	*out = hal_arena_take(arena, 1);
	(*out)->index = building;
	seen[building].spaces++;
	return HAL_OK;
}

static enum hal_status note(const struct hal_space *space, struct mapping mapping)
{
	struct seen *own = &seen[space->index];

	CHECK_EQ(space->index, building);
	CHECK(own->count < SEEN_MAX);
	own->mappings[own->count++] = mapping;
	return HAL_OK;
}

/* Devices are for the machine to map. */
enum hal_status hal_space_map(struct hal_space *space, const void *va, hpa_t hpa, uint64_t size, unsigned permissions,
			      enum hal_memory memory)
{
	CHECK_EQ(memory, HAL_MEMORY_RAM);
	return note(space, (struct mapping){ va, hpa.v, size, permissions, MEMORY });
}

enum hal_status hal_space_map_ram(struct hal_space *space, hpa_t hpa, uint64_t size)
{
	return note(space, (struct mapping){ ONE_TO_ONE(hpa.v), size, 0, GUEST_CODE });
}

enum hal_status hal_space_map_devices(struct hal_space *space, const struct hal_partition *partition)
{
	CHECK_EQ(space->index, building);
	CHECK_EQ(partition->index, building);
	seen[building].devices++;
	return HAL_OK;
}

enum hal_status hal_partition_allow_kick(struct hal_partition *from, struct hal_partition *to)
{
	CHECK_EQ(from->index, building);
	CHECK_EQ(seen[building].devices, 0); /* which map what its kicks write */
	seen[building].kicks |= 1u << to->index;
	return HAL_OK;
}

void hal_partition_allow_notice(struct hal_partition *from, const struct hal_partition *to)
{
	CHECK_EQ(from->index, building);
	seen[building].notices |= 1u << to->index;
}

/* ---- What is expected ---- */

static bool same(const struct mapping *one, const struct mapping *other)
{
	return one->va == other->va && one->hpa == other->hpa && one->size == other->size && one->permissions == other->permissions &&
	       one->what == other->what;
}

static void complain(const char *what, const struct mapping *mapping)
{
	fprintf(stderr, "monitor of sandbox %" PRIu32 ", %s: %#" PRIx64 " at %p, %#" PRIx64 " bytes, permissions %u%s\n", building, what,
		mapping->hpa, mapping->va, mapping->size, mapping->permissions, mapping->what == GUEST_CODE ? ", guest's code" : "");
	CHECK(!"as listed");
}

/* Takes each mapping of the list from what was seen. */
static void check_list(struct seen *own, const struct list *list)
{
	for (const struct mapping *wanted = list->mappings; wanted < list->mappings + list->count; wanted++) {
		size_t n = 0;

		while (n < own->count && !same(wanted, &own->mappings[n]))
			n++;
		if (n == own->count)
			complain("not mapped", wanted);
		own->mappings[n] = own->mappings[--own->count];
	}
}

static void check_space(unsigned differs, uint32_t index)
{
	struct seen *own = &seen[index];
	const uint32_t other = 1u << !index;

	building = index;
	check_list(own, differs & FUNCTIONS ? &with_functions[index] : &always[index]);
	check_list(own, &channels[index]);
	check_list(own, differs & RESTARTS << index ? &restarts[index] : &parks[index]);
	if (own->count)
		complain("mapped", &own->mappings[0]);
	CHECK_EQ(own->spaces, 1);
	CHECK_EQ(own->devices, 1);
	CHECK_EQ(own->functions, differs & FUNCTIONS ? 1 : 0);
	CHECK_EQ(own->kicks, differs & MAY_KICK << index ? other : 0);
	CHECK_EQ(own->notices, differs & NOTIFIES << index ? other : 0);
}

/* What start-up has taken is within the pool, and is told. */
static void check_pool(uint32_t index)
{
	const struct bh_sandbox *sandbox = builds[index].sandbox;
	const struct bh_stats *stats = (const struct bh_stats *)(uintptr_t)(sandbox->pool + BH_POOL_STATS);

	CHECK_EQ(builds[index].arena.end, sandbox->pool + sandbox->pool_bytes);
	CHECK_EQ(stats->pool_bytes, builds[index].arena.next - sandbox->pool);
}

/* Two stretches of RAM each; those of one have the other's between and after them. */
static void make_table(unsigned differs)
{
	static const struct bh_region more[] = {
		{ 0x42000000, 0x52000000, 0x200000, 0, R | RW | RX, BH_MEMORY_RAM, BH_REGION_RAM, 0 },
		{ 0x42000000, 0x62000000, 0x400000, 1, R | RW | RX, BH_MEMORY_RAM, BH_REGION_RAM, 0 },
	};
	static const uint64_t copies[SANDBOXES] = { 0x71000000, 0x70000000 }, copy_bytes[SANDBOXES] = { 0x5000, 0x3000 };

	good_table(&table);
	for (uint32_t n = 0; n < SANDBOXES; n++) {
		struct bh_sandbox *sandbox = &table.sandboxes[n];
		const bool may_restart = differs & RESTARTS << n;

		table.regions[table.region_count++] = more[n];
		sandbox->may_kick = differs & MAY_KICK << n ? 1u << !n : 0;
		sandbox->notifies = differs & NOTIFIES << n ? (uint16_t)(1 << !n) : 0;
		sandbox->on_fault = may_restart ? BH_ON_FAULT_RESTART : BH_ON_FAULT_PARK;
		sandbox->snapshot = may_restart ? copies[n] : 0;
		sandbox->snapshot_bytes = may_restart ? copy_bytes[n] : 0;
		sandbox->clock_text = 0;
	}
	table.piece_count = 0; /* sandboxes' RAM is not there */
	if (!(differs & FUNCTIONS))
		table.pci_function_count = 0;
}

static void test_combination(unsigned differs)
{
	static const struct boot_clock clock = { .hz = 1000000000 };

	check_context.round = differs;
	make_table(differs);
	frames_arena(FRAMES);
	memset(builds, 0, sizeof(builds));
	memset(seen, 0, sizeof(seen));
	for (building = 0; building < SANDBOXES; building++)
		build_partition(&table, building, &clock, &builds[building]);
	for (building = 0; building < SANDBOXES; building++)
		build_space(&table, builds, building);
	for (uint32_t n = 0; n < SANDBOXES; n++) {
		check_space(differs, n);
		check_pool(n);
	}
}

int main(void)
{
	check_context.subject = "what differs";
	for (unsigned differs = 0; differs < COMBINATIONS; differs++)
		test_combination(differs);
	return 0;
}
