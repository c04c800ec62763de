/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up: trace buffers and statistical profiling write to memory by addresses of their own, and counters that overflow interrupt. ARM
 * ARM D24.2, D24.4, D24.5 by register name. A buffer that secure firmware keeps for itself (P of TRBIDR_EL1, PMBIDR_EL1) is out of reach.
 */
#include "hal/arm/disarm.h"

#include <stddef.h>

#include "registers.h"

enum {
	ID_AA64DFR0_EL1 = SYSREG(3, 0, 0, 5, 0),
	TRFCR_EL1 = SYSREG(3, 0, 1, 2, 1),
	TRFCR_EL2 = SYSREG(3, 4, 1, 2, 1),
	TRBLIMITR_EL1 = SYSREG(3, 0, 9, 11, 0),
	TRBSR_EL1 = SYSREG(3, 0, 9, 11, 3),
	TRBIDR_EL1 = SYSREG(3, 0, 9, 11, 7),
	PMSCR_EL1 = SYSREG(3, 0, 9, 9, 0),
	PMSCR_EL2 = SYSREG(3, 4, 9, 9, 0),
	PMBLIMITR_EL1 = SYSREG(3, 0, 9, 10, 0),
	PMBSR_EL1 = SYSREG(3, 0, 9, 10, 3),
	PMBIDR_EL1 = SYSREG(3, 0, 9, 10, 7),
	PMCR_EL0 = SYSREG(3, 3, 9, 12, 0),
	PMCNTENCLR_EL0 = SYSREG(3, 3, 9, 12, 2),
	PMOVSCLR_EL0 = SYSREG(3, 3, 9, 12, 3),
	PMINTENCLR_EL1 = SYSREG(3, 0, 9, 14, 2),
};
enum { E = 1 << 0, EITHER_LEVEL = 3 << 0, IRQ = 1 << 22, S = 1 << 17, BUFFER_P = 1 << 4 };
#define ALL UINT32_MAX

static unsigned debug_feature(const struct disarm_core *core, unsigned low)
{
	return core->read(ID_AA64DFR0_EL1) >> low & 15;
}

static unsigned has_trace_filter(const struct disarm_core *core)
{
	return debug_feature(core, 40);
}

static unsigned has_trace_buffer(const struct disarm_core *core)
{
	return debug_feature(core, 44) && !(core->read(TRBIDR_EL1) & BUFFER_P);
}

static unsigned has_profiling(const struct disarm_core *core)
{
	return debug_feature(core, 32) && !(core->read(PMBIDR_EL1) & BUFFER_P);
}

static unsigned has_counters(const struct disarm_core *core)
{
	unsigned version = debug_feature(core, 8);

	return version && version != 15;
}

const struct disarm_control disarm_controls[] = {
	{ "TRFCR_EL2", TRFCR_EL2, 0, EITHER_LEVEL, has_trace_filter },
	{ "TRFCR_EL1", TRFCR_EL1, 0, EITHER_LEVEL, has_trace_filter },
	{ "TRBLIMITR_EL1", TRBLIMITR_EL1, 0, E, has_trace_buffer },
	{ "TRBSR_EL1", TRBSR_EL1, 0, IRQ, has_trace_buffer },
	{ "PMSCR_EL2", PMSCR_EL2, 0, EITHER_LEVEL, has_profiling },
	{ "PMSCR_EL1", PMSCR_EL1, 0, EITHER_LEVEL, has_profiling },
	{ "PMBLIMITR_EL1", PMBLIMITR_EL1, 0, E, has_profiling },
	{ "PMBSR_EL1", PMBSR_EL1, 0, S, has_profiling },
	{ "PMCR_EL0", PMCR_EL0, 0, E, has_counters },
	{ "PMCNTENCLR_EL0", PMCNTENCLR_EL0, ALL, ALL, has_counters },
	{ "PMINTENCLR_EL1", PMINTENCLR_EL1, ALL, ALL, has_counters },
	{ "PMOVSCLR_EL0", PMOVSCLR_EL0, ALL, ALL, has_counters },
	{ NULL, 0, 0, 0, NULL },
};
