/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans of addresses, and which of them are a monitor's: what all checks of the table are made of. Nothing here refuses, but for the
 * macro with which every check does.
 */
#pragma once
#include "monitor/boot/table/table.h"

#define REFUSE_IF(condition, why)     \
	do {                          \
		if (condition)        \
			return (why); \
	} while (0)

static inline bool overlap(struct board_span a, struct board_span b)
{
	return a.start < b.start + b.bytes && b.start < a.start + a.bytes;
}

static inline bool aligned(uint64_t value, uint64_t to)
{
	return !(value & (to - 1));
}

static inline struct board_span hpa_of(const struct bh_region *region)
{
	return (struct board_span){ region->hpa, region->size };
}

/* Returns whether inner lies whole within outer. A span that wraps lies in nothing. */
bool span_within(struct board_span inner, struct board_span outer);
bool span_touches(struct board_spans spans, struct board_span span);
/* Returns whether the span lies whole within one span of the board's RAM. */
bool is_ram(const struct table_limits *limits, struct board_span span);
struct board_span span_of_pool(const struct bh_table *table, uint32_t sandbox);
/* The IOMMU's tables; empty on a board without one. Requires: a header that was not refused. */
struct board_span span_of_iommu(const struct bh_table *table);
/* Of them, where the IOMMU records what it has blocked; empty: it does not, in memory. */
struct board_span span_of_faults(const struct bh_table *table);
/* Returns whether the span overlaps frames only monitors may touch: the image, the shared page, the pools, the IOMMU's tables. */
bool span_touches_monitor(const struct bh_table *table, const struct table_limits *limits, struct board_span span);
/* Requires: a channel whose form was not refused, so that its size does not wrap. */
struct board_span span_of_channel(const struct bh_table *table, uint32_t channel);
bool span_touches_channel(const struct bh_table *table, struct board_span span);
