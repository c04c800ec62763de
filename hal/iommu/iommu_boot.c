/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: which IOMMU there is, and what all kinds do alike. */
#include "hal/iommu/iommu.h"

#include "board.h"

static const struct iommu_boot *backend;

const char *iommu_missing(void)
{
	if (board.iommu.kind == BH_IOMMU_NONE)
		return NULL;
	backend = iommu_backend();
	if (!backend)
		return "this monitor cannot drive the IOMMU that the board names; correct `iommu` in its board.h";
	iommu = backend->resident;
	return backend->probe();
}

enum hal_status hal_machine_block_dma(hpa_t tables, const char **missing)
{
	const char *why = backend ? backend->block(tables.v) : NULL;

	if (!why)
		return HAL_OK;
	*missing = why;
	return HAL_E_UNSUPPORTED;
}

void iommu_clear_faults(void)
{
	if (backend && backend->clear_faults)
		backend->clear_faults();
}

enum hal_status iommu_create(struct iommu_view *view, struct hal_arena *arena, const struct hal_partition_config *config)
{
	enum hal_status status;

	if (!backend)
		return HAL_E_UNSUPPORTED;
	view->domain = config->index + 1;
	view->core = (uint32_t)config->hardware_id[0];
	view->lock = hal_lock_of(config->kick_mailboxes, HAL_LOCK_IOMMU);
	status = pt_init(&view->pt, backend->format, arena);
	return status == HAL_OK ? backend->create(view, arena) : status;
}

enum hal_status iommu_map_both(struct pt *stage2, struct iommu_view *view, gpa_t gpa, hpa_t hpa, uint64_t size, unsigned permissions,
			       enum hal_memory memory)
{
	unsigned own = permissions & ~(unsigned)HAL_DMA;
	bool both = own != permissions && view->pt.root;
	enum hal_status status;

	if (both && !own)
		return pt_map(&view->pt, gpa.v, hpa, size, HAL_READ | HAL_WRITE, memory);
	status = pt_prepare(stage2, gpa.v, hpa, size, own, memory);
	if (status == HAL_OK && both)
		status = pt_prepare(&view->pt, gpa.v, hpa, size, HAL_READ | HAL_WRITE, HAL_MEMORY_RAM);
	if (status != HAL_OK)
		return status;
	pt_commit(stage2, gpa.v, hpa, size, own, memory);
	if (both)
		pt_commit(&view->pt, gpa.v, hpa, size, HAL_READ | HAL_WRITE, HAL_MEMORY_RAM);
	return HAL_OK;
}

enum hal_status iommu_attach(struct iommu_view *view, uint32_t stream)
{
	if (!view->pt.root)
		return HAL_E_DENIED;
	if (view->count == BH_MAX_PCI_FUNCTIONS)
		return HAL_E_RANGE;
	view->streams[view->count++] = stream;
	return HAL_OK;
}

uint32_t iommu_admit(const struct iommu_view *view, uint32_t stream)
{
	return backend->admit ? backend->admit(view, stream) : 0;
}

/* Intel 82093AA data sheet, 3.2.4 "I/O Redirection Table Registers": the destination in bits 63:56. */
uint32_t iommu_admit_lines(uint32_t core, uint32_t apic_id)
{
	return backend && backend->admit_lines ? backend->admit_lines(core, apic_id) : apic_id << 24;
}

void iommu_publish(void)
{
	if (backend && backend->publish)
		backend->publish();
}

const struct hal_part *iommu_parts(void)
{
	return backend ? backend->parts : NULL;
}

enum hal_status iommu_map(struct hal_space *space, const struct iommu_view *view)
{
	return view->count ? backend->map(space, view) : HAL_OK;
}
