/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I4.doorbell. Lines that others ring, as a guest finds them in its I/O APIC: pins of nobody's, which are told of instead of programmed.
 * A part of ioapic_test.c, whose machine and sandbox these are.
 */
#pragma once

enum { RUNG = BH_FIRST_RUNG_LINE + 5, RUNG_VECTOR = 0x65 };
static struct bh_channel_end told[BH_MAX_CHANNELS + 1];

static void check_told(uint32_t vector, uint32_t core)
{
	CHECK_EQ(told[0].vector, vector);
	CHECK(!vector || told[0].core == core);
}

static void program_rung(uint32_t entry, uint32_t low_word, uint32_t high_word, enum hal_action expected)
{
	CHECK_EQ(write_register(entry, low_word | MASKED), HAL_SKIP);
	check_told(0, 0);
	CHECK_EQ(write_register(entry + 1, high_word), HAL_SKIP);
	CHECK_EQ(write_register(entry, low_word), expected);
}

/* Its own cores, vectors that lines may have, and no other delivery: as of any line. */
static void check_rung_entry(uint32_t entry)
{
	program_rung(entry, 0x55, 3u << 24, HAL_SKIP);
	check_told(0x55, 3);
	CHECK_EQ(read_register(entry), 0x55);
	CHECK_EQ(read_register(entry + 1), 3u << 24);
	CHECK_EQ(write_register(entry + 1, 1u << 24), HAL_SKIP);
	check_told(0x55, 1);
	CHECK_EQ(write_register(entry + 1, 2u << 24), HAL_FAULT);
	check_told(0x55, 1);
	CHECK_EQ(read_register(entry + 1), 1u << 24);
	CHECK_EQ(write_register(entry, 0x56), HAL_SKIP);
	check_told(0x56, 1);
	CHECK_EQ(write_register(entry, MASKED | 0x56), HAL_SKIP);
	check_told(0, 0);
	CHECK_EQ(read_register(entry), MASKED | 0x56);
	program_rung(entry, 0x1f, 3u << 24, HAL_FAULT);
	check_told(0, 0);
	program_rung(entry, 0x456, 3u << 24, HAL_FAULT); /* NMI */
	check_told(0, 0);
	program_rung(entry, 0x56, 2u << 24, HAL_FAULT);
	check_told(0, 0);
	program_rung(entry, 0xa857, 1u << 25, HAL_SKIP); /* logical; level-triggered and active low, which it is not */
	check_told(0x57, 1);
	CHECK_EQ(write_register(entry, 0x5857), HAL_SKIP); /* no state of its own, and none of a pin's that there is */
	CHECK_EQ(read_register(entry), 0x857);
}

static void test_rung(void)
{
	uint32_t before[sizeof(machine) / sizeof(machine[0])];

	check_context.subject = "rung";
	prepare();
	partition.line_target[1] = 0x18010000; /* of lines that go through VT-d */
	memset(told, 0xee, sizeof(told));
	CHECK(ioapic_grant_rung(&partition.ioapic, RUNG, 0, RUNG_VECTOR, BH_LINE_RUNG, shared, &told[0]));
	ioapic_reset(&partition, cores[0].self);
	ioapic_open(&cores[1]); /* another line is opened, and this one goes to the other core */
	check_told(0, 0);
	memcpy(before, machine, sizeof(machine));
	selected = UINT32_MAX;
	CHECK_EQ(read_register(low(RUNG)), MASKED | RUNG_VECTOR);
	CHECK_EQ(read_register(IOAPICVER), RUNG << IOAPICVER_ENTRIES_SHIFT | IOAPICVER_82093AA);
	ioapic_open(&cores[0]);
	check_told(RUNG_VECTOR, 3);
	check_rung_entry(low(RUNG));
	ioapic_open(&cores[0]);
	check_told(0x57, 1);            /* as its guest has it */
	CHECK_EQ(selected, UINT32_MAX); /* and nothing of the machine's has been asked for */
	CHECK(!memcmp(machine, before, sizeof(machine)));
	ioapic_reset(&partition, cores[0].self);
	check_told(0, 0);
	ioapic_open(&cores[0]);
	check_told(RUNG_VECTOR, 3);

	check_context.subject = "rung, and opened by its guest";
	prepare();
	CHECK(ioapic_grant_rung(&partition.ioapic, RUNG, 0, RUNG_VECTOR, BH_LINE_RUNG | BH_LINE_MASKED, shared, &told[0]));
	ioapic_reset(&partition, cores[0].self);
	ioapic_open(&cores[0]);
	check_told(0, 0);
	check_rung_entry(low(5)); /* after three others */
}

/* What is refused leaves the view as it was. */
static void check_refused(struct ioapic_view *view, uint32_t line, uint32_t flags)
{
	struct ioapic_view before = *view;

	CHECK(!ioapic_grant_rung(view, line, 0, RUNG_VECTOR, flags, shared, &told[BH_MAX_CHANNELS]));
	CHECK(!memcmp(&before, view, sizeof(before)));
}

static void test_rung_grants(void)
{
	struct ioapic_view view;

	check_context.subject = "lines that cannot be rung";
	memset(&view, 0, sizeof(view));
	check_refused(&view, BH_FIRST_RUNG_LINE - 1, BH_LINE_RUNG);
	check_refused(&view, BH_LAST_RUNG_LINE + 1, BH_LINE_RUNG);
	check_refused(&view, EDGE, BH_LINE_RUNG);
	check_refused(&view, RUNG, BH_LINE_RUNG | BH_LINE_LEVEL);
	CHECK(ioapic_grant_rung(&view, BH_LAST_RUNG_LINE, 0, RUNG_VECTOR, BH_LINE_RUNG, shared, &told[0]));
	for (unsigned n = 1; n < BH_MAX_CHANNELS; n++)
		CHECK(ioapic_grant_rung(&view, BH_FIRST_RUNG_LINE + n, 0, RUNG_VECTOR, BH_LINE_RUNG, shared, &told[n]));
	check_refused(&view, BH_FIRST_RUNG_LINE, BH_LINE_RUNG); /* a channel has one end here */

	check_context.subject = "no room for lines that are rung";
	memset(&view, 0, sizeof(view));
	for (unsigned n = 0; n < IOAPIC_LINES; n++)
		CHECK(ioapic_grant(&view, EDGE, 0, EDGE_VECTOR, 0, shared));
	check_refused(&view, RUNG, BH_LINE_RUNG);
	unlocked_accesses = 0; /* start-up is alone */
}
