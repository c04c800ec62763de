/* SPDX-License-Identifier: Apache-2.0 */
/* Channels as they begin: zeros, with what each is on its page, and no end that has begun. From there on: monitor/channels.c. */
#include "monitor/boot/boot.h"

#include "arch/arch.h"
#include "arch/words.h"

enum { US_PER_S = 1000000 };

static struct bh_channel *page_of(const struct bh_channel_row *row)
{
	return (struct bh_channel *)(uintptr_t)(row->hpa + row->area_bytes[0]);
}

static uint64_t bytes_of(const struct bh_channel_row *row)
{
	return row->area_bytes[0] + BH_PAGE_BYTES + row->area_bytes[1];
}

/* Its area begins with that. */
static struct bh_channel_control *control_of(const struct bh_channel_row *row, unsigned end)
{
	return (struct bh_channel_control *)(uintptr_t)(row->hpa + (end ? row->area_bytes[0] + BH_PAGE_BYTES : 0));
}

static bool is_on_request(const struct bh_channel_row *row)
{
	return row->flags & BH_CHANNEL_ON_REQUEST;
}

static void describe(struct bh_channel *page, const struct bh_channel_row *row)
{
	page->magic = BH_CHANNEL_MAGIC;
	page->version = BH_CHANNEL_VERSION;
	page->kind = row->kind;
	page->slots = row->slots;
	page->slot_bytes = row->slot_bytes;
	page->slot_stride = row->slot_bytes + (uint32_t)sizeof(struct bh_channel_slot);
	for (unsigned n = 0; n < BH_NAME_BYTES; n++)
		page->name[n] = row->name[n];
	for (unsigned end = 0; end < 2; end++) {
		page->area_bytes[end] = row->area_bytes[end];
		page->end[end].sandbox = row->sandbox[end];
		page->end[end].state = is_on_request(row) ? BH_CHANNEL_CLOSED : BH_CHANNEL_COMING;
	}
}

void channels_prepare(const struct bh_table *table)
{
	for (const struct bh_channel_row *row = table->channels; row < table->channels + table->channel_count; row++) {
		uint64_t *words = (uint64_t *)(uintptr_t)row->hpa, bytes = bytes_of(row);

		words_fill(words, bytes / WORD_BYTES, 0);
		describe(page_of(row), row);
		arch_cache_publish(words, bytes);
	}
}

static struct channel_end end_of(const struct bh_channel_row *row, unsigned end)
{
	return (struct channel_end){ .seen = &page_of(row)->end[end], .peer = &control_of(row, end)->peer };
}

/* Which of both ends is of this sandbox; 2: none. No channel has both. */
static unsigned own_end(const struct bh_channel_row *row, uint32_t index)
{
	return row->sandbox[0] == index ? 0 : row->sandbox[1] == index ? 1 : 2;
}

struct bh_channel_end *channels_rung(const struct bh_table *table, const struct bh_line *line)
{
	const struct bh_channel_row *row = table->channels;
	unsigned end;

	while ((end = own_end(row, line->sandbox)) == 2 || row->rung_line[end] != line->line)
		row++;
	return &page_of(row)->end[end];
}

/* Rounded up: a gap is never shorter than it was granted. */
static uint64_t ticks(uint32_t us, uint64_t clock_hz)
{
	uint64_t rest = us % US_PER_S * clock_hz;

	return us / US_PER_S * clock_hz + (rest + US_PER_S - 1) / US_PER_S;
}

/* Both regions of an end lie one behind the other: the first one begins where it sees the channel. */
static uint64_t seen_at(const struct bh_table *table, uint32_t index, const struct bh_channel_row *row)
{
	uint64_t gpa = UINT64_MAX;

	for (const struct bh_region *region = table->regions; region < table->regions + table->region_count; region++)
		if (region->sandbox == index && region->kind == BH_REGION_CHANNEL && region->hpa - row->hpa < bytes_of(row) &&
		    region->gpa < gpa)
			gpa = region->gpa;
	return gpa;
}

void channels_gate(const struct bh_table *table, uint32_t index, struct build *build)
{
	for (uint32_t n = 0; n < table->channel_count; n++) {
		const struct bh_channel_row *row = &table->channels[n];

		if (own_end(row, index) != 2 && is_on_request(row))
			build_must(hal_partition_gate(build->partition, (gpa_t){ seen_at(table, index, row) }, bytes_of(row),
						      &build->gates[n]),
				   "channel that is opened on request");
	}
}

void channels_grant(const struct bh_table *table, uint32_t index, uint64_t clock_hz, const struct hal_gate *gates, struct monitor *private)
{
	for (const struct bh_channel_row *row = table->channels; row < table->channels + table->channel_count; row++) {
		unsigned end = own_end(row, index);

		if (end == 2)
			continue;
		private->ends[private->end_count] = end_of(row, end);
		private->ends[private->end_count].gate = gates[row - table->channels];
		private->doorbells[private->end_count++] = (struct hal_doorbell){
			.gap = ticks(row->gap_us[end], clock_hz),
			.told = &page_of(row)->end[!end],
			.line = row->rung_line[!end],
		};
	}
}
