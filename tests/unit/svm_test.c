/* SPDX-License-Identifier: Apache-2.0 */
/* What an exit of SVM means (BH-I1.register): hal/x86/svm/svm.c, over a processor that ends every run as the test says. */
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "check.h"
#include "hal/x86/apic/apic.h"
#include "hal/x86/svm/svm.h"
#include "hal/x86/svm/vmcb.h"

static _Alignas(4096) struct vmcb vmcb;
static struct hal_core core = { .control = &vmcb };
static struct vmcb_control ends; /* exit code and what comes with it */
enum { RAN_RAX = 0x1234 };

void svm_enter(uint64_t entered, struct x86_registers *registers)
{
	CHECK_EQ(entered, (uintptr_t)&vmcb);
	vmcb.control = ends;
	registers->rax = RAN_RAX;
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

enum { GPA = 0xfec00010, LENGTH = 6 };
static bool understood; /* the access to a page that is not mapped */
static uint32_t target; /* its register */
static unsigned decoded, asked_target;

bool x86_decode_filtered(struct hal_core *of, struct hal_exit *exit)
{
	CHECK_EQ(exit->gpa, GPA);
	decoded = exit->access;
	asked_target = exit->target;
	if (!understood)
		return false;
	exit->kind = BH_EXIT_DEVICE;
	exit->target = target;
	exit->length = LENGTH;
	return true;
}

enum hal_action hal_core_emulate(struct hal_core *of, const struct hal_exit *exit)
{
	CHECK_EQ(exit->kind, BH_EXIT_REGISTER);
	emulated++;
	of->registers.rax += 2;
	return emulation;
}

enum hal_action x86_emulate_device(struct hal_core *of, const struct hal_exit *exit)
{
	CHECK(exit->kind == BH_EXIT_DEVICE && exit->gpa == GPA);
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
	svm_vendor.run(&core, &exit);
	return exit;
}

/* Delivery ends the shadow of STI or MOV SS, which could hold an NMI back in the handler. */
static void test_injection(void)
{
	check_context.subject = "injection";
	vmcb.control = (struct vmcb_control){ .interrupt_shadow = 1 };
	svm_vendor.inject(&core, X86_EVENT_EXCEPTION(13));
	CHECK_EQ(vmcb.control.eventinj, X86_EVENT_EXCEPTION(13));
	CHECK_EQ(vmcb.control.interrupt_shadow, 0);
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
	core.registers.rax = rax;
	control.nrip = NRIP;
	control.tlb_control = TLB_CONTROL_FLUSH_ALL;
	control.interrupt_shadow = 1;
	control.eventinj = X86_EVENT_EXCEPTION(6); /* which the run that has ended delivered */
	vmcb = (struct vmcb){ .control = control, .save = { .cpl = cpl, .rip = RIP } };
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
	CHECK_EQ(core.registers.rax, rax);
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

/*
 * APM vol. 2, 15.25.6 "Nested versus Guest Page Faults, Fault Ordering": bit 1 write, 4 fetch, bit 32 the access itself. Registers that are
 * still in the processor are not there to be read or written.
 */
static void test_accesses_at_once(void)
{
	const struct vmcb_control read = { .exitcode = 0x400, .exitinfo1 = UINT64_C(1) << 32, .exitinfo2 = GPA };
	const struct vmcb_control write = { .exitcode = 0x400, .exitinfo1 = UINT64_C(1) << 32 | 1 << 1, .exitinfo2 = GPA };
	const struct vmcb_control walk = { .exitcode = 0x400, .exitinfo1 = 1 << 1, .exitinfo2 = GPA };
	const struct vmcb_control fetch = { .exitcode = 0x400, .exitinfo1 = UINT64_C(1) << 32 | 1 << 4, .exitinfo2 = GPA };

	check_context.subject = "access at once";
	emulation = HAL_SKIP;
	check_left(answers(read, 0, RAX));
	understood = true;
	CHECK(answers(read, 0, RAX));
	CHECK_EQ(decoded, BH_ACCESS_READ);
	check_answered(BH_EXIT_DEVICE, RIP + LENGTH, RAX + 2);
	svm_saves_nrip = true; /* which tells nothing here */
	CHECK(answers(write, 3, RAX));
	CHECK_EQ(decoded, BH_ACCESS_WRITE);
	CHECK_EQ(asked_target, X86_TARGET_MEMORY);
	check_answered(BH_EXIT_DEVICE, RIP + LENGTH, RAX + 2);
	svm_saves_nrip = false;
	CHECK(answers(walk, 0, RAX));
	CHECK_EQ(asked_target, 0);
	CHECK(answers(fetch, 0, RAX));
	CHECK_EQ(decoded, BH_ACCESS_EXECUTE);
	for (target = 0; target < 16; target++) {
		bool saved = target < 4 || (target >= 6 && target < 12);

		check_context.round = target;
		CHECK_EQ(answers(write, 0, RAX), saved);
		CHECK_EQ(emulated, saved);
	}
	target = 0;
	emulation = HAL_FAULT;
	CHECK(!answers(write, 0, RAX));
	CHECK_EQ(all_counted(), 0);
	CHECK_EQ(vmcb.save.rip, RIP);
	understood = false;
}

/* Where the fields stand, one by one; CS in one word with its attributes: L and D are told apart there. */
static void test_state(void)
{
	static const struct {
		enum x86_field field;
		uint64_t *at;
	} rows[] = {
		{ X86_RFLAGS, &vmcb.save.rflags },   { X86_CR0, &vmcb.save.cr0 },   { X86_CR3, &vmcb.save.cr3 },
		{ X86_CR4, &vmcb.save.cr4 },         { X86_EFER, &vmcb.save.efer }, { X86_CS, (uint64_t *)&vmcb.save.cs },
		{ X86_CS_BASE, &vmcb.save.cs.base }, { X86_RIP, &vmcb.save.rip },   { X86_PAT, &vmcb.save.g_pat },
	};

	check_context.subject = "state";
	memset(&vmcb, 0, sizeof(vmcb));
	svm_find_fields(&core);
	static_assert(sizeof(rows) / sizeof(rows[0]) == X86_FIELDS, "each of them");
	for (unsigned n = 0; n < X86_FIELDS; n++) {
		check_context.round = n;
		CHECK(core.field[rows[n].field] == rows[n].at);
		svm_vendor.set(&core, rows[n].field, n + 1);
		CHECK_EQ(*rows[n].at, n + 1);
		CHECK_EQ(svm_vendor.get(&core, rows[n].field), n + 1);
	}
	vmcb.save.cs.attributes = 1 << 9 | 0xff; /* 4.8.1: L, bit 53 of the descriptor; 15.5.1 packs 55:52 after 47:40 */
	CHECK_EQ(svm_vendor.get(&core, X86_CS) >> svm_vendor.code_shift & 3, X86_CODE_64);
	vmcb.save.cs.attributes = 1 << 10 | 0xff;
	CHECK_EQ(svm_vendor.get(&core, X86_CS) >> svm_vendor.code_shift & 3, X86_CODE_32);
}

/* Every other exit, a kick's NMI among them; and every exit that interrupted a delivery, which the next run is to make again. */
static void test_left_alone(void)
{
	static const uint64_t frequent[] = { 0x72, 0x7c, 0x81, 0x400 };

	check_context.subject = "not at once";
	for (uint64_t code = 0; code <= 0x402; code++) {
		check_context.round = code;
		if (code != 0x72 && code != 0x7c && code != 0x81)
			check_left(answers((struct vmcb_control){ .exitcode = code, .exitinfo2 = GPA }, 0, 0xc6000000));
	}
	check_context.subject = "an event was being delivered";
	understood = true;
	for (unsigned n = 0; n < sizeof(frequent) / sizeof(frequent[0]); n++)
		check_left(
			answers((struct vmcb_control){ .exitcode = frequent[n], .exitintinfo = X86_EVENT_EXCEPTION(14) }, 0, 0xc6000000));
}

/* STGI and CLGI, which no program may execute: APM vol. 3, "STGI", 0F 01 DC; "CLGI", 0F 01 DD. */
static unsigned windows;
static void pass_gif(int signal_number, siginfo_t *info, void *raw)
{
	ucontext_t *context = raw;
	const uint8_t *code = (const uint8_t *)context->uc_mcontext.gregs[REG_RIP];

	if (code[0] != 0x0f || code[1] != 0x01 || (code[2] != 0xdc && code[2] != 0xdd))
		abort();
	windows += code[2] == 0xdc;
	context->uc_mcontext.gregs[REG_RIP] += 3;
}

/* Who is kicked may have had something closed (hal_gate_turn): its next run begins with no translation. No other exit costs it any. */
static void test_kicked(void)
{
	const struct sigaction action = { .sa_sigaction = pass_gif, .sa_flags = SA_SIGINFO };

	check_context.subject = "kicked";
	sigaction(SIGILL, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	CHECK_EQ(run((struct vmcb_control){ .exitcode = 0x61, .tlb_control = 0 }, 0).kind, BH_EXIT_KICK);
	CHECK_EQ(windows, 1);
	CHECK_EQ(vmcb.control.tlb_control, TLB_CONTROL_FLUSH_ALL);
	CHECK_EQ(run((struct vmcb_control){ .exitcode = 0x81, .tlb_control = TLB_CONTROL_FLUSH_ALL }, 0).kind, BH_EXIT_CALL);
	CHECK_EQ(vmcb.control.tlb_control, 0);
}

int main(void)
{
	test_calls_at_once();
	test_others_at_once();
	test_accesses_at_once();
	test_state();
	test_left_alone();
	test_injection();
	test_calls();
	test_forbidden();
	test_errors();
	test_kicked();
	return 0;
}
