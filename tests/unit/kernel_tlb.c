/* SPDX-License-Identifier: Apache-2.0 */
/* A TLB that keeps each entry until it is invalidated, as the kernel's tests need it (kernel_tlb.h). */
#include "kernel_tlb.h"

#include <string.h>

#include "check.h"
#include "fake_cpu.h"
#include "kernel/core/fault.h"
#include "kernel/core/frames.h"
#include "kernel/core/memory.h"

enum { HELD = 256, WATCHED = 4 };

uint64_t tlb_writes;

static struct held {
	const struct space *space; /* NULL: free */
	unsigned asid;             /* 0: global */
	uint64_t virtual, entry;
	unsigned shift;
} held[TLB_CORES][HELD];

/* What the core of the moment walks to again and again. */
static struct {
	struct space *space;
	uint64_t virtual[WATCHED];
} watched;

static enum { NOTHING, PUBLISH, WRITE } last;

#if defined(X86_64)
static const bool has_asids = false;
static const unsigned root_shift = 39;

static bool is_table(uint64_t entry, unsigned shift)
{
	return shift > 12 && (entry & 0x81) == 0x01;
}
#else
static const bool has_asids = true;
static const unsigned root_shift = 30;

static bool is_table(uint64_t entry, unsigned shift)
{
	return shift > 12 && (entry & 3) == 3;
}
#endif

static uint64_t *table_of(uint64_t entry)
{
	return (uint64_t *)(uintptr_t)(entry & 0xfffffffff000);
}

/* ---- What the kernel calls ---------------------------------------------------------------------------------------- */

void fault_stop(const char *why)
{
	check_context.subject = why;
	CHECK(!"reached");
	exit(1);
}

void memory_write(uint64_t *entry, uint64_t value)
{
	CHECK_EQ(frames_owner((uintptr_t)entry), FRAME_TABLE);
	CHECK(!*entry || !value);
	if (frames_owner(value & 0xfffffffff000) == FRAME_TABLE) { /* no leaf leads there in these tests */
		CHECK_EQ(last, PUBLISH);
		for (unsigned n = 0; n < 512; n++)
			CHECK_EQ(table_of(value)[n], 0);
	}
	for (unsigned n = 0; watched.space && n < WATCHED; n++)
		tlb_touch(watched.space, watched.virtual[n]); /* walks need no reason */
	*entry = value;
	last = WRITE;
	tlb_writes++;
}

void memory_publish(void)
{
	last = PUBLISH;
}

static bool goes(const struct held *one, uint64_t virtual, unsigned asid)
{
	return one->space && one->virtual >> one->shift == virtual >> one->shift &&
	       (!has_asids || asid == MEMORY_EVERY_ASID || one->asid == asid);
}

void memory_forget_page(uint64_t virtual, unsigned asid)
{
	for (struct held *one = held[fake_cpu.slot]; one < held[fake_cpu.slot] + HELD; one++)
		if (goes(one, virtual, asid))
			one->space = NULL;
}

void memory_forget_asid(unsigned asid)
{
	for (struct held *one = held[fake_cpu.slot]; one < held[fake_cpu.slot] + HELD; one++)
		if (!has_asids || asid == MEMORY_EVERY_ASID || one->asid == asid)
			one->space = NULL;
}

void memory_switch(const uint64_t *root, unsigned asid)
{
	if (!has_asids)
		memory_forget_asid(asid);
}

void memory_leave(void)
{
	tlb_reset();
}

/* ---- What the test calls ------------------------------------------------------------------------------------------ */

void tlb_reset(void)
{
	memset(held[fake_cpu.slot], 0, sizeof(held[0]));
}

static void hold(struct space *space, uint64_t virtual, unsigned shift, uint64_t entry)
{
	struct held *core = held[fake_cpu.slot], *place = NULL;
	bool global = virtual < space_format.user_start && !is_table(entry, shift);
	unsigned asid = global ? 0 : space->asid;

	for (struct held *one = core; one < core + HELD; one++) {
		if (!one->space)
			place = one;
		else if (one->shift == shift && one->virtual >> shift == virtual >> shift && one->asid == asid)
			return; /* it has it already, and keeps it */
	}
	CHECK(place);
	*place = (struct held){ global ? &kernel_space : space, asid, virtual, entry, shift };
}

void tlb_touch(struct space *space, uint64_t virtual)
{
	const uint64_t *table = space->root;

	for (unsigned shift = root_shift;; shift -= 9) {
		uint64_t entry = table[virtual >> shift & 511];

		if (!entry)
			return;
		hold(space, virtual, shift, entry);
		if (!is_table(entry, shift))
			return;
		table = table_of(entry);
	}
}

void tlb_watch(struct space *space, uint64_t virtual)
{
	static unsigned n;

	if (watched.space != space)
		for (unsigned other = 0; other < WATCHED; other++)
			watched.virtual[other] = virtual;
	watched.space = space;
	watched.virtual[n++ % WATCHED] = virtual;
}

static uint64_t entry_at(const struct space *space, uint64_t virtual, unsigned least, unsigned *shift)
{
	const uint64_t *table = space->root;
	uint64_t entry;

	for (*shift = root_shift;; *shift -= 9) {
		entry = table[virtual >> *shift & 511];
		if (*shift == least || !is_table(entry, *shift))
			return entry;
		CHECK_EQ(frames_owner(entry & 0xfffffffff000), FRAME_TABLE);
		table = table_of(entry);
	}
}

uint64_t tlb_walk(const struct space *space, uint64_t virtual, unsigned *shift)
{
	return entry_at(space, virtual, 12, shift);
}

void tlb_check(void)
{
	unsigned shift;

	for (unsigned core = 0; core < TLB_CORES; core++)
		for (const struct held *one = held[core]; one < held[core] + HELD; one++)
			if (one->space) {
				CHECK_EQ(entry_at(one->space, one->virtual, one->shift, &shift), one->entry);
				CHECK_EQ(shift, one->shift);
			}
}

void tlb_check_forgotten(unsigned asid)
{
	for (unsigned core = 0; core < TLB_CORES; core++)
		for (const struct held *one = held[core]; one < held[core] + HELD; one++)
			CHECK(!one->space || one->asid != asid);
}
