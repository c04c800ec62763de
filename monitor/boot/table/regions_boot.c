/* SPDX-License-Identifier: Apache-2.0 */
/* Memory: the frames of monitors, and what sandboxes are given of RAM, of pools, of device registers and of what is open. */
#include "monitor/boot/table/checks.h"
#include "monitor/boot/table/spans.h"

/*
 * As the tool has it (config/budget.py): a pool holds the monitor's copy and the tables, and a core more than a few adds the frames that
 * each core has for itself. Whatever RAM a sandbox has, its tables fit: how many they are depends on where that lies, and is the tool's to
 * count.
 */
static uint64_t most_pool_bytes(const struct bh_sandbox *sandbox)
{
	uint32_t more = sandbox->core_count > BH_SMALL_CORES ? sandbox->core_count - BH_SMALL_CORES : 0;

	return BH_SMALL_POOL_BYTES + (uint64_t)more * BH_CORE_POOL_BYTES;
}

/* Frames only monitors may touch: the image, the shared page, the pools; apart from each other and inside RAM. */
const char *refuse_pools(const struct bh_table *table, const struct table_limits *limits)
{
	struct board_span image = { limits->image_start, limits->image_end - limits->image_start };
	struct board_span shared = { table->shared, BH_PAGE_BYTES };
	struct board_span iommu = span_of_iommu(table);

	REFUSE_IF(!aligned(shared.start, BH_PAGE_BYTES) || !is_ram(limits, shared), "the shared page is misaligned or outside RAM");
	REFUSE_IF(overlap(shared, image), "the shared page lies in the monitor image");
	REFUSE_IF(span_touches(limits->board->reserved_ram, shared), "the shared page lies in RAM reserved for firmware or start-up");
	REFUSE_IF(!aligned(iommu.start, BH_IOMMU_ALIGN) || (iommu.bytes && !is_ram(limits, iommu)),
		  "the IOMMU's tables are misaligned or outside RAM");
	REFUSE_IF(overlap(iommu, image) || overlap(iommu, shared), "the IOMMU's tables overlap the monitor image or the shared page");
	REFUSE_IF(span_touches(limits->board->reserved_ram, iommu), "the IOMMU's tables lie in RAM reserved for firmware or start-up");
	for (uint32_t n = 0; n < table->sandbox_count; n++) {
		struct board_span pool = span_of_pool(table, n);

		REFUSE_IF(!aligned(pool.start | pool.bytes, BH_PAGE_BYTES) || !is_ram(limits, pool), "a pool is misaligned or outside RAM");
		REFUSE_IF(pool.bytes <= BH_POOL_ARENA || pool.bytes > most_pool_bytes(&table->sandboxes[n]),
			  "a pool is smaller or larger than one for so many cores can be");
		REFUSE_IF(overlap(pool, image) || overlap(pool, shared) || overlap(pool, iommu),
			  "a pool overlaps the monitor image, the shared page or the IOMMU's tables");
		REFUSE_IF(span_touches(limits->board->reserved_ram, pool), "a pool lies in RAM reserved for firmware or start-up");
		for (uint32_t other = 0; other < n; other++)
			REFUSE_IF(overlap(pool, span_of_pool(table, other)), "two pools overlap");
	}
	return NULL;
}

/* Which permissions a sandbox may have on a page of a pool: its own stats and info R, own log RW, foreign logs R. */
static const char *refuse_pool_window(const struct bh_table *table, const struct bh_region *region)
{
	for (uint32_t n = 0; n < table->sandbox_count; n++) {
		uint64_t pool = table->sandboxes[n].pool;
		bool own = n == region->sandbox;

		if (span_within(hpa_of(region), (struct board_span){ pool + BH_POOL_LOG, BH_LOG_BYTES })) {
			REFUSE_IF(region->permissions & (own ? BH_PERM_EXECUTE : BH_PERM_EXECUTE | BH_PERM_WRITE),
				  "a log is writable by another sandbox, or executable");
			return NULL;
		}
		if (own && span_within(hpa_of(region), (struct board_span){ pool + BH_POOL_STATS, BH_POOL_LOG - BH_POOL_STATS })) {
			REFUSE_IF(region->permissions != BH_PERM_READ,
				  "a sandbox's own statistics or information page is more than readable");
			return NULL;
		}
	}
	return "a sandbox is given monitor frames";
}

/* What is open to a sandbox that does without its memory or irq protection, or to its functions without dma: as the machine has it. */
static const char *refuse_open(const struct bh_table *table, const struct table_limits *limits, const struct bh_region *region)
{
	bool ram = region->memory_type == BH_MEMORY_RAM;
	uint32_t without = ram ? BH_PROTECT_MEMORY : BH_PROTECT_MEMORY | BH_PROTECT_IRQ;

	if (region->kind == BH_REGION_DMA)
		without = BH_PROTECT_DMA;
	REFUSE_IF(!(table->sandboxes[region->sandbox].unprotected & without), "a protected sandbox is given what is open to others");
	REFUSE_IF(ram ? !is_ram(limits, hpa_of(region)) : span_touches(limits->board->ram, hpa_of(region)),
		  "a stretch that is open has the memory type of another");
	REFUSE_IF(!ram && region->permissions & BH_PERM_EXECUTE, "device registers are executable or cached");
	return NULL;
}

static const char *refuse_faults(const struct bh_table *table, const struct bh_region *region)
{
	struct board_span faults = span_of_faults(table);

	REFUSE_IF(!faults.bytes || region->hpa != faults.start || region->size != faults.bytes,
		  "a sandbox is given records of DMA where the IOMMU has none");
	REFUSE_IF(region->permissions != BH_PERM_READ || region->memory_type != BH_MEMORY_RAM,
		  "records of DMA are more than readable, or have device memory type");
	return NULL;
}

static const char *refuse_region(const struct bh_table *table, const struct table_limits *limits, const struct bh_region *region)
{
	struct board_span hpa = hpa_of(region);

	REFUSE_IF(region->sandbox >= table->sandbox_count, "a region belongs to no sandbox");
	REFUSE_IF(!region->size || !aligned(region->gpa | region->hpa | region->size, BH_PAGE_BYTES),
		  "a region is empty or not page aligned");
	REFUSE_IF(region->gpa + region->size < region->gpa || region->hpa + region->size < region->hpa, "a region wraps around");
	REFUSE_IF(!(region->permissions & BH_PERM_READ) || region->permissions > 7 || region->memory_type > BH_MEMORY_DEVICE,
		  "a region has an impossible permission or memory type");
	switch (region->kind) {
	case BH_REGION_RAM:
		REFUSE_IF(!is_ram(limits, hpa), "a RAM region lies outside RAM");
		REFUSE_IF(span_touches_monitor(table, limits, hpa), "a sandbox is given monitor frames");
		REFUSE_IF(span_touches(limits->board->reserved_ram, hpa), "a sandbox is given RAM reserved for firmware or start-up");
		REFUSE_IF(span_touches_channel(table, hpa), "a sandbox is given a channel as RAM");
		REFUSE_IF(region->memory_type != BH_MEMORY_RAM, "a RAM region has device memory type");
		return NULL;
	case BH_REGION_POOL:
		REFUSE_IF(region->memory_type != BH_MEMORY_RAM, "a window into a pool has device memory type");
		return refuse_pool_window(table, region);
	case BH_REGION_BANKED:
	case BH_REGION_DEVICE:
	case BH_REGION_BAR:
		return refuse_device(table, limits, region);
	case BH_REGION_FAULTS:
		return refuse_faults(table, region);
	case BH_REGION_CHANNEL:
		return refuse_part(table, region);
	case BH_REGION_OPEN:
	case BH_REGION_DMA:
		return refuse_open(table, limits, region);
	default:
		return "a region has an unknown kind";
	}
}

static bool exclusive(const struct bh_region *region)
{
	return region->kind == BH_REGION_RAM || region->kind == BH_REGION_DEVICE || region->kind == BH_REGION_BAR;
}

const char *refuse_regions(const struct bh_table *table, const struct table_limits *limits)
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
