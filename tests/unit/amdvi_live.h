/* SPDX-License-Identifier: Apache-2.0 */
/* Pages that come and go while functions run: the part of amdvi_test.c, whose machine this is, that is about iommu_live.h. */
#pragma once

#define PAGES UINT64_C(0x41000000)
enum { PLACES = 16 };

static struct iommu_live live, other_live;

static void begin_live(const char *subject)
{
	check_context.subject = subject;
	begin();
	iommu_live_create(&live, &view);
	iommu_live_create(&other_live, &neighbour);
	CHECK_EQ(iommu_live_reserve(&live, &view, PAGES, PLACES * 0x1000, 0), HAL_OK);
	CHECK_EQ(iommu_live_reserve(&other_live, &neighbour, PAGES, PLACES * 0x1000, 0), HAL_OK);
	CHECK(iommu_open(&view, SELF) && iommu_open(&neighbour, SELF));
}

/* Any range: each of its pages is out of reach on return, whatever the power of two around it, and no other page's is forgotten. */
static void test_pages(void)
{
	begin_live("pages");
	CHECK_EQ(iommu_live_put(&other_live, PAGES, (hpa_t){ RAM }, PLACES * 0x1000), HAL_OK);
	for (uint64_t first = 0; first < PLACES; first++)
		for (uint64_t count = 1; count <= PLACES - first; count++) {
			uint64_t gpa = PAGES + first * 0x1000, end = gpa + count * 0x1000;

			check_context.round = first * PLACES + count;
			machine.slow = count % 3;
			CHECK_EQ(dma(NIC, gpa), ABORTED);
			CHECK_EQ(iommu_live_put(&live, gpa, (hpa_t){ RAM + 0x100000 }, count * 0x1000), HAL_OK);
			CHECK_EQ(dma(NIC, gpa), RAM + 0x100000);
			CHECK_EQ(dma(DISC, end - 0x1000), RAM + 0x100000 + (count - 1) * 0x1000);
			CHECK_EQ(dma(OTHER, gpa), RAM + first * 0x1000);
			CHECK_EQ(iommu_live_take(&live, SELF, gpa, count * 0x1000), HAL_OK);
			CHECK_EQ(dma(NIC, gpa), ABORTED);
			CHECK_EQ(dma(DISC, end - 0x1000), ABORTED);
			CHECK_EQ(machine.translations[OTHER >> 3 & 7].page, gpa);
		}
	check_context.round = 0;
	CHECK_EQ(iommu_live_put(&live, PAGES, (hpa_t){ RAM }, 0x4000), HAL_OK);
	CHECK_EQ(dma(NIC, PAGES + 0x1000), RAM + 0x1000);
	CHECK_EQ(iommu_live_take(&live, SELF, PAGES + 0x2000, 0x2000), HAL_OK);
	CHECK_EQ(machine.translations[NIC >> 3 & 7].page, PAGES + 0x1000);
}

/* The frames are not given back, and nothing is put any more. */
static void test_never_forgotten(void)
{
	uint64_t tail;

	begin_live("an IOMMU that never completes");
	CHECK_EQ(iommu_live_put(&live, PAGES, (hpa_t){ RAM }, 0x2000), HAL_OK);
	CHECK_EQ(iommu_live_put(&other_live, PAGES, (hpa_t){ RAM }, 0x1000), HAL_OK);
	CHECK_EQ(dma(NIC, PAGES), RAM);
	machine.hung = true;
	machine.turns = 0;
	CHECK_EQ(iommu_live_take(&live, SELF, PAGES, 0x1000), HAL_E_UNSUPPORTED);
	CHECK_EQ(machine.turns, TURNS);
	CHECK_EQ(dma(NIC, PAGES), RAM); /* held */
	tail = *at(0x2008);
	CHECK_EQ(iommu_live_take(&other_live, SELF, PAGES, 0x1000), HAL_E_UNSUPPORTED);
	CHECK_EQ(*at(0x2008), tail); /* nothing is put behind what is not read */
	CHECK_EQ(iommu_live_put(&live, PAGES, (hpa_t){ RAM }, 0x1000), HAL_E_DENIED);
	CHECK_EQ(iommu_live_take(&live, SELF, PAGES + 0x1000, 0x1000), HAL_E_DENIED);
	CHECK_EQ(hal_lock_of(mailboxes, HAL_LOCK_IOMMU)->holder, 0);
	machine.hung = false;
	read_commands();
	CHECK(iommu_close(&view, SELF));
	CHECK_EQ(dma(NIC, PAGES), ABORTED);
}
