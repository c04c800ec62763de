/* SPDX-License-Identifier: Apache-2.0 */
/* BH-I1.register. SVM's intercept words, bit for bit as APM vol. 2, Appendix B has them: every expected word is written out. */
#include "hal/x86/svm/controls.h"

#include "abi/table.h"
#include "check.h"

int main(void)
{
	struct vmcb_control control = { 0 };

	svm_set_intercepts(&control, 0);
	CHECK_EQ(control.intercept_cr, 0);
	CHECK_EQ(control.intercept_dr, 0);
	CHECK_EQ(control.intercept_exceptions, 0x00060002); /* #DB, #AC, #MC */
	/* NMI, INIT | RDPMC | CPUID, INVD | INVLPGA, IOIO, MSR, FERR_FREEZE, SHUTDOWN */
	CHECK_EQ(control.intercept_3, 0xdc44800a);
	/* VMRUN to SKINIT | WBINVD, MONITOR, MWAIT, armed MWAIT | RDPRU; not RDTSCP, ICEBP, XSETBV */
	CHECK_EQ(control.intercept_4, 0x00005e7f);
	CHECK_EQ(control.intercept_5, 0);
	svm_set_intercepts(&control, BH_PROTECT_ABORT);
	CHECK_EQ(control.intercept_exceptions, 0);
	CHECK_EQ(control.intercept_3, 0xdc44800a);
	return 0;
}
