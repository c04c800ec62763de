/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.register. What an AArch64 guest may know of its core, from what processors report: every expected word is written out. What no row
 * names is zero, on the core and for the guest.
 */
#include "hal/arm/aarch64/identity.h"

#include "check.h"

#define REGISTER(crm, op2) (((crm) - 1) * 8 + (op2))

struct row {
	const char *name;
	unsigned number;
	uint64_t core, guest;
};

/* clang-format off: columns */
/* Cortex-A57 TRM (DDI 0488) 4.3: nothing that a guest must not believe in. */
static const struct row cortex_a57[] = {
	{ "ID_PFR0_EL1", REGISTER(1, 0), 0x00000131, 0x00000131 },      { "ID_PFR1_EL1", REGISTER(1, 1), 0x00011011, 0x00010001 },
	{ "ID_DFR0_EL1", REGISTER(1, 2), 0x03010066, 0x03000006 },      { "ID_MMFR0_EL1", REGISTER(1, 4), 0x10101105, 0x10101105 },
	{ "ID_ISAR0_EL1", REGISTER(2, 0), 0x02101110, 0x02101110 },     { "MVFR0_EL1", REGISTER(3, 0), 0x10110222, 0x10110222 },
	{ "ID_AA64PFR0_EL1", REGISTER(4, 0), 0x00002222, 0x00000022 },  { "ID_AA64DFR0_EL1", REGISTER(5, 0), 0x10305106, 0x10305106 },
	{ "ID_AA64ISAR0_EL1", REGISTER(6, 0), 0x00011120, 0x00011120 }, { "ID_AA64MMFR0_EL1", REGISTER(7, 0), 0x00001124, 0x00001124 },
};
/* One field of each kind in every register that is filtered: 1 in each nibble, so that what passes is seen at once. */
static const struct row everything[] = {
	{ "ID_PFR0_EL1", REGISTER(1, 0), 0x11111111, 0x01011111 },
	{ "ID_PFR1_EL1", REGISTER(1, 1), 0x11111111, 0x10010001 },
	{ "ID_DFR0_EL1", REGISTER(1, 2), 0x11111111, 0x01000101 },
	{ "ID_AFR0_EL1", REGISTER(1, 3), 0x11111111, 0 },
	{ "reserved", REGISTER(3, 3), 0x11111111, 0 },
	{ "ID_PFR2_EL1", REGISTER(3, 4), 0x11111111, 0x00000011 },
	{ "ID_DFR1_EL1", REGISTER(3, 5), 0x11111111, 0 },
	{ "ID_MMFR5_EL1", REGISTER(3, 6), 0x11111111, 0x00000011 },
	{ "reserved", REGISTER(3, 7), 0x11111111, 0 },
	{ "ID_AA64PFR0_EL1", REGISTER(4, 0), 0x1111111111111111, 0x1101000001110011 },
	{ "ID_AA64PFR1_EL1", REGISTER(4, 1), 0x1111111111111111, 0x0000000100000011 },
	{ "ID_AA64PFR2_EL1", REGISTER(4, 2), 0x1111111111111111, 0 },
	{ "ID_AA64ZFR0_EL1", REGISTER(4, 4), 0x1111111111111111, 0 },
	{ "ID_AA64SMFR0_EL1", REGISTER(4, 5), 0x1111111111111111, 0 },
	{ "ID_AA64DFR0_EL1", REGISTER(5, 0), 0x1111111111111111, 0x0000001010101101 },
	{ "ID_AA64DFR1_EL1", REGISTER(5, 1), 0x1111111111111111, 0 },
	{ "ID_AA64AFR0_EL1", REGISTER(5, 4), 0x1111111111111111, 0 },
	{ "ID_AA64ISAR0_EL1", REGISTER(6, 0), 0x1111111111111111, 0x1111111110111110 },
	{ "ID_AA64ISAR1_EL1", REGISTER(6, 1), 0x1111111111111111, 0x0111111111111111 },
	{ "ID_AA64ISAR2_EL1", REGISTER(6, 2), 0x1111111111111111, 0x0111010011101110 },
	{ "ID_AA64ISAR3_EL1", REGISTER(6, 3), 0x1111111111111111, 0 },
	{ "ID_AA64MMFR0_EL1", REGISTER(7, 0), 0x1111111111111111, 0x0000100011111111 },
	{ "ID_AA64MMFR1_EL1", REGISTER(7, 1), 0x1111111111111111, 0x1011101001101001 },
	{ "ID_AA64MMFR2_EL1", REGISTER(7, 2), 0x1111111111111111, 0x1011101110111111 },
	{ "ID_AA64MMFR3_EL1", REGISTER(7, 3), 0x1111111111111111, 0x1000000000000000 },
	{ "ID_AA64MMFR4_EL1", REGISTER(7, 4), 0x1111111111111111, 0 },
};
/* Each alone is enough that reads must trap. */
static const struct row decisive[] = {
	{ "SVE", REGISTER(4, 0), UINT64_C(1) << 32, 0 },
	{ "MPAM", REGISTER(4, 0), UINT64_C(1) << 40, 0 },
	{ "AMU", REGISTER(4, 0), UINT64_C(1) << 44, 0 },
	{ "MTE", REGISTER(4, 1), UINT64_C(2) << 8, 0 },
	{ "MPAM version 0.1", REGISTER(4, 1), UINT64_C(1) << 16, 0 },
	{ "SME", REGISTER(4, 1), UINT64_C(1) << 24, 0 },
	{ "NMI", REGISTER(4, 1), UINT64_C(1) << 36, 0 },
	{ "GCS", REGISTER(4, 1), UINT64_C(1) << 44, 0 },
	{ "SPE", REGISTER(5, 0), UINT64_C(1) << 32, 0 },
	{ "PMUv3p9", REGISTER(5, 0), UINT64_C(9) << 8, UINT64_C(8) << 8 },
	{ "PMUv3p9 in AArch32", REGISTER(1, 2), UINT64_C(9) << 24, UINT64_C(8) << 24 },
	{ "trace buffer", REGISTER(5, 0), UINT64_C(1) << 44, 0 },
	{ "BRBE", REGISTER(5, 0), UINT64_C(1) << 52, 0 },
	{ "TME", REGISTER(6, 0), UINT64_C(1) << 24, 0 },
	{ "LS64", REGISTER(6, 1), UINT64_C(1) << 60, 0 },
	{ "WFxT", REGISTER(6, 2), UINT64_C(2) << 0, 0 },
	{ "MOPS", REGISTER(6, 2), UINT64_C(1) << 16, 0 },
	{ "TCRX", REGISTER(7, 3), UINT64_C(1) << 0, 0 },
	{ "SCTLRX", REGISTER(7, 3), UINT64_C(1) << 4, 0 },
	{ "a register without a name", REGISTER(4, 6), 1, 0 },
};
/* clang-format on */

static bool hide(const struct row *rows, unsigned count)
{
	uint64_t registers[IDENTITY_REGISTERS] = { 0 };
	bool must;

	for (unsigned n = 0; n < count; n++)
		registers[rows[n].number] = rows[n].core;
	must = identity_hide(registers);
	for (unsigned n = 0; n < count; n++) {
		check_context.subject = rows[n].name;
		CHECK_EQ(registers[rows[n].number], rows[n].guest);
		registers[rows[n].number] = 0;
	}
	for (unsigned n = 0; n < IDENTITY_REGISTERS; n++)
		CHECK_EQ(registers[n], 0);
	return must;
}

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

int main(void)
{
	CHECK(!hide(cortex_a57, COUNT(cortex_a57)));
	CHECK(hide(everything, COUNT(everything)));
	for (unsigned n = 0; n < COUNT(decisive); n++)
		CHECK(hide(&decisive[n], 1));
	return 0;
}
