/* SPDX-License-Identifier: Apache-2.0 */
/* What an exit of SVM means (BH-I1.register): hal/svm/svm.c, over a processor that ends every run as the test says. */
#include "check.h"
#include "hal/svm/svm.h"
#include "hal/svm/vmcb.h"

static _Alignas(4096) struct vmcb vmcb;
static struct hal_core core = { .control = &vmcb };
static struct vmcb_control ends; /* exit code and what comes with it */

void svm_enter(uint64_t entered, struct x86_registers *registers)
{
	CHECK_EQ(entered, (uintptr_t)&vmcb);
	vmcb.control = ends;
}

void svm_wait(void)
{
	abort();
}

void svm_drain(void)
{
	abort();
}

void x86_decode_msr(const struct hal_core *of, bool write, struct hal_exit *exit)
{
	abort();
}

static struct hal_exit run(struct vmcb_control control, uint8_t cpl)
{
	struct hal_exit exit = { .kind = BH_EXIT_ERROR };

	ends = control;
	vmcb.save.cpl = cpl;
	core.registers.rax = 0x1234;
	svm_vendor.run(&core, &exit);
	return exit;
}

/* Its users do not call in the name of a sandbox's kernel. */
static void test_calls(void)
{
	check_context.subject = "VMMCALL";
	for (uint8_t cpl = 0; cpl < 4; cpl++) {
		struct hal_exit exit = run((struct vmcb_control){ .exitcode = 0x81 }, cpl);

		check_context.round = cpl;
		CHECK_EQ(exit.kind, cpl ? BH_EXIT_FORBIDDEN : BH_EXIT_CALL);
		CHECK_EQ(exit.gpa, 0x1234);
	}
}

/* APM vol. 2, Appendix C: the codes of VMRUN, VMLOAD, VMSAVE, STGI, CLGI, SKINIT and INVLPGA, from any level. */
static void test_forbidden(void)
{
	static const uint64_t codes[] = { 0x80, 0x82, 0x83, 0x84, 0x85, 0x86, 0x7a };

	check_context.subject = "forbidden";
	for (unsigned n = 0; n < sizeof(codes) / sizeof(codes[0]); n++) {
		check_context.round = codes[n];
		CHECK_EQ(run((struct vmcb_control){ .exitcode = codes[n] }, 0).kind, BH_EXIT_FORBIDDEN);
	}
}

/* A refused VMRUN, a code that nobody has asked for, one whose lower half is VMMCALL's. */
static void test_errors(void)
{
	static const uint64_t codes[] = { UINT64_MAX, 0x60, 0xffff, 0x10081 };

	check_context.subject = "errors";
	for (unsigned n = 0; n < sizeof(codes) / sizeof(codes[0]); n++) {
		struct hal_exit exit = run((struct vmcb_control){ .exitcode = codes[n] }, 0);

		check_context.round = n;
		CHECK_EQ(exit.kind, BH_EXIT_ERROR);
		CHECK_EQ(exit.raw[0], codes[n]);
	}
}

int main(void)
{
	test_calls();
	test_forbidden();
	test_errors();
	return 0;
}
