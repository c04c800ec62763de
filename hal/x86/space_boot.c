/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: hal_space functions. A private monitor's own tables: its guest's RAM, to read only, and the devices that it filters. */
#include "board.h"
#include "hal/x86/core.h"

enum hal_status hal_space_create(struct hal_arena *arena, struct hal_space **out)
{
	struct hal_space *space = hal_arena_take_small(arena, sizeof(*space));
	enum hal_status status = space ? pt_init(&space->tables, &pt_long, arena) : HAL_E_NOMEM;

	if (status == HAL_OK)
		*out = space;
	return status;
}

enum hal_status hal_space_map(struct hal_space *space, const void *va, hpa_t hpa, uint64_t size, unsigned permissions,
			      enum hal_memory memory)
{
	return pt_map(&space->tables, (uintptr_t)va, hpa, size, permissions, memory);
}

/* The chosen vendor's, and the IOMMU's that the board has. */
size_t hal_resident_parts(const struct hal_part **parts)
{
	static struct hal_part all[X86_VENDOR_PARTS + IOMMU_PARTS];
	const struct hal_part *of_iommu = iommu_parts();
	size_t count = 0;

	for (size_t n = 0; n < X86_VENDOR_PARTS; n++)
		all[count++] = x86_vendor_boot->parts[n];
	for (size_t n = 0; of_iommu && n < IOMMU_PARTS; n++)
		all[count++] = of_iommu[n];
	*parts = all;
	return count;
}

/* Where the guest has its code. Never written: what a guest reads is its own business. */
enum hal_status hal_space_map_ram(struct hal_space *space, hpa_t hpa, uint64_t size)
{
	return pt_map(&space->tables, hpa.v, hpa, size, HAL_READ, HAL_MEMORY_RAM);
}

/* PCI functions; the I/O APIC, for those who have a line of it; the x2APIC is reached through MSRs. */
enum hal_status hal_space_map_devices(struct hal_space *space, const struct hal_partition *partition)
{
	enum hal_status status = pci_map(space, &partition->pci);

	if (status == HAL_OK)
		status = iommu_map(space, &partition->iommu);
	if (status != HAL_OK || !partition->ioapic.count)
		return status;
	return hal_space_map_same(space, board.pc.ioapic, BH_PAGE_BYTES, HAL_MEMORY_DEVICE);
}
