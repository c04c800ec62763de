/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host tool has checked the configuration; this checks, cheaply, that what arrived is what it made and that the
 * invariants no later code re-examines hold (BH-I7.boot). Pure functions over the table: the same files run on the host under tests
 * and a fuzzer. Every loop is bounded by a maximum of abi/table.h. A check may rely on those before it in checks[].
 */
#include "monitor/boot/table/checks.h"

static const char *(*const checks[])(const struct bh_table *table, const struct table_limits *limits) = {
	refuse_header,  refuse_hardware, refuse_cores, refuse_pools,    refuse_channels, refuse_functions,
	refuse_regions, refuse_ports,    refuse_lines, refuse_payloads, refuse_restarts,
};

const char *table_refuse(const struct bh_table *table, const struct table_limits *limits)
{
	const char *why = NULL;

	for (size_t n = 0; n < sizeof(checks) / sizeof(checks[0]) && !why; n++)
		why = checks[n](table, limits);
	return why;
}
