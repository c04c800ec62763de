/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.register, BH-I2.exitless. Start-up: which instructions and events of a guest core come to its monitor, all in one place. APM vol.
 * 2, 15.9 "Instruction Intercepts", 15.13 "Miscellaneous Intercepts", Appendix B.
 */
#include "hal/x86/svm/controls.h"

#include "hal/x86/exceptions.h"

/* Not interrupts, HLT, control or debug registers, PAUSE: a guest uses its core as it likes. */
void svm_set_intercepts(struct vmcb_control *control, unsigned unprotected)
{
	control->intercept_exceptions = x86_exceptions(unprotected);
	control->intercept_3 = 1u << INTERCEPT_3_NMI | 1u << INTERCEPT_3_INIT | 1u << INTERCEPT_3_RDPMC | 1u << INTERCEPT_3_CPUID |
			       1u << INTERCEPT_3_INVD | 1u << INTERCEPT_3_INVLPGA | 1u << INTERCEPT_3_IOIO_PROT |
			       1u << INTERCEPT_3_MSR_PROT | 1u << INTERCEPT_3_FERR_FREEZE | 1u << INTERCEPT_3_SHUTDOWN;
	control->intercept_4 = 1u << INTERCEPT_4_VMRUN | 1u << INTERCEPT_4_VMMCALL | 1u << INTERCEPT_4_VMLOAD | 1u << INTERCEPT_4_VMSAVE |
			       1u << INTERCEPT_4_STGI | 1u << INTERCEPT_4_CLGI | 1u << INTERCEPT_4_SKINIT | 1u << INTERCEPT_4_WBINVD |
			       1u << INTERCEPT_4_MONITOR | 1u << INTERCEPT_4_MWAIT | 1u << INTERCEPT_4_MWAIT_ARMED |
			       1u << INTERCEPT_4_RDPRU;
}
