/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: counters that overflow interrupt. ARMv7 ARM B4.1 by register name; this architecture's trace units are not the processor's. */
#include "hal/arm/disarm.h"

#include <stddef.h>

#include "registers.h"

enum {
	ID_DFR0 = SYSREG(0, 0, 1, 2),
	PMCR = SYSREG(0, 9, 12, 0),
	PMCNTENCLR = SYSREG(0, 9, 12, 2),
	PMOVSR = SYSREG(0, 9, 12, 3),
	PMINTENCLR = SYSREG(0, 9, 14, 2),
};
enum { E = 1 << 0 };
#define ALL UINT32_MAX

static unsigned has_counters(const struct disarm_core *core)
{
	unsigned version = core->read(ID_DFR0) >> 24 & 15;

	return version && version != 15;
}

const struct disarm_control disarm_controls[] = {
	{ "PMCR", PMCR, 0, E, has_counters },
	{ "PMCNTENCLR", PMCNTENCLR, ALL, ALL, has_counters },
	{ "PMINTENCLR", PMINTENCLR, ALL, ALL, has_counters },
	{ "PMOVSR", PMOVSR, ALL, ALL, has_counters },
	{ NULL, 0, 0, 0, NULL },
};
