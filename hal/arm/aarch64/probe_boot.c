/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the features of this processor that hal_probe requires. */
#include "hal/arm/stage2.h"

#include "arch/arch.h"

enum { TGRAN4_NONE = 15, PARANGE_40_BITS = 2 };

/* ARM ARM D24.2 "ID_AA64MMFR0_EL1": PARange 3:0, TGran4 31:28; "ID_AA64MMFR4_EL1": E2H0 27:24, 0 where E2H may be 0. */
static const char *memory_missing(void)
{
	uint64_t mmfr0 = SYSREG_READ(ID_AA64MMFR0_EL1);

	if ((mmfr0 >> 28 & 15) == TGRAN4_NONE)
		return "this processor has no 4 KiB translation granule; use a board whose processor has";
	if ((mmfr0 & 15) < PARANGE_40_BITS)
		return "this processor has fewer than 40 physical address bits; use a board whose processor has more";
	if (SYSREG_READ(ID_AA64MMFR4_EL1) >> 24 & 15)
		return "EL2 of this processor is a host's alone (it lacks FEAT_E2H0); use a board whose processor has it";
	return NULL;
}

static const char *level_missing(void)
{
	switch (arch_exception_level()) {
	case 2:
		return NULL;
	case 3:
		return "entered at EL3; let firmware (TF-A) start the image at EL2, or switch the emulator's secure=on off";
	default:
		return "entered at EL1, so there is no virtualization to use; start the machine with it (QEMU: -M virt,virtualization=on)";
	}
}

const char *processor_missing(void)
{
	const char *why = level_missing();

	return why ? why : memory_missing();
}

uint64_t hal_machine_clock_hz(void)
{
	return SYSREG_READ(CNTFRQ_EL0);
}
