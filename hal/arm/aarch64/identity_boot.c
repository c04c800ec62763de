/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.register. Identification registers as a guest may see them: an allow-list, field by field (docs/registers-aarch64.md). A register
 * or field that is not named here reads as zero, which says "absent", also where a later architecture gives it a meaning.
 *
 * Trapping the reads costs a Linux boot some dozens of exits, so it is done only where a guest that believed the machine would
 * meet a refusal. ARM ARM D24.2 has each register by name.
 */
#include "identity.h"

#define FIELD(low)      (UINT64_C(0xf) << (low))
#define ALL             (~UINT64_C(0))
#define INDEX(crm, op2) (((crm) - 1) * 8 + (op2))

static const struct {
	uint64_t shown;
	uint64_t harmless; /* hidden where reads trap; elsewhere seen, because nothing comes of it */
} views[IDENTITY_REGISTERS] = {
	/* ID_PFR0_EL1: states, CSV2, DIT; not AMU, RAS */
	[INDEX(1, 0)] = { 0xffff | FIELD(16) | FIELD(24), FIELD(20) | FIELD(28) },
	/* ID_PFR1_EL1: ProgMod, GenTimer, GIC; not Security, MProgMod, Virtualization, Sec_frac, Virt_frac */
	[INDEX(1, 1)] = { FIELD(0) | FIELD(16) | FIELD(28), FIELD(4) | FIELD(8) | FIELD(12) | FIELD(20) | FIELD(24) },
	/* ID_DFR0_EL1: CopDbg, MMapDbg, PerfMon; not CopSDbg, CopTrc, MMapTrc, MProfDbg, TraceFilt */
	[INDEX(1, 2)] = { FIELD(0) | FIELD(8) | FIELD(24), FIELD(4) | FIELD(12) | FIELD(16) | FIELD(20) | FIELD(28) },
	/* ID_AFR0_EL1: implementation defined */
	[INDEX(1, 3)] = { 0, ALL },
	/* ID_MMFR0_EL1 to ID_MMFR3_EL1, ID_ISAR0_EL1 to ID_ISAR5_EL1, ID_MMFR4_EL1, ID_ISAR6_EL1: what AArch32 programs may execute */
	[INDEX(1, 4)] = { ALL, 0 },
	[INDEX(1, 5)] = { ALL, 0 },
	[INDEX(1, 6)] = { ALL, 0 },
	[INDEX(1, 7)] = { ALL, 0 },
	[INDEX(2, 0)] = { ALL, 0 },
	[INDEX(2, 1)] = { ALL, 0 },
	[INDEX(2, 2)] = { ALL, 0 },
	[INDEX(2, 3)] = { ALL, 0 },
	[INDEX(2, 4)] = { ALL, 0 },
	[INDEX(2, 5)] = { ALL, 0 },
	[INDEX(2, 6)] = { ALL, 0 },
	[INDEX(2, 7)] = { ALL, 0 },
	/* MVFR0_EL1 to MVFR2_EL1: floating point in AArch32 */
	[INDEX(3, 0)] = { ALL, 0 },
	[INDEX(3, 1)] = { ALL, 0 },
	[INDEX(3, 2)] = { ALL, 0 },
	/* ID_PFR2_EL1: CSV3, SSBS; not RAS_frac */
	[INDEX(3, 4)] = { FIELD(0) | FIELD(4), FIELD(8) },
	/* ID_DFR1_EL1: not MTPMU, HPMN0 */
	[INDEX(3, 5)] = { 0, FIELD(0) | FIELD(4) },
	/* ID_MMFR5_EL1: ETS, nTLBPA */
	[INDEX(3, 6)] = { FIELD(0) | FIELD(4), 0 },
	/* ID_AA64PFR0_EL1: EL0, EL1, FP, AdvSIMD, GIC, DIT, CSV2, CSV3; not EL2, EL3, RAS, SEL2, RME; never SVE, MPAM, AMU */
	[INDEX(4, 0)] = { FIELD(0) | FIELD(4) | FIELD(16) | FIELD(20) | FIELD(24) | FIELD(48) | FIELD(56) | FIELD(60),
			  FIELD(8) | FIELD(12) | FIELD(28) | FIELD(36) | FIELD(52) },
	/* ID_AA64PFR1_EL1: BT, SSBS, CSV2_frac; not RAS_frac, RNDR_trap; never MTE, SME, NMI, GCS */
	[INDEX(4, 1)] = { FIELD(0) | FIELD(4) | FIELD(32), FIELD(12) | FIELD(28) },
	/* ID_AA64DFR0_EL1: DebugVer, PMUVer, BRPs, WRPs, CTX_CMPs, DoubleLock; not TraceVer, PMSS, MTPMU; never SPE, trace buffer, BRBE */
	[INDEX(5, 0)] = { FIELD(0) | FIELD(8) | FIELD(12) | FIELD(20) | FIELD(28) | FIELD(36), FIELD(4) | FIELD(16) | FIELD(48) },
	/* ID_AA64AFR0_EL1, ID_AA64AFR1_EL1: implementation defined */
	[INDEX(5, 4)] = { 0, ALL },
	[INDEX(5, 5)] = { 0, ALL },
	/* ID_AA64ISAR0_EL1: never TME */
	[INDEX(6, 0)] = { ALL & ~FIELD(0) & ~FIELD(24), FIELD(0) },
	/* ID_AA64ISAR1_EL1: never LS64 */
	[INDEX(6, 1)] = { ALL & ~FIELD(60), 0 },
	/*
	 * ID_AA64ISAR2_EL1: RPRES, GPA3, APA3, BC, PAC_frac, CLRBHB, PRFMSLC, RPRFM, CSSC, LUT; never MOPS, SYSREG_128, SYSINSTR_128, nor
	 * WFxT: a trapped WFI has no deadline
	 */
	[INDEX(6, 2)] = { FIELD(4) | FIELD(8) | FIELD(12) | FIELD(20) | FIELD(24) | FIELD(28) | FIELD(40) | FIELD(48) | FIELD(52) |
				  FIELD(56),
			  0 },
	/* ID_AA64MMFR0_EL1: PARange to TGran4, ExS; not the granules of stage 2, FGT, ECV */
	[INDEX(7, 0)] = { 0xffffffff | FIELD(44), FIELD(32) | FIELD(36) | FIELD(40) | FIELD(56) | FIELD(60) },
	/* ID_AA64MMFR1_EL1: HAFDBS, HPDS, PAN, SpecSEI, ETS, AFP, nTLBPA, TIDCP1, ECBHB; not VMIDBits, VH, LO, XNX, TWED, HCX, CMOW */
	[INDEX(7, 1)] = { FIELD(0) | FIELD(12) | FIELD(20) | FIELD(24) | FIELD(36) | FIELD(44) | FIELD(48) | FIELD(52) | FIELD(60),
			  FIELD(4) | FIELD(8) | FIELD(16) | FIELD(28) | FIELD(32) | FIELD(40) | FIELD(56) },
	/* ID_AA64MMFR2_EL1: all but NV, FWB, EVT */
	[INDEX(7, 2)] = { ALL & ~FIELD(24) & ~FIELD(40) & ~FIELD(56), FIELD(24) | FIELD(40) | FIELD(56) },
	/* ID_AA64MMFR3_EL1: Spec_FPACC; never TCRX, SCTLRX, permission indirection */
	[INDEX(7, 3)] = { FIELD(60), 0 },
	/* ID_AA64MMFR4_EL1: not E2H0 */
	[INDEX(7, 4)] = { 0, FIELD(24) },
};

/*
 * PerfMon and PMUVer have the same numbers. Registers that came after PMUv3p8 (PMUACR_EL1 and others) are closed by fine-grained traps, so
 * that is the latest a guest sees; a version of the implementer's own is seen as it is, and refused.
 */
enum { PMUV3P8 = 8, PMU_IMPLEMENTERS = 15 };

static bool limit_version(uint64_t *value, unsigned low)
{
	uint64_t version = *value >> low & 15;

	if (version <= PMUV3P8 || version == PMU_IMPLEMENTERS)
		return false;
	*value = (*value & ~FIELD(low)) | (uint64_t)PMUV3P8 << low;
	return true;
}

bool identity_hide(uint64_t registers[IDENTITY_REGISTERS])
{
	bool must = limit_version(&registers[INDEX(1, 2)], 24);

	must |= limit_version(&registers[INDEX(5, 0)], 8);

	for (unsigned n = 0; n < IDENTITY_REGISTERS; n++) {
		must |= (registers[n] & ~(views[n].shown | views[n].harmless)) != 0;
		registers[n] &= views[n].shown;
	}
	return must;
}
