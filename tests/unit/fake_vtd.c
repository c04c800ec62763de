/* SPDX-License-Identifier: Apache-2.0 */
/* The VT-d of the unit tests: fake_vtd.h says what it is. */
#include "fake_vtd.h"

#include <string.h>

#include "arch/arch.h"
#include "check.h"

enum { LINE = 64 };
#define ADDRESS UINT64_C(0x000ffffffffff000)

struct fake_vtd fake_vtd;

uint64_t *word_at(uint64_t address)
{
	return (uint64_t *)(uintptr_t)address;
}

/* What the IOMMU reads. */
static const uint64_t *seen(uint64_t address)
{
	CHECK(address - fake_vtd.start < sizeof(fake_vtd.memory));
	return &fake_vtd.memory[(address - fake_vtd.start) / 8];
}

void fake_vtd_flush(const void *at)
{
	uint64_t line = ((uintptr_t)at & ~(uintptr_t)(LINE - 1)) - fake_vtd.start;

	if (at)
		memcpy((char *)fake_vtd.memory + line, (const void *)(uintptr_t)(fake_vtd.start + line), LINE);
	else
		memcpy(fake_vtd.memory, (const void *)(uintptr_t)fake_vtd.start, sizeof(fake_vtd.memory));
}

/* ---- functions ---- */

static uint64_t walk(uint64_t entry, uint64_t address)
{
	for (unsigned level = 4; level; level--) {
		entry = seen(entry & ADDRESS)[address >> (12 + 9 * (level - 1)) & 511];
		if ((entry & 3) != 3)
			return ABORTED;
		if (level == 1 || entry & 0x80)
			return (entry & ADDRESS) + address % (UINT64_C(1) << (12 + 9 * (level - 1)));
	}
	return ABORTED;
}

/* The entry that counts for a stream of bus 0: the held one, or the table's from now on. Absent ones are not held. */
static const uint64_t *entry_of(uint32_t stream)
{
	uint64_t root = seen(fake_vtd.live_root)[0];

	if (!(fake_vtd.held[stream][0] & 1) && root & 1)
		memcpy(fake_vtd.held[stream], seen(root & ADDRESS) + 2 * (size_t)stream, 16);
	return fake_vtd.held[stream];
}

uint64_t fake_vtd_dma(uint32_t stream, uint64_t address)
{
	struct translation *slot = &fake_vtd.translations[stream & 0xff];
	const uint64_t *entry;

	if (!(fake_vtd.status >> 31))
		return address;
	if (slot->page == (address & ADDRESS))
		return slot->to + address % BH_PAGE_BYTES;
	if (stream >= 256) {
		CHECK_EQ(seen(fake_vtd.live_root)[2 * (stream >> 8)], 0);
		return ABORTED;
	}
	entry = entry_of(stream);
	if (!(entry[0] & 1))
		return ABORTED;
	CHECK_EQ(entry[0] & 0xffe, 0); /* second stage; faults are recorded */
	CHECK_EQ(entry[1] & 7, 2);
	*slot = (struct translation){ address & ADDRESS, walk(entry[0], address & ADDRESS), entry[1] >> 8 & 0xffff };
	if (slot->to == ABORTED)
		slot->page = 0; /* what is not there is not held */
	return slot->page ? slot->to + address % BH_PAGE_BYTES : ABORTED;
}

uint32_t fake_vtd_interrupt(uint32_t index, uint32_t source)
{
	uint64_t *entry;

	CHECK_EQ(fake_vtd.live_interrupts & 0xfff, 0x80e); /* 32-bit destinations, 32,768 entries */
	if (index >= VTD_ENTRIES)
		return 0;
	entry = fake_vtd.held_interrupts[index];
	if (!(entry[0] & 1))
		memcpy(entry, seen((fake_vtd.live_interrupts & ADDRESS) + 16 * (uint64_t)index), 16);
	if (!(entry[0] & 1))
		return 0;
	CHECK_EQ(entry[0] & 0xff00ffee, 0); /* fixed, physical, remapped */
	CHECK_EQ(entry[1] >> 16, 4);        /* the whole source is compared */
	return (entry[1] & 0xffff) == source ? (uint32_t)(entry[0] >> 32) << 16 | (entry[0] & 0x10) << 11 | (entry[0] >> 16 & 0xff) : 0;
}

uint32_t fake_vtd_message(uint32_t stream, uint32_t address, uint32_t data)
{
	if (!(fake_vtd.status & 1 << 25))
		return data;
	CHECK_EQ(fake_vtd.status & 1 << 23, 0); /* compatibility format */
	if ((address & 0xfff00010) != 0xfee00010)
		return 0;
	return fake_vtd_interrupt((address >> 5 & 0x7fff) + (address >> 2 & 1) * 0x8000 + (address & 8 ? data & 0xffff : 0), stream);
}

/* ---- commands ---- */

static void forget(uint32_t domain, bool all)
{
	for (unsigned n = 0; n < 256; n++)
		if (all || fake_vtd.translations[n].domain == domain)
			fake_vtd.translations[n].page = 0;
}

static void be_busy(void)
{
	if (fake_vtd.busy)
		(void)fake_vtd_dma(fake_vtd.busy, GUEST);
}

static void carry_out(const uint64_t *command)
{
	uint32_t domain = command[0] >> 16 & 0xffff;

	CHECK((command[0] & 0xff) == 0xf2 || !command[1]);
	switch (command[0] & 0xff) {
	case 0x11:
		memset(fake_vtd.held, 0, sizeof(fake_vtd.held));
		break;
	case 0x21:
		for (unsigned n = 0; n < 256; n++)
			if ((fake_vtd.held[n][1] >> 8 & 0xffff) == domain)
				fake_vtd.held[n][0] = 0;
		break;
	case 0xd2:
		forget(0, true);
		break;
	case 0xe2:
		forget(domain, false);
		break;
	case 0xf2:
		CHECK((command[1] & 0x3f) <= 9);
		for (unsigned n = 0; n < 256; n++)
			if (fake_vtd.translations[n].domain == domain &&
			    !((fake_vtd.translations[n].page ^ command[1]) >> (12 + (command[1] & 0x3f))))
				fake_vtd.translations[n].page = 0;
		break;
	case 4:
		memset(fake_vtd.held_interrupts, 0, sizeof(fake_vtd.held_interrupts));
		break;
	default:
		CHECK(!"a command that there is");
	}
	be_busy();
}

/* All before a wait, in the order that harms most. */
static void end_batch(const uint64_t *wait)
{
	while (fake_vtd.count)
		carry_out(word_at(fake_vtd.queue + fake_vtd.batch[--fake_vtd.count]));
	CHECK_EQ(wait[0] & 0xfffffff0, 0x60); /* a store, and a fence */
	*(uint32_t *)(uintptr_t)wait[1] = (uint32_t)(wait[0] >> 32);
}

void fake_vtd_go_on(void)
{
	CHECK_EQ(fake_vtd.queue & 0xfff, 0);
	while (!fake_vtd.hung && fake_vtd.head != fake_vtd.tail && !(fake_vtd.faults & 0x10)) {
		const uint64_t *command = word_at(fake_vtd.queue + fake_vtd.head);

		if ((command[0] & 15) == 15) {
			fake_vtd.faults |= 0x10;
			return;
		}
		if ((command[0] & 15) == 5)
			end_batch(command);
		else
			fake_vtd.batch[fake_vtd.count++] = (uint32_t)fake_vtd.head;
		fake_vtd.head = (fake_vtd.head + 16) % 4096;
		fake_vtd.hung = fake_vtd.until_hung == 1;
		fake_vtd.until_hung -= fake_vtd.until_hung > 0;
	}
}

void fake_vtd_relax(void)
{
	fake_vtd.turns++;
	if (fake_vtd.waiting && !--fake_vtd.waiting)
		fake_vtd_go_on();
}

/* ---- registers ---- */

static void check_locked(void)
{
	CHECK(!fake_vtd.guard || fake_vtd.guard->holder);
}

uint32_t arch_mmio_read32(uint64_t address)
{
	check_locked();
	switch (address - REGISTERS) {
	case 0x1c:
		return fake_vtd.status;
	case 0x34:
		return fake_vtd.faults;
	case 0x64:
		return fake_vtd.protected;
	default:
		CHECK(!"a register of 32 bits");
	}
	return 0;
}

uint64_t arch_mmio_read64(uint64_t address)
{
	check_locked();
	switch (address - REGISTERS) {
	case 0x08:
		return fake_vtd.capability;
	case 0x10:
		return fake_vtd.extended;
	case 0x80:
		return fake_vtd.head;
	case 0x88:
		return fake_vtd.tail;
	default:
		CHECK(!"a register of 64 bits");
	}
	return 0;
}

/* One bit at a time; those of one shot are the status' own. */
static void command(uint32_t value)
{
	uint32_t shots = value & 0x41000000, changed = ((value ^ fake_vtd.status) & 0x86800000) | shots;

	CHECK(changed && !(changed & (changed - 1)));
	CHECK(!fake_vtd.hung || fake_vtd.stuck);
	if (shots >> 30)
		fake_vtd.live_root = fake_vtd.root;
	if (shots & 1 << 24)
		fake_vtd.live_interrupts = fake_vtd.interrupts;
	if (changed == 1 << 26)
		fake_vtd.head = 0;
	if (!(changed & fake_vtd.stuck))
		fake_vtd.status = shots ? fake_vtd.status | shots : fake_vtd.status ^ changed;
}

void arch_mmio_write32(uint64_t address, uint32_t value)
{
	check_locked();
	switch (address - REGISTERS) {
	case 0x18:
		command(value);
		return;
	case 0x34:
		fake_vtd.faults &= ~value;
		return;
	case 0x38:
	case 0xa0:
		CHECK_EQ(value, 0x80000000); /* no interrupt of its own */
		fake_vtd.unmasked &= ~(address % 0x100 == 0x38 ? 1u : 2u);
		return;
	case 0x22c:
	case 0x23c:
		CHECK_EQ(value, 0x80000000);
		fake_vtd.records &= ~(1u << (address >> 4 & 1));
		return;
	case 0x64:
		CHECK(fake_vtd.status >> 31); /* what was kept from functions is now the tables' */
		fake_vtd.protected = (value & 0x80000000) | (fake_vtd.keeps_protected ? 1 : value >> 31);
		return;
	default:
		CHECK(!"a register of 32 bits");
	}
}

void arch_mmio_write64(uint64_t address, uint64_t value)
{
	check_locked();
	switch (address - REGISTERS) {
	case 0x20:
		fake_vtd.root = value;
		return;
	case 0x88:
		fake_vtd.tail = value;
		fake_vtd.waiting = fake_vtd.slow;
		if (!fake_vtd.waiting && fake_vtd.status & 1 << 26)
			fake_vtd_go_on();
		return;
	case 0x90:
		CHECK_EQ(fake_vtd.status & 1 << 26, 0);
		fake_vtd.queue = value;
		return;
	case 0xb8:
		fake_vtd.interrupts = value;
		return;
	default:
		CHECK(!"a register of 64 bits");
	}
}
