/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers that docs/registers-aarch64.md lets a guest write, but for breakpoints, which keep their values as over a warm reset, and
 * those that only some processors have.
 */
#pragma once
#include <stddef.h>

#include "forgets.h"

/* clang-format off */
static const char *const general_names[] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16",
	"x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "SP", "NZCV",
};
/* clang-format on */

#define ACCESS(name, from, to)                                                        \
	static uint64_t read_##name(void)                                             \
	{                                                                             \
		uint64_t value;                                                       \
                                                                                      \
		__asm__ volatile("mrs %0, " #from : "=r"(value));                     \
		return value;                                                         \
	}                                                                             \
	static void write_##name(uint64_t value)                                      \
	{                                                                             \
		__asm__ volatile("msr " #to ", %0\n\tisb" : : "r"(value) : "memory"); \
	}

/* clang-format off */

/* What exceptions, timers and translation leave by themselves comes first. MMU and caches stay off: SCTLR_EL1 with UCI, UCT and DZE. */
#define SYSTEM_REGISTERS(X)                                                                                                   \
	X(SPSR_EL1, LEFT) X(ELR_EL1, LEFT) X(ESR_EL1, LEFT) X(FAR_EL1, LEFT) X(PAR_EL1, LEFT) X(AFSR0_EL1, LEFT) X(AFSR1_EL1, LEFT) \
	X(SP_EL0, LEFT) X(SCTLR_EL1, 0x34d0c800) X(CPACR_EL1, 3 << 20) X(TTBR0_EL1, LEFT) X(TTBR1_EL1, LEFT) X(TCR_EL1, LEFT) \
	X(MAIR_EL1, LEFT) X(AMAIR_EL1, LEFT) X(VBAR_EL1, LEFT << 8) X(CONTEXTIDR_EL1, LEFT) X(TPIDR_EL0, LEFT) \
	X(TPIDRRO_EL0, LEFT) X(TPIDR_EL1, LEFT) X(CSSELR_EL1, 2) X(CNTKCTL_EL1, 3) X(CNTV_CVAL_EL0, LEFT) X(CNTP_CVAL_EL0, LEFT) \
	X(CNTV_CTL_EL0, 3) X(CNTP_CTL_EL0, 3) X(MDSCR_EL1, 1 << 12) X(DAIF, 0x1c0)                                              \
	X(PMCCFILTR_EL0, 1 << 27) X(PMCCNTR_EL0, LEFT) X(PMEVCNTR0_EL0, LEFT) X(PMEVTYPER0_EL0, 1 << 27 | 0x11)                 \
	X(PMEVCNTR5_EL0, LEFT) X(PMEVTYPER5_EL0, 1 << 27) X(PMSELR_EL0, 3) X(PMUSERENR_EL0, 15) X(PMOVSSET_EL0, 1)              \
	X(PMINTENSET_EL1, 1) X(PMCNTENSET_EL0, 1) X(PMCR_EL0, 0x19)

/* Group 0 is virtual, below HCR_EL2.FMO; no group is on before the rest is written. IHI 0069, 8.2 by register name. */
#define GIC_REGISTERS(X)                                                                                                      \
	X(ICC_PMR_EL1, 0xf0) X(ICC_BPR0_EL1, 5) X(ICC_BPR1_EL1, 5) X(ICC_CTLR_EL1, 1) X(ICC_AP0R0_EL1, 4) X(ICC_AP1R0_EL1, 4)  \
	X(ICC_IGRPEN0_EL1, 1) X(ICC_IGRPEN1_EL1, 1)

/* clang-format on */

#define ACCESS_BY_NAME(name, left) ACCESS(name, name, name)
SYSTEM_REGISTERS(ACCESS_BY_NAME)
GIC_REGISTERS(ACCESS_BY_NAME)
ACCESS(DBGCLAIM_EL1, DBGCLAIMCLR_EL1, DBGCLAIMSET_EL1)

#include "forgets_gicc.h"

/* clang-format off */
#define GIC_ROW(name, left) { #name, read_##name, write_##name, left, "gicv3-dist" },
static const struct row rows[] = {
	SYSTEM_REGISTERS(ROW)
	ROW(DBGCLAIM_EL1, 5)
	GIC_REGISTERS(GIC_ROW)
	GICC_REGISTERS(GICC_ROW)
};
/* clang-format on */
