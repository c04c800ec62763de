/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an exit of VT-x means (BH-I1.register): hal/x86/vmx/vmx.c, over a control structure of the test's. A program's VMREAD and VMWRITE
 * are undefined outside of VMX operation, and a general-protection fault where the host's kernel is in it: SDM vol. 3C, chapter 31. The
 * signal that comes of it carries them out.
 */
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "check.h"
#include "hal/x86/decode.h"
#include "hal/x86/vmx/vmx.h"

enum { FIELDS = 0x8000 };
static uint64_t vmcs[FIELDS];
static struct hal_core core;

/* As instructions number them. SDM vol. 2A, table 2-2. */
static greg_t *register_of(ucontext_t *context, unsigned number)
{
	static const int order[] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
				     REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15 };

	return &context->uc_mcontext.gregs[order[number]];
}

/* REX? 0F 78 /r VMREAD r/m64, r64; 0F 79 /r VMWRITE r64, r/m64: the field is named by `reg`, the value is in `rm`, a register here. */
static void access_field(ucontext_t *context, const uint8_t *code)
{
	enum { REX_B = 1, REX_R = 4, VMREAD = 0x78, VMWRITE = 0x79 };
	unsigned rex = (code[0] & 0xf0) == 0x40 ? *code++ : 0, modrm = code[2];
	greg_t *value = register_of(context, (modrm & 7) | (rex & REX_B ? 8 : 0));
	uint64_t field = (uint64_t)*register_of(context, (modrm >> 3 & 7) | (rex & REX_R ? 8 : 0));

	if (code[0] != 0x0f || (code[1] != VMREAD && code[1] != VMWRITE) || modrm >> 6 != 3 || field >= FIELDS)
		abort();
	if (code[1] == VMREAD)
		*value = (greg_t)vmcs[field];
	else
		vmcs[field] = (uint64_t)*value;
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)(code + 3);
}

static unsigned invalidated, unblocked;

/* Bytes from ModRM on, of a memory operand. SDM vol. 2A, 2.1.3, 2.1.5 "Addressing-Mode Encoding of ModR/M and SIB Bytes". */
static unsigned operand_length(const uint8_t *modrm)
{
	unsigned mod = modrm[0] >> 6, rm = modrm[0] & 7, sib = rm == 4, base = sib ? modrm[1] & 7u : rm;

	return 1 + sib + (mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0);
}

/* 66 REX? 0F 38 80 /r INVEPT r64, m128: of all contexts. */
static void invalidate(ucontext_t *context, const uint8_t *code)
{
	unsigned rex = (code[1] & 0xf0) == 0x40 ? code[1] : 0;
	const uint8_t *opcode = code + (rex ? 2 : 1);

	if (opcode[0] != 0x0f || opcode[1] != 0x38 || opcode[2] != 0x80)
		abort();
	CHECK_EQ(*register_of(context, (opcode[3] >> 3 & 7) | (rex & 4 ? 8 : 0)), INVALIDATE_ALL_CONTEXTS);
	invalidated++;
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)(opcode + 3 + operand_length(opcode + 3));
}

static void carry_out(int signal_number, siginfo_t *info, void *raw)
{
	ucontext_t *context = raw;
	const uint8_t *code = (const uint8_t *)context->uc_mcontext.gregs[REG_RIP];

	if (code[0] == 0x66)
		invalidate(context, code);
	else
		access_field(context, code);
}

static bool enters;

bool vmx_enter(struct x86_registers *registers)
{
	CHECK(registers == &core.registers);
	return enters;
}

void vmx_wait(void)
{
	abort();
}

void x86_drain(void)
{
	abort();
}

void vmx_unblock_nmi(void)
{
	unblocked++;
}

void vmx_start(struct hal_core *of, uint8_t vector)
{
	abort();
}

void vmx_restart(struct hal_core *of)
{
	abort();
}

uint64_t *x86_register(struct hal_core *of, uint32_t number)
{
	CHECK(of == &core);
	return &core.registers.rax + number;
}

void x86_decode_msr(const struct hal_core *of, bool write, struct hal_exit *exit)
{
	abort();
}

static uint64_t ends_with; /* VM-exit interruption information */

static struct hal_exit run(uint64_t reason, unsigned dpl)
{
	struct hal_exit exit = { .kind = BH_EXIT_ERROR };

	memset(vmcs, 0, sizeof(vmcs));
	vmcs[0x4402] = reason;
	vmcs[0x4404] = ends_with;
	vmcs[0x4818] = 0x93 | dpl << 5; /* SS */
	core.registers.rax = 0x1234;
	vmx_vendor.run(&core, &exit);
	return exit;
}

/* Its users do not call in the name of a sandbox's kernel: SS has the privilege level. SDM vol. 3C, table 25-2. */
static void test_calls(void)
{
	check_context.subject = "VMCALL";
	for (unsigned dpl = 0; dpl < 4; dpl++) {
		struct hal_exit exit = run(18, dpl);

		check_context.round = dpl;
		CHECK_EQ(exit.kind, dpl ? BH_EXIT_FORBIDDEN : BH_EXIT_CALL);
		CHECK_EQ(exit.gpa, 0x1234);
	}
}

/* SDM vol. 3D, Appendix C: GETSEC, VMCLEAR to VMXON, INVEPT, INVVPID, ENCLS, ENCLV, from any level. */
static void test_forbidden(void)
{
	static const uint64_t reasons[] = { 11, 19, 20, 21, 22, 23, 24, 25, 26, 27, 50, 53, 60, 70 };

	check_context.subject = "forbidden";
	for (unsigned n = 0; n < sizeof(reasons) / sizeof(reasons[0]); n++) {
		check_context.round = reasons[n];
		CHECK_EQ(run(reasons[n], 0).kind, BH_EXIT_FORBIDDEN);
	}
}

/* Whatever register the guest writes CR0 from, it sees its own bits there when the instruction is tried again. SDM vol. 3C, table 28-3. */
static void test_cr0(void)
{
	enum { CR_ACCESS = 28, CR0_READ_SHADOW_FIELD = 0x6004, QUALIFICATION = 0x6400 };
	static const uint64_t others = UINT64_C(0x80050013);
	struct hal_exit exit = { .kind = BH_EXIT_ERROR };

	check_context.subject = "CR0";
	for (unsigned number = 0; number < X86_REGISTERS; number++)
		for (uint64_t bits = 0;; bits = (bits - CR0_KEPT) & CR0_KEPT) {
			check_context.round = bits | number;
			memset(vmcs, 0, sizeof(vmcs));
			(&core.registers.rax)[number] = bits | others;
			vmcs[0x4402] = CR_ACCESS;
			vmcs[QUALIFICATION] = number << 8;
			vmcs[0x681c] = bits | others; /* RSP */
			vmx_vendor.run(&core, &exit);
			CHECK_EQ(exit.gpa, X86_CR(0));
			CHECK_EQ(vmcs[CR0_READ_SHADOW_FIELD], bits);
			if (bits == CR0_KEPT)
				break;
		}
}

/*
 * What decides which instruction the guest is at stands where it is looked for, of every exit anew; and nothing else, as RFLAGS, which most
 * instructions change. SDM vol. 3D, Appendix B "Field Encoding in VMCS".
 */
static void test_state(void)
{
	enum { EPT_VIOLATION = 48, RFLAGS = 0x6820, L = 1 << 13, D = 1 << 14 };
	static const struct {
		enum x86_field field;
		uint32_t encoding;
	} rows[] = {
		{ X86_CR0, 0x6800 }, { X86_CR3, 0x6802 },     { X86_CR4, 0x6804 }, { X86_EFER, 0x2806 },
		{ X86_CS, 0x4816 },  { X86_CS_BASE, 0x6808 }, { X86_RIP, 0x681e },
	};
	struct hal_exit exit = { .kind = BH_EXIT_ERROR };

	check_context.subject = "state";
	static_assert(sizeof(rows) / sizeof(rows[0]) == X86_STATE_WORDS, "each of them");
	for (uint64_t time = 1; time < 3; time++) {
		memset(vmcs, 0, sizeof(vmcs));
		vmcs[0x4402] = EPT_VIOLATION;
		vmcs[RFLAGS] = 2;
		for (unsigned n = 0; n < X86_STATE_WORDS; n++)
			vmcs[rows[n].encoding] = time << 32 | n;
		vmx_vendor.run(&core, &exit);
		for (unsigned n = 0; n < X86_STATE_WORDS; n++) {
			check_context.round = n;
			CHECK_EQ(core.state[rows[n].field], time << 32 | n);
		}
		CHECK_EQ(core.state[X86_RFLAGS], 0);
	}
	check_context.subject = "code segment"; /* table 25-2 "Format of Access Rights" */
	CHECK_EQ(L >> vmx_vendor.code_shift & 3, X86_CODE_64);
	CHECK_EQ(D >> vmx_vendor.code_shift & 3, X86_CODE_32);
}

/* SDM vol. 3C, table 28-7 "Exit Qualification for EPT Violations": an instruction's own access, and a walk on its way to that. */
static void test_accesses(void)
{
	enum { EPT_VIOLATION = 48, READ = 1, WRITE = 2, FETCH = 4, LINEAR = 1 << 7, FINAL = 1 << 8 };
	static const struct {
		uint64_t qualification;
		uint32_t access, target;
	} rows[] = {
		{ READ | LINEAR | FINAL, BH_ACCESS_READ, X86_TARGET_MEMORY },
		{ WRITE | LINEAR | FINAL, BH_ACCESS_WRITE, X86_TARGET_MEMORY },
		{ FETCH | LINEAR | FINAL, BH_ACCESS_EXECUTE, X86_TARGET_MEMORY },
		{ WRITE | LINEAR, BH_ACCESS_WRITE, 0 },
		{ READ, BH_ACCESS_READ, 0 },
	};

	check_context.subject = "accesses";
	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		struct hal_exit exit = { .kind = BH_EXIT_ERROR };

		memset(vmcs, 0, sizeof(vmcs));
		vmcs[0x4402] = EPT_VIOLATION;
		vmcs[0x6400] = rows[n].qualification;
		check_context.round = n;
		vmx_vendor.run(&core, &exit);
		CHECK_EQ(exit.access, rows[n].access);
		CHECK_EQ(exit.target, rows[n].target);
	}
}

/* A task switch, a state that cannot be entered, reasons nobody knows, one whose lower half is VMCALL's; an entry that is refused. */
static void test_errors(void)
{
	static const uint64_t reasons[] = { 9, 0x80000021, 200, 0xffff, 0x10012 };
	struct hal_exit exit = { .kind = BH_EXIT_ERROR };

	check_context.subject = "errors";
	for (unsigned n = 0; n < sizeof(reasons) / sizeof(reasons[0]); n++) {
		check_context.round = n;
		exit = run(reasons[n], 0);
		CHECK_EQ(exit.kind, BH_EXIT_ERROR);
		CHECK_EQ(exit.raw[0], reasons[n]);
	}
	enters = false;
	CHECK_EQ(run(18, 0).kind, BH_EXIT_ERROR);
}

/* Who is kicked may have had something closed (hal_gate_turn): it forgets all translations. An NMI of the guest's run, and one that came
 * later. */
static void test_kicked(void)
{
	check_context.subject = "kicked";
	enters = true;
	ends_with = 0x80000202; /* valid, an NMI: 25.9.2 */
	CHECK_EQ(run(0, 0).kind, BH_EXIT_KICK);
	CHECK(invalidated == 1 && unblocked == 1);
	ends_with = 0;
	CHECK_EQ(run(8, 0).kind, BH_EXIT_KICK); /* the window */
	CHECK(invalidated == 2 && unblocked == 1);
	CHECK_EQ(run(18, 0).kind, BH_EXIT_CALL);
	CHECK_EQ(invalidated, 2);
}

int main(void)
{
	const struct sigaction action = { .sa_sigaction = carry_out, .sa_flags = SA_SIGINFO };

	CHECK(!sigaction(SIGILL, &action, NULL));
	CHECK(!sigaction(SIGSEGV, &action, NULL));
	enters = true;
	test_calls();
	test_forbidden();
	test_cr0();
	test_state();
	test_accesses();
	test_errors();
	test_kicked();
	return 0;
}
