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

static inline bool overlap(struct table_span a, struct table_span b)
{
	return a.start < b.start + b.bytes && b.start < a.start + a.bytes;
}

static inline bool aligned(uint64_t value, uint64_t to)
{
	return !(value & (to - 1));
}

static inline struct table_span hpa_of(const struct bh_region *region)
{
	return (struct table_span){ region->hpa, region->size };
}

static inline struct table_span ram_of(const struct table_limits *limits)
{
	return (struct table_span){ limits->ram_base, limits->ram_bytes };
}

/* Returns whether inner lies whole within outer. A span that wraps lies in nothing. */
bool span_within(struct table_span inner, struct table_span outer);
bool span_touches(struct table_spans spans, struct table_span span);
struct table_span span_of_pool(const struct bh_table *table, uint32_t sandbox);
/* Returns whether the span overlaps frames only monitors may touch: the image, the shared page, the pools. */
bool span_touches_monitor(const struct bh_table *table, const struct table_limits *limits, struct table_span span);
