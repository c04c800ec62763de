/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds one sandbox from its table row: a private copy of the monitor, the partition, its cores, its address space.
 *
 *   pool:  stats | info | log ×4 | crash, partition | private copy | tables, maps, cores with their stacks ...
 *          0x0000         0x2000   0x6000             BH_POOL_ARENA                                     bh_sandbox.pool_bytes
 */
#include "monitor/boot/boot.h"

#include "arch/arch.h"
#include "arch/words.h"

extern char __resident_text_start[], __resident_text_end[], __resident_rodata_start[], __resident_rodata_end[];
extern char __resident_data_start[], __resident_data_end[];

_Static_assert((int)BH_EXIT_REASONS <= (int)BH_EXIT_SLOTS, "a counter for each reason");
_Static_assert(sizeof(struct bh_stats) <= BH_PAGE_BYTES && sizeof(struct bh_info) <= BH_PAGE_BYTES, "each is one page to its sandbox");

enum { KICK_TIMEOUTS_PER_SECOND = 10, CRASH_BYTES = (sizeof(struct bh_crash) + 63) / 64 * 64 };

void build_must(enum hal_status status, const char *what)
{
	static const char *const why[] = {
		[HAL_OK] = "",
		[HAL_E_RANGE] = "an address or size is misaligned or beyond what this machine can address",
		[HAL_E_PERMISSION] = "a permission set cannot be expressed on this machine",
		[HAL_E_OVERLAP] = "two mappings overlap",
		[HAL_E_NOMEM] = "the sandbox's pool is too small; build the image with the tool of this monitor's sources",
		[HAL_E_UNSUPPORTED] = "this machine lacks it",
		[HAL_E_DENIED] = "it is not granted",
		[HAL_E_SEALED] = "the partition is sealed too early or too late",
	};

	if (status != HAL_OK)
		monitor_refuse(what, why[status]);
}

static void fill_words(uint64_t start, uint64_t bytes, uint64_t value)
{
	words_fill((uint64_t *)(uintptr_t)start, bytes / WORD_BYTES, value);
}

/* What every private monitor has; the machine may need more (hal_resident_parts). */
static const struct hal_part common_parts[] = {
	{ __resident_text_start, __resident_text_end },
	{ __resident_rodata_start, __resident_rodata_end },
	{ __resident_data_start, __resident_data_end },
};
enum { COMMON_PARTS = sizeof(common_parts) / sizeof(common_parts[0]) };

/* What a monitor may do with its copy, page by page. The machine's parts lie after the common ones of their kind. */
static const struct stretch {
	const char *start, *end;
	unsigned permissions;
} stretches[] = {
	{ __resident_text_start, __resident_rodata_start, HAL_READ | HAL_EXECUTE },
	{ __resident_rodata_start, __resident_data_start, HAL_READ },
	{ __resident_data_start, __resident_data_end, HAL_READ | HAL_WRITE },
};

/* The frame behind a resident address in this sandbox's copy. */
static uint64_t in_copy(const struct build *build, const void *resident)
{
	return build->copy + (uint64_t)((uintptr_t)resident - (uintptr_t)__resident_text_start);
}

static void copy_parts(const struct build *build, const struct hal_part *parts, size_t count)
{
	for (const struct hal_part *part = parts; part < parts + count; part++) {
		uint64_t *copy = (uint64_t *)(uintptr_t)in_copy(build, part->start);
		const uint64_t *original = (const uint64_t *)(uintptr_t)part->start;

		words_copy(copy, original, (size_t)(part->end - part->start) / WORD_BYTES);
	}
}

static void copy_resident(struct build *build)
{
	size_t bytes = (size_t)(__resident_data_end - __resident_text_start), more;
	char *copy = hal_arena_take(&build->arena, bytes / BH_PAGE_BYTES);
	const struct hal_part *parts;

	if (!copy)
		build_must(HAL_E_NOMEM, "private monitor");
	build->copy = (uintptr_t)copy;
	build->copy_end = build->copy + bytes;
	more = hal_resident_parts(&parts);
	copy_parts(build, common_parts, COMMON_PARTS);
	copy_parts(build, parts, more);
	arch_cache_publish(copy, bytes);
}

static void write_clock_text(uint64_t where, uint64_t khz)
{
	char digits[BH_CLOCK_DIGITS];
	char *text = (char *)(uintptr_t)where;
	int n = 0;

	do
		digits[n++] = (char)('0' + khz % 10);
	while ((khz /= 10) && n < BH_CLOCK_DIGITS);
	while (n)
		*text++ = digits[--n];
}

/* The pages the world can see: stats zeroed and signed, no crash, an empty log, the clock told. */
static void prepare_pool(const struct bh_sandbox *sandbox, uint32_t index, const struct boot_clock *clock)
{
	struct bh_stats *stats = (struct bh_stats *)(uintptr_t)(sandbox->pool + BH_POOL_STATS);
	struct bh_info *info = (struct bh_info *)(uintptr_t)(sandbox->pool + BH_POOL_INFO);

	fill_words(sandbox->pool + BH_POOL_STATS, BH_PAGE_BYTES, 0);
	fill_words(sandbox->pool + BH_POOL_CRASH, BH_PAGE_BYTES, 0);
	fill_words(sandbox->pool + BH_POOL_LOG, sizeof(struct bh_log) - BH_LOG_TEXT_BYTES, 0);
	stats->magic = BH_STATS_MAGIC;
	stats->core_count = sandbox->core_count;
	stats->sandbox = index;
	stats->boot_clock = clock->entered;
	info->clock_hz = clock->hz;
	if (sandbox->clock_text) {
		write_clock_text(sandbox->clock_text, clock->hz / 1000);
		arch_cache_publish((const void *)(uintptr_t)sandbox->clock_text, BH_CLOCK_DIGITS);
	}
	arch_cache_publish(stats, BH_POOL_ARENA);
}

static bool has_functions(const struct bh_table *table, uint32_t index)
{
	for (const struct bh_pci_function *function = table->pci_functions; function < table->pci_functions + table->pci_function_count;
	     function++)
		if (function->sandbox == index)
			return true;
	return false;
}

static bool has_masters(const struct bh_table *table, uint32_t index)
{
	for (uint32_t n = 0; n < table->pci_function_count; n++)
		if (table->pci_functions[n].sandbox == index && table->pci_functions[n].dma == BH_DMA_TRANSLATED)
			return true;
	return false;
}

/* BH_POOL_ABSENT: the arena's first frame. */
static void take_absent(struct build *build)
{
	const void *absent = hal_arena_take(&build->arena, 1);

	if (!absent)
		build_must(HAL_E_NOMEM, "PCI configuration registers");
	fill_words((uintptr_t)absent, BH_PAGE_BYTES, UINT64_MAX);
	arch_cache_publish(absent, BH_PAGE_BYTES);
}

/* The bus as the sandbox sees it: its own functions, and ones where others or none are. */
static void grant_functions(const struct bh_table *table, uint32_t index, struct hal_partition *partition)
{
	uint64_t absent = table->sandboxes[index].pool + BH_POOL_ABSENT;

	for (uint32_t n = 0; n < table->pci_function_count; n++)
		if (table->pci_functions[n].sandbox == index)
			build_must(hal_partition_grant_function(partition, &table->pci_functions[n]), "PCI function");
	if (has_functions(table, index))
		build_must(hal_partition_show_functions(partition, (hpa_t){ absent }), "PCI configuration registers");
}

/* What PCI functions that master the bus reach: all RAM of their sandbox, and regions that the table has for them alone. */
static unsigned permissions_of(const struct bh_region *region)
{
	if (region->kind == BH_REGION_DMA)
		return HAL_DMA;
	return region->permissions | (region->kind == BH_REGION_RAM ? HAL_DMA : 0);
}

static void grant_everything(const struct bh_table *table, uint32_t index, struct hal_partition *partition)
{
	for (uint32_t n = 0; n < table->region_count; n++) {
		const struct bh_region *region = &table->regions[n];

		if (region->sandbox == index)
			build_must(hal_partition_map(partition, (gpa_t){ region->gpa }, (hpa_t){ region->hpa }, region->size,
						     permissions_of(region), (enum hal_memory)region->memory_type),
				   "memory region");
	}
	for (uint32_t n = 0; n < table->port_count; n++)
		if (table->ports[n].sandbox == index)
			build_must(hal_partition_allow_ports(partition, table->ports[n].first, table->ports[n].count), "I/O ports");
	grant_functions(table, index, partition);
	for (uint32_t n = 0; n < table->line_count; n++) {
		const struct bh_line *line = &table->lines[n];

		if (line->sandbox != index)
			continue;
		build_must(line->flags & BH_LINE_RUNG
				   ? hal_partition_grant_doorbell(partition, line, channels_rung(table, line))
				   : hal_partition_grant_line(partition, line->line, line->core, line->vector, line->flags),
			   "interrupt line");
	}
}

static void create_partition(const struct bh_table *table, uint32_t index, struct build *build)
{
	const struct bh_sandbox *sandbox = build->sandbox;
	static struct hal_partition_config config; /* not on the stack: clearing it there would take a resident memset */

	config.index = index;
	config.core_count = sandbox->core_count;
	config.unprotected = sandbox->unprotected;
	config.masters = has_masters(table, index);
	config.trusted_idle = sandbox->flags & BH_SANDBOX_TRUSTED_IDLE;
	config.tolerate_ports = sandbox->flags & BH_SANDBOX_LINUX;
	config.kick_mailboxes = (struct hal_kick_mailbox *)(uintptr_t)table->shared;
	for (uint32_t slot = 0; slot < sandbox->core_count; slot++) {
		config.cores[slot] = sandbox->cores[slot];
		config.hardware_id[slot] = table->hardware_id[sandbox->cores[slot]];
	}
	build_must(hal_partition_create(&build->arena, &config, &build->partition), "partition");
	grant_everything(table, index, build->partition);
	channels_gate(table, index, build);
	hal_partition_seal(build->partition);
}

static void create_cores(struct build *build)
{
	const struct bh_sandbox *sandbox = build->sandbox;
	const struct hal_entry entry = {
		.pc = { sandbox->entry },
		.arg = sandbox->arg,
		.stack = { sandbox->stack },
		.area = { sandbox->entry_area },
	};

	for (uint32_t slot = 0; slot < sandbox->core_count; slot++) {
		build_must(hal_core_create(build->partition, &build->arena, slot, &entry, &build->cores[slot]), "guest core");
		build->stack_tops[slot] = (char *)build->cores[slot] + BH_PAGE_BYTES;
	}
}

static void fill_monitor(const struct bh_table *table, uint32_t index, const struct build *build, uint64_t clock_hz)
{
	struct monitor *private = (struct monitor *)(uintptr_t)in_copy(build, &monitor);

	private->stats = (struct bh_stats *)(uintptr_t)(build->sandbox->pool + BH_POOL_STATS);
	private->crash = (struct bh_crash *)(uintptr_t)(build->sandbox->pool + BH_POOL_CRASH);
	private->core_count = build->sandbox->core_count;
	private->may_kick = build->sandbox->may_kick;
	private->kick_timeout = clock_hz / KICK_TIMEOUTS_PER_SECOND;
	private->reset_ticks = clock_hz / 1000 * hal_partition_reset_ms(build->partition);
	private->snapshot = build->snapshot;
	private->log = (const struct bh_log *)(uintptr_t)(build->sandbox->pool + BH_POOL_LOG);
	private->restarts_left = build->sandbox->max_restarts;
	private->watch.timeout = clock_hz / 1000 * build->sandbox->heartbeat_timeout_us / 1000;
	for (uint32_t slot = 0; slot < private->core_count; slot++) {
		private->core_numbers[slot] = build->sandbox->cores[slot];
	}
	channels_grant(table, index, clock_hz, build->gates, private);
}

void build_partition(const struct bh_table *table, uint32_t index, const struct boot_clock *clock, struct build *build)
{
	const struct bh_sandbox *sandbox = &table->sandboxes[index];

	build->sandbox = sandbox;
	build->arena = (struct hal_arena){ .next = sandbox->pool + BH_POOL_ARENA,
					   .end = sandbox->pool + sandbox->pool_bytes,
					   .small = sandbox->pool + BH_POOL_CRASH + CRASH_BYTES,
					   .small_end = sandbox->pool + BH_POOL_CRASH + BH_PAGE_BYTES };
	prepare_pool(sandbox, index, clock);
	if (has_functions(table, index))
		take_absent(build);
	copy_resident(build);
	create_partition(table, index, build);
	create_cores(build);
	snapshot_keep(table, index, build);
	fill_monitor(table, index, build, clock->hz);
}

/*
 * monitor_run takes a core that is in `entered` already for one whose monitor has trapped. The core waits for the first one, which would
 * otherwise say of a parked sandbox that it runs; for as long as ten kicks may take, as firmware may never start the first.
 */
void build_condemn(const struct build *build, uint32_t slot)
{
	struct monitor *private = (struct monitor *)(uintptr_t)in_copy(build, &monitor);
	uint64_t since = arch_counter(), patience = KICK_TIMEOUTS_PER_SECOND * private->kick_timeout;

	__atomic_fetch_or(&private->entered, UINT32_C(1) << slot, __ATOMIC_ACQ_REL);
	while (slot && __atomic_load_n(&private->stats->state, __ATOMIC_ACQUIRE) == BH_STATE_COLD && arch_counter() - since < patience)
		arch_relax();
}

static void map(struct hal_space *space, const char *start, const char *end, uint64_t hpa, unsigned permissions)
{
	if (end != start)
		build_must(hal_space_map(space, start, (hpa_t){ hpa }, (uint64_t)(end - start), permissions, HAL_MEMORY_RAM),
			   "private monitor");
}

static void map_copy(const struct build *build)
{
	for (size_t n = 0; n < sizeof(stretches) / sizeof(stretches[0]); n++)
		map(build->space, stretches[n].start, stretches[n].end, in_copy(build, stretches[n].start), stretches[n].permissions);
}

static void map_one_to_one(struct hal_space *space, uint64_t start, uint64_t end)
{
	map(space, (const char *)(uintptr_t)start, (const char *)(uintptr_t)end, start, HAL_READ | HAL_WRITE);
}

static void map_ram(const struct bh_table *table, uint32_t index, struct hal_space *space)
{
	for (const struct bh_region *region = table->regions; region < table->regions + table->region_count; region++)
		if (region->sandbox == index && region->kind == BH_REGION_RAM)
			build_must(hal_space_map_ram(space, (hpa_t){ region->hpa }, region->size), "private monitor");
}

/* The pages on which it tells of its sandbox, and of its sandbox's area the beginning, which has the word that it clears. */
static void map_channels(const struct bh_table *table, uint32_t index, struct hal_space *space)
{
	for (const struct bh_channel_row *row = table->channels; row < table->channels + table->channel_count; row++) {
		uint64_t page = row->hpa + row->area_bytes[0];

		if (row->sandbox[0] == index) {
			map_one_to_one(space, row->hpa, row->hpa + BH_PAGE_BYTES);
			map_one_to_one(space, page, page + BH_PAGE_BYTES);
		} else if (row->sandbox[1] == index) {
			map_one_to_one(space, page, page + UINT64_C(2) * BH_PAGE_BYTES);
		}
	}
}

/* When nothing more is taken. */
static void tell_pool(const struct build *build)
{
	struct bh_stats *stats = (struct bh_stats *)(uintptr_t)(build->sandbox->pool + BH_POOL_STATS);

	stats->pool_bytes = (uint32_t)(build->arena.next - build->sandbox->pool);
	arch_cache_publish(stats, sizeof(*stats));
}

/* BH-I4.private: nothing but this is mapped. The copy's own frames appear at the link address only: its text is writable nowhere. */
void build_space(const struct bh_table *table, struct build *builds, uint32_t index)
{
	struct build *build = &builds[index];

	for (uint32_t target = 0; target < table->sandbox_count; target++) {
		if (build->sandbox->may_kick >> target & 1)
			build_must(hal_partition_allow_kick(build->partition, builds[target].partition), "may-kick");
		if (build->sandbox->notifies >> target & 1)
			hal_partition_allow_notice(build->partition, builds[target].partition);
	}

	build_must(hal_space_create(&build->arena, &build->space), "private monitor");
	map_copy(build);
	map_one_to_one(build->space, build->sandbox->pool, build->copy);
	map_one_to_one(build->space, build->copy_end, build->arena.end);
	map_one_to_one(build->space, table->shared, table->shared + BH_PAGE_BYTES);
	map_channels(table, index, build->space);
	if (build->snapshot)
		snapshot_map(build);
	else
		map_ram(table, index, build->space);
	build_must(hal_space_map_devices(build->space, build->partition), "private monitor");
	tell_pool(build);
}
