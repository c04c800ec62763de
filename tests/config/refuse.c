/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor's own check of a partition table, with the limits of one platform, as a library for the compiler's tests. */
#include "monitor/boot/table/table.h"

#include "board.h"

const char *refuse(const struct bh_table *table)
{
	struct board with_iommu = board;
	const struct table_limits limits = { &with_iommu, IMAGE_START, IMAGE_START + 0x40000 };

	/* Of what tests add to a board: that the table names another one is table_test's. */
	if (table->iommu < BH_IOMMU_KINDS)
		with_iommu.iommu.kind = (enum bh_iommu)table->iommu;

	return table_refuse(table, &limits);
}
