/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.register. The control words of Hyp mode, all in one place; docs/registers-armv7.md decides register by register. ARMv7 ARM B4.1
 * describes each register by name.
 */
#include "controls.h"

#include <stdbool.h>

#include "abi/table.h"
#include "hal/arm/hcr.h"

/* Interrupts: without IMO and FMO, IRQ and FIQ go straight to the guest's vectors. */
#define HCR_ALWAYS (HCR_VM | HCR_SWIO | HCR_AMO)
/* _OPEN: without the protection of registers. */
#define HCR_OPEN     HCR_TSC
#define HCR_CONFINED (HCR_OPEN | HCR_TIDCP | HCR_TAC)

enum {
	HCPTR_TCP0_9 = 0x3ff,     /* trap coprocessors 0 to 9, */
	HCPTR_TCP12_13 = 3 << 12, /* 12 and 13 */
	HCPTR_TTA = 1 << 20,      /* trap trace registers */
};
/* Coprocessors that nobody has. */
#define HCPTR_OPEN (HCPTR_TCP0_9 | HCPTR_TCP12_13)
/* Floating point, coprocessors 10 and 11, is the guest's; TCPAC and TASE are clear. */
#define HCPTR_CONFINED (HCPTR_OPEN | HCPTR_TTA)

enum {
	HSTR_T15 = 1 << 15,   /* trap implementation-defined registers of c15, as TIDCP */
	HSTR_TJDBX = 1 << 17, /* trap BXJ and Jazelle's registers */
};
/* ThumbEE's are the guest's: BH-D109. */
#define HSTR_CONFINED (HSTR_T15 | HSTR_TJDBX)

enum {
	HDCR_TDA = 1 << 9,    /* trap debug registers */
	HDCR_TDOSA = 1 << 10, /* trap the OS lock */
	HDCR_TDRA = 1 << 11,  /* trap the debug ROM's address */
};
#define HDCR_CONFINED (HDCR_TDA | HDCR_TDOSA | HDCR_TDRA)
#define CNTHCTL_GUEST 3u /* PL1PCTEN, PL1PCEN: the physical timer is the guest's too */

struct controls controls_make(uint64_t interrupts, uint32_t counters, unsigned unprotected)
{
	bool open = unprotected & BH_PROTECT_MSR;
	uint32_t aborts = unprotected & BH_PROTECT_ABORT ? HCR_AMO : 0; /* asynchronous aborts, the guest's own to take */

	return (struct controls){
		.hcr = (HCR_ALWAYS & ~aborts) | (open ? HCR_OPEN : HCR_CONFINED) | (uint32_t)interrupts,
		.hcptr = open ? HCPTR_OPEN : HCPTR_CONFINED,
		.hdcr = (open ? 0 : HDCR_CONFINED) | counters,
		.hstr = open ? 0 : HSTR_CONFINED,
		.cnthctl = CNTHCTL_GUEST,
	};
}
