/* SPDX-License-Identifier: Apache-2.0 */
/* The SMMUv3 of fake_smmuv3.h. */
#include "fake_smmuv3.h"

#include <string.h>

#include "arch/arch.h"
#include "check.h"
#include "fake_arch.h"

#define UPDATE      0x80000000u
#define GBPA_ABORTS 0x00100000u
#define RAM         UINT64_C(0x80000000)

struct fake_smmu fake_smmu;

uint32_t *fake_smmu_at(uint32_t offset)
{
	return &fake_smmu.registers[offset / 4];
}

uint64_t fake_smmu_long_at(uint32_t offset)
{
	return *fake_smmu_at(offset) | (uint64_t)*fake_smmu_at(offset + 4) << 32;
}

static uint32_t *at(uint32_t offset)
{
	return fake_smmu_at(offset);
}

static uint64_t long_at(uint32_t offset)
{
	return fake_smmu_long_at(offset);
}

static const uint64_t *words(uint64_t address)
{
	return (const uint64_t *)(uintptr_t)address;
}

/* ---- what functions reach ---- */

static uint64_t walk(uint64_t root, uint64_t address, uint64_t *span)
{
	uint64_t table = root;

	for (unsigned shift = 30;; shift -= 9) {
		uint64_t word = words(table)[address >> shift & 511];
		uint64_t where = word & 0xfffffffff000;

		if (!(word & 1) || !(word >> 10 & 1 || (word & 2 && shift > 12)))
			return ABORTED;
		*span = UINT64_C(1) << shift;
		if (shift == 12 || !(word & 2))
			return (where & ~((UINT64_C(1) << shift) - 1)) | (address & ((UINT64_C(1) << shift) - 1));
		table = where;
	}
}

static uint64_t translate(const uint64_t *entry, uint64_t address)
{
	uint32_t vmid = (uint32_t)entry[2] & 0xffff;
	uint64_t page = address & ~UINT64_C(0xfff), found, span;
	static unsigned next;

	CHECK(entry[2] >> 51 & 1); /* S2AA64 = 0 ends QEMU */
	CHECK_EQ(entry[1], UINT64_C(1) << 44);
	for (unsigned n = 0; n < HELD; n++)
		if (fake_smmu.held[n].valid && fake_smmu.held[n].vmid == vmid && fake_smmu.held[n].page == page)
			return fake_smmu.held[n].address | (address & 0xfff);
	found = address >> 39 ? ABORTED : walk(entry[3], page, &span);
	if (found != ABORTED)
		fake_smmu.held[next++ % HELD] = (struct held){ page, found, span, vmid, true };
	return found == ABORTED ? ABORTED : found | (address & 0xfff);
}

uint64_t fake_smmu_dma(uint32_t stream, uint64_t address)
{
	uint64_t *entry = fake_smmu.held_entry[stream % STREAMS];

	if (!(*at(CR0ACK) & SMMUEN))
		return *at(GBPA) & GBPA_ABORTS ? ABORTED : address;
	if (stream >> (*at(STRTAB_CFG) & 0x3f))
		return ABORTED;
	if (!fake_smmu.holds_entry[stream])
		memcpy(entry, words(long_at(STRTAB) & 0xfffffffffffc0) + (size_t)stream * ENTRY, ENTRY * sizeof(*entry));
	fake_smmu.holds_entry[stream] = true;
	if (!(entry[0] & 1))
		return ABORTED;
	switch (entry[0] >> 1 & 7) {
	case 0:
		return ABORTED;
	case 4:
		return address;
	default:
		CHECK_EQ(entry[0], 0xd);
		return translate(entry, address);
	}
}

/* ---- commands ---- */

static void forget_translations(uint32_t vmid, bool all)
{
	for (unsigned n = 0; n < HELD; n++)
		if (all || fake_smmu.held[n].vmid == vmid)
			fake_smmu.held[n].valid = false;
}

static void forget_leaf(uint32_t vmid, uint64_t address)
{
	CHECK_EQ(address & 0xff0000000000fff, 1); /* of its walk the last level alone has changed */
	fake_smmu.by_leaf++;
	for (unsigned n = 0; n < HELD; n++)
		if (fake_smmu.held[n].vmid == vmid && !((fake_smmu.held[n].page ^ (address - 1)) & -fake_smmu.held[n].span))
			fake_smmu.held[n].valid = false;
}

/*
 * What an invalidation does, it has surely done when a CMD_SYNC behind it is complete; this SMMU does nothing before, and then the last
 * first, while a function goes on.
 */
static void complete(void)
{
	for (unsigned n = fake_smmu.given; n-- > 0;) {
		uint32_t upper = (uint32_t)(fake_smmu.todo[n][0] >> 32);

		switch (fake_smmu.todo[n][0] & 0xff) {
		case 0x03: /* CFGI_STE */
			fake_smmu.holds_entry[upper % STREAMS] = false;
			break;
		case 0x04: /* CFGI_ALL */
			memset(fake_smmu.holds_entry, 0, sizeof(fake_smmu.holds_entry));
			break;
		case 0x28: /* TLBI_S12_VMALL */
			forget_translations(upper & 0xffff, false);
			break;
		case 0x2a: /* TLBI_S2_IPA */
			forget_leaf(upper & 0xffff, fake_smmu.todo[n][1]);
			break;
		default: /* TLBI_NSNH_ALL */
			forget_translations(0, true);
		}
		if (fake_smmu.busy_at)
			(void)fake_smmu_dma(fake_smmu.busy, fake_smmu.busy_at);
	}
	fake_smmu.given = 0;
}

/* Returns whether it is a command. */
static bool carry_out(const uint64_t *command)
{
	switch (command[0] & 0xff) {
	case 0x46: /* SYNC, which signals nothing */
		CHECK_EQ(command[0] | command[1], 0x46);
		complete();
		return true;
	case 0x04:
		CHECK_EQ(command[1], 31);
		break;
	case 0x03:
	case 0x28:
	case 0x2a:
	case 0x30:
		break;
	default:
		return false;
	}
	CHECK(fake_smmu.given < QUEUE);
	memcpy(fake_smmu.todo[fake_smmu.given++], command, sizeof(*fake_smmu.todo));
	return true;
}

bool fake_smmu_in_error(void)
{
	return (*at(GERROR) ^ *at(GERRORN)) & 1;
}

static void consume(void)
{
	uint64_t queue = long_at(CMDQ);

	CHECK_EQ(queue & 0x1f, 8);
	while (*at(CR0ACK) & CMDQEN && !fake_smmu.hung && !fake_smmu_in_error() && (*at(CONS) & 0x1ff) != *at(PROD)) {
		uint32_t index = *at(CONS) & 0x1ff;
		const uint64_t *command = words(queue & 0xfffffffffffe0) + (size_t)2 * (index & 0xff);

		fake_smmu.errs = fake_smmu.errs && (command[0] & 0xff) != 0x46;
		if (!fake_smmu.errs && carry_out(command)) {
			*at(CONS) = (index + 1) & 0x1ff;
			continue;
		}
		*at(CONS) = index | 1 << 24;
		*at(GERROR) ^= 1;
	}
}

/* ---- memory ---- */

/* An entry's other words are in memory before it translates: a barrier lies between. */
static void fence(void)
{
	const uint64_t *now = words(fake_smmu.tables);

	for (unsigned n = 0; fake_smmu.guard && n < STREAMS * ENTRY; n += ENTRY)
		if (now[n] == 0xd && fake_smmu.fenced[n] != 0xd) {
			CHECK_EQ(fake_smmu.fenced[n], 1);
			CHECK(!memcmp(fake_smmu.fenced + n + 1, now + n + 1, 3 * sizeof(*now)));
			fake_smmu.opened++;
		}
	memcpy(fake_smmu.fenced, now, sizeof(fake_smmu.fenced));
}

/* ---- registers ---- */

/* BH-I1.dma: from the moment that the SMMU aborts, start-up opens no gap. */
static void check_blocked(void)
{
	for (uint32_t stream = 0; fake_smmu.blocks && !fake_smmu.guard && stream < STREAMS + 16; stream += 8)
		CHECK_EQ(fake_smmu_dma(stream, RAM), ABORTED);
}

static void check_held(void)
{
	fake_smmu.accesses++;
	if (fake_smmu.guard)
		CHECK(fake_smmu.guard->holder);
}

uint32_t arch_mmio_read32(uint64_t address)
{
	uint32_t offset = (uint32_t)(address - BASE);

	check_held();
	check_blocked();
	if (offset == PAGE_1 + 0xa8)
		return fake_smmu.event_prod;
	CHECK(offset < PAGE_1);
	if (offset == CONS) {
		fake_smmu.waiting -= fake_smmu.waiting != 0;
		if (!fake_smmu.waiting)
			consume();
	}
	return *at(offset);
}

static void note_block(void)
{
	bool off = !(*at(CR0ACK) & SMMUEN);

	CHECK(!off || *at(GBPA) & GBPA_ABORTS);
	fake_smmu.blocks = fake_smmu.blocks || off;
}

static void set_controls(uint32_t value)
{
	if (fake_smmu.stuck == CR0ACK)
		return;
	if (!(*at(CR0ACK) & SMMUEN) && value & SMMUEN) {
		CHECK(*at(CR0ACK) & CMDQEN);
		CHECK_EQ(*at(CR2) & 2, 2); /* RECINVSID */
		CHECK_EQ(long_at(STRTAB), fake_smmu.tables);
		CHECK_EQ(*at(CR0ACK) & ATSCHK, *at(0x00) & IDR0_HAS_ATS ? ATSCHK : 0); /* before anything translates */
	}
	*at(CR0ACK) = value;
	note_block();
}

static void set_gbpa(uint32_t value)
{
	CHECK(value & UPDATE);
	if (fake_smmu.stuck == GBPA)
		return;
	*at(GBPA) = value & ~UPDATE;
	note_block();
}

/* What the SMMU is told to look at is in memory: nothing has been written to the tables since the last barrier. */
static void send(void)
{
	if (*at(CR0ACK) & CMDQEN)
		CHECK(!memcmp(fake_smmu.fenced, words(fake_smmu.tables), sizeof(fake_smmu.fenced)));
	fake_smmu.waiting = fake_smmu.slow;
}

void arch_mmio_write32(uint64_t address, uint32_t value)
{
	uint32_t offset = (uint32_t)(address - BASE);

	check_held();
	if (offset >= PAGE_1) { /* of the event queue: where the SMMU writes is the SMMU's while the queue is on */
		CHECK(offset == PAGE_1 + 0xa8 || offset == PAGE_1 + 0xac);
		CHECK(offset == PAGE_1 + 0xac || !(*at(CR0ACK) & EVENTQEN));
		*(offset == PAGE_1 + 0xa8 ? &fake_smmu.event_prod : &fake_smmu.event_cons) = value;
		return;
	}
	if (offset >= STRTAB && offset < CMDQ)
		CHECK(!(*at(CR0ACK) & SMMUEN));
	if ((offset >= CMDQ && offset < PROD) || offset == CONS)
		CHECK(!(*at(CR0ACK) & CMDQEN));
	if (offset == GBPA) {
		set_gbpa(value);
	} else {
		*at(offset) = value;
		if (offset == CR0)
			set_controls(value);
		if (offset == IRQ_CTRL && fake_smmu.stuck != IRQ_CTRL)
			*at(IRQ_CTRLACK) = value;
		if (offset == PROD)
			send();
	}
	check_blocked();
}

void fake_smmu_reset(uint64_t tables)
{
	memset(&fake_smmu, 0, sizeof(fake_smmu));
	fake_smmu.tables = tables;
	fake_arch.on_barrier = fence;
	*at(0x00) = 0x0d44101b; /* IDR0, IDR1, IDR5 of QEMU's */
	*at(0x04) = 21 << 21 | 19 << 16 | 16;
	*at(0x14) = 0x74;
	*at(CR0) = *at(CR0ACK) = SMMUEN | EVENTQEN | CMDQEN;
	*at(IRQ_CTRL) = *at(IRQ_CTRLACK) = 5;
	*at(GERROR) = 1;
	*at(PROD) = 17;
	*at(CONS) = 12 | 1 << 24;
	*at(STRTAB_CFG) = 16;
	for (unsigned n = 0; n < STREAMS; n++) {
		fake_smmu.holds_entry[n] = true;
		fake_smmu.held_entry[n][0] = 1 | 4 << 1;
	}
}
