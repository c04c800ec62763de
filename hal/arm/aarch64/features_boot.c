/* SPDX-License-Identifier: Apache-2.0 */
/* What this core has: reading it, and closing what HCR_EL2, CPTR_EL2 and MDCR_EL2 have no bit for. ARM ARM D24.2 has the registers. */
#include "features_boot.h"

#include "arch/arm/aarch64/sysreg.h"
#include "identity.h"

#define FIELD(value, low) ((value) >> (low) & 15)

#define READ(crm, op2) features[((crm) - 1) * 8 + (op2)] = SYSREG_READ(S3_0_C0_C##crm##_##op2)
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
	READ_ALL(1);
	READ_ALL(2);
	READ_ALL(3);
	READ_ALL(4);
	READ_ALL(5);
	READ_ALL(6);
	READ_ALL(7);
	return identity_hide(features);
}

/* Memory system partitioning: its registers trap. Version 0.1 has its number in PFR1 alone. DDI 0598 "MPAM2_EL2", "MPAMHCR_EL2". */
static void close_mpam(void)
{
	const uint64_t trap_mpam1 = UINT64_C(1) << 49, trap_mpam0 = UINT64_C(1) << 48, has_hcr = UINT64_C(1) << 17;

	if (!FIELD(SYSREG_READ(ID_AA64PFR0_EL1), 40) && !FIELD(SYSREG_READ(ID_AA64PFR1_EL1), 16))
		return;
	SYSREG_WRITE(S3_4_C10_C5_0, trap_mpam1 | trap_mpam0);   /* MPAM2_EL2 */
	if (SYSREG_READ(S3_0_C10_C4_4) & has_hcr)               /* MPAMIDR_EL1 */
		SYSREG_WRITE(S3_4_C10_C4_0, UINT64_C(1) << 31); /* MPAMHCR_EL2: TRAP_MPAMIDR_EL1 */
}

/*
 * Fine-grained traps: 0 in bits that trap by 1, which others do for us; 0 in those named n..., which trap by 0: SME priorities and
 * TPIDR2, branch records, guarded control stacks, permission indirection and overlays.
 */
static void close_fine_grained(void)
{
	unsigned version = FIELD(SYSREG_READ(ID_AA64MMFR0_EL1), 56);

	if (version >= 1) {
		SYSREG_WRITE(S3_4_C1_C1_4, 0); /* HFGRTR_EL2 */
		SYSREG_WRITE(S3_4_C1_C1_5, 0); /* HFGWTR_EL2 */
		SYSREG_WRITE(S3_4_C1_C1_6, 0); /* HFGITR_EL2 */
		SYSREG_WRITE(S3_4_C3_C1_4, 0); /* HDFGRTR_EL2 */
		SYSREG_WRITE(S3_4_C3_C1_5, 0); /* HDFGWTR_EL2 */
	}
	if (version >= 2) {
		SYSREG_WRITE(S3_4_C3_C1_0, 0); /* HDFGRTR2_EL2 */
		SYSREG_WRITE(S3_4_C3_C1_1, 0); /* HDFGWTR2_EL2 */
		SYSREG_WRITE(S3_4_C3_C1_2, 0); /* HFGRTR2_EL2 */
		SYSREG_WRITE(S3_4_C3_C1_3, 0); /* HFGWTR2_EL2 */
		SYSREG_WRITE(S3_4_C3_C1_7, 0); /* HFGITR2_EL2 */
	}
}

/* By encoding: assemblers know the names only for cores that have them. */
void features_close(void)
{
	close_fine_grained();
	close_mpam();
	if (FIELD(SYSREG_READ(ID_AA64MMFR1_EL1), 40))         /* HCX: nothing it would switch on, */
		SYSREG_WRITE(S3_4_C1_C2_2, UINT64_C(1) << 6); /* HCRX_EL2: TALLINT */
}
