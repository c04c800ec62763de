/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: one guest run on VT-x, and what its exit means. Manual sections are SDM vol. 3C's. */
#include "hal/x86/vmx/vmx.h"

#include "arch/x86_64/start.h"
#include "arch/x86_64/x86.h"
#include "hal/x86/decode.h"

/*
 * What an exit reason means, enum bh_exit_reason. The rest is an error: guest state that cannot be entered, EPT misconfiguration, a
 * machine check, a task switch. What counts as a kick, decode_details says.
 */
/* clang-format off */
static const uint8_t kinds[] = {
	[EXIT_CPUID] = BH_EXIT_IDENTIFY,
	[EXIT_WRMSR] = BH_EXIT_REGISTER,
	[EXIT_RDMSR] = BH_EXIT_REGISTER,
	[EXIT_IO] = BH_EXIT_PORT,
	[EXIT_VMCALL] = BH_EXIT_CALL,
	[EXIT_EPT_VIOLATION] = BH_EXIT_MEMORY,
	[EXIT_WBINVD] = BH_EXIT_LONG,
	[EXIT_INVD] = BH_EXIT_LONG,
	[EXIT_CONTROL_REGISTER] = BH_EXIT_REGISTER,
	[EXIT_XSETBV] = BH_EXIT_REGISTER,
	[EXIT_RDPMC] = BH_EXIT_FORBIDDEN,
	[EXIT_MONITOR] = BH_EXIT_FORBIDDEN,
	[EXIT_MWAIT] = BH_EXIT_FORBIDDEN,
	[EXIT_GETSEC] = BH_EXIT_FORBIDDEN,
	[EXIT_ENCLS] = BH_EXIT_FORBIDDEN,
	[EXIT_ENCLV] = BH_EXIT_FORBIDDEN,
	[EXIT_SEAMCALL] = BH_EXIT_FORBIDDEN,
	[EXIT_TDCALL] = BH_EXIT_FORBIDDEN,
	[EXIT_VMCLEAR] = BH_EXIT_FORBIDDEN,
	[EXIT_VMLAUNCH] = BH_EXIT_FORBIDDEN,
	[EXIT_VMPTRLD] = BH_EXIT_FORBIDDEN,
	[EXIT_VMPTRST] = BH_EXIT_FORBIDDEN,
	[EXIT_VMREAD] = BH_EXIT_FORBIDDEN,
	[EXIT_VMRESUME] = BH_EXIT_FORBIDDEN,
	[EXIT_VMWRITE] = BH_EXIT_FORBIDDEN,
	[EXIT_VMXOFF] = BH_EXIT_FORBIDDEN,
	[EXIT_VMXON] = BH_EXIT_FORBIDDEN,
	[EXIT_INVEPT] = BH_EXIT_FORBIDDEN,
	[EXIT_INVVPID] = BH_EXIT_FORBIDDEN,
	[EXIT_INIT] = BH_EXIT_RESET,
	[EXIT_SIPI] = BH_EXIT_RESET,
	[EXIT_TRIPLE_FAULT] = BH_EXIT_RESET,
};
/* clang-format on */

/*
 * DR6 and DR7 as the exception leaves them, which its exit does not. 28.1 "Architectural State Before a VM Exit"; 28.2.1, table 28-1
 * "Exit Qualification for Debug Exceptions". The guest's DR6 stays in the register, DR7 in the VMCS.
 */
static void complete_debug(void)
{
	enum { DR6_BREAKPOINTS = 0xf, DR6_BD_BS = 3 << 13, DR7_GD = 1 << 13 };
	uint64_t causes = vmx_read(EXIT_QUALIFICATION) & (DR6_BREAKPOINTS | DR6_BD_BS);

	x86_write_dr6((x86_read_dr6() & ~(uint64_t)DR6_BREAKPOINTS) | causes);
	vmx_write(GUEST_DR7, vmx_read(GUEST_DR7) & ~(uint64_t)DR7_GD);
}

/* Who closes a gate kicks (hal_gate_turn). */
HAL_OUTLINE static void kicked(struct hal_exit *exit)
{
	exit->kind = BH_EXIT_KICK;
	vmx_invept(INVALIDATE_ALL_CONTEXTS);
}

/* 25.9.2 "Information for VM Exits Due to Vectored Events". Only #DB, #AC, #MC and NMI come here; the last counts as a kick. */
static void decode_exception(struct hal_exit *exit)
{
	enum { TYPE = 7 << 8, TYPE_NMI = 2 << 8 };
	uint64_t info = vmx_read(VM_EXIT_INTERRUPTION_INFO);
	uint8_t vector = (uint8_t)info;

	if ((info & TYPE) == TYPE_NMI) {
		kicked(exit);
		vmx_unblock_nmi();
	} else if (vector == VECTOR_DB || vector == VECTOR_AC) {
		exit->kind = BH_EXIT_LONG;
		exit->gpa = vector;
		exit->value = vmx_read(VM_ENTRY_INTERRUPTION_INFO);
		if (!(exit->value & X86_EVENT_VALID))
			exit->value = 0;
		if (vector == VECTOR_DB)
			complete_debug();
	}
}

/*
 * Writes that would change bits of CR4 that are not the guest's, or CR0's that the monitor keeps. The latter the guest has as it likes, as
 * far as it can see: their shadow becomes what it writes, and the instruction, tried again, does not exit. Table 28-3: 3:0 which control
 * register, 11:8 the register it is moved from; no other instruction writes these bits.
 */
static void decode_control_register(struct hal_core *core, uint64_t qualification, struct hal_exit *exit)
{
	exit->access = BH_ACCESS_WRITE;
	exit->width = 8;
	exit->gpa = X86_CR(qualification & 0xf);
	if (exit->gpa == X86_CR(0))
		vmx_write(CR0_READ_SHADOW, *x86_register(core, qualification >> 8 & 0xf) & CR0_KEPT);
}

/* ECX, and EDX:EAX, as for WRMSR. */
static void decode_xsetbv(const struct hal_core *core, struct hal_exit *exit)
{
	x86_decode_msr(core, true, exit);
	exit->kind = BH_EXIT_REGISTER;
	exit->gpa = X86_XCR(exit->gpa);
}

/* Table 28-5 "Exit Qualification for I/O Instructions": 2:0 width less one, 3 IN, 4 string, 31:16 port. */
static void decode_port(const struct hal_core *core, uint64_t qualification, struct hal_exit *exit)
{
	exit->access = qualification & 1 << 3 ? BH_ACCESS_READ : BH_ACCESS_WRITE;
	exit->target = qualification & 1 << 4 ? X86_TARGET_MEMORY : X86_TARGET_RAX;
	exit->width = (qualification & 7) + 1;
	exit->gpa = qualification >> 16 & 0xffff;
	if (exit->access == BH_ACCESS_WRITE)
		exit->value = core->registers.rax & ((UINT64_C(1) << 8 * exit->width) - 1);
}

static const uint16_t fields[X86_FIELDS] = {
	[X86_RIP] = GUEST_RIP,         [X86_RFLAGS] = GUEST_RFLAGS,  [X86_CR0] = GUEST_CR0,      [X86_CR3] = GUEST_CR3,
	[X86_CR4] = GUEST_CR4,         [X86_EFER] = GUEST_IA32_EFER, [X86_PAT] = GUEST_IA32_PAT, [X86_CS] = GUEST_CS_ACCESS_RIGHTS,
	[X86_CS_BASE] = GUEST_CS_BASE,
};

/* Table 28-7 "Exit Qualification for EPT Violations": 0 read, 1 write, 2 fetch, 7 there is a linear address, 8 what it leads to. */
static void decode_memory(struct hal_core *core, uint64_t qualification, struct hal_exit *exit)
{
	enum { FINAL = 3 << 7 };

	exit->access = qualification & 1 << 2 ? BH_ACCESS_EXECUTE : qualification & 1 << 1 ? BH_ACCESS_WRITE : BH_ACCESS_READ;
	exit->gpa = vmx_read(GUEST_PHYSICAL_ADDRESS);
	exit->gva = qualification & 1 << 7 ? vmx_read(GUEST_LINEAR_ADDRESS) : 0;
	exit->target = (qualification & FINAL) == FINAL ? X86_TARGET_MEMORY : 0;
	for (unsigned n = X86_CR0; n <= X86_RIP; n++)
		core->state[n] = vmx_read(fields[n]);
}

/* For the sandbox's kernel, not for its users: SS has the privilege level. Table 25-2, "Format of Access Rights". */
static void decode_call(const struct hal_core *core, struct hal_exit *exit)
{
	enum { DPL = 3 << 5 };

	if (vmx_read(GUEST_SS_ACCESS_RIGHTS) & DPL)
		exit->kind = BH_EXIT_FORBIDDEN;
	exit->gpa = core->registers.rax;
}

/* The window was asked for by vmx_nmi. Closed before kicks are counted: an NMI that comes later opens it again. */
static void close_nmi_window(struct hal_exit *exit)
{
	kicked(exit);
	vmx_write(PROCESSOR_BASED_CONTROLS, vmx_read(PROCESSOR_BASED_CONTROLS) & ~(UINT64_C(1) << NMI_WINDOW_EXITING_BIT));
}

HAL_OUTLINE static void decode_details(struct hal_core *core, uint32_t reason, struct hal_exit *exit)
{
	uint64_t qualification = exit->raw[1];

	switch (reason) {
	case EXIT_EXCEPTION_OR_NMI:
		decode_exception(exit);
		break;
	case EXIT_NMI_WINDOW:
		close_nmi_window(exit);
		break;
	case EXIT_RDMSR:
	case EXIT_WRMSR:
		x86_decode_msr(core, reason == EXIT_WRMSR, exit);
		break;
	case EXIT_XSETBV:
		decode_xsetbv(core, exit);
		break;
	case EXIT_CONTROL_REGISTER:
		decode_control_register(core, qualification, exit);
		break;
	case EXIT_IO:
		decode_port(core, qualification, exit);
		break;
	case EXIT_EPT_VIOLATION:
		decode_memory(core, qualification, exit);
		break;
	case EXIT_VMCALL:
		decode_call(core, exit);
		break;
	default: /* the reason tells everything */
		break;
	}
}

/* For the next entry. An instruction that caused the event ends where the last exit said. */
HAL_OUTLINE static void set_event(uint64_t event, uint64_t error)
{
	vmx_write(VM_ENTRY_INTERRUPTION_INFO, event);
	vmx_write(VM_ENTRY_EXCEPTION_ERROR_CODE, error);
	vmx_write(VM_ENTRY_INSTRUCTION_LENGTH, vmx_read(VM_EXIT_INSTRUCTION_LENGTH));
}

/*
 * An event whose delivery the exit interrupted is delivered again, error code, instruction length and all. 25.9.3 "Information for
 * VM Exits That Occur During Event Delivery"; bit 12 is undefined there and reserved on entry.
 */
static void keep_interrupted_event(void)
{
	enum { UNDEFINED = 1 << 12 };
	uint64_t event = vmx_read(IDT_VECTORING_INFO);

	if (event & X86_EVENT_VALID)
		set_event(event & ~(uint64_t)UNDEFINED, vmx_read(IDT_VECTORING_ERROR_CODE));
}

static void vmx_run(struct hal_core *core, struct hal_exit *exit)
{
	uint32_t reason;

	if (!vmx_enter(&core->registers)) {
		exit->raw[0] = EXIT_ENTRY_FAILURE;
		exit->raw[1] = vmx_read(VM_INSTRUCTION_ERROR);
		return;
	}
	core->registers.rsp = vmx_read(GUEST_RSP);
	keep_interrupted_event();
	reason = (uint32_t)vmx_read(EXIT_REASON);
	exit->raw[0] = reason;
	exit->raw[1] = vmx_read(EXIT_QUALIFICATION);
	if (reason < sizeof(kinds) && kinds[reason])
		exit->kind = kinds[reason];
	decode_details(core, reason, exit);
}

static uint64_t vmx_get(const struct hal_core *core, enum x86_field field)
{
	return vmx_read(fields[field]);
}

/* EFER and PAT are not among the registers whose writes invalidate translations, so neither is done here. Vol. 3A, 4.10.4.1. */
static void vmx_set(struct hal_core *core, enum x86_field field, uint64_t value)
{
	vmx_write(fields[field], value);
}

/* The interrupt shadow of an STI or MOV SS before it ends with the instruction. Table 25-3 "Format of Interruptibility State". */
static void vmx_skip(struct hal_core *core, const struct hal_exit *exit)
{
	vmx_write(GUEST_RIP, vmx_read(GUEST_RIP) + (exit->length ? exit->length : vmx_read(VM_EXIT_INSTRUCTION_LENGTH)));
	vmx_write(GUEST_INTERRUPTIBILITY, 0);
}

/*
 * A #DB comes back as what it was: that of INT1 returns to after its instruction. An NMI is delivered as an exception, for which
 * the gate's privilege level does not matter; it ends a HLT. In real mode there are no error codes. 25.8.3 "VM-Entry Controls for
 * Event Injection", 27.2.1.3 "VM-Entry Control Fields". Delivery ends the shadow of an STI or MOV SS, with which an entry would be
 * refused: 27.3.1.5 "Checks on Guest Non-Register State".
 */
static void vmx_inject(struct hal_core *core, uint32_t event)
{
	enum { UNDEFINED = 1 << 12, SHADOWS = 3 };

	if (event == X86_EVENT_EXCEPTION(VECTOR_DB))
		event = (uint32_t)vmx_read(VM_EXIT_INTERRUPTION_INFO) & ~(uint32_t)UNDEFINED;
	if (event == X86_EVENT_NMI)
		event = X86_EVENT_EXCEPTION(VECTOR_NMI);
	if (!(vmx_read(GUEST_CR0) & CR0_PE))
		event &= ~X86_EVENT_HAS_ERROR;
	set_event(event, 0);
	vmx_write(GUEST_ACTIVITY_STATE, 0);
	vmx_write(GUEST_INTERRUPTIBILITY, vmx_read(GUEST_INTERRUPTIBILITY) & ~(uint64_t)SHADOWS);
}

static bool vmx_has_event(const struct hal_core *core)
{
	return vmx_read(VM_ENTRY_INTERRUPTION_INFO) & X86_EVENT_VALID;
}

const struct x86_vendor vmx_vendor = {
	.run = vmx_run,
	.wait = vmx_wait,
	.get = vmx_get,
	.set = vmx_set,
	.skip = vmx_skip,
	.inject = vmx_inject,
	.has_event = vmx_has_event,
	.start = vmx_start,
	.enter = vmx_restart,
	.drain = x86_drain,
	.code_shift = 13, /* table 25-2 "Format of Access Rights" */
};
