/* SPDX-License-Identifier: Apache-2.0 */
/* A partition table nothing is wrong with, which uses every kind of row: where the tests of the validator start from. */
#pragma once
#include "monitor/boot/boot.h"
#include "monitor/boot/table/table.h"

extern const struct table_limits good_limits;

/* Row numbers, for tests that break one. */
enum good_region {
	GOOD_RAM,
	GOOD_FOREIGN_RAM,
	GOOD_DEVICE,
	GOOD_FOREIGN_DEVICE,
	GOOD_BANKED,
	GOOD_FOREIGN_BANKED,
	GOOD_OWN_PAGES,
	GOOD_OWN_LOG,
	GOOD_FOREIGN_LOG,
	GOOD_BAR,
	GOOD_PORTS_BAR, /* ports where they are memory */
	GOOD_FAULTS,
	GOOD_SENDS, /* of GOOD_RING: the sender's own area, */
	GOOD_SENDER_SEES,
	GOOD_TAKES, /* the receiver's own area */
	GOOD_RECEIVER_SEES,
	GOOD_REGIONS,
};
enum good_function { GOOD_FUNCTION, GOOD_FOREIGN_FUNCTION, GOOD_FUNCTIONS };
enum good_line { GOOD_LINE, GOOD_FOREIGN_LINE, GOOD_RUNG, GOOD_LINES }; /* the last by the sender of GOOD_RING, alone */
enum good_channel { GOOD_RING, GOOD_MAILBOX, GOOD_CHANNELS };
enum good_copy { GOOD_INFO, GOOD_KERNEL, GOOD_FOREIGN_KERNEL, GOOD_COPIES };

/* What the table says of a boot module of zeros: computed apart from monitor/boot/table/, over 0x800 words. */
#define GOOD_MODULE_CHECKSUM UINT64_C(0x28c31cf8df2ec325)

/* Two sandboxes on four cores, signed. */
void good_table(struct bh_table *table);
/* Makes the checksum right: what is refused then is refused for another reason. */
void table_sign(struct bh_table *table);
