/* SPDX-License-Identifier: Apache-2.0 */
/* BH-I1.register. AArch64's control words, bit for bit as ARM ARM D24.2 names them: every expected word is written out. */
#include "hal/arm/aarch64/controls.h"

#include "abi/table.h"
#include "check.h"

enum { GICV3 = 0x8 /* FMO */, WFI_TRAPPED = 0x2000 /* TWI */, REFUSED = 0x60 /* TPM, TPMCR */ };

static const struct {
	uint64_t interrupts;
	bool hides;
	unsigned counters;
	unsigned unprotected;
	struct controls words;
} rows[] = {
	/* clang-format off: columns. HCR_EL2, CPTR_EL2, MDCR_EL2, HSTR_EL2, CNTHCTL_EL2. */
	{ 0, false, 0, 0, { 0x0420031880380023, 0x401033ff, 0x088a4c00, 0, 3 } },
	{ 0, false, REFUSED, 0, { 0x0420031880380023, 0x401033ff, 0x088a4c60, 0, 3 } },
	{ 0, false, 4, 0, { 0x0420031880380023, 0x401033ff, 0x088a4c04, 0, 3 } },
	{ WFI_TRAPPED, false, 6, 0, { 0x0420031880382023, 0x401033ff, 0x088a4c06, 0, 3 } },
	{ GICV3, true, 31, 0, { 0x04200318803c002b, 0x401033ff, 0x088a4c1f, 0, 3 } },
	{ GICV3 | WFI_TRAPPED, true, 6, 0, { 0x04200318803c202b, 0x401033ff, 0x088a4c06, 0, 3 } },
	{ GICV3, true, 6, BH_PROTECT_MSR, { 0x00200300800c002b, 0x33ff, 6, 0, 3 } },
	{ GICV3, true, 6, BH_PROTECT_ABORT, { 0x04200318803c000b, 0x401033ff, 0x088a4c06, 0, 3 } },
	/* clang-format on */
};

int main(void)
{
	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		struct controls made = controls_make(rows[n].interrupts, rows[n].hides, rows[n].counters, rows[n].unprotected);

		check_context.round = n;
		CHECK_EQ(made.hcr, rows[n].words.hcr);
		CHECK_EQ(made.cptr, rows[n].words.cptr);
		CHECK_EQ(made.mdcr, rows[n].words.mdcr);
		CHECK_EQ(made.hstr, rows[n].words.hstr);
		CHECK_EQ(made.cnthctl, rows[n].words.cnthctl);
	}
	return 0;
}
