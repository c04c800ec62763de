/* SPDX-License-Identifier: Apache-2.0 */
/* A partition table nothing is wrong with, which uses every kind of row: where the tests of the validator start from. */
#pragma once
#include "monitor/monitor.h"

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
	GOOD_REGIONS,
};

/* Two sandboxes on four cores, signed. */
void good_table(struct bh_table *table);
/* Makes the checksum right: what is refused then is refused for another reason. */
void table_sign(struct bh_table *table);
