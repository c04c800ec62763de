/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.dma, BH-I8.bounded. hal/iommu/amdvi*.c over an IOMMU that holds on to every entry, translation and table of interrupts that it has
 * seen, until a command says otherwise, and looks at a command when it is late. Words, registers and commands are written down from AMD's
 * IOMMU specification, 48882.
 */
#include <string.h>

#include "arch/arch.h"
#include "check.h"
#include "fake_arch.h"
#include "hal/iommu/iommu_live.h"
#include "hal/pci/config.h"
#include "iommu_scene.h"

enum { FRAMES = 700, FUNCTION = 8, CAPABILITY = 0x40, STREAMS = 65536, TURNS = 1 << 18, WORDS = 0x210000 / 8 };
enum { NIC = 0x28, DISC = 0x38, OTHER = 0x30, IO_APIC = 0xa0 };
#define REGISTERS UINT64_C(0xfed80000)
#define ABORTED   UINT64_MAX
#define ADDRESS   UINT64_C(0x000ffffffffff000)

const char __amdvi_text_start[1], __amdvi_text_end[1], __amdvi_rodata_start[1], __amdvi_rodata_end[1];
const char __vtd_text_start[1], __vtd_text_end[1], __vtd_rodata_start[1], __vtd_rodata_end[1];
uint64_t pci_ecam;

static bool is_shared; /* start-up is over: registers and tables are touched under the lock alone */

/* What the machine has, and what the IOMMU holds on to. */
static struct {
	uint32_t identity, capability, base, misc;
	uint64_t registers[0x4000 / 8];
	uint64_t held[256][3];
	bool holds[256];
	struct translation {
		uint64_t page, to;
		uint32_t domain;
	} translations[8];
	uint64_t interrupts[256]; /* table that the stream's messages go by, 0: none is held */
	unsigned slow;            /* turns of a wait until commands are carried out */
	unsigned waiting, turns;
	bool writes_events; /* whatever its control says */
	bool hung;
	uint32_t busy; /* a stream that goes on while commands are carried out; 0: none */
	uint64_t head; /* of the ring, as the IOMMU has it */
	uint64_t at_barrier[WORDS];
} machine;

static uint64_t *word_at(uint64_t address)
{
	return (uint64_t *)(uintptr_t)address;
}

static uint64_t *at(uint32_t offset)
{
	CHECK(offset < sizeof(machine.registers));
	return &machine.registers[offset / 8];
}

/* ---- PCI: the IOMMU's own function ---- */

uint32_t pci_config_read(uint32_t place)
{
	CHECK_EQ(place >> PCI_REGISTER_BITS, FUNCTION);
	switch (place % PCI_PAGE_BYTES) {
	case 0:
		return machine.identity;
	case CAPABILITY:
		return machine.capability;
	case CAPABILITY + 4:
		return machine.base;
	case CAPABILITY + 16:
		return machine.misc;
	default:
		return 0;
	}
}

void pci_config_write(uint32_t place, uint32_t value)
{
	CHECK_EQ(place, FUNCTION << PCI_REGISTER_BITS | (CAPABILITY + 4));
	machine.base = value;
}

uint32_t pci_capability(uint32_t function, uint32_t kind)
{
	CHECK_EQ(function, FUNCTION);
	return (machine.capability & 0xff) == kind ? CAPABILITY : 0;
}

/* ---- commands ---- */

/* Within the power of two that S and the lowest 0 of the address, from bit 12 on, make; without S a page. */
static void forget_pages(uint32_t domain, uint64_t operand)
{
	uint64_t span = 0x1000;

	if (operand & 1) {
		while (operand & span)
			span *= 2;
		span *= 2;
	}
	for (unsigned n = 0; n < 8; n++)
		if (machine.translations[n].domain == domain && !((machine.translations[n].page ^ operand) & -span))
			machine.translations[n].page = 0;
}

static void carry_out(const uint64_t *command)
{
	uint32_t stream = command[0] & 0xffff;

	switch (command[0] >> 60) {
	case 1:
		CHECK(command[0] == ((uint64_t)1 << 60 | 4) || (command[0] & 7) == 1); /* a fence; or a store, and no interrupt */
		if (command[0] & 1)
			*word_at(command[0] & 0xffffffffffff8) = command[1];
		break;
	case 2:
		machine.holds[stream % 256] = false;
		break;
	case 3:
		CHECK_EQ(command[1] & 0xffc, 0);
		CHECK(!(command[1] & 2) || command[1] == 0x7ffffffffffff003);
		forget_pages(command[0] >> 32 & 0xffff, command[1]);
		break;
	case 5:
		machine.interrupts[stream % 256] = 0;
		break;
	case 8:
		memset(machine.translations, 0, sizeof(machine.translations));
		memset(machine.holds, 0, sizeof(machine.holds));
		memset(machine.interrupts, 0, sizeof(machine.interrupts));
		break;
	default:
		CHECK(!"a command that there is");
	}
}

static uint64_t dma(uint32_t stream, uint64_t address);

/* The last of `count` commands first, but ends after all others; the busy function goes on between. */
static void carry_out_backwards(const uint64_t *const *batch, unsigned count)
{
	for (unsigned ends = 0; ends < 2; ends++)
		for (unsigned n = count; n; n--)
			if ((batch[n - 1][0] >> 60 == 1) == ends) {
				carry_out(batch[n - 1]);
				if (machine.busy)
					(void)dma(machine.busy, GUEST);
			}
}

/* Commands that are read were in memory when the tail was written, and the ring is never overtaken. */
static void read_commands(void)
{
	const uint64_t *batch[256];
	uint64_t ring = *at(8) & ADDRESS;
	unsigned count = 0;

	CHECK_EQ(*at(8) >> 56, 8);
	if (machine.hung)
		return;
	for (; machine.head != *at(0x2008); machine.head = (machine.head + 16) % 4096) {
		const uint64_t *command = word_at(ring + machine.head);

		CHECK_EQ(machine.at_barrier[(uint64_t)(command - word_at(tables))], command[0]);
		CHECK_EQ(machine.at_barrier[(uint64_t)(command - word_at(tables)) + 1], command[1]);
		batch[count++] = command;
		if (command[0] >> 60 == 1 && command[0] & 4) {
			carry_out_backwards(batch, count);
			count = 0;
		}
	}
	carry_out_backwards(batch, count);
	*at(0x2000) = *at(0x2008) ? *at(0x2008) : 0x1000; /* at the wrap, as in QEMU */
}

static void check_locked(void)
{
	const struct hal_lock *lock = hal_lock_of(mailboxes, HAL_LOCK_IOMMU);

	CHECK(!is_shared || lock->holder == SELF);
}

uint32_t arch_mmio_read32(uint64_t address)
{
	CHECK(!"a register of VT-d's, of the same image");
	return 0;
}

void arch_mmio_write32(uint64_t address, uint32_t value)
{
	CHECK(!"a register of VT-d's");
}

uint64_t arch_mmio_read64(uint64_t address)
{
	check_locked();
	return *at((uint32_t)(address - REGISTERS));
}

void arch_mmio_write64(uint64_t address, uint64_t value)
{
	uint32_t offset = (uint32_t)(address - REGISTERS);

	check_locked();
	*at(offset) = value;
	if (offset == 0x18)
		*at(0x2020) = machine.hung ? 0x10 : (value >> 12 << 4 & 0x10) | (machine.writes_events ? 8 : 0);
	if (offset == 0x2000)
		machine.head = value;
	if (offset != 0x2008 || !(*at(0x18) & 1 << 12))
		return;
	machine.waiting = machine.slow;
	if (!machine.waiting)
		read_commands();
}

static void on_relax(void)
{
	machine.turns++;
	if (machine.waiting && !--machine.waiting)
		read_commands();
}

static void on_barrier(void)
{
	memcpy(machine.at_barrier, word_at(tables), sizeof(machine.at_barrier));
}

/* ---- functions ---- */

/* The entry that counts for a stream: the held one, or the table's from now on. */
static const uint64_t *entry_of(uint32_t stream)
{
	if (!machine.holds[stream])
		memcpy(machine.held[stream], word_at((*at(0) & ADDRESS) + stream * 32), sizeof(machine.held[stream]));
	machine.holds[stream] = true;
	return machine.held[stream];
}

static uint64_t walk(uint64_t entry, unsigned level, uint64_t address)
{
	for (; level; level--) {
		entry = word_at(entry & ADDRESS)[address >> (12 + 9 * (level - 1)) & 511];
		if (!(entry & 1) || entry >> 61 != 3)
			return ABORTED;
		if (!(entry >> 9 & 7))
			return (entry & ADDRESS) + address % (UINT64_C(1) << (12 + 9 * (level - 1)));
		CHECK_EQ(entry >> 9 & 7, level - 1);
	}
	return ABORTED;
}

/* Where a write of a function leads. */
static uint64_t dma(uint32_t stream, uint64_t address)
{
	const uint64_t *entry = entry_of(stream);
	struct translation *slot = &machine.translations[stream >> 3 & 7];

	if (!(*at(0x18) & 1) || !(entry[0] & 1))
		return address;
	if (slot->page == (address & ADDRESS))
		return slot->to;
	if (!(entry[0] & 2) || !(entry[0] >> 9 & 7))
		return entry[0] >> 61 == 3 ? address : ABORTED;
	CHECK_EQ(entry[1] & 0x100, 0);
	CHECK_EQ(entry[0] >> 9 & 7, 4);
	*slot = (struct translation){ address & ADDRESS, walk(entry[0], 4, address), entry[1] & 0xffff };
	if (slot->to == ABORTED)
		slot->page = 0; /* what is not there is not held */
	return slot->page ? slot->to : ABORTED;
}

/* What a message of a function becomes: destination << 8 | vector, or 0. QEMU does not look how long the table is. */
static uint32_t message(uint32_t stream, uint32_t data)
{
	const uint64_t *entry = entry_of(stream);
	uint32_t found;

	if (!machine.interrupts[stream] && !(entry[2] & 1))
		return data;
	if (!machine.interrupts[stream] && entry[2] >> 60 != 2)
		return 0;
	CHECK_EQ(entry[2] >> 52 & 0xff, 0); /* neither NMI nor INIT nor ExtINT pass */
	if (!machine.interrupts[stream])
		machine.interrupts[stream] = entry[2] & 0xfffffffffffc0;
	found = ((const uint32_t *)word_at(machine.interrupts[stream]))[data & 0x7ff];
	CHECK_EQ(found & 0xfe, 0); /* fixed, physical, edge */
	return found & 1 ? (found >> 8 & 0xff) << 8 | found >> 16 : 0;
}

/* ---- the machine as firmware leaves it: another's translations held, all open ---- */

static void reset(void)
{
	fake_arch = (struct fake_arch){ .on_relax = on_relax, .on_barrier = on_barrier };
	arena = frames_arena(FRAMES);
	while (arena.next % BH_IOMMU_ALIGN)
		CHECK(hal_arena_take(&arena, 1));
	tables = (uintptr_t)hal_arena_take(&arena, BH_AMDVI_BYTES / BH_PAGE_BYTES);
	memset(word_at(tables), 0xff, BH_AMDVI_BYTES);
	memset(&machine, 0, sizeof(machine));
	machine.identity = 0x14191022;
	machine.capability = 0x1f03000f;
	machine.base = (uint32_t)REGISTERS;
	machine.misc = 0x182e00;
	*at(0x18) = 1 | 1 << 12;
	*at(0x10) = UINT64_C(8) << 56 | 0x7000; /* a log of firmware's */
	*at(0x20) = 1;
	*at(0x2010) = 0x40;
	*at(0x2018) = 0x80;
	*at(0x2020) = 0x10;
	*at(0x30) = 0x29d3;
	for (unsigned n = 0; n < 256; n++)
		machine.holds[n] = true; /* V is 0: all passes */
	memset(mailboxes, 0, sizeof(mailboxes));
	is_shared = false;
}

static void begin(void)
{
	reset();
	scene_begin(NIC, DISC, OTHER);
	CHECK_EQ(view.pt.oa_bits, 46);
	is_shared = true;
}

static void test_machines(void)
{
	static const struct {
		uint32_t identity, capability, base;
		uint64_t features;
		const char *word;
	} rows[] = {
		{ UINT32_MAX, 0x1f03000f, 0xfed80000, 0x29d3, "no IOMMU is where" },
		{ 0x14191022, 0x1f030005, 0xfed80000, 0x29d3, "is no IOMMU" },
		{ 0x14191022, 0x1f02000f, 0xfed80000, 0x29d3, "is no IOMMU" },
		{ 0x14191022, 0x1f03000f, 0xfed90000, 0x29d3, "registers are not where" },
		{ 0x14191022, 0x1703000f, 0xfed80000, 0x29d3, "EFR.IASup" },
		{ 0x14191022, 0x1f03000f, 0xfed80000, 0x2993, "EFR.IASup" },
	};

	check_context.subject = "machines";
	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		const char *why = NULL;

		reset();
		machine.identity = rows[n].identity;
		machine.capability = rows[n].capability;
		machine.base = rows[n].base;
		*at(0x30) = rows[n].features;
		CHECK_EQ(scene_start(&why), HAL_E_UNSUPPORTED);
		CHECK(why && strstr(why, rows[n].word));
		CHECK_EQ(*at(0x18), 1 | 1 << 12); /* untouched */
	}
}

/* Every entry of every bus closes, firmware's exclusion range goes, and nothing that was held counts. */
static void test_block(void)
{
	static const uint64_t closed[] = { 3, UINT64_C(1) << 33, 0x11, 0 };
	const char *why = NULL;

	check_context.subject = "block";
	reset();
	machine.translations[NIC >> 3 & 7] = (struct translation){ GUEST, 0x5000, 9 };
	machine.slow = 3;
	CHECK_EQ(scene_start(&why), HAL_OK);
	for (uint32_t stream = 0; stream < STREAMS; stream++)
		CHECK(!memcmp(word_at(tables + stream * 32), closed, sizeof(closed)));
	CHECK_EQ(*at(0), tables | 0x1ff);
	CHECK_EQ(*at(0x18), 1 | 1 << 2 | 1 << 10 | 1 << 12);
	CHECK_EQ(*at(0x10), UINT64_C(8) << 56 | (tables + BH_AMDVI_EVENTS));
	CHECK_EQ(*at(0x20), 0);
	CHECK_EQ(*at(0x2010), 0);
	CHECK_EQ(*at(0x2018), 0);
	CHECK_EQ(machine.base & 1, 1);
	for (uint32_t stream = 0; stream < 256; stream++) {
		CHECK_EQ(dma(stream, GUEST), ABORTED);
		CHECK_EQ(message(stream, 0x41), 0);
	}
}

static void test_block_that_fails(void)
{
	const char *why = NULL;

	check_context.subject = "an IOMMU that hangs";
	reset();
	machine.hung = true;
	CHECK_EQ(scene_start(&why), HAL_E_UNSUPPORTED);
	CHECK(why && strstr(why, "does not carry out"));
	CHECK_EQ(*at(0x18), 0); /* it still reads: nothing is put where */
	reset();
	machine.writes_events = true;
	CHECK_EQ(scene_start(&why), HAL_E_UNSUPPORTED);
	CHECK_EQ(*at(0x10), UINT64_C(8) << 56 | 0x7000); /* nor is their log moved under them */
	reset();
	machine.slow = TURNS + 1;
	CHECK_EQ(scene_start(&why), HAL_E_UNSUPPORTED);
	CHECK_EQ(machine.turns, TURNS);
}

/* Its own RAM alone, its own core alone, whoever has what else. */
static void test_open(void)
{
	check_context.subject = "open";
	begin();
	CHECK_EQ(dma(NIC, GUEST), ABORTED); /* the IOMMU holds on to that */
	CHECK_EQ(message(NIC, 0x41), 0);
	CHECK(iommu_open(&view, SELF));
	CHECK_EQ(dma(NIC, GUEST + 0x1234), RAM + 0x1234);
	CHECK_EQ(dma(DISC, GUEST + 0x2000), RAM + 0x2000);
	CHECK_EQ(dma(NIC, GUEST + 0x3000), ABORTED);
	CHECK_EQ(dma(NIC, RAM), ABORTED);
	CHECK_EQ(dma(OTHER, GUEST), ABORTED);
	CHECK(iommu_open(&neighbour, SELF));
	CHECK_EQ(dma(OTHER, GUEST), RAM + 0x1000000);
	CHECK_EQ(entry_of(NIC)[1], UINT64_C(1) << 33 | 1);
	CHECK_EQ(entry_of(OTHER)[1], UINT64_C(1) << 33 | 2);
	for (uint32_t data = 0; data < 0x800; data++) {
		CHECK_EQ(message(NIC, data), data >= 0x10 && data < 0x100 ? 0x100 | data : 0);
		CHECK_EQ(message(OTHER, data), data >= 0x10 && data < 0x100 ? 0x200 | data : 0);
		CHECK_EQ(message(IO_APIC, data), 0); /* and what DMA forges, in QEMU */
	}
}

static void test_close(void)
{
	check_context.subject = "close";
	begin();
	CHECK(iommu_open(&view, SELF));
	CHECK(iommu_open(&neighbour, SELF));
	for (machine.slow = 0; machine.slow < 200; machine.slow++) { /* round the ring, four commands or six at a time */
		CHECK_EQ(dma(NIC, GUEST), RAM);
		CHECK_EQ(dma(DISC, GUEST), RAM);
		CHECK_EQ(dma(OTHER, GUEST), RAM + 0x1000000);
		CHECK_EQ(message(DISC, 0x41), 0x141);
		CHECK(iommu_close(&view, SELF));
		CHECK_EQ(dma(NIC, GUEST), ABORTED);
		CHECK_EQ(dma(DISC, GUEST), ABORTED);
		CHECK_EQ(message(NIC, 0x41) | message(DISC, 0x41), 0);
		CHECK_EQ(machine.translations[OTHER >> 3 & 7].page, GUEST); /* nothing of others is thrown out */
		CHECK_EQ(dma(OTHER, GUEST), RAM + 0x1000000);
		CHECK(iommu_open(&view, SELF));
	}
}

/* The log is as empty as it can be after each change, so that few records cannot fill it. */
static void test_log(void)
{
	check_context.subject = "log";
	begin();
	for (uint64_t tail = 0; tail < 0x1000; tail += 0x10) {
		*at(0x2018) = tail;
		CHECK(tail % 0x20 ? iommu_close(&view, SELF) : iommu_open(&view, SELF));
		CHECK_EQ(*at(0x2010), tail);
		CHECK_EQ(*at(0x2018), tail);
	}
	CHECK(iommu_close(&view, SELF));
	CHECK_EQ(entry_of(NIC)[1], UINT64_C(1) << 33 | 1); /* the domain whose translations are then invalidated */
}

#include "amdvi_ends.h"

static void test_nobody_without(void)
{
	static const struct iommu_view nobody;

	check_context.subject = "a sandbox that masters no bus";
	begin();
	CHECK(iommu_open(&nobody, SELF));
	CHECK(iommu_close(&nobody, SELF));
	CHECK_EQ(iommu_map(NULL, &nobody), HAL_OK);
}

enum hal_status hal_space_map(struct hal_space *space, const void *va, hpa_t hpa, uint64_t size, unsigned permissions,
			      enum hal_memory memory)
{
	const struct {
		uint64_t start, bytes;
		enum hal_memory memory;
	} wanted[] = { { tables, 0x2000, HAL_MEMORY_RAM },
		       { tables + 0x200000, 0x2000, HAL_MEMORY_RAM },
		       { REGISTERS + 0x2000, 0x1000, HAL_MEMORY_DEVICE } };
	unsigned *count = (unsigned *)space;

	CHECK(*count < 3);
	CHECK_EQ(hpa.v, wanted[*count].start);
	CHECK_EQ((uintptr_t)va, hpa.v);
	CHECK_EQ(size, wanted[*count].bytes);
	CHECK_EQ(permissions, HAL_READ | HAL_WRITE);
	CHECK_EQ(memory, wanted[*count].memory);
	++*count;
	return HAL_OK;
}

/* Neither events nor interrupts, nor entries of buses that are not there. */
static void test_map(void)
{
	unsigned count = 0;

	check_context.subject = "what a monitor maps";
	begin();
	CHECK_EQ(iommu_map((struct hal_space *)&count, &view), HAL_OK);
	CHECK_EQ(count, 3);
}

static void test_memory(void)
{
	struct hal_partition_config config = { .masters = true, .hardware_id = { 1 }, .kick_mailboxes = mailboxes };
	struct iommu_view made;

	check_context.subject = "no frame for interrupts";
	begin();
	for (unsigned frames = 1; frames < 3; frames++) {
		arena = frames_arena(frames);
		CHECK_EQ(iommu_create(&made, &arena, &config), HAL_E_NOMEM);
	}
}

#include "amdvi_live.h"

int main(void)
{
	test_machines();
	test_block();
	test_block_that_fails();
	test_open();
	test_close();
	test_log();
	test_an_end_that_does_not_come();
	test_busy();
	test_an_end_that_comes_late();
	test_a_wait_that_was_never_asked();
	test_nobody_without();
	test_map();
	test_memory();
	test_pages();
	test_never_forgotten();
	return 0;
}
