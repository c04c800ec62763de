/* SPDX-License-Identifier: Apache-2.0 */
/* Channels (abi/channel.h): each has memory of its own, of which its two ends see what is theirs to see, and nobody else anything. */
#include "monitor/boot/table/checks.h"
#include "monitor/boot/table/spans.h"

static bool is_power_of_two(uint32_t number)
{
	return number && !(number & (number - 1));
}

static bool has_slots(const struct bh_channel_row *row)
{
	switch (row->kind) {
	case BH_CHANNEL_MAILBOX:
		return row->slots == 1;
	case BH_CHANNEL_RING:
		return is_power_of_two(row->slots) && row->slots <= BH_CHANNEL_MOST_SLOTS;
	default: /* LATEST: two for each reader, and two more */
		return row->slots % 2 == 0 && row->slots >= 4 && row->slots <= 2 * BH_CHANNEL_MOST_READERS + 2;
	}
}

static uint64_t least_area(uint64_t slots, uint64_t slot_bytes)
{
	return sizeof(struct bh_channel_control) + slots * (slot_bytes + sizeof(struct bh_channel_slot));
}

static bool is_area(uint64_t bytes, uint64_t least)
{
	return aligned(bytes, BH_PAGE_BYTES) && bytes >= least && bytes - least < BH_PAGE_BYTES;
}

static const char *refuse_form(const struct bh_channel_row *row)
{
	uint32_t back = row->kind == BH_CHANNEL_MAILBOX ? 1 : 0;

	REFUSE_IF(row->kind >= BH_CHANNEL_KINDS, "a channel has an unknown kind");
	REFUSE_IF(row->flags & ~(uint32_t)BH_CHANNEL_ON_REQUEST, "a channel has unknown flags");
	REFUSE_IF(!has_slots(row), "a channel has a number of slots that its kind does not have");
	REFUSE_IF(!row->slot_bytes || row->slot_bytes % BH_CHANNEL_LINE || row->slot_bytes > BH_CHANNEL_MOST_SLOT_BYTES,
		  "a channel's slots have a size that there is not");
	REFUSE_IF(!is_area(row->area_bytes[0], least_area(row->slots, row->slot_bytes)) ||
			  !is_area(row->area_bytes[1], least_area(back, row->slot_bytes)),
		  "a channel's areas have another size than its slots");
	return NULL;
}

/* Whether `sandbox` has this line, and it is one that others ring. */
static bool is_rung(const struct bh_table *table, uint32_t sandbox, uint32_t line)
{
	for (const struct bh_line *row = table->lines; row < table->lines + table->line_count; row++)
		if (row->line == line)
			return row->sandbox == sandbox && row->flags & BH_LINE_RUNG;
	return false;
}

static const char *refuse_doorbells(const struct bh_table *table, const struct bh_channel_row *row)
{
	for (unsigned end = 0; end < 2; end++) {
		REFUSE_IF(!row->gap_us[end] != !row->rung_line[!end],
			  "an end of a channel rings, and the other has no line for it, or not at all");
		REFUSE_IF(row->rung_line[end] && !is_rung(table, row->sandbox[end], row->rung_line[end]),
			  "an end of a channel is rung by a line that its sandbox does not have for it");
	}
	return NULL;
}

const char *refuse_rung(const struct bh_table *table, const struct bh_line *line)
{
	unsigned ends = 0;

	for (const struct bh_channel_row *row = table->channels; row < table->channels + table->channel_count; row++)
		for (unsigned end = 0; end < 2; end++)
			ends += row->sandbox[end] == line->sandbox && row->rung_line[end] == line->line;
	REFUSE_IF(ends != 1, "a line that others ring is not that of one end of a channel");
	REFUSE_IF(line->flags & BH_LINE_LEVEL, "a line that others ring is level-triggered");
	return NULL;
}

const char *refuse_channels(const struct bh_table *table, const struct table_limits *limits)
{
	for (uint32_t n = 0; n < table->channel_count; n++) {
		const struct bh_channel_row *row = &table->channels[n];
		const char *why = refuse_form(row);
		struct board_span span;

		REFUSE_IF(why, why);
		REFUSE_IF(row->sandbox[0] >= table->sandbox_count || row->sandbox[1] >= table->sandbox_count ||
				  row->sandbox[0] == row->sandbox[1],
			  "a channel does not have two sandboxes");
		span = span_of_channel(table, n);
		REFUSE_IF(!aligned(span.start, BH_PAGE_BYTES) || !is_ram(limits, span), "a channel is misaligned or outside RAM");
		REFUSE_IF(span_touches_monitor(table, limits, span), "a channel overlaps monitor frames");
		REFUSE_IF(span_touches(limits->board->reserved_ram, span), "a channel lies in RAM reserved for firmware or start-up");
		why = refuse_doorbells(table, row);
		REFUSE_IF(why, why);
		for (uint32_t other = 0; other < n; other++)
			REFUSE_IF(overlap(span, span_of_channel(table, other)), "two channels overlap");
	}
	return NULL;
}

static bool is_span(struct board_span span, uint64_t start, uint64_t bytes)
{
	return span.start == start && span.bytes == bytes;
}

/* Its own area, to read and write; or all else of the channel, to read. */
static bool is_part(const struct bh_channel_row *row, uint32_t end, const struct bh_region *region)
{
	uint64_t page = row->hpa + row->area_bytes[0], last = page + BH_PAGE_BYTES;

	if (region->permissions == (BH_PERM_READ | BH_PERM_WRITE))
		return is_span(hpa_of(region), end ? last : row->hpa, row->area_bytes[end]);
	return region->permissions == BH_PERM_READ && is_span(hpa_of(region), end ? row->hpa : page, BH_PAGE_BYTES + row->area_bytes[!end]);
}

const char *refuse_part(const struct bh_table *table, const struct bh_region *region)
{
	REFUSE_IF(region->memory_type != BH_MEMORY_RAM, "a part of a channel has device memory type");
	for (const struct bh_region *other = table->regions; other < region; other++)
		REFUSE_IF(other->kind == BH_REGION_CHANNEL && other->sandbox == region->sandbox && overlap(hpa_of(other), hpa_of(region)),
			  "a sandbox is given a part of a channel twice");
	for (const struct bh_channel_row *row = table->channels; row < table->channels + table->channel_count; row++)
		for (uint32_t end = 0; end < 2; end++)
			if (row->sandbox[end] == region->sandbox && is_part(row, end, region))
				return NULL;
	return "a sandbox is given what is no part of a channel for its end";
}
