/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host tool has checked the configuration; this checks, cheaply, that what arrived is what it made and that the
 * invariants no later code re-examines hold (BH-I7.boot). Pure functions over the table: the same file runs on the host under tests
 * and a fuzzer. Every loop is bounded by a maximum of abi/table.h. A check may rely on those before it in checks[].
 */
#include "monitor/boot/table/table.h"

#define REFUSE_IF(condition, why)     \
	do {                          \
		if (condition)        \
			return (why); \
	} while (0)

static bool overlap(struct table_span a, struct table_span b)
{
	return a.start < b.start + b.bytes && b.start < a.start + a.bytes;
}

/* inner lies whole within outer; a span that wraps lies in nothing. */
static bool within(struct table_span inner, struct table_span outer)
{
	return inner.start >= outer.start && inner.bytes <= outer.bytes && inner.start - outer.start <= outer.bytes - inner.bytes;
}

static bool touches(struct table_spans spans, struct table_span span)
{
	for (uint32_t n = 0; n < spans.count; n++)
		if (overlap(span, spans.at[n]))
			return true;
	return false;
}

static bool aligned(uint64_t value, uint64_t to)
{
	return !(value & (to - 1));
}

static struct table_span pool_of(const struct bh_table *table, uint32_t sandbox)
{
	return (struct table_span){ table->sandboxes[sandbox].pool, table->sandboxes[sandbox].pool_bytes };
}

static struct table_span hpa_of(const struct bh_region *region)
{
	return (struct table_span){ region->hpa, region->size };
}

static struct table_span ram_of(const struct table_limits *limits)
{
	return (struct table_span){ limits->ram_base, limits->ram_bytes };
}

/* The table's words, whatever types its fields have. */
typedef uint64_t __attribute__((__may_alias__)) table_word;

/* FNV-1a over 64-bit words, number `zero` taken as 0. Each step is a bijection, so any change confined to one word changes the result. */
static uint64_t checksum(const table_word *words, uint64_t count, uint64_t zero)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (uint64_t n = 0; n < count; n++)
		hash = (hash ^ (n == zero ? 0 : words[n])) * 0x100000001b3;
	return hash;
}

static uint64_t table_checksum(const struct bh_table *table)
{
	return checksum((const table_word *)table, sizeof(*table) / sizeof(table_word),
			offsetof(struct bh_table, checksum) / sizeof(table_word));
}

static bool same_name(const uint8_t *name, const char *expected)
{
	for (unsigned n = 0; n < BH_NAME_BYTES; n++) {
		if (name[n] != (uint8_t)expected[n])
			return false;
		if (!expected[n])
			return true;
	}
	return false;
}

static const char *refuse_header(const struct bh_table *table, const struct table_limits *limits)
{
	REFUSE_IF(table->magic != BH_TABLE_MAGIC,
		  "there is none; boot the image that `bulkhead image` or `bulkhead run` makes, not bulkhead.elf itself");
	REFUSE_IF(table->version != BH_TABLE_VERSION, "it has another version than this monitor; build both from the same sources");
	REFUSE_IF(table->size != sizeof(*table), "it has another size than this monitor expects; build both from the same sources");
	REFUSE_IF(table->checksum != table_checksum(table),
		  "its checksum is wrong: the image was damaged or cut short; build or copy it again");
	REFUSE_IF(!same_name(table->platform, limits->platform), "it was made for another platform; build the image for this one");
	REFUSE_IF(table->core_count < 1 || table->core_count > BH_MAX_CORES, "core count out of range");
	REFUSE_IF(table->sandbox_count < 1 || table->sandbox_count > BH_MAX_SANDBOXES, "sandbox count out of range");
	REFUSE_IF(table->region_count > BH_MAX_REGIONS || table->port_count > BH_MAX_PORTS || table->line_count > BH_MAX_LINES ||
			  table->copy_count > BH_MAX_COPIES || table->piece_count > BH_MAX_PIECES ||
			  table->pci_function_count > BH_MAX_PCI_FUNCTIONS,
		  "more regions, ports, lines, copies, pieces or functions than a table holds");
	return NULL;
}

/* Numbers that mean one core each: an interrupt sent to any other might go to all, or to a core with the same low bits. */
static const char *refuse_hardware(const struct bh_table *table, const struct table_limits *limits)
{
	for (uint32_t core = 0; core < table->core_count; core++) {
		REFUSE_IF(table->hardware_id[core] & ~limits->core_id_mask || table->hardware_id[core] > limits->core_id_greatest,
			  "a core has a hardware number that no core of this platform can have");
		for (uint32_t other = 0; other < core; other++)
			REFUSE_IF(table->hardware_id[core] == table->hardware_id[other], "two cores have the same hardware number");
	}
	return NULL;
}

static const char *refuse_cores(const struct bh_table *table, const struct table_limits *limits)
{
	uint32_t taken = 0;

	for (uint32_t n = 0; n < table->sandbox_count; n++) {
		const struct bh_sandbox *sandbox = &table->sandboxes[n];

		REFUSE_IF(sandbox->core_count < 1 || sandbox->core_count > BH_MAX_SANDBOX_CORES,
			  "a sandbox has no core, or more than one sandbox can have");
		for (uint32_t slot = 0; slot < sandbox->core_count; slot++) {
			REFUSE_IF(sandbox->cores[slot] >= table->core_count, "a sandbox names a core the machine does not have");
			REFUSE_IF(taken >> sandbox->cores[slot] & 1, "a core is given twice");
			taken |= 1u << sandbox->cores[slot];
		}
		REFUSE_IF(sandbox->unprotected & ~(uint32_t)BH_PROTECT_ALL, "a sandbox is to do without a protection that there is not");
		REFUSE_IF(sandbox->may_kick >> n & 1 || sandbox->may_kick >> table->sandbox_count, "may-kick names itself or no sandbox");
		REFUSE_IF(sandbox->notifies > table->sandbox_count || sandbox->notifies == n + 1, "notify names itself or no sandbox");
		REFUSE_IF(sandbox->notifies && !(table->sandboxes[sandbox->notifies - 1].accepts >> n & 1),
			  "notify names a sandbox that does not accept it");
	}
	return NULL;
}

/* Frames only monitors may touch: the image, the shared page, the pools; apart from each other and inside RAM. */
static const char *refuse_pools(const struct bh_table *table, const struct table_limits *limits)
{
	struct table_span image = { limits->image_start, limits->image_end - limits->image_start };
	struct table_span shared = { table->shared, BH_PAGE_BYTES };

	REFUSE_IF(!aligned(shared.start, BH_PAGE_BYTES) || !within(shared, ram_of(limits)), "the shared page is misaligned or outside RAM");
	REFUSE_IF(overlap(shared, image), "the shared page lies in the monitor image");
	REFUSE_IF(touches(limits->reserved, shared), "the shared page lies in RAM reserved for firmware or start-up");
	for (uint32_t n = 0; n < table->sandbox_count; n++) {
		struct table_span pool = pool_of(table, n);

		REFUSE_IF(!aligned(pool.start | pool.bytes, BH_PAGE_BYTES) || !within(pool, ram_of(limits)),
			  "a pool is misaligned or outside RAM");
		REFUSE_IF(pool.bytes <= BH_POOL_ARENA || pool.bytes > BH_MAX_POOL_BYTES, "a pool is smaller or larger than any can be");
		REFUSE_IF(overlap(pool, image) || overlap(pool, shared), "a pool overlaps the monitor image or the shared page");
		REFUSE_IF(touches(limits->reserved, pool), "a pool lies in RAM reserved for firmware or start-up");
		for (uint32_t other = 0; other < n; other++)
			REFUSE_IF(overlap(pool, pool_of(table, other)), "two pools overlap");
	}
	return NULL;
}

static bool touches_monitor(const struct bh_table *table, const struct table_limits *limits, struct table_span span)
{
	struct table_span image = { limits->image_start, limits->image_end - limits->image_start };
	struct table_span shared = { table->shared, BH_PAGE_BYTES };

	for (uint32_t n = 0; n < table->sandbox_count; n++)
		if (overlap(span, pool_of(table, n)))
			return true;
	return overlap(span, image) || overlap(span, shared);
}

static struct table_span span_of(struct hal_base base)
{
	return (struct table_span){ base.start, base.bytes };
}

/* The whole pages around a base address where it is memory; no bytes: it is not. */
static struct table_span pages_of(const struct table_limits *limits, struct hal_base base)
{
	uint64_t start = base.ports ? limits->pci.ports_at + base.start : base.start;
	uint64_t end = start + base.bytes + (-(start + base.bytes) & (BH_PAGE_BYTES - 1));

	start &= ~(uint64_t)(BH_PAGE_BYTES - 1);
	return (struct table_span){ start, base.ports && !limits->pci.ports_at ? 0 : end - start };
}

static bool overlaps_any(const struct hal_base *bases, uint32_t count, struct hal_base base)
{
	for (uint32_t n = 0; n < count; n++)
		if (bases[n].ports == base.ports && overlap(span_of(bases[n]), span_of(base)))
			return true;
	return false;
}

/* What is granted are pages, so each has one owner. */
static bool shares_page_with_any(const struct table_limits *limits, const struct hal_base *bases, uint32_t count, struct hal_base base)
{
	for (uint32_t n = 0; n < count; n++)
		if (overlap(pages_of(limits, bases[n]), pages_of(limits, base)))
			return true;
	return false;
}

static const char *refuse_bases(const struct bh_table *table, const struct table_limits *limits, uint32_t index)
{
	const struct bh_pci_function *function = &table->pci_functions[index];
	struct hal_base own[HAL_MAX_BASES];
	uint32_t own_count = hal_function_bases(function, own);

	for (uint32_t n = 0; n < own_count; n++) {
		struct hal_base base = own[n];

		REFUSE_IF(!base.bytes, "a base address of a PCI function is one that no register can hold");
		REFUSE_IF(!within(span_of(base), base.ports ? limits->pci.ports : limits->pci.window),
			  "a base address of a PCI function lies outside the windows of the machine");
		for (uint32_t other = 0; other < index; other++) {
			const struct bh_pci_function *earlier = &table->pci_functions[other];
			struct hal_base theirs[HAL_MAX_BASES];
			uint32_t their_count = hal_function_bases(earlier, theirs);

			REFUSE_IF(overlaps_any(theirs, their_count, base), "base addresses of PCI functions overlap");
			REFUSE_IF(earlier->sandbox != function->sandbox && shares_page_with_any(limits, theirs, their_count, base),
				  "base addresses of two sandboxes' PCI functions lie in one page");
		}
		REFUSE_IF(overlaps_any(own, n, base), "base addresses of PCI functions overlap");
	}
	return NULL;
}

static const char *refuse_functions(const struct bh_table *table, const struct table_limits *limits)
{
	for (uint32_t n = 0; n < table->pci_function_count; n++) {
		const struct bh_pci_function *function = &table->pci_functions[n];
		const char *why = refuse_bases(table, limits, n);

		REFUSE_IF(function->sandbox >= table->sandbox_count, "a PCI function belongs to no sandbox");
		REFUSE_IF(function->id >= limits->pci.functions, "a PCI function is on a bus that the machine does not have");
		REFUSE_IF(function->dma != BH_DMA_FREE, "a sandbox is given a PCI function that is not known to be free of DMA");
		for (uint32_t other = 0; other < n; other++)
			REFUSE_IF(function->id == table->pci_functions[other].id, "a PCI function is given twice");
		REFUSE_IF(why, why);
	}
	return NULL;
}

/* A base address of a function of this sandbox lies there, and nothing else. */
static bool owns_base(const struct bh_table *table, const struct table_limits *limits, uint32_t sandbox, struct table_span span, bool ports)
{
	for (uint32_t index = 0; index < table->pci_function_count; index++) {
		const struct bh_pci_function *function = &table->pci_functions[index];
		struct hal_base bases[HAL_MAX_BASES];
		uint32_t base_count = hal_function_bases(function, bases);

		for (uint32_t n = 0; function->sandbox == sandbox && n < base_count; n++) {
			struct table_span at = ports ? span_of(bases[n]) : pages_of(limits, bases[n]);

			if ((!ports || bases[n].ports) && at.start == span.start && at.bytes == span.bytes)
				return true;
		}
	}
	return false;
}

/* Which permissions a sandbox may have on a page of a pool: its own stats and info R, own log RW, foreign logs R. */
static const char *refuse_pool_window(const struct bh_table *table, const struct bh_region *region)
{
	for (uint32_t n = 0; n < table->sandbox_count; n++) {
		uint64_t pool = table->sandboxes[n].pool;
		bool own = n == region->sandbox;

		if (within(hpa_of(region), (struct table_span){ pool + BH_POOL_LOG, BH_LOG_BYTES })) {
			REFUSE_IF(region->permissions & (own ? BH_PERM_EXECUTE : BH_PERM_EXECUTE | BH_PERM_WRITE),
				  "a log is writable by another sandbox, or executable");
			return NULL;
		}
		if (own && within(hpa_of(region), (struct table_span){ pool + BH_POOL_STATS, BH_POOL_LOG - BH_POOL_STATS })) {
			REFUSE_IF(region->permissions != BH_PERM_READ,
				  "a sandbox's own statistics or information page is more than readable");
			return NULL;
		}
	}
	return "a sandbox is given monitor frames";
}

/*
 * Device registers: never executed or cached, never those with which sandboxes are held apart or reach memory on their own. BH-I1.dma: nor
 * those of a device that nobody has judged to be free of DMA, here as with ports and PCI functions. What is banked is the core's own.
 */
static const char *refuse_device(const struct bh_table *table, const struct table_limits *limits, const struct bh_region *region)
{
	struct table_span hpa = hpa_of(region);
	struct table_span banked = { limits->banked_base, limits->banked_bytes };

	REFUSE_IF(region->memory_type != BH_MEMORY_DEVICE || region->permissions & BH_PERM_EXECUTE,
		  "device registers are executable or cached");
	REFUSE_IF(region->kind != BH_REGION_BANKED && region->dma != BH_DMA_FREE,
		  "a sandbox is given device registers that are not known to be free of DMA");
	if (region->kind == BH_REGION_BAR) {
		REFUSE_IF(!owns_base(table, limits, region->sandbox, hpa, false),
			  "a region claims to be a base address of a PCI function of its sandbox and is not");
		return NULL;
	}
	REFUSE_IF(touches(limits->forbidden, hpa), "a sandbox is given device registers that only monitors may touch");
	if (region->kind == BH_REGION_BANKED) {
		REFUSE_IF(!within(hpa, banked), "a region claims to be banked per core and is not");
		return NULL;
	}
	REFUSE_IF(overlap(hpa, ram_of(limits)), "a device region overlaps RAM");
	REFUSE_IF(overlap(hpa, banked), "a sandbox is given the whole of a device that all share");
	return NULL;
}

/* What is open to a sandbox that does without its memory or irq protection: as the machine has it. */
static const char *refuse_open(const struct bh_table *table, const struct table_limits *limits, const struct bh_region *region)
{
	bool ram = region->memory_type == BH_MEMORY_RAM;
	uint32_t without = ram ? BH_PROTECT_MEMORY : BH_PROTECT_MEMORY | BH_PROTECT_IRQ;

	REFUSE_IF(!(table->sandboxes[region->sandbox].unprotected & without), "a protected sandbox is given what is open to others");
	REFUSE_IF(ram ? !within(hpa_of(region), ram_of(limits)) : overlap(hpa_of(region), ram_of(limits)),
		  "a stretch that is open has the memory type of another");
	REFUSE_IF(!ram && region->permissions & BH_PERM_EXECUTE, "device registers are executable or cached");
	return NULL;
}

static const char *refuse_region(const struct bh_table *table, const struct table_limits *limits, const struct bh_region *region)
{
	struct table_span hpa = hpa_of(region);

	REFUSE_IF(region->sandbox >= table->sandbox_count, "a region belongs to no sandbox");
	REFUSE_IF(!region->size || !aligned(region->gpa | region->hpa | region->size, BH_PAGE_BYTES),
		  "a region is empty or not page aligned");
	REFUSE_IF(region->gpa + region->size < region->gpa || region->hpa + region->size < region->hpa, "a region wraps around");
	REFUSE_IF(!(region->permissions & BH_PERM_READ) || region->permissions > 7 || region->memory_type > BH_MEMORY_DEVICE,
		  "a region has an impossible permission or memory type");
	switch (region->kind) {
	case BH_REGION_RAM:
		REFUSE_IF(!within(hpa, ram_of(limits)), "a RAM region lies outside RAM");
		REFUSE_IF(touches_monitor(table, limits, hpa), "a sandbox is given monitor frames");
		REFUSE_IF(touches(limits->reserved, hpa), "a sandbox is given RAM reserved for firmware or start-up");
		REFUSE_IF(region->memory_type != BH_MEMORY_RAM, "a RAM region has device memory type");
		return NULL;
	case BH_REGION_POOL:
		REFUSE_IF(region->memory_type != BH_MEMORY_RAM, "a window into a pool has device memory type");
		return refuse_pool_window(table, region);
	case BH_REGION_BANKED:
	case BH_REGION_DEVICE:
	case BH_REGION_BAR:
		return refuse_device(table, limits, region);
	case BH_REGION_OPEN:
		return refuse_open(table, limits, region);
	default:
		return "a region has an unknown kind";
	}
}

static bool exclusive(const struct bh_region *region)
{
	return region->kind == BH_REGION_RAM || region->kind == BH_REGION_DEVICE || region->kind == BH_REGION_BAR;
}

static const char *refuse_regions(const struct bh_table *table, const struct table_limits *limits)
{
	for (uint32_t n = 0; n < table->region_count; n++) {
		const char *why = refuse_region(table, limits, &table->regions[n]);

		REFUSE_IF(why, why);
		for (uint32_t other = 0; other < n; other++)
			REFUSE_IF(exclusive(&table->regions[n]) && exclusive(&table->regions[other]) &&
					  overlap(hpa_of(&table->regions[n]), hpa_of(&table->regions[other])),
				  "memory or device registers are given twice");
	}
	return NULL;
}

static const char *refuse_ports(const struct bh_table *table, const struct table_limits *limits)
{
	for (uint32_t n = 0; n < table->port_count; n++) {
		struct table_span ports = { table->ports[n].first, table->ports[n].count };

		REFUSE_IF(table->ports[n].sandbox >= table->sandbox_count, "I/O ports belong to no sandbox");
		REFUSE_IF(!ports.bytes || ports.start + ports.bytes > 0x10000, "an I/O port range is empty or leaves the port space");
		REFUSE_IF(table->ports[n].dma != BH_DMA_FREE, "a sandbox is given I/O ports that are not known to be free of DMA");
		REFUSE_IF(touches(limits->forbidden_ports, ports) && !owns_base(table, limits, table->ports[n].sandbox, ports, true),
			  "a sandbox is given I/O ports of the machine itself");
		for (uint32_t other = 0; other < n; other++)
			REFUSE_IF(overlap(ports, (struct table_span){ table->ports[other].first, table->ports[other].count }),
				  "I/O ports are given twice");
	}
	return NULL;
}

/* Whose line's vector its guest chooses: its end is told to every level-triggered line with that vector. */
static bool is_chosen_level(const struct bh_line *line)
{
	return line->flags & BH_LINE_LEVEL && line->flags & BH_LINE_MASKED;
}

static const char *refuse_line(const struct bh_table *table, const struct table_limits *limits, const struct bh_line *line)
{
	bool granted_level = line->flags & BH_LINE_LEVEL && !is_chosen_level(line);

	REFUSE_IF(line->sandbox >= table->sandbox_count, "an interrupt line belongs to no sandbox");
	REFUSE_IF(touches(limits->forbidden_lines, (struct table_span){ line->line, 1 }), "an interrupt line is not a device's");
	REFUSE_IF(line->vector < limits->first_vector, "an interrupt line has a vector of the processor's own");
	REFUSE_IF(granted_level && line->vector < limits->first_level_vector,
		  "a level-triggered line has a vector that another sandbox may choose");
	REFUSE_IF(granted_level && line->vector > BH_LAST_LEVEL_VECTOR, "a level-triggered line has a vector beyond those of such lines");
	REFUSE_IF(line->core != table->sandboxes[line->sandbox].cores[0],
		  "an interrupt line goes to another core than its sandbox's first");
	return NULL;
}

static const char *refuse_both_lines(const struct bh_line *line, const struct bh_line *other)
{
	REFUSE_IF(line->line == other->line, "an interrupt line is given twice");
	REFUSE_IF(line->vector && line->vector == other->vector, "two interrupt lines share a vector");
	REFUSE_IF(is_chosen_level(line) && is_chosen_level(other) && line->sandbox != other->sandbox,
		  "two sandboxes choose vectors of level-triggered lines");
	REFUSE_IF(line->sandbox == other->sandbox && (line->flags ^ other->flags) & BH_LINE_MASKED,
		  "a sandbox mixes lines that its guest opens with lines that start-up opens");
	return NULL;
}

static const char *refuse_lines(const struct bh_table *table, const struct table_limits *limits)
{
	const char *why = NULL;

	for (uint32_t n = 0; n < table->line_count && !why; n++) {
		why = refuse_line(table, limits, &table->lines[n]);
		for (uint32_t other = 0; other < n && !why; other++)
			why = refuse_both_lines(&table->lines[n], &table->lines[other]);
	}
	return why;
}

static bool sandbox_owns_ram(const struct bh_table *table, uint32_t sandbox, struct table_span hpa)
{
	for (uint32_t n = 0; n < table->region_count; n++)
		if (table->regions[n].sandbox == sandbox && table->regions[n].kind == BH_REGION_RAM &&
		    within(hpa, hpa_of(&table->regions[n])))
			return true;
	return false;
}

static bool sandbox_executes(const struct bh_table *table, uint32_t sandbox, uint64_t gpa)
{
	for (uint32_t n = 0; n < table->region_count; n++) {
		const struct bh_region *region = &table->regions[n];

		if (region->sandbox == sandbox && region->permissions & BH_PERM_EXECUTE && gpa - region->gpa < region->size)
			return true;
	}
	return false;
}

/* Payload goes where its sandbox may see it: into its RAM, or onto its information page. */
static bool sandbox_may_hold(const struct bh_table *table, uint32_t sandbox, struct table_span hpa)
{
	struct table_span info = { table->sandboxes[sandbox].pool + BH_POOL_INFO, BH_PAGE_BYTES };

	return within(hpa, info) || sandbox_owns_ram(table, sandbox, hpa);
}

/* The pieces of the boot module. That both ends ascend is what module_spread() relies on. */
static const char *refuse_copies(const struct bh_table *table)
{
	uint64_t module_end = 0, target_end = 0;

	for (uint32_t n = 0; n < table->copy_count; n++) {
		const struct bh_copy *copy = &table->copies[n];

		REFUSE_IF(!copy->size || !aligned(copy->offset | copy->target | copy->size, BH_PAGE_BYTES),
			  "a piece of the boot module is empty or not in whole pages");
		REFUSE_IF(copy->sandbox >= table->sandbox_count, "a piece of the boot module belongs to no sandbox");
		REFUSE_IF(!sandbox_may_hold(table, copy->sandbox, (struct table_span){ copy->target, copy->size }),
			  "a piece of the boot module would go outside its sandbox's memory");
		REFUSE_IF(copy->offset != module_end, "the pieces of the boot module leave a gap or overlap");
		REFUSE_IF(copy->target < target_end, "the pieces of the boot module are not in the order of their places");
		module_end += copy->size;
		target_end = copy->target + copy->size;
	}
	REFUSE_IF(module_end != table->module_bytes, "the boot module is larger or smaller than its pieces");
	return NULL;
}

static struct table_span snapshot_of(const struct bh_table *table, uint32_t sandbox)
{
	return (struct table_span){ table->sandboxes[sandbox].snapshot, table->sandboxes[sandbox].snapshot_bytes };
}

static bool touches_ram(const struct bh_table *table, struct table_span hpa)
{
	for (uint32_t n = 0; n < table->region_count; n++)
		if (table->regions[n].kind == BH_REGION_RAM && overlap(hpa, hpa_of(&table->regions[n])))
			return true;
	return false;
}

/* A boot snapshot is the monitor's alone: no sandbox may have what it will be made of. */
static const char *refuse_snapshot(const struct bh_table *table, const struct table_limits *limits, uint32_t n)
{
	const struct bh_sandbox *sandbox = &table->sandboxes[n];
	struct table_span snapshot = snapshot_of(table, n);
	bool restarts = sandbox->on_fault == BH_ON_FAULT_RESTART;

	REFUSE_IF(sandbox->on_fault > BH_ON_FAULT_RESTART, "a sandbox has an unknown answer to faults");
	REFUSE_IF(sandbox->max_restarts > (restarts ? BH_MAX_RESTARTS : 0),
		  "a sandbox restarts too often, or without its answer to faults saying so");
	REFUSE_IF(restarts ? !snapshot.bytes : snapshot.start || snapshot.bytes,
		  "a sandbox restarts without a boot snapshot, or has one without restarting");
	if (!restarts)
		return NULL;
	REFUSE_IF(!aligned(snapshot.start | snapshot.bytes, BH_PAGE_BYTES) || !within(snapshot, ram_of(limits)),
		  "a boot snapshot is not in whole pages or outside RAM");
	REFUSE_IF(touches_monitor(table, limits, snapshot) || touches(limits->reserved, snapshot),
		  "a boot snapshot overlaps monitor frames, or RAM reserved for firmware or start-up");
	REFUSE_IF(touches_ram(table, snapshot), "a sandbox is given a boot snapshot");
	for (uint32_t other = 0; other < n; other++)
		REFUSE_IF(overlap(snapshot, snapshot_of(table, other)), "two boot snapshots overlap");
	return NULL;
}

/* The pieces of one sandbox fill its copy and lie in its RAM. */
static const char *refuse_pieces(const struct bh_table *table, uint32_t sandbox)
{
	uint64_t copy_end = 0, target_end = 0;

	for (uint32_t n = 0; n < table->piece_count; n++) {
		const struct bh_piece *piece = &table->pieces[n];

		REFUSE_IF(piece->sandbox >= table->sandbox_count, "a piece of a boot snapshot belongs to no sandbox");
		if (piece->sandbox != sandbox)
			continue;
		REFUSE_IF(!piece->size || !aligned(piece->offset | piece->target | piece->size, BH_PAGE_BYTES),
			  "a piece of a boot snapshot is empty or not in whole pages");
		REFUSE_IF(!sandbox_owns_ram(table, sandbox, (struct table_span){ piece->target, piece->size }),
			  "a piece of a boot snapshot would go outside its sandbox's memory");
		REFUSE_IF(piece->offset != copy_end || piece->target < target_end, "the pieces of a boot snapshot leave a gap or overlap");
		copy_end += piece->size;
		target_end = piece->target + piece->size;
	}
	REFUSE_IF(copy_end != table->sandboxes[sandbox].snapshot_bytes, "a boot snapshot is larger or smaller than its pieces");
	return NULL;
}

static const char *refuse_restarts(const struct bh_table *table, const struct table_limits *limits)
{
	const char *why = NULL;

	for (uint32_t n = 0; n < table->sandbox_count && !why; n++)
		why = refuse_snapshot(table, limits, n);
	for (uint32_t n = 0; n < table->sandbox_count && !why; n++)
		why = refuse_pieces(table, n);
	return why;
}

static const char *refuse_payloads(const struct bh_table *table, const struct table_limits *limits)
{
	for (uint32_t n = 0; n < table->sandbox_count; n++) {
		const struct bh_sandbox *sandbox = &table->sandboxes[n];

		REFUSE_IF(!sandbox_executes(table, n, sandbox->entry), "a sandbox would start outside its executable memory");
		REFUSE_IF(sandbox->clock_text && !sandbox_owns_ram(table, n, (struct table_span){ sandbox->clock_text, BH_CLOCK_DIGITS }),
			  "a clock text lies outside its sandbox's RAM");
	}
	return refuse_copies(table);
}

static const char *(*const checks[])(const struct bh_table *table, const struct table_limits *limits) = {
	refuse_header,  refuse_hardware, refuse_cores, refuse_pools,    refuse_functions,
	refuse_regions, refuse_ports,    refuse_lines, refuse_payloads, refuse_restarts,
};

const char *table_refuse(const struct bh_table *table, const struct table_limits *limits)
{
	const char *why = NULL;

	for (size_t n = 0; n < sizeof(checks) / sizeof(checks[0]) && !why; n++)
		why = checks[n](table, limits);
	return why;
}

const char *table_refuse_modules(const struct bh_table *table, const struct table_limits *limits, const struct arch_modules *modules)
{
	struct table_span image = { limits->image_start, limits->image_end - limits->image_start };
	struct table_span module = { modules->start, modules->bytes };
	uint32_t expected = table->module_bytes ? 1 : 0;

	REFUSE_IF(modules->count < expected, "the loader brought none; let it load the file made with the image, as a module behind it");
	REFUSE_IF(modules->count > expected, "the loader brought more than this image has; let it load only the files made with the image");
	if (!expected)
		return NULL;
	REFUSE_IF(module.bytes != table->module_bytes, "it has another size than the image expects: cut short, or made with another image");
	REFUSE_IF(!aligned(module.start, BH_PAGE_BYTES) || !within(module, ram_of(limits)), "it is misaligned or outside RAM");
	REFUSE_IF(overlap(module, image), "it overlaps the monitor image");
	REFUSE_IF(checksum((const table_word *)(uintptr_t)module.start, module.bytes / sizeof(table_word), UINT64_MAX) !=
			  table->module_checksum,
		  "its checksum is wrong: it was damaged, or made with another image; build or copy both again");
	return NULL;
}
