/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor's own check of a partition table, with the limits of one platform, as a library for the compiler's tests. */
#include "monitor/boot/table/table.h"

#include "board.h"

const char *refuse(const struct bh_table *table)
{
	const struct table_limits limits = { &board, IMAGE_START, IMAGE_START + 0x40000 };

	return table_refuse(table, &limits);
}
