/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hal.h's contracts: what each function returns for each wrong argument, the same on every machine. One set of tables for all
 * backends: contract_x86_test.c and contract_arm_test.c run it over a backend's own files and a machine that is memory, whose constants
 * (MACHINE_*) stand before this header.
 *
 * Where several failures hold at once, the one that hal.h names first is returned: rows with two mistakes say so.
 */
#pragma once
#include <string.h>

#include "check.h"
#include "frames.h"

enum { FRAMES = 128, OWN = 2, OWN_SECOND = 3, FOREIGN = 5, TARGET = 1, R = HAL_READ, RW = HAL_READ | HAL_WRITE };
#define KiB4       UINT64_C(0x1000)
#define MiB2       UINT64_C(0x200000)
#define BEYOND     (UINT64_C(1) << 52)
#define IN_THE_WAY UINT64_C(0x600000)

static struct hal_arena arena;
static struct hal_kick_mailbox boxes[BH_MAX_CORES + HAL_LOCKS];
static struct hal_partition *own, *other;
static struct hal_core *first;

static const struct hal_partition_config good = {
	.index = 0, .core_count = 2, .cores = { OWN, OWN_SECOND }, .hardware_id = { 2, 3 }, .kick_mailboxes = boxes
};

static struct hal_partition *make(uint32_t index, uint32_t core, uint32_t count)
{
	struct hal_partition_config config = good;
	struct hal_partition *partition = NULL;

	config.index = index;
	config.core_count = count;
	config.cores[0] = core;
	CHECK_EQ(hal_partition_create(&arena, &config, &partition), HAL_OK);
	return partition;
}

/* Two sandboxes; the first has one core, two pages mapped, and another sandbox that it may not kick. */
static void prepare(bool sealed)
{
	static const struct hal_entry entry = { .pc = { 0x1000 } };

	machine_reset();
	memset(boxes, 0, sizeof(boxes));
	arena = frames_arena(FRAMES);
	own = make(0, OWN, 2);
	other = make(TARGET, FOREIGN, 1);
	CHECK_EQ(hal_partition_map(own, (gpa_t){ IN_THE_WAY }, (hpa_t){ MiB2 }, 2 * KiB4, RW, HAL_MEMORY_RAM), HAL_OK);
	CHECK_EQ(hal_core_create(own, &arena, 0, &entry, &first), HAL_OK);
	if (sealed)
		hal_partition_seal(own);
}

/* ---- Partitions ---- */

static void test_create(void)
{
	static const struct {
		uint32_t index, core_count, core;
		bool no_frames;
		enum hal_status expected;
	} rows[] = {
		{ 0, 1, OWN, false, HAL_OK },
		{ BH_MAX_SANDBOXES - 1, BH_MAX_SANDBOX_CORES, BH_MAX_CORES - 1, false, HAL_OK },
		{ BH_MAX_SANDBOXES, 1, OWN, false, HAL_E_RANGE },
		{ 0, 0, OWN, false, HAL_E_RANGE },
		{ 0, BH_MAX_SANDBOX_CORES + 1, OWN, false, HAL_E_RANGE },
		{ 0, 1, BH_MAX_CORES, false, HAL_E_RANGE },
		{ BH_MAX_SANDBOXES, 1, OWN, true, HAL_E_RANGE },
		{ 0, 1, OWN, true, HAL_E_NOMEM },
	};

	check_context.subject = "create";
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		struct hal_partition_config config = good;
		struct hal_partition *out = NULL;

		check_context.round = n;
		prepare(false);
		config.index = rows[n].index;
		config.core_count = rows[n].core_count;
		config.cores[0] = rows[n].core;
		if (rows[n].no_frames)
			arena.end = arena.next, arena.small_end = arena.small;
		CHECK_EQ(hal_partition_create(&arena, &config, &out), rows[n].expected);
		CHECK_EQ(out != NULL, rows[n].expected == HAL_OK);
	}
}

/* With each number of frames that is too few. */
static void test_create_nomem(void)
{
	check_context.subject = "create, too few frames";
	for (check_context.round = 0;; check_context.round++) {
		struct hal_partition *out = NULL;
		enum hal_status status;

		prepare(false);
		arena.end = arena.next + check_context.round * BH_PAGE_BYTES;
		status = hal_partition_create(&arena, &good, &out);
		CHECK_EQ(out != NULL, status == HAL_OK);
		if (status == HAL_OK)
			break;
		CHECK_EQ(status, HAL_E_NOMEM);
	}
	CHECK(check_context.round > 0);
}

static const struct map_row {
	uint64_t gpa, hpa, size;
	unsigned permissions;
	enum hal_memory memory;
	bool sealed;
	enum hal_status expected;
} map_rows[] = {
	{ MiB2, MiB2, MiB2, RW, HAL_MEMORY_RAM, false, HAL_OK },
	{ MiB2, MiB2, MiB2, RW, HAL_MEMORY_RAM, true, HAL_E_SEALED },
	{ MiB2 + 1, MiB2, MiB2, RW, HAL_MEMORY_RAM, true, HAL_E_SEALED },
	{ MiB2 + 1, MiB2, MiB2, RW, HAL_MEMORY_RAM, false, HAL_E_RANGE },
	{ MiB2, MiB2 + 8, MiB2, RW, HAL_MEMORY_RAM, false, HAL_E_RANGE },
	{ MiB2, MiB2, MiB2 + 8, RW, HAL_MEMORY_RAM, false, HAL_E_RANGE },
	{ MiB2, MiB2, 0, RW, HAL_MEMORY_RAM, false, HAL_E_RANGE },
	{ BEYOND, MiB2, MiB2, RW, HAL_MEMORY_RAM, false, HAL_E_RANGE },
	{ MiB2, BEYOND, MiB2, RW, HAL_MEMORY_RAM, false, HAL_E_RANGE },
	{ MiB2, MiB2, -MiB2, RW, HAL_MEMORY_RAM, false, HAL_E_RANGE },
	{ MiB2, MiB2, 0, 0, HAL_MEMORY_RAM, false, HAL_E_RANGE },
	{ MiB2, MiB2, MiB2, 0, HAL_MEMORY_RAM, false, HAL_E_PERMISSION },
	{ MiB2, MiB2, MiB2, HAL_WRITE, HAL_MEMORY_RAM, false, HAL_E_PERMISSION },
	{ MiB2, MiB2, MiB2, 8, HAL_MEMORY_RAM, false, HAL_E_PERMISSION },
	{ MiB2, MiB2, MiB2, R | HAL_EXECUTE, HAL_MEMORY_DEVICE, false, HAL_E_PERMISSION },
	{ IN_THE_WAY, MiB2, KiB4, 0, HAL_MEMORY_RAM, false, HAL_E_PERMISSION },
	{ IN_THE_WAY + KiB4, MiB2, KiB4, RW, HAL_MEMORY_RAM, false, HAL_E_OVERLAP },
};

static void test_map(void)
{
	check_context.subject = "map";
	for (size_t n = 0; n < sizeof(map_rows) / sizeof(map_rows[0]); n++) {
		const struct map_row *row = &map_rows[n];

		check_context.round = n;
		prepare(row->sealed);
		CHECK_EQ(hal_partition_map(own, (gpa_t){ row->gpa }, (hpa_t){ row->hpa }, row->size, row->permissions, row->memory),
			 row->expected);
	}
	check_context.subject = "map, as far as addresses reach";
	prepare(false);
	CHECK_EQ(hal_partition_map(own, (gpa_t){ machine_end(own) }, (hpa_t){ MiB2 }, MiB2, RW, HAL_MEMORY_RAM), HAL_E_RANGE);
	CHECK_EQ(hal_partition_map(own, (gpa_t){ machine_end(own) - KiB4 }, (hpa_t){ MiB2 }, 2 * KiB4, RW, HAL_MEMORY_RAM), HAL_E_RANGE);
	CHECK_EQ(hal_partition_map(own, (gpa_t){ machine_end(own) - MiB2 }, (hpa_t){ MiB2 }, MiB2, RW, HAL_MEMORY_RAM), HAL_OK);
	check_context.subject = "map, no frames";
	prepare(false);
	arena.end = arena.next;
	CHECK_EQ(hal_partition_map(own, (gpa_t){ 0x40000000 }, (hpa_t){ 0 }, KiB4, RW, HAL_MEMORY_RAM), HAL_E_NOMEM);
}

static void test_query(void)
{
	struct hal_leaf leaf = { .size = 1 };

	check_context.subject = "query";
	prepare(true);
	CHECK(!hal_partition_query(own, (gpa_t){ BEYOND }, &leaf));
	CHECK_EQ(leaf.size, 1);
	CHECK(hal_partition_query(own, (gpa_t){ IN_THE_WAY }, &leaf));
	CHECK_EQ(leaf.size, KiB4);
}

/* A machine without ports says so of every argument. */
static void test_ports(void)
{
	static const struct {
		uint32_t first, count;
		bool sealed;
		enum hal_status expected;
	} rows[] = {
		{ 0x3f8, 8, false, HAL_OK },       { 0xffff, 1, false, HAL_OK },          { 0x3f8, 8, true, HAL_E_SEALED },
		{ 0x3f8, 0, true, HAL_E_SEALED },  { 0x3f8, 0, false, HAL_E_RANGE },      { 0x10000, 1, false, HAL_E_RANGE },
		{ 0xffff, 2, false, HAL_E_RANGE }, { 8, UINT32_MAX, false, HAL_E_RANGE },
	};

	check_context.subject = "ports";
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		check_context.round = n;
		prepare(rows[n].sealed);
		CHECK_EQ(hal_partition_allow_ports(own, rows[n].first, rows[n].count),
			 MACHINE_HAS_PORTS ? rows[n].expected : HAL_E_UNSUPPORTED);
	}
}

static void test_lines(void)
{
	static const struct {
		uint32_t line, core, vector;
		bool sealed;
		enum hal_status expected;
	} rows[] = {
		{ MACHINE_LINE, OWN, MACHINE_VECTOR, false, HAL_OK },
		{ MACHINE_LINE, OWN_SECOND, MACHINE_VECTOR, false, HAL_OK },
		{ MACHINE_LINE, OWN, MACHINE_VECTOR, true, HAL_E_SEALED },
		{ MACHINE_NO_LINE, FOREIGN, 0, true, HAL_E_SEALED },
		{ MACHINE_LINE, FOREIGN, MACHINE_VECTOR, false, HAL_E_DENIED },
		{ MACHINE_LINE, UINT32_MAX, MACHINE_VECTOR, false, HAL_E_DENIED },
		{ MACHINE_NO_LINE, FOREIGN, MACHINE_VECTOR, false, HAL_E_DENIED },
		{ MACHINE_LINE, FOREIGN, 0, false, HAL_E_DENIED },
		{ MACHINE_NO_LINE, OWN, MACHINE_VECTOR, false, HAL_E_RANGE },
		{ UINT32_MAX, OWN, MACHINE_VECTOR, false, HAL_E_RANGE },
		{ MACHINE_LINE, OWN, 0, false, MACHINE_VECTOR ? HAL_E_RANGE : HAL_OK },
		{ MACHINE_LINE, OWN, MACHINE_VECTOR ? 255 : 0, false, MACHINE_VECTOR ? HAL_E_RANGE : HAL_OK },
	};

	check_context.subject = "lines";
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		check_context.round = n;
		prepare(rows[n].sealed);
		CHECK_EQ(hal_partition_grant_line(own, rows[n].line, rows[n].core, rows[n].vector, 0), rows[n].expected);
	}
}

/* A line that others ring is judged as any line. Alone it opens no way from the machine's lines to the sandbox's cores. */
static void test_doorbells(void)
{
	static const struct {
		struct bh_line line;
		bool sealed;
		enum hal_status expected;
	} rows[] = {
		{ { 0, MACHINE_RUNG, OWN, MACHINE_VECTOR, BH_LINE_RUNG }, false, HAL_OK },
		{ { 0, MACHINE_RUNG, OWN_SECOND, MACHINE_VECTOR, BH_LINE_RUNG }, false, HAL_OK },
		{ { 0, MACHINE_RUNG, OWN, MACHINE_VECTOR, BH_LINE_RUNG }, true, HAL_E_SEALED },
		{ { 0, MACHINE_NO_LINE, FOREIGN, 0, BH_LINE_RUNG }, true, HAL_E_SEALED },
		{ { 0, MACHINE_RUNG, FOREIGN, MACHINE_VECTOR, BH_LINE_RUNG }, false, HAL_E_DENIED },
		{ { 0, MACHINE_NO_LINE, FOREIGN, 0, BH_LINE_RUNG }, false, HAL_E_DENIED },
		{ { 0, MACHINE_NO_LINE, OWN, MACHINE_VECTOR, BH_LINE_RUNG }, false, HAL_E_RANGE },
		{ { 0, UINT32_MAX, OWN, MACHINE_VECTOR, BH_LINE_RUNG }, false, HAL_E_RANGE },
		{ { 0, MACHINE_RUNG, OWN, 0, BH_LINE_RUNG }, false, MACHINE_VECTOR ? HAL_E_RANGE : HAL_OK },
		{ { 0, MACHINE_RUNG, OWN, 255, BH_LINE_RUNG }, false, MACHINE_VECTOR ? HAL_E_RANGE : HAL_OK },
	};
	static struct bh_channel_end told;

	check_context.subject = "doorbells";
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		check_context.round = n;
		prepare(rows[n].sealed);
		CHECK_EQ(hal_partition_grant_doorbell(own, &rows[n].line, &told), rows[n].expected);
		CHECK(!machine_admits_lines(own));
	}
	check_context.round = 0;
	prepare(false);
	CHECK_EQ(hal_partition_grant_doorbell(own, &rows[0].line, &told), HAL_OK);
	CHECK_EQ(hal_partition_grant_line(own, MACHINE_LINE, OWN, MACHINE_VECTOR, 0), HAL_OK);
	CHECK_EQ(machine_admits_lines(own), MACHINE_SHARES_LINES);
	CHECK(!told.epoch && !told.state && !told.sandbox);
}

static void test_functions(void)
{
	static const struct {
		uint32_t id, identity;
		bool sealed;
		enum hal_status expected;
	} rows[] = {
		{ FUNCTION_ID, FUNCTION_IDENTITY, false, HAL_OK },
		{ FUNCTION_ID, FUNCTION_IDENTITY, true, HAL_E_SEALED },
		{ UINT16_MAX, FUNCTION_IDENTITY, true, HAL_E_SEALED },
		{ UINT16_MAX, FUNCTION_IDENTITY, false, HAL_E_RANGE },
		{ FUNCTION_ID, FUNCTION_IDENTITY + 1, false, HAL_E_UNSUPPORTED },
		{ FUNCTION_ID + 1, FUNCTION_IDENTITY, false, HAL_E_UNSUPPORTED },
	};

	check_context.subject = "functions";
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		const struct bh_pci_function function = { .id = (uint16_t)rows[n].id, .identity = rows[n].identity };

		check_context.round = n;
		prepare(rows[n].sealed);
		CHECK_EQ(hal_partition_grant_function(own, &function), rows[n].expected);
	}
}

static void test_show(void)
{
	const hpa_t absent = { 0x40000000 };

	check_context.subject = "show functions";
	prepare(true);
	CHECK_EQ(hal_partition_show_functions(own, absent), HAL_E_SEALED);
	prepare(false);
	CHECK_EQ(hal_partition_show_functions(own, absent), HAL_OK);
	CHECK_EQ(hal_partition_show_functions(own, absent), MACHINE_HAS_ECAM ? HAL_E_OVERLAP : HAL_OK);
}

/* ---- Cores ---- */

static void test_cores(void)
{
	static const struct hal_entry entry = { .pc = { 0x2000 } };
	static const struct {
		uint32_t slot;
		bool no_frames;
		enum hal_status expected;
	} rows[] = {
		{ 1, false, HAL_OK },      { 1, true, HAL_E_NOMEM }, { 0, false, HAL_E_OVERLAP },        { 0, true, HAL_E_OVERLAP },
		{ 2, false, HAL_E_RANGE }, { 2, true, HAL_E_RANGE }, { UINT32_MAX, false, HAL_E_RANGE },
	};

	check_context.subject = "cores";
	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		struct hal_core *out = NULL;

		check_context.round = n;
		prepare(true);
		if (rows[n].no_frames)
			arena.end = arena.next;
		CHECK_EQ(hal_core_create(own, &arena, rows[n].slot, &entry, &out), rows[n].expected);
		CHECK_EQ(out != NULL, rows[n].expected == HAL_OK);
	}
}

/* With each number of frames that is too few: what fails leaves nothing behind. */
static void test_cores_nomem(void)
{
	static const struct hal_entry entry = { .pc = { 0x2000 } };
	struct hal_core *out = NULL;

	check_context.subject = "cores, too few frames";
	for (check_context.round = 0; !out; check_context.round++) {
		uint64_t end;
		enum hal_status status;

		prepare(true);
		end = arena.end;
		arena.end = arena.next + check_context.round * BH_PAGE_BYTES;
		status = hal_core_create(own, &arena, 1, &entry, &out);
		CHECK_EQ(status, out ? HAL_OK : HAL_E_NOMEM);
		arena.end = end;
		CHECK_EQ(hal_core_create(own, &arena, 1, &entry, &out), status == HAL_OK ? HAL_E_OVERLAP : HAL_OK);
		if (status != HAL_OK)
			out = NULL;
	}
}

/* What a loader left is gone when start-up goes on; what does not go is told. */
static void test_silence(void)
{
	static const struct {
		uint32_t stuck;
		bool silent;
	} rows[] = { { 0, true }, { PCI_COMMAND_DECODE, true }, { PCI_COMMAND_MASTER, false } };

	check_context.subject = "silence";
	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		check_context.round = n;
		function_command = function_posted = PCI_COMMAND_DECODE | PCI_COMMAND_MASTER;
		function_stuck = rows[n].stuck;
		CHECK_EQ(hal_machine_silence_functions(), rows[n].silent);
		CHECK_EQ(function_command, PCI_COMMAND_INTX_DISABLE | rows[n].stuck);
	}
	check_context.round = function_command = function_posted = function_stuck = 0;
}

/* By their numbers in the machine: cores of several sandboxes meet at a lock. Who has no line has no part in the lock of those who have. */
static void test_locks(void)
{
	static const struct hal_entry entry = { .pc = { 0x2000 } };
	struct hal_core *second = NULL;

	check_context.subject = "locks";
	prepare(false);
	CHECK_EQ(hal_core_create(own, &arena, 1, &entry, &second), HAL_OK);
	CHECK_EQ(first->self, 1u << OWN);
	CHECK_EQ(second->self, 1u << OWN_SECOND);
	CHECK(machine_lock(own) == &own->pci.own);
	CHECK_EQ(hal_partition_grant_line(own, MACHINE_LINE, OWN, MACHINE_VECTOR, 0), HAL_OK);
	CHECK((machine_lock(own) == hal_lock_of(boxes, HAL_LOCK_IOAPIC)) == MACHINE_SHARES_LINES);
	CHECK(machine_lock(other) == &other->pci.own);
}

/* ---- The monitor's own address space ---- */

static void test_space(void)
{
	struct hal_space *space = NULL;
	uint64_t end;

	check_context.subject = "space";
	prepare(true);
	end = arena.end;
	arena.end = arena.next;
	CHECK_EQ(hal_space_create(&arena, &space), HAL_E_NOMEM);
	CHECK(!space);
	arena.end = end;
	CHECK_EQ(hal_space_create(&arena, &space), HAL_OK);
	CHECK_EQ(hal_space_map(space, (const void *)MiB2, (hpa_t){ 8 }, KiB4, R, HAL_MEMORY_RAM), HAL_E_RANGE);
	CHECK_EQ(hal_space_map(space, (const void *)MiB2, (hpa_t){ 0 }, 0, R, HAL_MEMORY_RAM), HAL_E_RANGE);
	CHECK_EQ(hal_space_map(space, (const void *)MiB2, (hpa_t){ 0 }, KiB4, RW | HAL_EXECUTE, HAL_MEMORY_RAM), HAL_E_PERMISSION);
	CHECK_EQ(hal_space_map(space, (const void *)MiB2, (hpa_t){ 0 }, KiB4, R, HAL_MEMORY_RAM), HAL_OK);
	CHECK_EQ(hal_space_map(space, (const void *)MiB2, (hpa_t){ 0 }, KiB4, R, HAL_MEMORY_RAM), HAL_E_OVERLAP);

	check_context.subject = "RAM in a space";
	CHECK_EQ(hal_space_map_ram(space, (hpa_t){ IN_THE_WAY }, KiB4), HAL_OK);
	CHECK_EQ(hal_space_map_ram(space, (hpa_t){ IN_THE_WAY }, 0), HAL_E_RANGE);
	CHECK_EQ(hal_space_map_ram(space, (hpa_t){ IN_THE_WAY + 8 }, KiB4), HAL_E_RANGE);
	CHECK_EQ(hal_space_map_ram(space, (hpa_t){ IN_THE_WAY }, KiB4 + 8), HAL_E_RANGE);
}

/* ---- Kicks and notices ---- */

static void test_kicks(void)
{
	struct hal_kick_mailbox before[BH_MAX_CORES];

	check_context.subject = "a kick that was not allowed";
	prepare(true);
	hal_partition_seal(other);
	memcpy(before, boxes, sizeof(before));
	for (uint32_t target = 0; target < BH_MAX_SANDBOXES; target++) {
		CHECK_EQ(hal_kick_send(first, target), 0);
		CHECK(!hal_kick_answered(first, target, 0));
	}
	CHECK_EQ(machine_signals, 0);
	CHECK(!memcmp(before, boxes, sizeof(before)));
	hal_notice_send(first);
	CHECK_EQ(machine_signals, 0);

	check_context.subject = "a target that is not sealed";
	prepare(true);
	CHECK_EQ(hal_partition_allow_kick(own, other), HAL_E_SEALED);
	CHECK_EQ(hal_kick_send(first, TARGET), 0);
	CHECK_EQ(machine_signals, 0);

	check_context.subject = "a kick that was allowed";
	hal_partition_seal(other);
	hal_partition_seal(other);
	CHECK_EQ(hal_partition_allow_kick(own, other), HAL_OK);
	boxes[FOREIGN].awake = 1;
	CHECK_EQ(hal_kick_send(first, TARGET), 1);
	CHECK_EQ(machine_signals, 1);
	CHECK(!hal_kick_answered(first, TARGET, 1));
	boxes[FOREIGN].acknowledged = 1;
	CHECK(hal_kick_answered(first, TARGET, 1));
}

int main(void)
{
	test_create();
	test_create_nomem();
	test_map();
	test_query();
	test_ports();
	test_lines();
	test_doorbells();
	test_functions();
	test_show();
	test_cores();
	test_cores_nomem();
	test_locks();
	test_silence();
	test_space();
	test_kicks();
	return 0;
}
