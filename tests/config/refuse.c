/* SPDX-License-Identifier: Apache-2.0 */
/* The monitor's own check of a partition table, with the limits of one platform, as a library for the compiler's tests. */
#include "monitor/boot/table/table.h"

#include "board.h"

const char *refuse(const struct bh_table *table)
{
	static const struct table_span private_spans[] = { BOARD_PRIVATE_SPANS };
	static const struct table_span private_ports[] = { BOARD_PRIVATE_PORTS };
	static const struct table_span private_lines[] = { BOARD_PRIVATE_LINES };
	static const struct table_span reserved_ram[] = { BOARD_RESERVED_RAM };
	const struct table_limits limits = {
		.platform = BOARD_NAME,
		.ram_base = BOARD_RAM_BASE,
		.ram_bytes = BOARD_RAM_BYTES,
		.image_start = IMAGE_START,
		.image_end = IMAGE_START + 0x40000,
		.reserved = TABLE_SPANS(reserved_ram),
		.banked_base = BOARD_BANKED_BASE,
		.banked_bytes = BOARD_BANKED_BYTES,
		.forbidden = TABLE_SPANS(private_spans),
		.forbidden_ports = TABLE_SPANS(private_ports),
		.pci = { BOARD_PCI_FUNCTIONS, BOARD_PCI_WINDOW, BOARD_PCI_PORTS, BOARD_PCI_PORTS_AT },
		.core_id_mask = BOARD_CORE_ID_MASK,
		.core_id_greatest = BOARD_CORE_ID_GREATEST,
		.forbidden_lines = TABLE_SPANS(private_lines),
		.first_vector = BOARD_FIRST_VECTOR,
		.first_level_vector = BOARD_FIRST_LEVEL_VECTOR,
	};

	return table_refuse(table, &limits);
}
