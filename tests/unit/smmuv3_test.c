/* SPDX-License-Identifier: Apache-2.0 */
/* BH-I1.dma, BH-I8.bounded. hal/iommu/smmuv3*.c over an SMMU that holds on to whatever it has seen. */
#include <string.h>

#include "board.h"
#include "check.h"
#include "fake_smmuv3.h"
#include "hal/iommu/iommu_live.h"
#include "iommu_scene.h"

#define S2_ENTRY 0x040a355900000000u
enum { FRAMES = 64, PATIENCE = 1 << 18 };
enum { NIC = 0x08, DISC = 0x40, OTHER = 0x38, FAR = 0x108 };

static const uint64_t *words(uint64_t address)
{
	return (const uint64_t *)(uintptr_t)address;
}

enum hal_status hal_space_map(struct hal_space *space, const void *va, hpa_t hpa, uint64_t size, unsigned permissions,
			      enum hal_memory memory)
{
	static const struct {
		uint64_t start, bytes;
		enum hal_memory memory;
	} wanted[] = { { BASE, 0x1000, HAL_MEMORY_DEVICE }, { BASE + PAGE_1, 0x1000, HAL_MEMORY_DEVICE }, { 0, 0x5000, HAL_MEMORY_RAM } };
	unsigned *count = (unsigned *)space;

	CHECK(*count < 3);
	CHECK_EQ(hpa.v, wanted[*count].start ? wanted[*count].start : tables);
	CHECK_EQ((uintptr_t)va, hpa.v);
	CHECK_EQ(size, wanted[*count].bytes);
	CHECK_EQ(permissions, HAL_READ | HAL_WRITE);
	CHECK_EQ(memory, wanted[*count].memory);
	++*count;
	return HAL_OK;
}

/* ---- the machine, as a loader leaves it: the SMMU on, another system's tables held ---- */

static void reset(void)
{
	arena = frames_arena(FRAMES);
	while (arena.next % BH_IOMMU_ALIGN)
		CHECK(hal_arena_take(&arena, 1));
	tables = (uintptr_t)hal_arena_take(&arena, BH_SMMUV3_BYTES / BH_PAGE_BYTES);
	memset((void *)(uintptr_t)tables, 0xff, BH_SMMUV3_BYTES);
	fake_smmu_reset(tables);
}

static void begin(void)
{
	reset();
	scene_begin(NIC, DISC, OTHER);
	fake_smmu.guard = hal_lock_of(mailboxes, HAL_LOCK_IOMMU);
}

/* ---- start-up ---- */

static void check_refused(const char *subject, const char *word)
{
	const char *why = NULL;

	check_context.subject = subject;
	CHECK_EQ(scene_start(&why), HAL_E_UNSUPPORTED);
	CHECK(why && strstr(why, word));
}

static void test_machines(void)
{
	static const struct {
		uint32_t offset, clear, set;
		const char *word;
	} lacks[] = {
		{ 0x00, 1 << 0, 0, "no stage 2" },      { 0x00, 1 << 3, 0, "AArch64" },
		{ 0x00, 1 << 4, 0, "caches" },          { 0x00, 0, 3 << 21, "big-endian" },
		{ 0x00, 3 << 24, 2 << 24, "stalls" },   { 0x04, 0x3f, 7, "too few streams" },
		{ 0x04, 0x1f << 16, 6 << 16, "event" }, { 0x04, 0x1f << 21, 7 << 21, "command" },
		{ 0x04, 0, 1 << 29, "lie where" },      { 0x04, 0, 1 << 30, "lie where" },
		{ 0x14, 1 << 4, 0, "4 KiB" },           { 0x14, 7, 1, "40 bits" },
	};

	for (unsigned n = 0; n < sizeof(lacks) / sizeof(lacks[0]); n++) {
		reset();
		*fake_smmu_at(lacks[n].offset) = (*fake_smmu_at(lacks[n].offset) & ~lacks[n].clear) | lacks[n].set;
		check_refused("an SMMU that lacks something", lacks[n].word);
		CHECK_EQ(*fake_smmu_at(CR0ACK), SMMUEN | EVENTQEN | CMDQEN); /* untouched */
	}
}

static void test_machines_that_do_not_obey(void)
{
	static const uint32_t stuck[] = { GBPA, CR0ACK, IRQ_CTRL };

	for (unsigned n = 0; n < sizeof(stuck) / sizeof(stuck[0]); n++) {
		reset();
		fake_smmu.stuck = stuck[n];
		check_refused("an SMMU that goes on", "does not stop");
	}
	reset();
	fake_smmu.hung = true;
	check_refused("an SMMU that hangs", "takes no commands");
	reset();
	fake_smmu.errs = true;
	check_refused("an SMMU in error", "takes no commands");
}

static void test_block(void)
{
	const char *why;

	check_context.subject = "every stream aborts";
	reset();
	CHECK_EQ(fake_smmu_dma(NIC, RAM), RAM); /* as the loader left it */
	CHECK_EQ(scene_start(&why), HAL_OK);
	CHECK(fake_smmu.blocks);
	CHECK_EQ(*fake_smmu_at(CR0ACK), SMMUEN | EVENTQEN | CMDQEN);
	CHECK_EQ(*fake_smmu_at(IRQ_CTRLACK), 0);
	CHECK(!fake_smmu_in_error());
	CHECK_EQ(fake_smmu_long_at(CMDQ), (tables + 0x4000) | 8);
	CHECK_EQ(fake_smmu_long_at(EVENTQ), (tables + 0x5000) | 7);
	CHECK_EQ(fake_smmu.event_prod | fake_smmu.event_cons, 0);
	for (unsigned n = 0; n < STREAMS; n++) {
		CHECK_EQ(words(tables)[n * ENTRY], 1);
		for (unsigned word = 1; word < ENTRY; word++)
			CHECK_EQ(words(tables)[n * ENTRY + word], 0);
		CHECK_EQ(fake_smmu_dma(n, RAM), ABORTED);
	}
	CHECK_EQ(fake_smmu_dma(FAR, RAM), ABORTED);
}

/* BH-I1.dma. Addresses that a function says are translated are looked up: no entry has EATS. Where it cannot say so the bit is reserved. */
static void test_translated_requests(void)
{
	const char *why;

	check_context.subject = "translated requests are checked";
	reset();
	*fake_smmu_at(0x00) |= IDR0_HAS_ATS;
	CHECK_EQ(scene_start(&why), HAL_OK);
	CHECK_EQ(*fake_smmu_at(CR0ACK), SMMUEN | EVENTQEN | CMDQEN | ATSCHK);
}

static void test_map(void)
{
	unsigned maps = 0;

	check_context.subject = "what a monitor maps";
	begin();
	CHECK_EQ(iommu_map((struct hal_space *)&maps, &view), HAL_OK);
	CHECK_EQ(maps, 3);
	view.count = 0;
	CHECK_EQ(iommu_map((struct hal_space *)&maps, &view), HAL_OK);
	CHECK_EQ(maps, 3);
}

/* ---- entries ---- */

static void check_reach(uint32_t stream, uint64_t offset, uint64_t expected)
{
	CHECK_EQ(fake_smmu_dma(stream, GUEST + offset), expected);
}

static void test_open(void)
{
	const uint64_t *entry;

	check_context.subject = "open";
	begin();
	check_reach(NIC, 0x123, ABORTED);
	entry = words(tables) + NIC * ENTRY;
	fake_smmu.opened = 0;
	CHECK(iommu_open(&view, SELF));
	CHECK_EQ(fake_smmu.opened, 2);
	CHECK_EQ(entry[0], 0xd);
	CHECK_EQ(entry[2], S2_ENTRY | view.domain);
	CHECK_EQ(entry[2] << 13 >> 45, pt_stage2.control & 0x7ffff);
	CHECK_EQ(entry[3], (uintptr_t)view.pt.root);
	CHECK_EQ(view.domain, 1);
	check_reach(NIC, 0x123, RAM + 0x123);
	check_reach(DISC, 0x2fff, RAM + 0x2fff);
	check_reach(NIC, 0x3000, ABORTED);
	for (uint32_t stream = 0; stream < STREAMS; stream++)
		if (stream != NIC && stream != DISC)
			CHECK_EQ(fake_smmu_dma(stream, GUEST), ABORTED);
	CHECK(iommu_open(&neighbour, SELF));
	check_reach(OTHER, 0x123, RAM + 0x1000123);
	check_reach(NIC, 0x123, RAM + 0x123);
}

/* At once on return: what is slow has been waited for. */
static void test_close(void)
{
	check_context.subject = "close";
	begin();
	for (unsigned round = 0; round < 200; round++) { /* several times round the queue */
		check_context.round = round;
		fake_smmu.slow = round % 5;
		CHECK(iommu_open(&view, SELF) && iommu_open(&neighbour, SELF));
		check_reach(NIC, 0x123, RAM + 0x123);
		check_reach(OTHER, 0x123, RAM + 0x1000123);
		CHECK(iommu_close(&view, SELF));
		check_reach(NIC, 0x123, ABORTED);
		check_reach(DISC, 0x123, ABORTED);
		check_reach(OTHER, 0x123, RAM + 0x1000123);
		CHECK(iommu_close(&neighbour, SELF));
		check_reach(OTHER, 0x123, ABORTED);
	}
	check_context.round = 0;
}

/* Entries are forgotten before translations, which a function that goes on would fetch again by the old one. */
static void test_close_of_a_busy_function(void)
{
	check_context.subject = "close, of a function that goes on";
	begin();
	CHECK(iommu_open(&view, SELF));
	check_reach(NIC, 0, RAM);
	fake_smmu.busy = NIC;
	fake_smmu.busy_at = GUEST;
	CHECK(iommu_close(&view, SELF));
	for (unsigned n = 0; n < HELD; n++)
		CHECK(!fake_smmu.held[n].valid || fake_smmu.held[n].vmid != view.domain);
}

/* A translation outlives its entry: it would be used by the next one of that VMID. */
static void test_translations_end(void)
{
	check_context.subject = "translations end";
	begin();
	CHECK(iommu_open(&view, SELF) && iommu_open(&neighbour, SELF));
	check_reach(NIC, 0x2000, RAM + 0x2000);
	check_reach(OTHER, 0x2000, RAM + 0x1002000);
	CHECK_EQ(pt_unmap(&view.pt, GUEST + 0x2000, 0x1000), HAL_OK);
	CHECK_EQ(pt_unmap(&neighbour.pt, GUEST + 0x2000, 0x1000), HAL_OK);
	check_reach(NIC, 0x2000, RAM + 0x2000); /* held */
	CHECK(iommu_close(&view, SELF));
	CHECK(iommu_open(&view, SELF));
	check_reach(NIC, 0x2000, ABORTED);
	check_reach(OTHER, 0x2000, RAM + 0x1002000); /* still held: not this sandbox's to throw away */
}

/* Arm IHI 0070, 7.4 "Event queue overflow". A hostile function fills the queue; the next change of any entry makes room. */
static void test_events(void)
{
	enum { FULL = 0x80, OVERFLOWN = 1u << 31 };

	check_context.subject = "a full queue of events";
	begin();
	CHECK(iommu_open(&view, SELF));
	fake_smmu.event_prod = FULL | OVERFLOWN;
	CHECK(iommu_close(&neighbour, SELF));
	CHECK_EQ(fake_smmu.event_cons, FULL | OVERFLOWN);
	fake_smmu.event_prod = 5;
	CHECK(iommu_open(&neighbour, SELF));
	CHECK_EQ(fake_smmu.event_cons, 5);
}

/* BH-F2.unprotected: `dma`. */
static void test_functions_alone(void)
{
	struct iommu_view none = { 0 };
	struct hal_leaf leaf;
	gpa_t gpa = { 0x09000000 };
	hpa_t hpa = { 0x09000000 };
	struct pt stage2;

	check_context.subject = "what functions reach and processors do not";
	begin();
	CHECK_EQ(pt_init(&stage2, &pt_stage2, &arena), HAL_OK);
	CHECK_EQ(iommu_map_both(&stage2, &view, gpa, hpa, BH_PAGE_BYTES, HAL_DMA, HAL_MEMORY_DEVICE), HAL_OK);
	CHECK(pt_query(&view.pt, gpa.v, &leaf));
	CHECK_EQ(leaf.hpa.v, hpa.v);
	CHECK_EQ(leaf.permissions, HAL_READ | HAL_WRITE);
	CHECK(!pt_query(&stage2, gpa.v, &leaf));
	CHECK_EQ(iommu_map_both(&stage2, &view, gpa, hpa, BH_PAGE_BYTES, HAL_DMA, HAL_MEMORY_DEVICE), HAL_E_OVERLAP);
	CHECK_EQ(iommu_map_both(&stage2, &none, gpa, hpa, BH_PAGE_BYTES, HAL_DMA, HAL_MEMORY_DEVICE), HAL_E_PERMISSION);
}

static void test_hung(void)
{
	uint64_t queue[QUEUE * 2];
	unsigned before;

	check_context.subject = "an SMMU that hangs";
	begin();
	CHECK(iommu_open(&view, SELF));
	fake_smmu.hung = true;
	before = fake_smmu.accesses;
	CHECK(!iommu_close(&view, SELF));
	CHECK(fake_smmu.accesses - before < 8 * PATIENCE);
	CHECK_EQ(words(tables)[NIC * ENTRY], 1);
	memcpy(queue, words(tables + 0x4000), sizeof(queue));
	CHECK(!iommu_close(&view, SELF)); /* puts nothing more into the queue */
	CHECK(!memcmp(queue, words(tables + 0x4000), sizeof(queue)));
	CHECK_EQ(fake_smmu.guard->holder | fake_smmu.guard->wanted, 0);
	fake_smmu.hung = false;
	CHECK(iommu_close(&view, SELF));
	check_reach(NIC, 0, ABORTED);
}

/* Arm IHI 0070, 7.1 "Command queue errors". Whoever comes next finds the queue in order. */
static void test_error(void)
{
	check_context.subject = "an error in the queue";
	begin();
	CHECK(iommu_open(&view, SELF));
	check_reach(NIC, 0, RAM);
	*fake_smmu_at(GERROR) ^= 1 << 2; /* another error, which is nobody's here to acknowledge */
	fake_smmu.errs = true;
	CHECK(!iommu_close(&view, SELF));
	CHECK(!fake_smmu_in_error());
	CHECK_EQ(*fake_smmu_at(GERROR) ^ *fake_smmu_at(GERRORN), 1 << 2);
	CHECK_EQ(*fake_smmu_at(CONS) & 0x1ff, *fake_smmu_at(PROD));
	CHECK(iommu_open(&neighbour, SELF));
	CHECK(iommu_close(&view, SELF));
	check_reach(NIC, 0, ABORTED);
	check_reach(OTHER, 0, RAM + 0x1000000);
}

/* ---- pages that come and go ---- */

#define PAGES  UINT64_C(0x41000000) /* places for pages, and for blocks */
#define BLOCKS UINT64_C(0x42000000)
#define MiB2   UINT64_C(0x200000)
enum { PLACES = 128 };

static struct iommu_live live, other_live;

static uint64_t at(uint32_t stream, uint64_t gpa)
{
	return fake_smmu_dma(stream, gpa);
}

static void begin_live(const char *subject)
{
	check_context.subject = subject;
	begin();
	iommu_live_create(&live, &view);
	iommu_live_create(&other_live, &neighbour);
	CHECK_EQ(iommu_live_reserve(&live, &view, PAGES, PLACES * 0x1000, 0), HAL_OK);
	CHECK_EQ(iommu_live_reserve(&live, &view, BLOCKS, 4 * MiB2, 1), HAL_OK);
	CHECK_EQ(iommu_live_reserve(&other_live, &neighbour, PAGES, PLACES * 0x1000, 0), HAL_OK);
	CHECK(iommu_open(&view, SELF) && iommu_open(&neighbour, SELF));
}

/* Page by page: what is taken is out of reach on return, and nothing else is forgotten. */
static void test_pages(void)
{
	begin_live("pages");
	CHECK_EQ(iommu_live_put(&other_live, PAGES, (hpa_t){ RAM }, 0x1000), HAL_OK);
	for (unsigned round = 0; round < 300; round++) {
		check_context.round = round;
		fake_smmu.slow = round % 3;
		CHECK_EQ(at(NIC, PAGES + 0x1000), ABORTED);
		CHECK_EQ(iommu_live_put(&live, PAGES, (hpa_t){ RAM + 0x10000 }, 0x3000), HAL_OK);
		for (uint64_t page = 0; page < 0x3000; page += 0x1000)
			CHECK_EQ(at(NIC, PAGES + page), RAM + 0x10000 + page);
		CHECK_EQ(at(OTHER, PAGES), RAM);
		CHECK_EQ(iommu_live_take(&live, SELF, PAGES, 0x2000), HAL_OK);
		CHECK_EQ(at(NIC, PAGES), ABORTED);
		CHECK_EQ(at(DISC, PAGES + 0x1000), ABORTED);
		CHECK_EQ(at(NIC, PAGES + 0x2000), RAM + 0x12000);
		CHECK_EQ(iommu_live_take(&live, SELF, PAGES + 0x2000, 0x1000), HAL_OK);
		CHECK_EQ(at(NIC, PAGES + 0x2000), ABORTED);
	}
	check_context.round = 0;
	CHECK_EQ(fake_smmu.by_leaf, 300 * 3);
}

/* A neighbour's translations, and those of other pages, stay held: the fake would walk their holes. */
static void test_others_are_kept(void)
{
	begin_live("what is not taken is not forgotten");
	CHECK_EQ(iommu_live_put(&live, PAGES, (hpa_t){ RAM }, 0x2000), HAL_OK);
	CHECK_EQ(iommu_live_put(&other_live, PAGES, (hpa_t){ RAM + 0x5000 }, 0x1000), HAL_OK);
	CHECK_EQ(at(NIC, PAGES) + at(NIC, PAGES + 0x1000) + at(OTHER, PAGES), 3 * RAM + 0x6000);
	CHECK_EQ(pt_unmap(&view.pt, PAGES + 0x1000, 0x1000), HAL_OK);
	CHECK_EQ(pt_unmap(&neighbour.pt, PAGES, 0x1000), HAL_OK);
	CHECK_EQ(iommu_live_take(&live, SELF, PAGES, 0x1000), HAL_OK);
	CHECK_EQ(at(NIC, PAGES), ABORTED);
	CHECK_EQ(at(NIC, PAGES + 0x1000), RAM + 0x1000);
	CHECK_EQ(at(OTHER, PAGES), RAM + 0x5000);
}

/* A command a block; and one for all where there are many pages. */
static void test_blocks(void)
{
	begin_live("blocks, and many pages");
	CHECK_EQ(iommu_live_put(&live, BLOCKS, (hpa_t){ RAM }, 4 * MiB2), HAL_OK);
	CHECK_EQ(at(NIC, BLOCKS + MiB2 + 0x5000), RAM + MiB2 + 0x5000);
	CHECK_EQ(at(NIC, BLOCKS + 2 * MiB2), RAM + 2 * MiB2);
	CHECK_EQ(at(NIC, BLOCKS + 3 * MiB2), RAM + 3 * MiB2);
	CHECK_EQ(iommu_live_take(&live, SELF, BLOCKS + MiB2, 2 * MiB2), HAL_OK);
	CHECK_EQ(fake_smmu.by_leaf, 2);
	CHECK_EQ(at(NIC, BLOCKS + MiB2 + 0x5000), ABORTED);
	CHECK_EQ(at(NIC, BLOCKS + 2 * MiB2), ABORTED);
	CHECK_EQ(at(NIC, BLOCKS + 3 * MiB2), RAM + 3 * MiB2);
	CHECK_EQ(iommu_live_put(&live, PAGES, (hpa_t){ RAM }, PLACES * 0x1000), HAL_OK);
	CHECK_EQ(at(NIC, PAGES + 127 * 0x1000), RAM + 127 * 0x1000);
	CHECK_EQ(iommu_live_take(&live, SELF, PAGES, PLACES * 0x1000), HAL_OK);
	CHECK_EQ(at(NIC, PAGES + 127 * 0x1000), ABORTED);
	CHECK_EQ(fake_smmu.by_leaf, 2);
}

/* The frames are not given back, and nothing is put any more. */
static void test_never_forgotten(void)
{
	uint64_t queue[QUEUE * 2];
	unsigned before;

	begin_live("an SMMU that never completes");
	CHECK_EQ(iommu_live_put(&live, PAGES, (hpa_t){ RAM }, 0x2000), HAL_OK);
	CHECK_EQ(iommu_live_put(&other_live, PAGES, (hpa_t){ RAM }, 0x1000), HAL_OK);
	CHECK_EQ(at(NIC, PAGES), RAM);
	fake_smmu.hung = true;
	before = fake_smmu.accesses;
	CHECK_EQ(iommu_live_take(&live, SELF, PAGES, 0x1000), HAL_E_UNSUPPORTED);
	CHECK(fake_smmu.accesses - before < 8 * PATIENCE);
	CHECK_EQ(at(NIC, PAGES), RAM); /* held */
	memcpy(queue, words(tables + 0x4000), sizeof(queue));
	CHECK_EQ(iommu_live_take(&other_live, SELF, PAGES, 0x1000), HAL_E_UNSUPPORTED); /* puts nothing more into the queue */
	CHECK(!memcmp(queue, words(tables + 0x4000), sizeof(queue)));
	fake_smmu.hung = false;
	CHECK_EQ(iommu_live_put(&live, PAGES, (hpa_t){ RAM + 0x5000 }, 0x1000), HAL_E_DENIED);
	CHECK_EQ(iommu_live_take(&live, SELF, PAGES + 0x1000, 0x1000), HAL_E_DENIED);
	CHECK_EQ(fake_smmu.guard->holder | fake_smmu.guard->wanted, 0);
	CHECK(iommu_close(&view, SELF));
	CHECK_EQ(at(NIC, PAGES), ABORTED);
}

static void test_wrong_arguments(void)
{
	begin_live("wrong arguments");
	CHECK_EQ(iommu_live_take(&live, SELF, PAGES, 0x1000), HAL_E_OVERLAP);
	CHECK_EQ(iommu_live_take(&live, SELF, GUEST, 0x1000), HAL_E_DENIED);
	CHECK_EQ(iommu_live_put(&live, BLOCKS, (hpa_t){ RAM }, 0x1000), HAL_E_RANGE);
	CHECK_EQ(iommu_live_put(&live, PAGES, (hpa_t){ UINT64_C(1) << 41 }, 0x1000), HAL_E_RANGE);
	CHECK_EQ(iommu_live_reserve(&live, &view, GUEST, 0x1000, 0), HAL_E_OVERLAP);
	CHECK_EQ(fake_smmu.by_leaf, 0);
}

int main(void)
{
	test_machines();
	test_machines_that_do_not_obey();
	test_block();
	test_translated_requests();
	test_map();
	test_open();
	test_close();
	test_close_of_a_busy_function();
	test_translations_end();
	test_events();
	test_functions_alone();
	test_hung();
	test_error();
	test_pages();
	test_others_are_kept();
	test_blocks();
	test_never_forgotten();
	test_wrong_arguments();
	return 0;
}
