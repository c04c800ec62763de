/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F2.loaders. The boot module, spread out: wherever in memory it lies, over its own targets too, every piece arrives whole, is
 * published, and nothing else is written. All places of a small machine are tried at random; what must come out is written down apart.
 */
#include "caches.h"
#include "monitor/boot/boot.h"

enum { PAGES = 40, PAGE_WORDS = BH_PAGE_BYTES / 8, ROUNDS = 4000, LARGEST_PIECE = 4, UNTOUCHED = 0xff };

static _Alignas(BH_PAGE_BYTES) uint64_t ram[PAGES][PAGE_WORDS];
static uint64_t behind[PAGES][PAGE_WORDS];
static uint8_t expected[PAGES]; /* page of the module that must be there, or UNTOUCHED */
static struct bh_table table;

static uint32_t below(uint32_t limit)
{
	return (uint32_t)rand() % limit;
}

/* Each word tells its page and its place, so that nothing can be moved unnoticed. */
static uint64_t word(unsigned page, unsigned n)
{
	return (uint64_t)page << 32 | n;
}

static void fill(unsigned page, unsigned content)
{
	for (unsigned n = 0; n < PAGE_WORDS; n++)
		ram[page][n] = word(content, n);
}

/* Pieces at random places, in order; how many pages the module has. */
static unsigned draw_pieces(void)
{
	unsigned module_pages = 0;

	table.copy_count = 0;
	memset(expected, UNTOUCHED, sizeof(expected));
	for (unsigned page = below(PAGES / 4); page < PAGES; page += below(PAGES / 6)) {
		unsigned pages = 1 + below(LARGEST_PIECE);

		if (page + pages > PAGES || table.copy_count == BH_MAX_COPIES)
			break;
		table.copies[table.copy_count++] = (struct bh_copy){
			.offset = (uint64_t)module_pages * BH_PAGE_BYTES,
			.target = (uintptr_t)ram[page],
			.size = (uint64_t)pages * BH_PAGE_BYTES,
		};
		for (unsigned n = 0; n < pages; n++)
			expected[page++] = (uint8_t)module_pages++;
	}
	return module_pages;
}

static void check_page(unsigned page, unsigned before)
{
	unsigned content = expected[page] == UNTOUCHED ? before : expected[page];

	for (unsigned n = 0; n < PAGE_WORDS; n++)
		CHECK_EQ(ram[page][n], word(content, n));
}

/* What stands on a page at first: the module's own, or a mark. */
static unsigned loaded(unsigned page, unsigned start, unsigned module_pages)
{
	return page - start < module_pages ? page - start : UNTOUCHED;
}

static void test_round(void)
{
	unsigned module_pages = draw_pieces(), start = below(PAGES - module_pages + 1);

	for (unsigned page = 0; page < PAGES; page++)
		fill(page, loaded(page, start, module_pages));
	caches_watch(ram, behind, sizeof(ram));
	module_spread(&table, (uintptr_t)ram[start]);
	CHECK_EQ(fake_arch.publishes, table.copy_count);
	CHECK_EQ(fake_arch.published_bytes, module_pages * BH_PAGE_BYTES);
	CHECK(!memcmp(behind, ram, sizeof(ram)));
	for (unsigned page = 0; page < PAGES; page++)
		check_page(page, loaded(page, start, module_pages));
}

int main(void)
{
	check_context.subject = "boot module";
	srand(20261120);
	for (check_context.round = 0; check_context.round < ROUNDS; check_context.round++)
		test_round();
	return 0;
}
