/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor's own check of a partition table, with the limits of one platform, as a library for the compiler's tests. */
#include "monitor/monitor.h"

#include "board.h"

const char *refuse(const struct bh_table *table)
{
	static const struct table_span private_spans[] = { BOARD_PRIVATE_SPANS };
	const struct table_limits limits = {
		.platform = BOARD_NAME,
		.ram_base = BOARD_RAM_BASE,
		.ram_bytes = BOARD_RAM_BYTES,
		.image_start = IMAGE_START,
		.image_end = IMAGE_START + 0x100000,
		.banked_base = BOARD_BANKED_BASE,
		.banked_bytes = BOARD_BANKED_BYTES,
		.forbidden = private_spans,
		.forbidden_count = sizeof(private_spans) / sizeof(private_spans[0]),
		.first_line = BOARD_FIRST_LINE,
		.first_vector = BOARD_FIRST_VECTOR,
	};

	return table_refuse(table, &limits);
}
