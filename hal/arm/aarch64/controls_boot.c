/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.register. The control words of EL2, all in one place; docs/registers-aarch64.md decides register by register. A bit of an
 * extension that the core lacks is RES0 and may be written. ARM ARM D24.2 describes each register by name.
 */
#include "controls.h"

#include "abi/table.h"
#include "hal/arm/hcr.h"

#define HCR_RW     (UINT64_C(1) << 31) /* EL1 is AArch64 */
#define HCR_TLOR   (UINT64_C(1) << 35) /* trap limited ordering regions */
#define HCR_TERR   (UINT64_C(1) << 36) /* trap error record registers */
#define HCR_APK    (UINT64_C(1) << 40) /* do not trap pointer authentication keys, */
#define HCR_API    (UINT64_C(1) << 41) /* nor instructions: a guest's own */
#define HCR_ENSCXT (UINT64_C(1) << 53) /* do not trap software context numbers: a guest's own */
#define HCR_TID5   (UINT64_C(1) << 58) /* trap GMID_EL1: memory tagging */

/* Interrupts: VM with FMO or AMO and without IMO sends IRQ straight to the guest's vectors. */
#define HCR_ALWAYS (HCR_RW | HCR_VM | HCR_SWIO | HCR_AMO | HCR_APK | HCR_API | HCR_ENSCXT)
/* _OPEN: without the protection of registers. */
#define HCR_OPEN HCR_TSC
/* Clear on purpose: FIEN, ATA, TME, NV, TGE, E2H. Error injection, tags, transactions and the level of hypervisors are nobody's. */
#define HCR_CONFINED (HCR_OPEN | HCR_TIDCP | HCR_TAC | HCR_TLOR | HCR_TERR | HCR_TID5)

enum {
	CPTR_RES1 = 1 << 13 | 1 << 9 | 0xff,
	CPTR_TZ = 1 << 8,   /* trap SVE */
	CPTR_TSM = 1 << 12, /* trap SME */
	CPTR_TTA = 1 << 20, /* trap trace registers */
	CPTR_TAM = 1 << 30, /* trap activity monitors */
};
/* SVE and SME are nobody's: nothing sets their vector length. */
#define CPTR_OPEN (CPTR_RES1 | CPTR_TZ | CPTR_TSM)
/* TFP clear: floating point is the guest's; so is CPACR_EL1, TCPAC clear. */
#define CPTR_CONFINED (CPTR_OPEN | CPTR_TTA | CPTR_TAM)

enum {
	MDCR_TDOSA = 1 << 10, /* trap the OS lock */
	MDCR_TDRA = 1 << 11,  /* trap the debug ROM's address */
	MDCR_TPMS = 1 << 14,  /* trap statistical profiling */
	MDCR_HPMD = 1 << 17,  /* the guest's counters do not count events at EL2, */
	MDCR_TTRF = 1 << 19,  /* trap the trace filter */
	MDCR_HCCD = 1 << 23,  /* nor the cycles there */
	MDCR_TDCC = 1 << 27,  /* trap the debugger's channel */
};
/*
 * E2PB, E2TB 0: no profiling or trace buffer; EnSPM 0: no system PMU. TDA, TDE clear: breakpoints on itself are the guest's. MTPME 0: no
 * counting of another thread.
 */
#define MDCR_CONFINED (MDCR_TDOSA | MDCR_TDRA | MDCR_TPMS | MDCR_HPMD | MDCR_TTRF | MDCR_HCCD | MDCR_TDCC)
/* What AArch32 programs cannot reach is undefined by itself, or implementation defined and trapped by TIDCP. */
#define HSTR_CONFINED 0u
#define CNTHCTL_GUEST 3u /* EL1PCTEN, EL1PCEN: the physical timer is the guest's too */

struct controls controls_make(uint64_t interrupts, bool hides, unsigned counters, unsigned unprotected)
{
	bool open = unprotected & BH_PROTECT_MSR;
	uint64_t aborts = unprotected & BH_PROTECT_ABORT ? HCR_AMO : 0; /* SErrors, the guest's own to take */

	return (struct controls){
		.hcr = (HCR_ALWAYS & ~aborts) | (open ? HCR_OPEN : HCR_CONFINED) | interrupts | (hides ? HCR_TID3 : 0),
		.cptr = open ? CPTR_OPEN : CPTR_CONFINED,
		.mdcr = (open ? 0 : MDCR_CONFINED) | counters,
		.hstr = HSTR_CONFINED,
		.cnthctl = CNTHCTL_GUEST,
	};
}
