/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identification registers as a guest sees them. Trapping their reads costs a Linux boot some dozens of exits, so it is done
 * only where a guest that believed the machine would meet a refusal: SVE, MTE, SPE and other things this version does not
 * give. ARM ARM D24.2 has each register by name; a field of 0 means absent.
 */
#include "hal/stage2/stage2.h"

#include "arch/aarch64/sysreg.h"
#include "features_boot.h"

#define FIELD(low)      (UINT64_C(0xf) << (low))
#define INDEX(crm, op2) (((crm) - 1) * 8 + (op2))

static const struct {
	uint8_t index;
	uint64_t refused; /* present on the machine: must be hidden */
	uint64_t hidden;  /* hidden as well once reads trap; harmless to see */
} masks[] = {
	{ INDEX(4, 0), /* ID_AA64PFR0_EL1 */
	  FIELD(32) /* SVE */ | FIELD(40) /* MPAM */ | FIELD(44) /* AMU */, FIELD(8) /* EL2 */ | FIELD(28) /* RAS */ },
	{ INDEX(4, 1), /* ID_AA64PFR1_EL1 */
	  FIELD(8) /* MTE */ | FIELD(24) /* SME */ | FIELD(36) /* NMI */, FIELD(12) /* RAS_frac */ | FIELD(16) /* MPAM_frac */ },
	{ INDEX(4, 4), ~UINT64_C(0), 0 }, /* ID_AA64ZFR0_EL1: SVE */
	{ INDEX(4, 5), ~UINT64_C(0), 0 }, /* ID_AA64SMFR0_EL1: SME */
	{ INDEX(5, 0),                    /* ID_AA64DFR0_EL1 */
	  FIELD(32) /* PMSVer */ | FIELD(40) /* TraceFilt */ | FIELD(44) /* TraceBuffer */ | FIELD(52) /* BRBE */,
	  FIELD(4) /* TraceVer */ | FIELD(8) /* PMUVer */ | FIELD(48) /* MTPMU */ },
	{ INDEX(6, 1), FIELD(60) /* LS64 */, 0 },                                                      /* ID_AA64ISAR1_EL1 */
	{ INDEX(6, 2), FIELD(0) /* WFxT: a trapped WFI has no deadline */ | FIELD(16) /* MOPS */, 0 }, /* ID_AA64ISAR2_EL1 */
	{ INDEX(7, 0), 0, FIELD(56) /* FGT */ | FIELD(60) /* ECV */ },                                 /* ID_AA64MMFR0_EL1 */
	{ INDEX(7, 1), 0, FIELD(8) /* VH */ | FIELD(16) /* LO */ | FIELD(40) /* HCX */ },              /* ID_AA64MMFR1_EL1 */
	{ INDEX(7, 2), 0, FIELD(24) /* NV */ },                                                        /* ID_AA64MMFR2_EL1 */
	{ INDEX(7, 3), 0xfffff /* TCRX, SCTLRX, S1PIE, S2PIE, S1POE */, 0 },                           /* ID_AA64MMFR3_EL1 */
};

#define READ(crm, op2) features[INDEX(crm, op2)] = SYSREG_READ(S3_0_C0_C##crm##_##op2)
#define READ_ALL(crm) \
	READ(crm, 0); \
	READ(crm, 1); \
	READ(crm, 2); \
	READ(crm, 3); \
	READ(crm, 4); \
	READ(crm, 5); \
	READ(crm, 6); \
	READ(crm, 7)

bool features_fill(uint64_t *features)
{
	bool refused = false;

	READ_ALL(1);
	READ_ALL(2);
	READ_ALL(3);
	READ_ALL(4);
	READ_ALL(5);
	READ_ALL(6);
	READ_ALL(7);
	for (unsigned n = 0; n < sizeof(masks) / sizeof(masks[0]); n++) {
		uint64_t *feature = &features[masks[n].index];

		refused |= (*feature & masks[n].refused) != 0;
		*feature &= ~(masks[n].refused | masks[n].hidden);
	}
	return refused;
}

/* By encoding: assemblers know the names only for cores that have them. */
void features_close(void)
{
	if (SYSREG_READ(ID_AA64MMFR0_EL1) & FIELD(56)) { /* FGT: no fine-grained trap */
		SYSREG_WRITE(S3_4_C1_C1_4, 0);           /* HFGRTR_EL2 */
		SYSREG_WRITE(S3_4_C1_C1_5, 0);           /* HFGWTR_EL2 */
		SYSREG_WRITE(S3_4_C1_C1_6, 0);           /* HFGITR_EL2 */
		SYSREG_WRITE(S3_4_C3_C1_4, 0);           /* HDFGRTR_EL2 */
		SYSREG_WRITE(S3_4_C3_C1_5, 0);           /* HDFGWTR_EL2 */
	}
	if (SYSREG_READ(ID_AA64MMFR1_EL1) & FIELD(40)) /* HCX: nothing it would switch on */
		SYSREG_WRITE(S3_4_C1_C2_2, 0);         /* HCRX_EL2 */
}

/* ID_AA64DFR0_EL1.PMUVer: 0 none, 15 one that is not the architecture's. */
bool features_has_pmu(void)
{
	unsigned version = SYSREG_READ(ID_AA64DFR0_EL1) >> 8 & 15;

	return version && version != 15;
}
