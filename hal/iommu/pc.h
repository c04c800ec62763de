/* SPDX-License-Identifier: Apache-2.0 */
/* PCs, resident: what an IOMMU that takes interrupts by entries of its own, VT-d, changes for who programs interrupts. vtd.h has the
 * picture. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "board.h"
#include "hal/iommu/vtd.h"

/*
 * What is added to the high word that iommu_admit_lines gave for a core, for a line's entry in the I/O APIC: the index of the vector's
 * entry in the core's block, and for a level-triggered line in its next block. 0 where the high word says everything.
 */
static inline uint32_t iommu_line_index(uint32_t vector, bool is_level)
{
	return board.iommu.kind == BH_IOMMU_VTD ? (vector + is_level * (uint32_t)VTD_BLOCK) << VTD_LINE_INDEX_SHIFT : 0;
}

/* Whether the addresses of messages are the monitor's, in MSI-X tables as well. */
static inline bool iommu_has_addresses(void)
{
	return board.iommu.kind == BH_IOMMU_VTD;
}
