/* SPDX-License-Identifier: Apache-2.0 */
/* A private monitor's own tables: its copy, its arena, and the few things it shares. */
#include "hal/arguments.h"
#include "hal/arm/stage2.h"

enum hal_status hal_space_create(struct hal_arena *arena, struct hal_space **out)
{
	struct hal_space *space = hal_arena_take_small(arena, sizeof(*space));
	enum hal_status status;

	if (!space)
		return HAL_E_NOMEM;
	status = pt_init(&space->tables, &HOST_FORMAT, arena);
	if (status == HAL_OK)
		*out = space;
	return status;
}

enum hal_status hal_space_map(struct hal_space *space, const void *va, hpa_t hpa, uint64_t size, unsigned permissions,
			      enum hal_memory memory)
{
	return pt_map(&space->tables, (uintptr_t)va, hpa, size, permissions, memory);
}

/* Chosen when the image was linked: all of it is needed. */
size_t hal_resident_parts(const struct hal_part **parts)
{
	*parts = NULL;
	return 0;
}

/* Syndromes tell everything. */
enum hal_status hal_space_map_ram(struct hal_space *space, hpa_t hpa, uint64_t size)
{
	return hal_check_pages(hpa.v, size);
}

/* The roots that this monitor's kicks poison, kick.c. */
static enum hal_status map_targets(struct hal_space *space, const struct hal_partition *partition)
{
	enum hal_status status = HAL_OK;

	for (uint32_t n = 0; n < BH_MAX_SANDBOXES && status == HAL_OK; n++) {
		const uint64_t *root = partition->targets[n].root.entries;

		if (root)
			status = hal_space_map_same(space, (uintptr_t)root, BH_PAGE_BYTES, HAL_MEMORY_RAM);
	}
	return status;
}

enum hal_status hal_space_map_devices(struct hal_space *space, const struct hal_partition *partition)
{
	enum hal_status status = gic_map(space, partition);

	if (status == HAL_OK)
		status = pci_map(space, &partition->pci);
	if (status == HAL_OK)
		status = iommu_map(space, &partition->iommu);
	return status == HAL_OK ? map_targets(space, partition) : status;
}
