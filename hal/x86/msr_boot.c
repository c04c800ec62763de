/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up (BH-I1.register, BH-I2.exitless): model-specific registers that a guest uses without exits, because they are its core's own and
 * can neither send nor choose what arrives. The time-stamp counter can be read only: it is the common time base.
 */
#include "arch/x86_64/x86.h"
#include "hal/x86/apic/apic.h"
#include "hal/x86/core.h"

static const struct {
	uint32_t first, last;
	unsigned permissions;
} direct[] = {
	/* x2APIC, APM vol. 2, 16.11.1: all can be read; AMD's extended vector tables beyond 0x83f cannot be touched. */
	{ APIC_FIRST, APIC_SELF_IPI, HAL_READ },
	{ APIC_TPR, APIC_TPR, HAL_WRITE },
	{ APIC_EOI, APIC_EOI, HAL_WRITE },
	{ APIC_SVR, APIC_SVR, HAL_WRITE },
	{ APIC_ESR, APIC_ESR, HAL_WRITE },
	{ APIC_TIMER_INITIAL, APIC_TIMER_INITIAL, HAL_WRITE },
	{ APIC_TIMER_DIVIDE, APIC_TIMER_DIVIDE, HAL_WRITE },
	{ APIC_SELF_IPI, APIC_SELF_IPI, HAL_WRITE },
	/* System calls and segment bases. APM vol. 2, 6.1 "Fast System Call and Return", 4.5.3 "Segment Registers in 64-Bit Mode". */
	{ MSR_SYSENTER_CS, MSR_SYSENTER_EIP, HAL_READ | HAL_WRITE },
	{ MSR_STAR, MSR_SFMASK, HAL_READ | HAL_WRITE },
	{ MSR_FS_BASE, MSR_TSC_AUX, HAL_READ | HAL_WRITE },
	{ MSR_TSC, MSR_TSC, HAL_READ },
};

void x86_allow_msrs(struct hal_partition *partition)
{
	for (size_t n = 0; n < sizeof(direct) / sizeof(direct[0]); n++)
		for (uint32_t msr = direct[n].first; msr <= direct[n].last; msr++)
			x86_vendor_boot->allow_msr(partition, msr, direct[n].permissions);
}
