/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System registers by name: ARMv7 ARM (DDI 0406C) B3.17 "Organization of the CP15 registers in a VMSA implementation", B7.1
 * "About the system control registers". A write takes effect for what follows only after arch_isb().
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Of 32 bits: opc1, CRn, CRm, opc2. */
#define SYSREG_MIDR       0, c0, c0, 0
#define SYSREG_CTR        0, c0, c0, 1
#define SYSREG_MPIDR      0, c0, c0, 5
#define SYSREG_ID_PFR1    0, c0, c1, 1
#define SYSREG_ID_DFR0    0, c0, c1, 2
#define SYSREG_ID_MMFR0   0, c0, c1, 4
#define SYSREG_VPIDR      4, c0, c0, 0
#define SYSREG_VMPIDR     4, c0, c0, 5
#define SYSREG_SCTLR      0, c1, c0, 0
#define SYSREG_CPACR      0, c1, c0, 2
#define SYSREG_HCR        4, c1, c1, 0
#define SYSREG_HDCR       4, c1, c1, 1
#define SYSREG_HCPTR      4, c1, c1, 2
#define SYSREG_HSTR       4, c1, c1, 3
#define SYSREG_TTBCR      0, c2, c0, 2
#define SYSREG_VTCR       4, c2, c1, 2
#define SYSREG_DACR       0, c3, c0, 0
#define SYSREG_CSSELR     2, c0, c0, 0
#define SYSREG_DFSR       0, c5, c0, 0
#define SYSREG_IFSR       0, c5, c0, 1
#define SYSREG_HSR        4, c5, c2, 0
#define SYSREG_DFAR       0, c6, c0, 0
#define SYSREG_ADFSR      0, c5, c1, 0
#define SYSREG_AIFSR      0, c5, c1, 1
#define SYSREG_IFAR       0, c6, c0, 2
#define SYSREG_HDFAR      4, c6, c0, 0
#define SYSREG_HIFAR      4, c6, c0, 2
#define SYSREG_HPFAR      4, c6, c0, 4
#define SYSREG_ICIALLUIS  0, c7, c1, 0
#define SYSREG_BPIALLIS   0, c7, c1, 6
#define SYSREG_ICIALLU    0, c7, c5, 0
#define SYSREG_BPIALL     0, c7, c5, 6
#define SYSREG_DCIMVAC    0, c7, c6, 1
#define SYSREG_DCCMVAU    0, c7, c11, 1
#define SYSREG_DCCMVAC    0, c7, c10, 1
#define SYSREG_ATS1CPR    0, c7, c8, 0
#define SYSREG_ATS1CUR    0, c7, c8, 2
#define SYSREG_DCCIMVAC   0, c7, c14, 1
#define SYSREG_TLBIALLIS  0, c8, c3, 0
#define SYSREG_TLBIALL    0, c8, c7, 0
#define SYSREG_TLBIMVA    0, c8, c7, 1
#define SYSREG_TLBIASID   0, c8, c7, 2
#define SYSREG_TLBIMVAA   0, c8, c7, 3
#define SYSREG_PMCR       0, c9, c12, 0
#define SYSREG_PMCNTENSET 0, c9, c12, 1
#define SYSREG_PMCNTENCLR 0, c9, c12, 2
#define SYSREG_PMOVSR     0, c9, c12, 3
#define SYSREG_PMSWINC    0, c9, c12, 4
#define SYSREG_PMSELR     0, c9, c12, 5
#define SYSREG_PMCCNTR    0, c9, c13, 0
#define SYSREG_PMXEVTYPER 0, c9, c13, 1
#define SYSREG_PMXEVCNTR  0, c9, c13, 2
#define SYSREG_PMUSERENR  0, c9, c14, 0
#define SYSREG_PMINTENSET 0, c9, c14, 1
#define SYSREG_PMINTENCLR 0, c9, c14, 2
#define SYSREG_PMOVSSET   0, c9, c14, 3
#define SYSREG_MAIR0      0, c10, c2, 0
#define SYSREG_MAIR1      0, c10, c2, 1
#define SYSREG_AMAIR0     0, c10, c3, 0
#define SYSREG_AMAIR1     0, c10, c3, 1
#define SYSREG_VBAR       0, c12, c0, 0
#define SYSREG_HVBAR      4, c12, c0, 0
#define SYSREG_FCSEIDR    0, c13, c0, 0
#define SYSREG_CONTEXTIDR 0, c13, c0, 1
#define SYSREG_TPIDRURW   0, c13, c0, 2
#define SYSREG_TPIDRURO   0, c13, c0, 3
#define SYSREG_TPIDRPRW   0, c13, c0, 4
#define SYSREG_HTPIDR     4, c13, c0, 2
#define SYSREG_CNTFRQ     0, c14, c0, 0
#define SYSREG_CNTKCTL    0, c14, c1, 0
#define SYSREG_CNTP_CTL   0, c14, c2, 1
#define SYSREG_CNTV_CTL   0, c14, c3, 1
#define SYSREG_CNTHCTL    4, c14, c1, 0
#define SYSREG_CNTHP_CTL  4, c14, c2, 1

/* Of 64 bits: opc1, CRm. */
#define SYSREG_TTBR0     0, c2
#define SYSREG_TTBR1     1, c2
#define SYSREG_VTTBR     6, c2
#define SYSREG_PAR       0, c7
#define SYSREG_CNTVCT    1, c14
#define SYSREG_CNTP_CVAL 2, c14
#define SYSREG_CNTV_CVAL 3, c14
#define SYSREG_CNTVOFF   4, c14

#define SYSREG_READ(name)           SYSREG_MRC(SYSREG_##name)
#define SYSREG_WRITE(name, value)   SYSREG_MCR(value, SYSREG_##name)
#define SYSREG_READ64(name)         SYSREG_MRRC(SYSREG_##name)
#define SYSREG_WRITE64(name, value) SYSREG_MCRR(value, SYSREG_##name)

/* One argument, the register, becomes its numbers only when these are expanded. */
#define SYSREG_MRC(...)         SYSREG_MRC_(__VA_ARGS__)
#define SYSREG_MCR(value, ...)  SYSREG_MCR_(value, __VA_ARGS__)
#define SYSREG_MRRC(...)        SYSREG_MRRC_(__VA_ARGS__)
#define SYSREG_MCRR(value, ...) SYSREG_MCRR_(value, __VA_ARGS__)

#define SYSREG_MRC_(opc1, crn, crm, opc2)                                                                        \
	({                                                                                                       \
		uint32_t value_;                                                                                 \
		__asm__ volatile("mrc p15, " #opc1 ", %0, " #crn ", " #crm ", " #opc2 : "=r"(value_)::"memory"); \
		value_;                                                                                          \
	})
#define SYSREG_MCR_(value, opc1, crn, crm, opc2) \
	__asm__ volatile("mcr p15, " #opc1 ", %0, " #crn ", " #crm ", " #opc2 : : "r"((uint32_t)(value)) : "memory")
#define SYSREG_MRRC_(opc1, crm)                                                                       \
	({                                                                                            \
		uint64_t value_;                                                                      \
		__asm__ volatile("mrrc p15, " #opc1 ", %Q0, %R0, " #crm : "=r"(value_) : : "memory"); \
		value_;                                                                               \
	})
#define SYSREG_MCRR_(value, opc1, crm) __asm__ volatile("mcrr p15, " #opc1 ", %Q0, %R0, " #crm : : "r"((uint64_t)(value)) : "memory")

/* Modes, CPSR bits 4:0. */
enum {
	MODE_USR = 0x10,
	MODE_FIQ = 0x11,
	MODE_IRQ = 0x12,
	MODE_SVC = 0x13,
	MODE_ABT = 0x17,
	MODE_HYP = 0x1a,
	MODE_UND = 0x1b,
	MODE_SYS = 0x1f,
	MODE_MASK = 0x1f,
};

/* The rest of CPSR: ARMv7 ARM B1.3.3 "Program Status Registers (PSRs)". */
enum {
	CPSR_T = 1 << 5,
	CPSR_F = 1 << 6,
	CPSR_I = 1 << 7,
	CPSR_A = 1 << 8,
	CPSR_E = 1 << 9,
	CPSR_IT = 0x0600fc00,
	CPSR_J = 1 << 24,
};

static inline void arch_isb(void)
{
	__asm__ volatile("isb" : : : "memory");
}

/* Waits for an interrupt, masked or not; what was written before is visible first. */
static inline void arch_wfi(void)
{
	__asm__ volatile("dsb sy\n\twfi" : : : "memory");
}

/* As AArch64 counts them: 2 in Hyp mode, 1 in any other a monitor may be entered in. */
static inline unsigned arch_exception_level(void)
{
	uint32_t cpsr;

	__asm__ volatile("mrs %0, cpsr" : "=r"(cpsr));
	return (cpsr & MODE_MASK) == MODE_HYP ? 2 : 1;
}

/* The number this core is known by: MPIDR's affinity fields. */
static inline uint64_t arch_core_id(void)
{
	return SYSREG_READ(MPIDR) & 0xffffff;
}

/* Whether the GIC's CPU interface is in system registers: ID_PFR1.GIC. */
static inline bool arch_has_gic_registers(void)
{
	return SYSREG_READ(ID_PFR1) >> 28 & 15;
}
