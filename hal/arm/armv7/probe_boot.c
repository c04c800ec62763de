/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the features of this processor that hal_probe requires. */
#include "hal/arm/stage2.h"

#include "arch/arch.h"

enum { VMSA_LPAE = 5 };

/* ARMv7 ARM B4.1.94 "ID_PFR1": generic timer 19:16; B4.1.89 "ID_MMFR0": VMSA support 3:0. */
static const char *feature_missing(void)
{
	if ((SYSREG_READ(ID_MMFR0) & 15) < VMSA_LPAE)
		return "this processor has no large physical address extension; use a board whose processor has (Cortex-A7, A15, A17)";
	if (!(SYSREG_READ(ID_PFR1) >> 16 & 15))
		return "this processor has no generic timer; use a board whose processor has (Cortex-A7, A15, A17)";
	return NULL;
}

const char *processor_missing(void)
{
	if (arch_exception_level() != 2)
		return "not entered in Hyp mode, so there is no virtualization to use; let the boot loader start the image there, or the "
		       "machine with it (QEMU: -M virt,virtualization=on)";
	return feature_missing();
}

uint64_t hal_machine_clock_hz(void)
{
	return SYSREG_READ(CNTFRQ);
}
