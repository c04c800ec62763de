/* SPDX-License-Identifier: Apache-2.0 */
/* GICv3's own registers: ARM IHI 0069H, 12.9 "The GIC Distributor", 12.11 "The GIC Redistributor", 12.2 "AArch64 System registers". */
#pragma once
#include "gicr.h"

enum { GICD_IROUTER = 0x6000, GICD_IROUTER_END = 0x7fdf, GICD_PIDR = 0xffd0, GICD_BYTES = 0x10000 };
enum {
	GICD_CTLR_ENABLE_GRP0 = 1 << 0,
	GICD_CTLR_ENABLE_GRP1 = 1 << 1,
	GICD_CTLR_ARE = 1 << 4,
	GICD_CTLR_DS = 1 << 6,
};
#define GICD_CTLR_RWP (UINT32_C(1) << 31)
/* GICD_TYPER: IDbits | A3V as they are, No1N set, ITLinesNumber as granted, and none of the rest: no LPIs, no message-based or extended
 * SPIs. */
enum { GICD_TYPER_KEPT = 0x1f << 19 | 1 << 24, GICD_TYPER_NO1N = 1 << 25 };

/* Affinity shown in frames of other sandboxes' cores: no core has it. */
#define GICR_TYPER_NOBODY (~UINT64_C(0) << GICR_TYPER_AFFINITY_SHIFT)
enum { GICR_WAKER_SLEEP = 1 << 1, GICR_WAKER_ASLEEP = 1 << 2 };

/* ICC_SGI0R_EL1, ICC_SGI1R_EL1. */
#define ICC_SGIR_IRM (UINT64_C(1) << 40)
enum { ICC_SGIR_INTID_SHIFT = 24, ICC_SGIR_RS_SHIFT = 44, ICC_INTID_SPECIAL = 1020, ICC_RPR_IDLE = 0xff };
/* ICC_SRE_EL1, ICC_SRE_EL2: SRE, DFB, DIB. */
enum { ICC_SRE_ON = 7 };
enum { ICC_CTLR_PRIBITS_SHIFT = 8, ICH_VTR_PREBITS_SHIFT = 26 };

/* Returns the word that sends SGI `intid` to the one core with this affinity. */
static inline uint64_t icc_sgi_to(uint64_t hardware_id, uint64_t intid)
{
	uint64_t aff0 = hardware_id & 0xff, aff1 = hardware_id >> 8 & 0xff, aff2 = hardware_id >> 16 & 0xff,
		 aff3 = hardware_id >> 32 & 0xff;

	return aff3 << 48 | aff0 >> 4 << ICC_SGIR_RS_SHIFT | aff2 << 32 | intid << ICC_SGIR_INTID_SHIFT | aff1 << 16 |
	       UINT64_C(1) << (aff0 & 15);
}

/* Implemented priority bits. */
static inline uint64_t icc_priority_bits(void)
{
	return (SYSREG_READ(ICC_CTLR_EL1) >> ICC_CTLR_PRIBITS_SHIFT & 7) + 1;
}

/* Priority bits of the virtual CPU interface, the guest's view of group 0. */
static inline uint64_t ich_preemption_bits(void)
{
	return (SYSREG_READ(ICH_VTR_EL2) >> ICH_VTR_PREBITS_SHIFT & 7) + 1;
}

/* Clears whatever is active. "ICC_AP0R<n>_EL1", "ICH_AP0R<n>_EL2": the second exists with 6 bits and 7, the others with 7. */
#define GIC_CLEAR_ACTIVE(bits, name, level)                \
	do {                                               \
		uint64_t bits_ = (bits);                   \
		SYSREG_WRITE(name##R0_##level, 0);         \
		if (bits_ > 5)                             \
			SYSREG_WRITE(name##R1_##level, 0); \
		if (bits_ > 6) {                           \
			SYSREG_WRITE(name##R2_##level, 0); \
			SYSREG_WRITE(name##R3_##level, 0); \
		}                                          \
	} while (0)

/* Of group n. */
#define ICC_CLEAR_ACTIVE(n) GIC_CLEAR_ACTIVE(icc_priority_bits(), ICC_AP##n, EL1)
#define ICH_CLEAR_ACTIVE(n) GIC_CLEAR_ACTIVE(ich_preemption_bits(), ICH_AP##n, EL2)
