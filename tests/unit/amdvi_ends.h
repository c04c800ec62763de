/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of commands that come late or not at all, and what goes on meanwhile: a part of amdvi_test.c, whose machine this is. */
#pragma once

/* It closes the entries all the same, and puts nothing behind commands that are not read; when they are, it goes on. */
static void test_an_end_that_does_not_come(void)
{
	uint64_t tail;

	check_context.subject = "an end that does not come";
	begin();
	CHECK(iommu_open(&view, SELF));
	CHECK_EQ(dma(NIC, GUEST), RAM);
	machine.hung = true;
	machine.turns = 0;
	CHECK(!iommu_close(&view, SELF));
	CHECK_EQ(machine.turns, TURNS);
	CHECK_EQ(*word_at(tables + NIC * 32), 3);
	tail = *at(0x2008);
	for (unsigned n = 0; n < 300; n++)
		CHECK(!iommu_open(&neighbour, SELF));
	CHECK(*word_at(tables + OTHER * 32) != 3);
	CHECK(!iommu_close(&neighbour, SELF));
	CHECK_EQ(*word_at(tables + OTHER * 32), 3);
	CHECK_EQ(*at(0x2008), tail);
	machine.hung = false;
	read_commands();
	CHECK_EQ(dma(NIC, GUEST), ABORTED);
	CHECK(iommu_close(&view, SELF));
	CHECK(iommu_open(&neighbour, SELF));
}

/* A function that goes on while its entry is closed. */
static void test_busy(void)
{
	check_context.subject = "a function that goes on";
	begin();
	CHECK(iommu_open(&view, SELF));
	CHECK_EQ(dma(NIC, GUEST), RAM);
	machine.busy = NIC;
	CHECK(iommu_close(&view, SELF));
	CHECK_EQ(dma(NIC, GUEST), ABORTED);
}

/* Who comes next waits for what another has given up. */
static void test_an_end_that_comes_late(void)
{
	check_context.subject = "an end that comes late";
	begin();
	CHECK(iommu_open(&view, SELF));
	CHECK_EQ(dma(NIC, GUEST), RAM);
	machine.slow = TURNS + 3;
	CHECK(!iommu_close(&view, SELF));
	machine.slow = 0;
	machine.turns = 0;
	CHECK(iommu_open(&neighbour, SELF));
	CHECK_EQ(machine.turns, 3);
	CHECK_EQ(dma(NIC, GUEST), ABORTED);
}

/* The holder that trapped had numbered its wait and not handed it over. */
static void test_a_wait_that_was_never_asked(void)
{
	check_context.subject = "a wait that was never asked";
	begin();
	++*word_at(tables + 0x201000);
	CHECK(iommu_open(&view, SELF));
	CHECK_EQ(dma(NIC, GUEST), RAM);
	++*word_at(tables + 0x201000);
	CHECK(iommu_close(&view, SELF));
	CHECK_EQ(dma(NIC, GUEST), ABORTED);
}
