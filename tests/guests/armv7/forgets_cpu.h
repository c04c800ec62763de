/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registers that docs/registers-armv7.md lets a guest write, and those of other modes: ARMv7 ARM B9.2 "Encoding and use of Banked
 * register transfer instructions".
 */
#pragma once
#include <stddef.h>

#include "forgets.h"

static const char *const general_names[] = {
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "lr_svc", "sp_svc", "cpsr",
};

/* clang-format off */

#define BANKED_REGISTERS(X)                                                                                              \
	X(spsr, SPSR) X(r8_fiq, LEFT) X(r9_fiq, LEFT) X(r10_fiq, LEFT) X(r11_fiq, LEFT) X(r12_fiq, LEFT) X(sp_fiq, LEFT) X(lr_fiq, LEFT) \
	X(spsr_fiq, SPSR) X(sp_irq, LEFT) X(lr_irq, LEFT) X(spsr_irq, SPSR) X(sp_abt, LEFT) X(lr_abt, LEFT) X(spsr_abt, SPSR)    \
	X(sp_und, LEFT) X(lr_und, LEFT) X(spsr_und, SPSR) X(sp_usr, LEFT)
#define SPSR 0x1d3u

/* name, coprocessor, opc1, CRn, CRm, opc2. MMU and caches stay off: SCTLR with the round robin bit. */
#define COPROCESSOR_REGISTERS(X)                                                                                         \
	X(DFSR, p15, 0, c5, c0, 0, 0x5) X(IFSR, p15, 0, c5, c0, 1, 0x5) X(ADFSR, p15, 0, c5, c1, 0, LEFT) X(AIFSR, p15, 0, c5, c1, 1, LEFT) \
	X(DFAR, p15, 0, c6, c0, 0, LEFT) X(WFAR, p15, 0, c6, c0, 1, LEFT) X(IFAR, p15, 0, c6, c0, 2, LEFT) X(PAR, p15, 0, c7, c4, 0, LEFT) \
	X(SCTLR, p15, 0, c1, c0, 0, 0x00c50878) X(CPACR, p15, 0, c1, c0, 2, 0x00f00000) X(TTBR0, p15, 0, c2, c0, 0, LEFT)      \
	X(TTBR1, p15, 0, c2, c0, 1, LEFT) X(TTBCR, p15, 0, c2, c0, 2, 0x7) X(DACR, p15, 0, c3, c0, 0, LEFT)                  \
	X(MAIR0, p15, 0, c10, c2, 0, LEFT) X(MAIR1, p15, 0, c10, c2, 1, LEFT) X(AMAIR0, p15, 0, c10, c3, 0, LEFT)            \
	X(AMAIR1, p15, 0, c10, c3, 1, LEFT) X(VBAR, p15, 0, c12, c0, 0, LEFT) X(FCSEIDR, p15, 0, c13, c0, 0, LEFT)             \
	X(CONTEXTIDR, p15, 0, c13, c0, 1, LEFT) X(TPIDRURW, p15, 0, c13, c0, 2, LEFT) X(TPIDRURO, p15, 0, c13, c0, 3, LEFT)    \
	X(TPIDRPRW, p15, 0, c13, c0, 4, LEFT) X(CSSELR, p15, 2, c0, c0, 0, 2) X(CNTKCTL, p15, 0, c14, c1, 0, 3)               \
	X(CNTP_CTL, p15, 0, c14, c2, 1, 3) X(CNTV_CTL, p15, 0, c14, c3, 1, 3) X(TEECR, p14, 6, c0, c0, 0, 1) X(TEEHBR, p14, 6, c1, c0, 0, LEFT) \
	X(PMXEVTYPER, p15, 0, c9, c13, 1, 1 << 27 | 0x11) X(PMXEVCNTR, p15, 0, c9, c13, 2, LEFT) X(PMCCNTR, p15, 0, c9, c13, 0, LEFT) \
	X(PMSELR, p15, 0, c9, c12, 5, 3) X(PMUSERENR, p15, 0, c9, c14, 0, 15) X(PMOVSSET, p15, 0, c9, c14, 3, 1)               \
	X(PMINTENSET, p15, 0, c9, c14, 1, 1) X(PMCNTENSET, p15, 0, c9, c12, 1, 1) X(PMCR, p15, 0, c9, c12, 0, 0x19)

/* name, opc1, CRm of p15's 64-bit registers. */
#define WIDE_REGISTERS(X) X(CNTP_CVAL, 2, c14, LEFT) X(CNTV_CVAL, 3, c14, LEFT)

/* clang-format on */

#define BANKED_ACCESS(name, left)                                                                                  \
	static uint64_t read_##name(void)                                                                          \
	{                                                                                                          \
		uint32_t value;                                                                                    \
                                                                                                                   \
		__asm__ volatile(".arch_extension virt\n\tmrs %0, " #name : "=r"(value));                          \
		return value;                                                                                      \
	}                                                                                                          \
	static void write_##name(uint64_t value)                                                                   \
	{                                                                                                          \
		__asm__ volatile(".arch_extension virt\n\tmsr " #name ", %0" : : "r"((uint32_t)value) : "memory"); \
	}

#define COPROCESSOR_ACCESS(name, coprocessor, opc1, crn, crm, opc2, left)                                          \
	static uint64_t read_##name(void)                                                                          \
	{                                                                                                          \
		uint32_t value;                                                                                    \
                                                                                                                   \
		__asm__ volatile("mrc " #coprocessor ", " #opc1 ", %0, " #crn ", " #crm ", " #opc2 : "=r"(value)); \
		return value;                                                                                      \
	}                                                                                                          \
	static void write_##name(uint64_t value)                                                                   \
	{                                                                                                          \
		__asm__ volatile("mcr " #coprocessor ", " #opc1 ", %0, " #crn ", " #crm ", " #opc2 "\n\tisb"       \
				 :                                                                                 \
				 : "r"((uint32_t)value)                                                            \
				 : "memory");                                                                      \
	}

#define WIDE_ACCESS(name, opc1, crm, left)                                                          \
	static uint64_t read_##name(void)                                                           \
	{                                                                                           \
		uint64_t value;                                                                     \
                                                                                                    \
		__asm__ volatile("mrrc p15, " #opc1 ", %Q0, %R0, " #crm : "=r"(value));             \
		return value;                                                                       \
	}                                                                                           \
	static void write_##name(uint64_t value)                                                    \
	{                                                                                           \
		__asm__ volatile("mcrr p15, " #opc1 ", %Q0, %R0, " #crm : : "r"(value) : "memory"); \
	}

/* clang-format off */
BANKED_REGISTERS(BANKED_ACCESS)
COPROCESSOR_REGISTERS(COPROCESSOR_ACCESS)
WIDE_REGISTERS(WIDE_ACCESS)

#include "forgets_gicc.h"

#define COPROCESSOR_ROW(name, coprocessor, opc1, crn, crm, opc2, left) ROW(name, left)
#define WIDE_ROW(name, opc1, crm, left) ROW(name, left)
static const struct row rows[] = {
	BANKED_REGISTERS(ROW)
	COPROCESSOR_REGISTERS(COPROCESSOR_ROW)
	WIDE_REGISTERS(WIDE_ROW)
	GICC_REGISTERS(GICC_ROW)
};
/* clang-format on */
