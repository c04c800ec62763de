/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For `tools/bulkhead bench dma`: a monitor that, once its IOMMU blocks everything, maps pages of a root and unmaps them, by what an image
 * has for that (hal/iommu/iommu_live.h) and nothing calls yet; then it goes on. Linked in place of hal_machine_block_dma by --wrap.
 */
#include "hal/iommu/iommu_live.h"

enum { PLACES = 16, ROUNDS = 64, FRAMES = 6 };
#define AT UINT64_C(0x40000000)

enum hal_status __real_hal_machine_block_dma(hpa_t tables, const char **missing);
enum hal_status __wrap_hal_machine_block_dma(hpa_t tables, const char **missing);
__attribute__((noinline)) void live_measure(struct iommu_live *live);

extern struct bh_table partition_table; /* main_boot.c */
/* As far as locks lie on that page: an image with a whole one more is too large for what boards reserve. */
static struct {
	struct hal_kick_mailbox boxes[BH_MAX_CORES];
	struct hal_lock locks[HAL_LOCKS];
} shared;

/* Its own calls are told from others' by where they come from. */
void live_measure(struct iommu_live *live)
{
	for (uint64_t round = 0; round < ROUNDS; round++) {
		uint64_t page = AT + round % PLACES * BH_PAGE_BYTES;

		if (iommu_live_put(live, page, (hpa_t){ page }, BH_PAGE_BYTES) != HAL_OK ||
		    iommu_live_take(live, HAL_LOCK_START_UP, page, BH_PAGE_BYTES) != HAL_OK)
			return;
	}
}

/* Of a sandbox that there is not: no function's entry leads to this root. Its frames are the first pool's, which nobody has taken yet. */
static bool prepare(struct iommu_live *live)
{
	static struct iommu_view view;
	struct hal_partition_config config = { .masters = true, .kick_mailboxes = shared.boxes };
	uint64_t frames = partition_table.sandboxes[0].pool + BH_POOL_ARENA;
	struct hal_arena arena = { .next = frames, .end = frames + FRAMES * BH_PAGE_BYTES };

	if (iommu_create(&view, &arena, &config) != HAL_OK)
		return false;
	iommu_live_create(live, &view);
	return iommu_live_reserve(live, &view, AT, (uint64_t)PLACES * BH_PAGE_BYTES, 0) == HAL_OK;
}

enum hal_status __wrap_hal_machine_block_dma(hpa_t tables, const char **missing)
{
	enum hal_status status = __real_hal_machine_block_dma(tables, missing);
	static struct iommu_live live;

	if (status != HAL_OK)
		return status;
	if (!prepare(&live)) {
		*missing = "the program of `bench dma` has too few frames; raise FRAMES in tests/bench/live_boot.c";
		return HAL_E_UNSUPPORTED;
	}
	live_measure(&live);
	return HAL_OK;
}
