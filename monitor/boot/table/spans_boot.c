/* SPDX-License-Identifier: Apache-2.0 */
/* What the checks ask of spans; see spans.h. */
#include "monitor/boot/table/spans.h"

bool span_within(struct board_span inner, struct board_span outer)
{
	return inner.start >= outer.start && inner.bytes <= outer.bytes && inner.start - outer.start <= outer.bytes - inner.bytes;
}

bool span_touches(struct board_spans spans, struct board_span span)
{
	for (uint32_t n = 0; n < spans.count; n++)
		if (overlap(span, spans.at[n]))
			return true;
	return false;
}

bool is_ram(const struct table_limits *limits, struct board_span span)
{
	for (uint32_t n = 0; n < limits->board->ram.count; n++)
		if (span_within(span, limits->board->ram.at[n]))
			return true;
	return false;
}

struct board_span span_of_pool(const struct bh_table *table, uint32_t sandbox)
{
	return (struct board_span){ table->sandboxes[sandbox].pool, table->sandboxes[sandbox].pool_bytes };
}

struct board_span span_of_iommu(const struct bh_table *table)
{
	static const uint64_t bytes[BH_IOMMU_KINDS] = {
		[BH_IOMMU_SMMUV3] = BH_SMMUV3_BYTES, [BH_IOMMU_AMDVI] = BH_AMDVI_BYTES, [BH_IOMMU_VTD] = BH_VTD_BYTES
	};

	return (struct board_span){ table->iommu_tables, bytes[table->iommu] };
}

struct board_span span_of_faults(const struct bh_table *table)
{
	static const uint64_t events[BH_IOMMU_KINDS] = { [BH_IOMMU_SMMUV3] = BH_SMMUV3_EVENTS, [BH_IOMMU_AMDVI] = BH_AMDVI_EVENTS };
	uint64_t at = events[table->iommu];

	return (struct board_span){ table->iommu_tables + at, at ? BH_FAULTS_BYTES : 0 };
}

bool span_touches_monitor(const struct bh_table *table, const struct table_limits *limits, struct board_span span)
{
	struct board_span image = { limits->image_start, limits->image_end - limits->image_start };
	struct board_span shared = { table->shared, BH_PAGE_BYTES };

	for (uint32_t n = 0; n < table->sandbox_count; n++)
		if (overlap(span, span_of_pool(table, n)))
			return true;
	return overlap(span, image) || overlap(span, shared) || overlap(span, span_of_iommu(table));
}

struct board_span span_of_channel(const struct bh_table *table, uint32_t channel)
{
	const struct bh_channel_row *row = &table->channels[channel];

	return (struct board_span){ row->hpa, row->area_bytes[0] + BH_PAGE_BYTES + row->area_bytes[1] };
}

bool span_touches_channel(const struct bh_table *table, struct board_span span)
{
	for (uint32_t n = 0; n < table->channel_count; n++)
		if (overlap(span, span_of_channel(table, n)))
			return true;
	return false;
}
