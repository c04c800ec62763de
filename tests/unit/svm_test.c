/* SPDX-License-Identifier: Apache-2.0 */
/* What an exit of SVM means (BH-I1.register): hal/svm/svm.c, over a processor that ends every run as the test says. */
#include <string.h>

#include "check.h"
#include "hal/irq/apic.h"
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

enum { ICR = 0x830 };
static bool sends;                /* the interrupt that a guest asks for is one of those sent at once */
static enum hal_action emulation; /* of a register */
static uint64_t sent;
static unsigned identified, emulated, refused;

void x86_decode_msr(const struct hal_core *of, bool write, struct hal_exit *exit)
{
	exit->kind = write && of->registers.rcx == ICR ? BH_EXIT_IPI : BH_EXIT_REGISTER;
	exit->value = of->registers.rax;
}

bool apic_send_fixed(const struct hal_core *of, uint64_t icr)
{
	sent = icr;
	return sends;
}

void x86_emulate_cpuid(struct hal_core *of)
{
	identified++;
	of->registers.rax++;
}

enum hal_action hal_core_emulate(struct hal_core *of, const struct hal_exit *exit)
{
	CHECK_EQ(exit->kind, BH_EXIT_REGISTER);
	emulated++;
	of->registers.rax += 2;
	return emulation;
}

void hal_core_apply(struct hal_core *of, const struct hal_exit *exit, enum hal_action action)
{
	CHECK_EQ(exit->kind, BH_EXIT_REGISTER);
	CHECK_EQ(action, HAL_REFUSE);
	CHECK(!(vmcb.control.eventinj & X86_EVENT_VALID));
	refused++;
	vmcb.control.eventinj = X86_EVENT_EXCEPTION(13);
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

enum { RAX = 0x7000, RIP = 0x4000, NRIP = 0x4444 };

/* After an exit with this control part, by a guest at this level: whether it is answered at once. */
static bool answers(struct vmcb_control control, uint8_t cpl, uint64_t rax)
{
	static uint64_t exits[BH_EXIT_REASONS];

	memset(exits, 0, sizeof(exits));
	identified = emulated = refused = 0;
	sent = 0;
	core.exits = exits;
	core.registers.rax = 0;
	control.nrip = NRIP;
	control.tlb_control = TLB_CONTROL_FLUSH_ALL;
	control.interrupt_shadow = 1;
	control.eventinj = X86_EVENT_EXCEPTION(6); /* which the run that has ended delivered */
	vmcb = (struct vmcb){ .control = control, .save = { .cpl = cpl, .rax = rax, .rip = RIP } };
	return svm_answer_at_once(&core.registers, &vmcb) == &vmcb;
}

static uint64_t all_counted(void)
{
	uint64_t sum = 0;

	for (unsigned reason = 0; reason < BH_EXIT_REASONS; reason++)
		sum += core.exits[reason];
	return sum;
}

/* Counted once, as this; the guest goes on at `rip`, and nothing is left of the run that has ended. */
static void check_answered(enum bh_exit_reason reason, uint64_t rip, uint64_t rax)
{
	CHECK_EQ(core.exits[reason], 1);
	CHECK_EQ(all_counted(), 1);
	CHECK_EQ(vmcb.save.rip, rip);
	CHECK_EQ(vmcb.save.rax, rax);
	CHECK_EQ(vmcb.control.tlb_control, 0);
	CHECK_EQ(vmcb.control.interrupt_shadow, rip == RIP);
	CHECK_EQ(vmcb.control.eventinj, rip == RIP ? X86_EVENT_EXCEPTION(13) : 0);
}

/* The guest finds everything as the exit left it. */
static void check_left(bool answered)
{
	CHECK(!answered);
	CHECK_EQ(all_counted(), 0);
	CHECK_EQ(vmcb.save.rip, RIP);
	CHECK_EQ(vmcb.control.interrupt_shadow, 1);
	CHECK(!identified && !emulated && !refused);
}

static void test_calls_at_once(void)
{
	enum { VERSION = 0xc6000000, READY, KICK };
	static const uint64_t others[] = { 0, READY, KICK, VERSION | UINT64_C(1) << 32, UINT64_MAX };

	check_context.subject = "VMMCALL at once";
	CHECK(answers((struct vmcb_control){ .exitcode = 0x81 }, 0, VERSION));
	check_answered(BH_EXIT_CALL, RIP + 3, BH_INFO_VERSION);
	for (uint8_t cpl = 1; cpl < 4; cpl++)
		check_left(answers((struct vmcb_control){ .exitcode = 0x81 }, cpl, VERSION));
	for (unsigned n = 0; n < sizeof(others) / sizeof(others[0]); n++)
		check_left(answers((struct vmcb_control){ .exitcode = 0x81 }, 0, others[n]));
	svm_saves_nrip = true;
	CHECK(answers((struct vmcb_control){ .exitcode = 0x81 }, 0, VERSION));
	check_answered(BH_EXIT_CALL, NRIP, BH_INFO_VERSION);
	svm_saves_nrip = false;
}

/* Users may: CPUID is nobody's privilege, and WRMSR in their hands does not exit. */
static void test_others_at_once(void)
{
	const struct vmcb_control identify = { .exitcode = 0x72 }, read = { .exitcode = 0x7c };
	const struct vmcb_control write = { .exitcode = 0x7c, .exitinfo1 = 1 };

	check_context.subject = "CPUID at once";
	CHECK(answers(identify, 3, RAX));
	check_answered(BH_EXIT_IDENTIFY, RIP + 2, RAX + 1);
	check_context.subject = "ICR at once";
	core.registers.rcx = ICR;
	sends = true;
	CHECK(answers(write, 0, RAX));
	check_answered(BH_EXIT_IPI, RIP + 2, RAX);
	CHECK_EQ(sent, RAX);
	sends = false;
	check_left(answers(write, 0, RAX));
	check_context.subject = "registers at once";
	emulation = HAL_SKIP;
	CHECK(answers(read, 0, RAX)); /* of the ICR */
	check_answered(BH_EXIT_REGISTER, RIP + 2, RAX + 2);
	CHECK_EQ(sent, 0);
	core.registers.rcx = 0x10;
	CHECK(answers(write, 0, RAX));
	check_answered(BH_EXIT_REGISTER, RIP + 2, RAX + 2);
	emulation = HAL_REFUSE;
	CHECK(answers(write, 0, RAX));
	CHECK_EQ(refused, 1);
	check_answered(BH_EXIT_REGISTER, RIP, RAX + 2);
}

/* Every other exit, a kick's NMI among them; and every exit that interrupted a delivery, which the next run is to make again. */
static void test_left_alone(void)
{
	static const uint64_t frequent[] = { 0x72, 0x7c, 0x81 };

	check_context.subject = "not at once";
	for (uint64_t code = 0; code <= 0x402; code++) {
		check_context.round = code;
		if (code != 0x72 && code != 0x7c && code != 0x81)
			check_left(answers((struct vmcb_control){ .exitcode = code }, 0, 0xc6000000));
	}
	check_context.subject = "an event was being delivered";
	for (unsigned n = 0; n < 3; n++)
		check_left(
			answers((struct vmcb_control){ .exitcode = frequent[n], .exitintinfo = X86_EVENT_EXCEPTION(14) }, 0, 0xc6000000));
}

int main(void)
{
	test_calls_at_once();
	test_others_at_once();
	test_left_alone();
	test_calls();
	test_forbidden();
	test_errors();
	return 0;
}
