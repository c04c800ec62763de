/* SPDX-License-Identifier: Apache-2.0 */
/* BH-I1.register. ARMv7's control words, bit for bit as ARMv7 ARM B4.1 names them: every expected word is written out. */
#include "hal/arm/armv7/controls.h"

#include "abi/table.h"
#include "check.h"

enum { WFI_TRAPPED = 0x2000 /* TWI */, REFUSED = 0x60 /* TPM, TPMCR */ };

static const struct {
	uint64_t interrupts;
	uint32_t counters;
	unsigned unprotected;
	struct controls words;
} rows[] = {
	/* clang-format off: columns. HCR, HCPTR, HDCR, HSTR, CNTHCTL. */
	{ 0, 0, 0, { 0x00380023, 0x001033ff, 0x00000e00, 0x00028000, 3 } },
	{ 0, REFUSED, 0, { 0x00380023, 0x001033ff, 0x00000e60, 0x00028000, 3 } },
	{ WFI_TRAPPED, 6, 0, { 0x00382023, 0x001033ff, 0x00000e06, 0x00028000, 3 } },
	{ 0, 6, BH_PROTECT_MSR, { 0x00080023, 0x000033ff, 6, 0, 3 } },
	{ 0, 4, BH_PROTECT_ABORT, { 0x00380003, 0x001033ff, 0x00000e04, 0x00028000, 3 } },
	/* clang-format on */
};

int main(void)
{
	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		struct controls made = controls_make(rows[n].interrupts, rows[n].counters, rows[n].unprotected);

		check_context.round = n;
		CHECK_EQ(made.hcr, rows[n].words.hcr);
		CHECK_EQ(made.hcptr, rows[n].words.hcptr);
		CHECK_EQ(made.hdcr, rows[n].words.hdcr);
		CHECK_EQ(made.hstr, rows[n].words.hstr);
		CHECK_EQ(made.cnthctl, rows[n].words.cnthctl);
	}
	return 0;
}
