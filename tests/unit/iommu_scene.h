/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tests of an IOMMU's backend begin with: two sandboxes' views, of which the first has a card and a disc and the second a card. Each
 * has three pages of RAM at GUEST. The test has the machine, and says which streams those are.
 */
#pragma once
#include <string.h>

#include "check.h"
#include "frames.h"
#include "hal/iommu/iommu.h"

enum { SELF = 1 << 5, VIEW_CORE = 1, NEIGHBOUR_CORE = 2 }; /* the core that changes entries; the APIC IDs of cores that have functions */
#define RAM   UINT64_C(0x80000000)
#define GUEST UINT64_C(0x40000000)

static uint64_t tables;
static struct hal_arena arena;
static struct iommu_view view, neighbour;
static struct hal_kick_mailbox mailboxes[BH_PAGE_BYTES / sizeof(struct hal_kick_mailbox)];

static inline enum hal_status scene_start(const char **why)
{
	*why = iommu_missing();
	return *why ? HAL_E_UNSUPPORTED : hal_machine_block_dma((hpa_t){ tables }, why);
}

static inline void scene_make(struct iommu_view *made, uint32_t index, uint32_t core)
{
	struct hal_partition_config config = { .index = index, .masters = true, .hardware_id = { core }, .kick_mailboxes = mailboxes };

	memset(made, 0, sizeof(*made));
	CHECK_EQ(iommu_create(made, &arena, &config), HAL_OK);
	CHECK_EQ(pt_map(&made->pt, GUEST, (hpa_t){ RAM + index * 0x1000000 }, 0x3000, HAL_READ | HAL_WRITE, HAL_MEMORY_RAM), HAL_OK);
}

/* On a machine that has been reset. */
static inline void scene_begin(uint32_t card, uint32_t disc, uint32_t other_card)
{
	const char *why = "";

	CHECK_EQ(scene_start(&why), HAL_OK);
	scene_make(&view, 0, VIEW_CORE);
	scene_make(&neighbour, 1, NEIGHBOUR_CORE);
	CHECK_EQ(iommu_attach(&view, card), HAL_OK);
	CHECK_EQ(iommu_attach(&view, disc), HAL_OK);
	CHECK_EQ(iommu_attach(&neighbour, other_card), HAL_OK);
}
