/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.dma, BH-I8.bounded. hal/iommu/vtd*.c over an IOMMU that holds on to all that it may and is late (fake_vtd.h), and literal words of
 * Intel's specification, D51397.
 */
#include <string.h>

#include "arch/arch.h"
#include "check.h"
#include "fake_arch.h"
#include "fake_vtd.h"
#include "hal/iommu/iommu_live.h"
#include "hal/pci/config.h"
#include "iommu_scene.h"

enum { TURNS = 1 << 14, TABLES = 0x90000, IO_APIC = 0xff00 };
enum { NIC = 0x28, DISC = 0x38, OTHER = 0x30 };
#define CAP  UINT64_C(0x00d2008c222f0606)
#define ECAP UINT64_C(0x0000000000f00f1a)

const char __vtd_text_start[1], __vtd_text_end[1], __vtd_rodata_start[1], __vtd_rodata_end[1];
const char __amdvi_text_start[1], __amdvi_text_end[1], __amdvi_rodata_start[1], __amdvi_rodata_end[1];
uint64_t pci_ecam;

static uint32_t nic_messages, disc_messages, other_messages;

/* ---- AMD-Vi, of the same image, is asked for nothing ---- */

uint32_t pci_config_read(uint32_t place)
{
	CHECK(!"a function of the IOMMU");
	return 0;
}

void pci_config_write(uint32_t place, uint32_t value)
{
	CHECK(!"a function of the IOMMU");
}

uint32_t pci_capability(uint32_t function, uint32_t kind)
{
	CHECK(!"a function of the IOMMU");
	return 0;
}

/* ---- the machine as firmware leaves it: everything on, entries and translations held ---- */

static void reset(void)
{
	fake_arch = (struct fake_arch){ .on_relax = fake_vtd_relax, .on_flush = fake_vtd_flush };
	arena = frames_arena(VTD_FRAMES);
	memset(&fake_vtd, 0, sizeof(fake_vtd));
	fake_vtd.start = arena.next;
	while (arena.next % BH_IOMMU_ALIGN)
		CHECK(hal_arena_take(&arena, 1));
	tables = (uintptr_t)hal_arena_take(&arena, TABLES / BH_PAGE_BYTES);
	memset(word_at(tables), 0xff, TABLES);
	memset(fake_vtd.memory, 0xff, sizeof(fake_vtd.memory));
	fake_vtd.capability = CAP;
	fake_vtd.extended = ECAP;
	fake_vtd.status = 0x86800000;
	fake_vtd.faults = 0x7f;
	fake_vtd.unmasked = 3;
	fake_vtd.live_root = fake_vtd.root = tables;
	fake_vtd.live_interrupts = tables | 15;
	for (unsigned n = 0; n < 256; n++) {
		fake_vtd.translations[n] = (struct translation){ GUEST, 0x5000, 9 };
		fake_vtd.held[n][0] = 0x6001;
		fake_vtd.held[n][1] = 0x902;
	}
	memset(fake_vtd.held_interrupts, 0x11, sizeof(fake_vtd.held_interrupts));
	memset(mailboxes, 0, sizeof(mailboxes));
	fake_vtd.guard = NULL;
}

static void begin(void)
{
	reset();
	scene_begin(NIC, DISC, OTHER);
	CHECK_EQ(view.pt.oa_bits, 48);
	nic_messages = iommu_admit(&view, NIC);
	disc_messages = iommu_admit(&view, DISC);
	other_messages = iommu_admit(&neighbour, OTHER);
	iommu_publish();
	fake_vtd.guard = hal_lock_of(mailboxes, HAL_LOCK_IOMMU);
}

static void test_machines(void)
{
	static const struct {
		uint64_t capability, extended;
		const char *word;
	} rows[] = {
		{ UINT64_MAX, UINT64_MAX, "no IOMMU is where" },
		{ 0, 0, "no IOMMU is where" },
		{ CAP, ECAP & ~UINT64_C(2), "ECAP.QI" },
		{ CAP, ECAP & ~UINT64_C(8), "ECAP.IR" },
		{ CAP, ECAP & ~UINT64_C(0x10), "ECAP.EIM" },
		{ CAP & ~UINT64_C(0x400), ECAP, "CAP.SAGAW" },
		{ CAP - 5, ECAP, "CAP.ND" },
		{ CAP | 0x10, ECAP, "CAP.RWBF" },
		{ CAP | 0x80, ECAP, "CAP.CM" },
		{ CAP & ~(UINT64_C(1) << 39), ECAP, "CAP.PSI" },
		{ (CAP & ~(UINT64_C(0x3f) << 48)) | UINT64_C(8) << 48, ECAP, "CAP.MAMV" },
		{ CAP & ~(UINT64_C(1) << 54), ECAP, "CAP.DRD" },
		{ CAP & ~(UINT64_C(1) << 55), ECAP, "CAP.DRD" },
	};

	check_context.subject = "machines";
	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		const char *why = NULL;

		reset();
		fake_vtd.capability = rows[n].capability;
		fake_vtd.extended = rows[n].extended;
		CHECK_EQ(scene_start(&why), HAL_E_UNSUPPORTED);
		CHECK(why && strstr(why, rows[n].word));
		CHECK_EQ(fake_vtd.status, 0x86800000); /* untouched */
	}
}

/* No function of any bus reaches anything, and nothing that was held counts; what firmware protected is open to the tables. */
static void test_block(void)
{
	const char *why = NULL;

	check_context.subject = "block";
	reset();
	fake_vtd.slow = 3;
	fake_vtd.capability |= 0x60;
	fake_vtd.protected = 0x80000001;
	CHECK_EQ(scene_start(&why), HAL_OK);
	CHECK_EQ(fake_vtd.status, 0xc7000000);
	CHECK_EQ(fake_vtd.protected, 0);
	CHECK_EQ(fake_vtd.faults, 0);
	CHECK_EQ(fake_vtd.unmasked, 0);
	for (uint32_t stream = 0; stream < 65536; stream++)
		CHECK_EQ(fake_vtd_dma(stream, GUEST), ABORTED);
	for (uint32_t index = 0; index < 2 * VTD_ENTRIES; index++)
		CHECK_EQ(fake_vtd_interrupt(index, NIC), 0);
	for (uint32_t data = 0; data < 256; data++)
		CHECK_EQ(fake_vtd_message(NIC, 0xfee00000, data), 0);
}

static void test_block_that_fails(void)
{
	static const uint32_t bits[] = { UINT32_C(1) << 31, 1 << 30, 1 << 26, 1 << 25, 1 << 24, 1 << 23 };
	const char *why = NULL;

	check_context.subject = "an IOMMU that hangs";
	for (unsigned n = 0; n < sizeof(bits) / sizeof(bits[0]); n++)
		for (unsigned on = 0; on < 2; on++) {
			if (on && bits[n] == 1 << 23)
				continue; /* nobody switches that on */
			reset();
			fake_vtd.stuck = bits[n];
			fake_vtd.status = on ? 0 : fake_vtd.status & ~(bits[n] & 0x41000000);
			CHECK_EQ(scene_start(&why), HAL_E_UNSUPPORTED);
			CHECK(why && strstr(why, "does not do"));
			CHECK(fake_vtd.turns >= TURNS && fake_vtd.turns < 2 * TURNS);
		}
	reset();
	fake_vtd.slow = TURNS + 1;
	CHECK_EQ(scene_start(&why), HAL_E_UNSUPPORTED);
	CHECK_EQ(fake_vtd.status >> 31, 0);
	reset();
	fake_vtd.capability |= 0x20;
	fake_vtd.protected = 1;
	CHECK_EQ(scene_start(&why), HAL_OK);
	CHECK_EQ(fake_vtd.protected, 0);
	reset();
	fake_vtd.capability |= 0x20;
	fake_vtd.protected = 1;
	fake_vtd.keeps_protected = true;
	CHECK_EQ(scene_start(&why), HAL_E_UNSUPPORTED);
}

/* Its own RAM alone, its own core alone, whoever has what else. */
static void test_open(void)
{
	check_context.subject = "open";
	begin();
	CHECK_EQ(fake_vtd_dma(NIC, GUEST), ABORTED);
	CHECK(iommu_open(&view, SELF));
	CHECK_EQ(fake_vtd_dma(NIC, GUEST + 0x1234), RAM + 0x1234);
	CHECK_EQ(fake_vtd_dma(DISC, GUEST + 0x2000), RAM + 0x2000);
	CHECK_EQ(fake_vtd_dma(NIC, GUEST + 0x3000), ABORTED);
	CHECK_EQ(fake_vtd_dma(NIC, RAM), ABORTED);
	CHECK_EQ(fake_vtd_dma(OTHER, GUEST), ABORTED);
	CHECK(iommu_open(&neighbour, SELF));
	CHECK_EQ(fake_vtd_dma(OTHER, GUEST), RAM + 0x1000000);
}

/* Literal words, of 9.3, 9.10, 5.1.2.2 and 5.1.5.1. */
static void test_words(void)
{
	const uint64_t *contexts = word_at(tables + 0x1000), *interrupts = word_at(tables + 0x10000);

	check_context.subject = "words";
	begin();
	CHECK_EQ(*word_at(tables), (tables + 0x1000) | 1);
	CHECK_EQ(contexts[2 * NIC], 0);
	CHECK(iommu_open(&view, SELF));
	CHECK(iommu_open(&neighbour, SELF));
	CHECK_EQ(contexts[2 * NIC], (uintptr_t)view.pt.root | 1);
	CHECK_EQ(contexts[2 * NIC + 1], 0x102);
	CHECK_EQ(contexts[2 * OTHER + 1], 0x202);
	CHECK_EQ(nic_messages, 0xfee80018);
	CHECK_EQ(disc_messages, 0xfee82018);
	CHECK_EQ(other_messages, 0xfee84018);
	CHECK_EQ(interrupts[2 * 0x4041], 0x0000000100410001);
	CHECK_EQ(interrupts[2 * 0x4041 + 1], 0x40028);
	CHECK_EQ(iommu_admit_lines(3, 6), 0x0c010000);
	CHECK_EQ(interrupts[2 * 0x641], 0x0000000600410001);
	CHECK_EQ(interrupts[2 * 0x741], 0x0000000600410011);
	CHECK_EQ(interrupts[2 * 0x741 + 1], 0x4ff00);
	CHECK_EQ(iommu_admit_lines(31, 62), 0x7c010000);
}

/* Messages: each function's go to its sandbox's core by its own vector, whatever its data are, and others' not at all. */
static void test_messages(void)
{
	check_context.subject = "messages";
	begin();
	for (uint32_t data = 0; data < 0x10000; data++) {
		uint32_t good = data >= 0x10 && data < 0x100 ? data : 0;

		CHECK_EQ(fake_vtd_message(NIC, nic_messages, data), good ? 0x10000 | good : 0);
		CHECK_EQ(fake_vtd_message(OTHER, other_messages, data), good ? 0x20000 | good : 0);
		CHECK_EQ(fake_vtd_message(NIC, other_messages, data), 0);
		CHECK_EQ(fake_vtd_message(NIC, 0xfee00000, data), 0);
	}
	for (uint32_t handle = 0; handle < 0x8000; handle++)
		for (uint32_t upper = 0; upper < 8; upper += 4) {
			uint32_t address = 0xfee00010 | handle << 5 | upper;
			bool own = !upper && handle >= 0x4010 && handle < 0x4100;

			CHECK_EQ(fake_vtd_message(NIC, address, 0), own ? 0x10000 | (handle & 0xff) : 0);
		}
}

/* An entry of the I/O APIC, as ioapic.c writes it: the vector in bits 24:17, and half as much again for level. */
static void test_lines(void)
{
	uint32_t one, another;

	check_context.subject = "lines";
	begin();
	fake_vtd.guard = NULL;
	one = iommu_admit_lines(0, 0);
	another = iommu_admit_lines(3, 6);
	iommu_publish();
	for (uint32_t vector = 0; vector < 256; vector++)
		for (uint32_t level = 0; level < 2; level++) {
			uint32_t at = vector << 17 | level << 25, good = vector >= 32 ? level << 15 | vector : 0;

			CHECK_EQ((one | at) & 0x1ffff, 0x10000);
			CHECK_EQ(fake_vtd_interrupt((one | at) >> 17, IO_APIC), good);
			CHECK_EQ(fake_vtd_interrupt((another | at) >> 17, IO_APIC), good ? 0x60000 | good : 0);
			CHECK_EQ(fake_vtd_interrupt((one | at) >> 17, NIC), 0);
		}
}

static void test_close(void)
{
	check_context.subject = "close";
	begin();
	CHECK(iommu_open(&view, SELF));
	CHECK(iommu_open(&neighbour, SELF));
	for (fake_vtd.slow = 0; fake_vtd.slow < 200; fake_vtd.slow++) { /* round the queue, five commands at a time */
		CHECK_EQ(fake_vtd_dma(NIC, GUEST), RAM);
		CHECK_EQ(fake_vtd_dma(DISC, GUEST), RAM);
		CHECK_EQ(fake_vtd_dma(OTHER, GUEST), RAM + 0x1000000);
		fake_vtd.busy = fake_vtd.slow & 1 ? NIC : DISC;
		CHECK(iommu_close(&view, SELF));
		CHECK_EQ(fake_vtd_dma(NIC, GUEST), ABORTED);
		CHECK_EQ(fake_vtd_dma(DISC, GUEST), ABORTED);
		fake_vtd.busy = 0;
		CHECK_EQ(fake_vtd.translations[OTHER].page, GUEST); /* nothing of others is thrown out */
		CHECK_EQ(fake_vtd.held[OTHER][0] & 1, 1);
		CHECK_EQ(fake_vtd_dma(OTHER, GUEST), RAM + 0x1000000);
		CHECK(iommu_open(&view, SELF));
	}
}

/* It closes the entries all the same, and puts nothing behind commands that are not read; when they are, it goes on. */
static void test_an_end_that_does_not_come(void)
{
	uint64_t tail;

	check_context.subject = "an end that does not come";
	begin();
	CHECK(iommu_open(&view, SELF));
	CHECK_EQ(fake_vtd_dma(NIC, GUEST), RAM);
	fake_vtd.hung = true;
	fake_vtd.turns = 0;
	CHECK(!iommu_close(&view, SELF));
	CHECK_EQ(fake_vtd.turns, TURNS);
	CHECK_EQ(*word_at(tables + 0x1000 + NIC * 16), 0);
	tail = fake_vtd.tail;
	for (unsigned n = 0; n < 300; n++)
		CHECK(!iommu_open(&neighbour, SELF));
	CHECK(*word_at(tables + 0x1000 + OTHER * 16) != 0);
	CHECK(!iommu_close(&neighbour, SELF));
	CHECK_EQ(*word_at(tables + 0x1000 + OTHER * 16), 0);
	CHECK_EQ(fake_vtd.tail, tail);
	fake_vtd.hung = false;
	fake_vtd_go_on();
	CHECK_EQ(fake_vtd_dma(NIC, GUEST), ABORTED);
	CHECK(iommu_close(&view, SELF));
	CHECK(iommu_open(&neighbour, SELF));
	CHECK_EQ(fake_vtd_dma(OTHER, GUEST), RAM + 0x1000000);
}

/* Who comes next waits for what another has given up. */
static void test_an_end_that_comes_late(void)
{
	check_context.subject = "an end that comes late";
	begin();
	CHECK(iommu_open(&view, SELF));
	CHECK_EQ(fake_vtd_dma(NIC, GUEST), RAM);
	fake_vtd.slow = TURNS + 3;
	CHECK(!iommu_close(&view, SELF));
	fake_vtd.slow = 0;
	fake_vtd.turns = 0;
	CHECK(iommu_open(&neighbour, SELF));
	CHECK_EQ(fake_vtd.turns, 3);
	CHECK_EQ(fake_vtd_dma(NIC, GUEST), ABORTED);
}

/* The holder that trapped had numbered its wait and not handed it over. */
static void test_a_wait_that_was_never_asked(void)
{
	uint32_t *asked = (uint32_t *)(uintptr_t)(tables + 0x3000);

	check_context.subject = "a wait that was never asked";
	begin();
	++*asked;
	CHECK(iommu_open(&view, SELF));
	CHECK_EQ(fake_vtd_dma(NIC, GUEST), RAM);
	++*asked;
	CHECK(iommu_close(&view, SELF));
	CHECK_EQ(fake_vtd_dma(NIC, GUEST), ABORTED);
}

/* By a monitor that was corrupted. */
static void put_error(void)
{
	begin();
	CHECK(iommu_open(&view, SELF));
	CHECK(iommu_open(&neighbour, SELF));
	CHECK_EQ(fake_vtd_dma(NIC, GUEST), RAM);
	word_at(tables + 0x2000)[fake_vtd.tail / 8] = 15;
	fake_vtd_flush(word_at(tables + 0x2000) + fake_vtd.tail / 8);
	fake_vtd.guard = NULL;
	arch_mmio_write64(REGISTERS + 0x88, (fake_vtd.tail + 16) % 4096);
	fake_vtd.guard = hal_lock_of(mailboxes, HAL_LOCK_IOMMU);
	fake_vtd.turns = 0;
}

/* Whoever comes upon it is told; it is replaced, and the queue goes on for others. */
static void test_a_command_in_error(void)
{
	check_context.subject = "a command in error";
	put_error();
	CHECK(!iommu_close(&view, SELF));
	CHECK(fake_vtd.turns < 10);
	CHECK_EQ(fake_vtd.faults, 0);
	CHECK_EQ(fake_vtd.head, fake_vtd.tail);
	CHECK(iommu_close(&view, SELF));
	CHECK_EQ(fake_vtd_dma(NIC, GUEST), ABORTED);
	CHECK(iommu_close(&neighbour, SELF));
	CHECK_EQ(fake_vtd_dma(OTHER, GUEST), ABORTED);
}

/* What stands in for it is no end of what comes after. */
static void test_an_error_before_an_end(void)
{
	uint64_t tail;

	check_context.subject = "a command in error, and no end";
	put_error();
	fake_vtd.until_hung = 1;
	CHECK(!iommu_close(&view, SELF));
	tail = fake_vtd.tail;
	CHECK(!iommu_close(&view, SELF));
	CHECK_EQ(fake_vtd.tail, tail);
}

/* Of the domain, and no other page. The widest that one command can name, and what is wider. */
static void test_invalidate(void)
{
	check_context.subject = "pages that are taken";
	begin();
	CHECK(iommu_open(&view, SELF));
	CHECK(iommu_open(&neighbour, SELF));
	CHECK_EQ(fake_vtd_dma(NIC, GUEST + 0x1000), RAM + 0x1000);
	CHECK_EQ(fake_vtd_dma(DISC, GUEST + 0x2000), RAM + 0x2000);
	CHECK_EQ(fake_vtd_dma(OTHER, GUEST + 0x1000), RAM + 0x1001000);
	CHECK(vtd_invalidate(&view, SELF, GUEST, 0x1000, 0x1000));
	CHECK_EQ(fake_vtd.translations[NIC].page, GUEST + 0x1000);
	CHECK(vtd_invalidate(&view, SELF, GUEST, 0x2000, 0x1000));
	CHECK_EQ(fake_vtd.translations[NIC].page, 0);
	CHECK_EQ(fake_vtd.translations[DISC].page, GUEST + 0x2000);
	CHECK(vtd_invalidate(&view, SELF, GUEST, 0x200000, 0x200000));
	CHECK_EQ(fake_vtd.translations[DISC].page, 0);
	CHECK_EQ(fake_vtd_dma(DISC, GUEST + 0x2000), RAM + 0x2000);
	CHECK(vtd_invalidate(&view, SELF, GUEST, 0x600000, 0x200000));
	CHECK_EQ(fake_vtd.translations[DISC].page, 0);
	CHECK_EQ(fake_vtd.translations[OTHER].page, GUEST + 0x1000);
	fake_vtd.hung = true;
	CHECK(!vtd_invalidate(&view, SELF, GUEST, 0x1000, 0x1000));
	CHECK(!vtd_invalidate(&view, SELF, GUEST, 0x1000, 0x1000));
}

/* The IOMMU reads memory and not caches: what comes or goes is written back before it is told. */
static void test_pages_that_come_and_go(void)
{
	static struct iommu_live live;
	const uint64_t pages = GUEST + 0x10000000;

	check_context.subject = "pages that come and go";
	begin();
	fake_vtd.guard = NULL;
	iommu_live_create(&live, &view);
	CHECK_EQ(iommu_live_reserve(&live, &view, pages, 0x10000, 0), HAL_OK);
	iommu_publish();
	CHECK(iommu_open(&view, SELF));
	CHECK(iommu_open(&neighbour, SELF));
	CHECK_EQ(fake_vtd_dma(NIC, pages), ABORTED);
	CHECK_EQ(iommu_live_put(&live, pages, (hpa_t){ RAM + 0x100000 }, 0x3000), HAL_OK);
	for (uint64_t page = 0; page < 0x3000; page += 0x1000)
		CHECK_EQ(fake_vtd_dma(NIC, pages + page), RAM + 0x100000 + page);
	CHECK_EQ(iommu_live_take(&live, SELF, pages + 0x1000, 0x2000), HAL_OK);
	CHECK_EQ(fake_vtd_dma(NIC, pages + 0x1000), ABORTED);
	CHECK_EQ(fake_vtd_dma(NIC, pages + 0x2000), ABORTED);
	CHECK_EQ(fake_vtd_dma(NIC, pages), RAM + 0x100000);
}

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
	} wanted[] = { { tables + 0x1000, 0x3000, HAL_MEMORY_RAM }, { REGISTERS, 0x1000, HAL_MEMORY_DEVICE } };
	unsigned *count = (unsigned *)space;

	CHECK(*count < 2);
	CHECK_EQ(hpa.v, wanted[*count].start);
	CHECK_EQ((uintptr_t)va, hpa.v);
	CHECK_EQ(size, wanted[*count].bytes);
	CHECK_EQ(permissions, HAL_READ | HAL_WRITE);
	CHECK_EQ(memory, wanted[*count].memory);
	++*count;
	return HAL_OK;
}

/* Neither the root nor interrupts. */
static void test_map(void)
{
	unsigned count = 0;

	check_context.subject = "what a monitor maps";
	begin();
	CHECK_EQ(iommu_map((struct hal_space *)&count, &view), HAL_OK);
	CHECK_EQ(count, 2);
}

/* Pages and addresses that the machine's IOMMU does not have. */
static void test_narrow(void)
{
	struct hal_partition_config config = { .masters = true, .hardware_id = { 1 }, .kick_mailboxes = mailboxes };
	struct iommu_view made = { 0 };

	check_context.subject = "an IOMMU that does less";
	begin();
	fake_vtd.guard = NULL;
	fake_vtd.capability = (CAP & ~UINT64_C(0x0c003f0000)) | 38 << 16 | UINT64_C(1) << 34;
	CHECK_EQ(iommu_create(&made, &arena, &config), HAL_OK);
	CHECK_EQ(made.pt.oa_bits, 39);
	CHECK_EQ(made.pt.leaf_levels, PT_LEAF_4K | PT_LEAF_2M);
}

/* 11.4.7.7, 11.4.7.1: F of each record, then PFO, and nothing else of the fault status. */
static void test_clear_faults(void)
{
	check_context.subject = "faults of start-up's own";
	begin();
	fake_vtd.guard = NULL;
	fake_vtd.capability = CAP | UINT64_C(1) << 40;
	fake_vtd.records = 3;
	fake_vtd.faults = 0x13;
	iommu_clear_faults();
	CHECK_EQ(fake_vtd.records, 0);
	CHECK_EQ(fake_vtd.faults, 0x12);
	fake_vtd.capability = CAP;
	fake_vtd.records = 3;
	iommu_clear_faults();
	CHECK_EQ(fake_vtd.records, 2);
}

int main(void)
{
	test_machines();
	test_block();
	test_block_that_fails();
	test_open();
	test_words();
	test_messages();
	test_lines();
	test_close();
	test_an_end_that_does_not_come();
	test_an_end_that_comes_late();
	test_a_wait_that_was_never_asked();
	test_a_command_in_error();
	test_an_error_before_an_end();
	test_invalidate();
	test_pages_that_come_and_go();
	test_nobody_without();
	test_map();
	test_narrow();
	test_clear_faults();
	return 0;
}
