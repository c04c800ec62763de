/* SPDX-License-Identifier: Apache-2.0 */
/* Payload: pieces of the boot module and of boot snapshots go into their sandbox's memory, and it starts there. */
#include "monitor/boot/table/checks.h"
#include "monitor/boot/table/spans.h"

static bool sandbox_owns_ram(const struct bh_table *table, uint32_t sandbox, struct board_span hpa)
{
	for (uint32_t n = 0; n < table->region_count; n++)
		if (table->regions[n].sandbox == sandbox && table->regions[n].kind == BH_REGION_RAM &&
		    span_within(hpa, hpa_of(&table->regions[n])))
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
static bool sandbox_may_hold(const struct bh_table *table, uint32_t sandbox, struct board_span hpa)
{
	struct board_span info = { table->sandboxes[sandbox].pool + BH_POOL_INFO, BH_PAGE_BYTES };

	return span_within(hpa, info) || sandbox_owns_ram(table, sandbox, hpa);
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
		REFUSE_IF(!sandbox_may_hold(table, copy->sandbox, (struct board_span){ copy->target, copy->size }),
			  "a piece of the boot module would go outside its sandbox's memory");
		REFUSE_IF(copy->offset != module_end, "the pieces of the boot module leave a gap or overlap");
		REFUSE_IF(copy->target < target_end, "the pieces of the boot module are not in the order of their places");
		module_end += copy->size;
		target_end = copy->target + copy->size;
	}
	REFUSE_IF(module_end != table->module_bytes, "the boot module is larger or smaller than its pieces");
	return NULL;
}

static struct board_span snapshot_of(const struct bh_table *table, uint32_t sandbox)
{
	return (struct board_span){ table->sandboxes[sandbox].snapshot, table->sandboxes[sandbox].snapshot_bytes };
}

static bool touches_ram(const struct bh_table *table, struct board_span hpa)
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
	struct board_span snapshot = snapshot_of(table, n);
	bool restarts = sandbox->on_fault == BH_ON_FAULT_RESTART;

	REFUSE_IF(sandbox->on_fault > BH_ON_FAULT_RESTART, "a sandbox has an unknown answer to faults");
	REFUSE_IF(sandbox->max_restarts > (restarts ? BH_MAX_RESTARTS : 0),
		  "a sandbox restarts too often, or without its answer to faults saying so");
	REFUSE_IF(restarts ? !snapshot.bytes : snapshot.start || snapshot.bytes,
		  "a sandbox restarts without a boot snapshot, or has one without restarting");
	if (!restarts)
		return NULL;
	REFUSE_IF(!aligned(snapshot.start | snapshot.bytes, BH_PAGE_BYTES) || !is_ram(limits, snapshot),
		  "a boot snapshot is not in whole pages or outside RAM");
	REFUSE_IF(span_touches_monitor(table, limits, snapshot) || span_touches(limits->board->reserved_ram, snapshot),
		  "a boot snapshot overlaps monitor frames, or RAM reserved for firmware or start-up");
	REFUSE_IF(touches_ram(table, snapshot) || span_touches_channel(table, snapshot), "a sandbox is given a boot snapshot");
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
		REFUSE_IF(!sandbox_owns_ram(table, sandbox, (struct board_span){ piece->target, piece->size }),
			  "a piece of a boot snapshot would go outside its sandbox's memory");
		REFUSE_IF(piece->offset != copy_end || piece->target < target_end, "the pieces of a boot snapshot leave a gap or overlap");
		copy_end += piece->size;
		target_end = piece->target + piece->size;
	}
	REFUSE_IF(copy_end != table->sandboxes[sandbox].snapshot_bytes, "a boot snapshot is larger or smaller than its pieces");
	return NULL;
}

const char *refuse_restarts(const struct bh_table *table, const struct table_limits *limits)
{
	const char *why = NULL;

	for (uint32_t n = 0; n < table->sandbox_count && !why; n++)
		why = refuse_snapshot(table, limits, n);
	for (uint32_t n = 0; n < table->sandbox_count && !why; n++)
		why = refuse_pieces(table, n);
	return why;
}

const char *refuse_payloads(const struct bh_table *table, const struct table_limits *limits)
{
	for (uint32_t n = 0; n < table->sandbox_count; n++) {
		const struct bh_sandbox *sandbox = &table->sandboxes[n];

		REFUSE_IF(!sandbox_executes(table, n, sandbox->entry), "a sandbox would start outside its executable memory");
		REFUSE_IF(sandbox->clock_text && !sandbox_owns_ram(table, n, (struct board_span){ sandbox->clock_text, BH_CLOCK_DIGITS }),
			  "a clock text lies outside its sandbox's RAM");
	}
	return refuse_copies(table);
}

const char *table_refuse_modules(const struct bh_table *table, const struct table_limits *limits, const struct arch_modules *modules)
{
	struct board_span image = { limits->image_start, limits->image_end - limits->image_start };
	struct board_span module = { modules->start, modules->bytes };
	uint32_t expected = table->module_bytes ? 1 : 0;

	REFUSE_IF(modules->count < expected, "the loader brought none; let it load the file made with the image, as a module after it");
	REFUSE_IF(modules->count > expected, "the loader brought more than this image has; let it load only the files made with the image");
	if (!expected)
		return NULL;
	REFUSE_IF(module.bytes != table->module_bytes, "it has another size than the image expects: cut short, or made with another image");
	REFUSE_IF(!aligned(module.start, BH_PAGE_BYTES) || !is_ram(limits, module), "it is misaligned or outside RAM");
	REFUSE_IF(overlap(module, image), "it overlaps the monitor image");
	return NULL;
}

const char *table_refuse_spread(const struct bh_table *table)
{
	uint64_t checksum = CHECKSUM_OF_NOTHING;

	for (const struct bh_copy *copy = table->copies; copy < table->copies + table->copy_count; copy++)
		checksum = words_checksum(checksum, (const table_word *)(uintptr_t)copy->target, copy->size / sizeof(table_word));
	REFUSE_IF(table->module_bytes && checksum != table->module_checksum,
		  "its checksum is wrong: it was damaged, or made with another image; build or copy both again");
	return NULL;
}
