/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I8.bounded. How the monitor reads its guest's instruction: every kind of paging, and every way in which a guest may lead it astray. A
 * read outside the sandbox's own RAM ends the test: hal/x86/fetch.c reads memory only through the functions here.
 */
#include <string.h>

#include "arch/arch.h"
#include "arch/x86_64/x86.h"
#include "check.h"
#include "frames.h"
#include "hal/x86/core.h"
#include "hal/x86/decode.h"

/* Guest-physical: RAM, and after it pages of other kinds, each of them mapped to frames that must not be read. */
enum { RAM_PAGES = 32, RAM = 0x10000, RAM_END = RAM + RAM_PAGES * BH_PAGE_BYTES, DEVICE = 0x200000, READ_ONLY = 0x201000, HOLE = 0x300000 };
enum { TABLES = RAM, CODE = RAM + 0x10000, P = 1, PS = 0x80 };
/* More RAM, in leaves of stage 2 that end its walk early: test_large_leaves. */
enum { LARGE = 0x400000, LARGE_BYTES = 1 << 21, LARGE_DEVICE = 0x600000, HUGE = 1 << 30 };

static struct hal_partition partition;
static struct hal_core core;
static struct hal_arena arena;
static uint64_t fields[X86_FIELDS], ram_hpa, large_hpa; /* large_hpa: 0 where there is none */
static unsigned reads;
static bool event;

/* The guest's state is noted, too, and no read of its memory. */
static bool is_state(uint64_t address)
{
	return address >= (uintptr_t)fields && address < (uintptr_t)(fields + X86_FIELDS);
}

static const void *checked(uint64_t address, unsigned bytes)
{
	if (is_state(address))
		return (const void *)(uintptr_t)address;
	reads++;
	CHECK((address >= ram_hpa && address + bytes <= ram_hpa + RAM_END - RAM) ||
	      (large_hpa && address >= large_hpa && address + bytes <= large_hpa + LARGE_BYTES));
	return (const void *)(uintptr_t)address;
}

uint64_t arch_mmio_read64(uint64_t address)
{
	return *(const uint64_t *)checked(address, 8);
}

static bool has_event(const struct hal_core *of)
{
	return event;
}

enum { CODE_SHIFT = 3, CODE_16 = 0, CODE_32 = X86_CODE_32 << CODE_SHIFT, CODE_64 = X86_CODE_64 << CODE_SHIFT };
static const struct x86_vendor vendor = { .has_event = has_event, .code_shift = CODE_SHIFT };
const struct x86_vendor *x86_vendor = &vendor;

/* As hal/x86/core.c, where every access is to a filtered page. */
bool x86_decode_filtered(struct hal_core *of, struct hal_exit *exit)
{
	return x86_decode_access(of, exit);
}

static void *ram(uint64_t gpa)
{
	return (void *)(uintptr_t)(ram_hpa + gpa - RAM);
}

static void put64(uint64_t gpa, uint64_t value)
{
	memcpy(ram(gpa), &value, 8);
}

/* As hal/x86/partition_boot.c does. */
static void prepare(const struct pt_format *format)
{
	arena = frames_arena(2048);
	partition = (struct hal_partition){ .index = 0 };
	core = (struct hal_core){ .partition = &partition };
	for (unsigned n = 0; n < X86_FIELDS; n++)
		core.field[n] = &fields[n];
	x86_note_fields(&core);
	CHECK_EQ(pt_init(&partition.stage2, format, &arena), HAL_OK);
	partition.ram_leaf = format->permission[HAL_READ | HAL_WRITE | HAL_EXECUTE] | format->memory[HAL_MEMORY_RAM];
	partition.ram_mask = partition.ram_leaf | format->permission[HAL_READ] | format->memory[HAL_MEMORY_DEVICE];
	ram_hpa = (uintptr_t)hal_arena_take(&arena, RAM_PAGES);
	CHECK_EQ(pt_map(&partition.stage2, RAM, (hpa_t){ ram_hpa }, RAM_END - RAM, 7, HAL_MEMORY_RAM), HAL_OK);
	CHECK_EQ(pt_map(&partition.stage2, DEVICE, (hpa_t){ (uintptr_t)hal_arena_take(&arena, 1) }, BH_PAGE_BYTES, 3, HAL_MEMORY_DEVICE),
		 HAL_OK);
	CHECK_EQ(pt_map(&partition.stage2, READ_ONLY, (hpa_t){ (uintptr_t)hal_arena_take(&arena, 1) }, BH_PAGE_BYTES, 1, HAL_MEMORY_RAM),
		 HAL_OK);
	memset(fields, 0, sizeof(fields));
	reads = 0;
	large_hpa = 0;
	event = false;
	fields[X86_CS] = CODE_64;
	fields[X86_CR0] = CR0_PE | CR0_PG;
	fields[X86_CR4] = CR4_PAE;
	fields[X86_EFER] = EFER_LME | EFER_LMA;
	fields[X86_CR3] = TABLES;
}

/* Four levels (or five) at TABLES, TABLES + 0x1000, ...; linear 0x40_2000_5000 is `leaf`. */
#define LINEAR UINT64_C(0x4020005000)
static void four_levels(uint64_t top, uint64_t leaf)
{
	put64(top + 8 * (LINEAR >> 39 & 511), top + 0x1000 + P);
	put64(top + 0x1000 + 8 * (LINEAR >> 30 & 511), top + 0x2000 + P);
	put64(top + 0x2000 + 8 * (LINEAR >> 21 & 511), top + 0x3000 + P);
	put64(top + 0x3000 + 8 * (LINEAR >> 12 & 511), leaf);
}

static const uint8_t store[] = { 0x89, 0x07 }; /* mov %eax, (%rdi) */

/* What is fetched is that store. */
static bool fetches(void)
{
	core.noted.mov = (struct x86_mov){ .width = 0 };
	return x86_fetch(&partition, &core.noted, BH_ACCESS_WRITE) && core.noted.mov.width == 4 && core.noted.mov.length == sizeof(store) &&
	       core.noted.mov.target == 0;
}

static void test_paging(void)
{
	check_context.subject = "four levels";
	four_levels(TABLES, CODE + P);
	fields[X86_RIP] = LINEAR + 0x123;
	memcpy(ram(CODE + 0x123), store, sizeof(store));
	CHECK(fetches());
	CHECK_EQ(reads, 4 + 1);

	check_context.subject = "five levels";
	put64(TABLES + 0x8000, TABLES + P);
	fields[X86_CR3] = TABLES + 0x8000;
	fields[X86_CR4] |= CR4_LA57;
	CHECK(fetches());

	check_context.subject = "compatibility mode";
	fields[X86_CR4] &= ~(uint64_t)CR4_LA57;
	fields[X86_CR3] = TABLES;
	fields[X86_CS] = CODE_32;
	put64(TABLES, TABLES + 0x1000 + P); /* the lowest 512 GiB */
	put64(TABLES + 0x1000, TABLES + 0x2000 + P);
	put64(TABLES + 0x2000 + 8 * 2, (CODE & ~0x1fffffu) + P + PS);
	fields[X86_CS_BASE] = 0x400000;
	fields[X86_RIP] = UINT64_C(0xffffffff00000000) + CODE + 0x123;
	CHECK(fetches());

	check_context.subject = "PAE";
	fields[X86_EFER] = 0;
	fields[X86_CS_BASE] = 0;
	fields[X86_CR3] = TABLES + 0x4020;
	put64(TABLES + 0x4020 + 8 * 3, TABLES + 0x5000 + P);
	put64(TABLES + 0x5000 + 8 * 1, TABLES + 0x6000 + P);
	put64(TABLES + 0x6000, CODE + P);
	fields[X86_RIP] = 0xc0200123;
	CHECK(fetches());

	check_context.subject = "32-bit paging without PAE";
	fields[X86_CR4] = 0;
	CHECK(!fetches());

	check_context.subject = "no paging";
	fields[X86_CR0] = CR0_PE;
	fields[X86_RIP] = CODE + 0x123;
	CHECK(fetches());
	fields[X86_CS] = CODE_16;
	CHECK(!fetches()); /* 16-bit code */
	fields[X86_CS] = CODE_64;
	CHECK(!fetches()); /* L counts in long mode only */
}

static void check_fetch(const char *what, uint64_t rip, unsigned steps)
{
	check_context.subject = what;
	fields[X86_RIP] = rip;
	reads = 0;
	CHECK(fetches());
	CHECK_EQ(reads, steps + 1);
}

/* Leaves of 2 MiB and 1 GiB, of stage 2 and of the guest's tables: there is nothing below them. SDM vol. 3A, 4.5.4: bit 12 is PAT there. */
static void test_large_leaves(void)
{
	enum { AT = 0x5123, PAT = 1 << 12 };
	uint64_t device = (uintptr_t)hal_arena_take(&arena, LARGE_BYTES / BH_PAGE_BYTES), huge;

	large_hpa = (uintptr_t)hal_arena_take(&arena, LARGE_BYTES / BH_PAGE_BYTES);
	huge = HUGE + large_hpa % HUGE;
	memcpy((void *)(uintptr_t)(large_hpa + AT), store, sizeof(store));
	CHECK_EQ(pt_map(&partition.stage2, LARGE, (hpa_t){ large_hpa }, LARGE_BYTES, 7, HAL_MEMORY_RAM), HAL_OK);
	CHECK_EQ(pt_map(&partition.stage2, LARGE_DEVICE, (hpa_t){ device }, LARGE_BYTES, 3, HAL_MEMORY_DEVICE), HAL_OK);
	CHECK_EQ(pt_map(&partition.stage2, HUGE, (hpa_t){ large_hpa & ~(uint64_t)(HUGE - 1) }, HUGE, 7, HAL_MEMORY_RAM), HAL_OK);

	four_levels(TABLES, LARGE + (AT & ~0xfff) + P);
	check_fetch("stage 2, 2 MiB", LINEAR + (AT & 0xfff), 4);
	four_levels(TABLES, huge + (AT & ~0xfff) + P);
	check_fetch("stage 2, 1 GiB", LINEAR + (AT & 0xfff), 4);
	four_levels(TABLES, LARGE_DEVICE + P);
	check_context.subject = "stage 2, 2 MiB of a device";
	CHECK(!fetches());

	put64(TABLES + 0x2000 + 8 * (LINEAR >> 21 & 511), LARGE + PAT + PS + P);
	check_fetch("guest, 2 MiB", LINEAR - LINEAR % LARGE_BYTES + AT, 3);
	put64(TABLES + 0x1000 + 8 * (LINEAR >> 30 & 511), HUGE + PAT + PS + P);
	check_fetch("guest, 1 GiB", LINEAR - LINEAR % HUGE + large_hpa % HUGE + AT, 2);
}

/* Tables and code in every place that is not RAM; the walk ends there. */
static void test_astray(void)
{
	static const uint64_t places[] = {
		0, DEVICE, READ_ONLY, HOLE, RAM_END, UINT64_C(1) << 47, UINT64_C(0xffffffffff000), (UINT64_C(1) << 48) + CODE
	};

	for (unsigned n = 0; n < sizeof(places) / sizeof(places[0]); n++) {
		check_context.subject = "astray";
		check_context.round = n;
		four_levels(TABLES, CODE + P);
		memcpy(ram(CODE), store, sizeof(store));
		fields[X86_RIP] = LINEAR;
		CHECK(fetches());
		four_levels(TABLES, places[n] + P);
		CHECK(!fetches());
		for (unsigned level = 0; level < 3; level++) {
			static const uint8_t shifts[] = { 39, 30, 21 };

			four_levels(TABLES, CODE + P);
			put64(TABLES + 0x1000 * level + 8 * (LINEAR >> shifts[level] & 511), places[n] + P);
			CHECK(!fetches());
		}
		four_levels(TABLES, CODE + P);
		fields[X86_CR3] = places[n];
		CHECK(!fetches());
		fields[X86_CR3] = TABLES;
	}
	four_levels(TABLES, CODE);
	CHECK(!fetches()); /* not present */
}

/* Over the end of a page: both are looked up; what the second lacks is missed only where it is needed. */
static void test_two_pages(void)
{
	check_context.subject = "two pages";
	four_levels(TABLES, CODE + P);
	put64(TABLES + 0x3000 + 8 * 6, CODE + 0x5000 + P);
	fields[X86_RIP] = LINEAR + 0xfff;
	memcpy(ram(CODE + 0xfff), store, 1);
	memcpy(ram(CODE + 0x5000), store + 1, 1);
	reads = 0;
	CHECK(fetches());
	CHECK_EQ(reads, 2 * (4 + 1));
	put64(TABLES + 0x3000 + 8 * 6, HOLE + P);
	CHECK(!fetches());
	CHECK_EQ(core.noted.code.count, 1);
	memcpy(ram(CODE + 0xffe), store, sizeof(store));
	fields[X86_RIP]--;
	CHECK(fetches());
}

/* 15 bytes at most, of which the first word has one: all three words are read, and not one more. SDM vol. 2A, 2.3.11. */
static void test_long_instruction(void)
{
	static const uint8_t prefix = 0x3e;

	check_context.subject = "a long instruction";
	four_levels(TABLES, CODE + P);
	fields[X86_RIP] = LINEAR + 7;
	for (unsigned prefixes = 13; prefixes <= 14; prefixes++) {
		memset(ram(CODE + 7), prefix, prefixes);
		memcpy(ram(CODE + 7 + prefixes), store, sizeof(store));
		reads = 0;
		CHECK_EQ(x86_fetch(&partition, &core.noted, BH_ACCESS_WRITE), prefixes == 13);
		CHECK_EQ(reads, 4 + X86_CODE_WORDS);
	}
}

static struct hal_exit access(enum bh_access kind)
{
	return (struct hal_exit){ .kind = BH_EXIT_MEMORY, .access = kind, .target = X86_TARGET_MEMORY, .gpa = DEVICE };
}

static void test_access(void)
{
	static const uint8_t high_byte[] = { 0x88, 0x27 }, load[] = { 0x44, 0x8b, 0x07 }, load_high[] = { 0x8a, 0x27 };
	struct hal_exit exit = access(BH_ACCESS_WRITE);

	check_context.subject = "access";
	four_levels(TABLES, CODE + P);
	fields[X86_RIP] = LINEAR;
	memcpy(ram(CODE), store, sizeof(store));
	core.registers.rax = 0x1122334455667788;
	CHECK(x86_decode_access(&core, &exit));
	CHECK_EQ(exit.kind, BH_EXIT_DEVICE);
	CHECK_EQ(exit.value, 0x55667788);
	CHECK_EQ(exit.width, 4);
	CHECK_EQ(exit.length, 2);
	memcpy(ram(CODE), high_byte, sizeof(high_byte));
	exit = access(BH_ACCESS_WRITE);
	CHECK(x86_decode_access(&core, &exit));
	CHECK_EQ(exit.value, 0x77);

	exit = access(BH_ACCESS_READ); /* a store does not read */
	CHECK(!x86_decode_access(&core, &exit));
	CHECK_EQ(exit.kind, BH_EXIT_MEMORY);
	exit = access(BH_ACCESS_WRITE);
	exit.target = X86_TARGET_RAX; /* a walk of the guest's tables */
	CHECK(!x86_decode_access(&core, &exit));
	exit = access(BH_ACCESS_EXECUTE); /* the instruction itself runs on there; what has begun in RAM looks like a store */
	CHECK(!x86_decode_access(&core, &exit));
	CHECK_EQ(exit.kind, BH_EXIT_MEMORY);
	for (unsigned waits = 0; waits < 2; waits++) {
		event = waits; /* the exit came of its delivery */
		exit = access(BH_ACCESS_WRITE);
		x86_decode_memory(&core, &exit);
		CHECK_EQ(exit.kind, waits ? BH_EXIT_MEMORY : BH_EXIT_DEVICE);
	}
	event = false;

	memcpy(ram(CODE), load, sizeof(load));
	exit = access(BH_ACCESS_READ);
	CHECK(x86_decode_access(&core, &exit));
	CHECK_EQ(exit.target, 8);
	CHECK_EQ(exit.width, 4);
	CHECK_EQ(exit.value, 0);
	memcpy(ram(CODE), load_high, sizeof(load_high));
	exit = access(BH_ACCESS_READ);
	CHECK(x86_decode_access(&core, &exit));
	CHECK_EQ(exit.target, X86_TARGET_HIGH);
	CHECK_EQ(exit.width, 1);
}

/* What a core at LINEAR that has exited by a store gives to whom: the register's number, or NOTHING. */
enum { NOTHING = UINT8_MAX };
static unsigned stores(void)
{
	struct hal_exit exit = access(BH_ACCESS_WRITE);

	reads = 0;
	return x86_decode_access(&core, &exit) && exit.width == 4 && exit.length == 2 && exit.value == exit.target ? exit.target : NOTHING;
}

/* mov %reg, (%rdi) */
static void put_store(uint64_t gpa, unsigned number)
{
	memcpy(ram(gpa), (const uint8_t[]){ 0x89, (uint8_t)(7 | number << 3) }, 2);
}

/* One page of code, and others that differ in the register; the values of registers are their numbers. */
static void prepare_stores(void)
{
	for (unsigned n = 0; n < 8; n++) {
		(&core.registers.rax)[n] = n;
		put_store(CODE + n * BH_PAGE_BYTES, n);
	}
	four_levels(TABLES, CODE + P);
	four_levels(TABLES + 0x8000, CODE + BH_PAGE_BYTES + P);
	fields[X86_RIP] = LINEAR;
}

/* The same instruction again is looked at word by word, and neither walked to nor decoded; whatever has changed since counts. */
static void test_again(void)
{
	enum { READS = 4 + 1 };
	static const uint8_t shifts[] = { 39, 30, 21, 12 };

	prepare_stores();
	check_context.subject = "again";
	CHECK_EQ(stores(), 0);
	core.noted.mov.target = 2; /* seen if it is not decoded */
	fields[X86_RFLAGS]++;      /* most instructions change it */
	CHECK_EQ(stores(), 2);
	CHECK_EQ(reads, READS);
	check_context.subject = "another instruction";
	put_store(CODE, 3);
	CHECK_EQ(stores(), 3);
	check_context.subject = "other entries";
	for (unsigned level = 0; level < 4; level++) {
		uint64_t next = level < 3 ? TABLES + 0x8000 + 0x1000 * (level + 1) : CODE + BH_PAGE_BYTES;

		check_context.round = level;
		four_levels(TABLES, CODE + P);
		CHECK_EQ(stores(), 3);
		put64(TABLES + 0x1000 * level + 8 * (LINEAR >> shifts[level] & 511), next + P);
		CHECK_EQ(stores(), 1);
		put64(TABLES + 0x1000 * level + 8 * (LINEAR >> shifts[level] & 511), 0);
		CHECK_EQ(stores(), NOTHING);
	}
}

/* Of what decides which instruction it is, each alone. */
static void test_another_state(void)
{
	static const struct {
		const char *what;
		enum x86_field field;
		uint64_t value;
		unsigned stores;
	} rows[] = {
		{ "CR3", X86_CR3, TABLES + 0x8000, 1 },         { "RIP", X86_RIP, LINEAR + 0x1000, 2 },
		{ "CR0: no paging", X86_CR0, CR0_PE, NOTHING }, { "CR4: five levels", X86_CR4, CR4_PAE | CR4_LA57, NOTHING },
		{ "EFER: no long mode", X86_EFER, 0, NOTHING }, { "CS: 16-bit code", X86_CS, CODE_16, NOTHING },
	};

	prepare_stores();
	put64(TABLES + 0x3000 + 8 * 6, CODE + 2 * BH_PAGE_BYTES + P);
	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		uint64_t before = fields[rows[n].field];

		check_context.subject = rows[n].what;
		CHECK_EQ(stores(), 0);
		fields[rows[n].field] = rows[n].value;
		CHECK_EQ(stores(), rows[n].stores);
		fields[rows[n].field] = before;
		CHECK_EQ(stores(), 0);
	}
	check_context.subject = "CS base";
	fields[X86_CR0] = CR0_PE;
	fields[X86_EFER] = 0;
	fields[X86_CS] = CODE_32;
	fields[X86_RIP] = CODE;
	CHECK_EQ(stores(), 0);
	fields[X86_CS_BASE] = BH_PAGE_BYTES;
	CHECK_EQ(stores(), 1);
	check_context.subject = "a load";
	CHECK(!x86_decode_access(&core, &(struct hal_exit){ .access = BH_ACCESS_READ, .target = X86_TARGET_MEMORY }));
	CHECK_EQ(stores(), 1);
}

/* What was not understood is not taken for what was understood before. */
static void test_nothing_noted(void)
{
	check_context.subject = "nothing noted";
	prepare_stores();
	CHECK_EQ(stores(), 0);
	memcpy(ram(CODE), "\x01\x07", 2); /* add %eax, (%rdi) */
	CHECK_EQ(stores(), NOTHING);
	CHECK_EQ(stores(), NOTHING);
	fields[X86_CR3] = HOLE;
	CHECK_EQ(stores(), NOTHING);
	CHECK_EQ(stores(), NOTHING);
}

/* Either page, and the way to either. */
static void test_again_over_two_pages(void)
{
	enum { ENTRY = TABLES + 0x3000 + 8 * 5 };
	const uint64_t second = CODE + 0x5000;

	check_context.subject = "again, two pages";
	prepare_stores();
	put64(ENTRY + 8, second + P);
	fields[X86_RIP] = LINEAR + 0xfff;
	memcpy(ram(CODE + 0xfff), store, 1);
	memcpy(ram(CODE + BH_PAGE_BYTES + 0xfff), "\x88", 1);
	for (unsigned number = 0; number < 2; number++) {
		*(uint8_t *)ram(second) = (uint8_t)(7 | number << 3);
		CHECK_EQ(stores(), number);
		CHECK_EQ(stores(), number);
		CHECK(reads >= 8 + 2);
	}
	*(uint8_t *)ram(CODE + 0x6000) = 7 | 6 << 3;
	put64(ENTRY + 8, CODE + 0x6000 + P);
	CHECK_EQ(stores(), 6);
	put64(ENTRY, CODE + BH_PAGE_BYTES + P); /* of a byte */
	CHECK_EQ(stores(), NOTHING);
}

/* SDM vol. 2A, table 2-2. */
static void test_registers(void)
{
	uint64_t *const order[] = { &core.registers.rax, &core.registers.rcx, &core.registers.rdx, &core.registers.rbx,
				    &core.registers.rsp, &core.registers.rbp, &core.registers.rsi, &core.registers.rdi,
				    &core.registers.r8,  &core.registers.r9,  &core.registers.r10, &core.registers.r11,
				    &core.registers.r12, &core.registers.r13, &core.registers.r14, &core.registers.r15 };

	for (uint32_t n = 0; n < 16; n++) {
		check_context.subject = "register";
		check_context.round = n;
		CHECK(x86_register(&core, n | X86_TARGET_HIGH) == order[n]);
	}
}

int main(void)
{
	static const struct pt_format *const formats[] = { &pt_ept, &pt_npt };
	void (*const tests[])(
		void) = { test_paging,   test_large_leaves,     test_astray,        test_two_pages,     test_access,
			  test_again,    test_long_instruction, test_another_state, test_nothing_noted, test_again_over_two_pages,
			  test_registers };

	for (unsigned format = 0; format < 2; format++)
		for (unsigned n = 0; n < sizeof(tests) / sizeof(tests[0]); n++) {
			prepare(formats[format]);
			tests[n]();
		}
	return 0;
}
