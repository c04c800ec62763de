/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: one guest run on SVM, and what its exit means. Manual sections are APM vol. 2's. */
#include "hal/x86/svm/svm.h"

#include "arch/x86_64/x86.h"
#include "hal/x86/apic/apic.h"
#include "hal/x86/svm/vmcb.h"
#include "hal/x86/decode.h"

bool svm_saves_nrip;

static struct vmcb *vmcb_of(const struct hal_core *core)
{
	return core->control;
}

/*
 * What an exit code means, and how long its instruction is where the processor does not say. The rest is an error, a refused VMRUN and a
 * machine check among it. What counts as a kick, decode_details says.
 */
enum { FIRST_CODE = VMEXIT_EXCP };
static const struct exit_row {
	uint8_t kind : 5, length : 3; /* enum bh_exit_reason; 0: an error */
} rows[] = {
	[VMEXIT_EXCP + VECTOR_DB - FIRST_CODE] = { BH_EXIT_LONG, 0 },
	[VMEXIT_EXCP + VECTOR_AC - FIRST_CODE] = { BH_EXIT_LONG, 0 },
	[VMEXIT_INIT - FIRST_CODE] = { BH_EXIT_RESET, 0 },
	[VMEXIT_RDPMC - FIRST_CODE] = { BH_EXIT_FORBIDDEN, 0 },
	[VMEXIT_CPUID - FIRST_CODE] = { BH_EXIT_IDENTIFY, 2 },
	[VMEXIT_INVD - FIRST_CODE] = { BH_EXIT_LONG, 2 },
	[VMEXIT_INVLPGA - FIRST_CODE] = { BH_EXIT_FORBIDDEN, 0 },
	[VMEXIT_IOIO - FIRST_CODE] = { BH_EXIT_PORT, 0 },
	[VMEXIT_MSR - FIRST_CODE] = { BH_EXIT_REGISTER, 2 },
	[VMEXIT_SHUTDOWN - FIRST_CODE] = { BH_EXIT_RESET, 0 },
	[VMEXIT_VMRUN - FIRST_CODE] = { BH_EXIT_FORBIDDEN, 0 },
	[VMEXIT_VMMCALL - FIRST_CODE] = { BH_EXIT_CALL, 3 },
	[VMEXIT_VMLOAD - FIRST_CODE] = { BH_EXIT_FORBIDDEN, 0 },
	[VMEXIT_VMSAVE - FIRST_CODE] = { BH_EXIT_FORBIDDEN, 0 },
	[VMEXIT_STGI - FIRST_CODE] = { BH_EXIT_FORBIDDEN, 0 },
	[VMEXIT_CLGI - FIRST_CODE] = { BH_EXIT_FORBIDDEN, 0 },
	[VMEXIT_SKINIT - FIRST_CODE] = { BH_EXIT_FORBIDDEN, 0 },
	[VMEXIT_WBINVD - FIRST_CODE] = { BH_EXIT_LONG, 2 },
	[VMEXIT_MONITOR - FIRST_CODE] = { BH_EXIT_FORBIDDEN, 0 },
	[VMEXIT_MWAIT - FIRST_CODE] = { BH_EXIT_FORBIDDEN, 0 },
	[VMEXIT_MWAIT_ARMED - FIRST_CODE] = { BH_EXIT_FORBIDDEN, 0 },
	[VMEXIT_RDPRU - FIRST_CODE] = { BH_EXIT_FORBIDDEN, 0 },
};
static_assert(BH_EXIT_REASONS <= 1 << 5, "a kind fits its field");

/* The nested page fault's code lies apart. */
static struct exit_row row_of(const struct vmcb *vmcb)
{
	uint64_t n = vmcb->control.exitcode - FIRST_CODE;

	if (n < sizeof(rows) / sizeof(rows[0]) && rows[n].kind)
		return rows[n];
	return (struct exit_row){ vmcb->control.exitcode == VMEXIT_NPF ? BH_EXIT_MEMORY : BH_EXIT_ERROR, 0 };
}

/* 15.10.2 "IN and OUT Behavior": EXITINFO1 bit 0 IN, 2 string, 6:4 width in bytes, 31:16 port. */
static void decode_port(const struct hal_core *core, uint64_t info, struct hal_exit *exit)
{
	exit->access = info & 1 ? BH_ACCESS_READ : BH_ACCESS_WRITE;
	exit->target = info & 1 << 2 ? X86_TARGET_MEMORY : X86_TARGET_RAX;
	exit->width = info >> 4 & 7;
	exit->gpa = info >> 16 & 0xffff;
	if (exit->access == BH_ACCESS_WRITE)
		exit->value = core->registers.rax & ((UINT64_C(1) << 8 * exit->width) - 1);
}

/* 15.25.6 "Nested versus Guest Page Faults, Fault Ordering": a page-fault error code, and the address in EXITINFO2. */
#define NPF_FINAL (UINT64_C(1) << 32)
static void decode_memory(const struct vmcb *vmcb, struct hal_exit *exit)
{
	uint64_t error = vmcb->control.exitinfo1;

	static_assert(BH_ACCESS_WRITE == BH_ACCESS_READ + 1, "");
	exit->access = error & 1 << 4 ? BH_ACCESS_EXECUTE : BH_ACCESS_READ + (error >> 1 & 1);
	exit->gpa = vmcb->control.exitinfo2;
	exit->target = error & NPF_FINAL ? X86_TARGET_MEMORY : 0;
}

/* A kick has ended the guest's run, but its NMI is still pending: take it. */
static void take_nmi(void)
{
	__asm__ volatile("stgi; nop; clgi" : : : "memory");
}

HAL_OUTLINE static void decode_details(struct hal_core *core, struct hal_exit *exit)
{
	const struct vmcb *vmcb = vmcb_of(core);

	switch (vmcb->control.exitcode) {
	case VMEXIT_NMI:
		exit->kind = BH_EXIT_KICK;
		vmcb_of(core)->control.tlb_control = TLB_CONTROL_FLUSH_ALL; /* hal_gate_turn */
		take_nmi();
		break;
	case VMEXIT_MSR:
		x86_decode_msr(core, vmcb->control.exitinfo1, exit);
		break;
	case VMEXIT_IOIO:
		decode_port(core, vmcb->control.exitinfo1, exit);
		break;
	case VMEXIT_NPF:
		decode_memory(vmcb, exit);
		break;
	case VMEXIT_VMMCALL: /* for the sandbox's kernel, not for its users */
		exit->kind = vmcb->save.cpl ? BH_EXIT_FORBIDDEN : BH_EXIT_CALL;
		exit->gpa = core->registers.rax;
		break;
	case VMEXIT_EXCP + VECTOR_DB:
	case VMEXIT_EXCP + VECTOR_AC:
		exit->gpa = vmcb->control.exitcode - VMEXIT_EXCP;
		exit->value = vmcb->control.exitintinfo & X86_EVENT_VALID ? vmcb->control.exitintinfo : 0;
		break;
	default: /* the code tells everything */
		break;
	}
}

/*
 * The event whose delivery the exit interrupted, to be delivered again; error code and all. INTn, INT3 and INTO the guest has
 * still to execute. 15.7.2 "State Saved on Exit", 15.20 "Event Injection".
 */
static uint64_t interrupted(uint64_t event)
{
	enum { TYPE = 7 << 8, TYPE_EXCEPTION = 3 << 8, TYPE_INTN = 4 << 8, FIRST_INTERRUPT = 32 };
	unsigned type = event & TYPE, vector = event & UINT8_MAX;
	bool instruction = type == TYPE_INTN || (type == TYPE_EXCEPTION && (vector == VECTOR_BP || vector == VECTOR_OF));

	if (!(event & X86_EVENT_VALID) || instruction)
		return 0;
	if (type == TYPE_EXCEPTION && vector >= FIRST_INTERRUPT)
		event &= ~(uint64_t)TYPE; /* QEMU's TCG calls external interrupts exceptions */
	return event;
}

static uint64_t *field_of(const struct hal_core *core, enum x86_field field)
{
	return core->field[field];
}

static uint64_t svm_get(const struct hal_core *core, enum x86_field field)
{
	return *field_of(core, field);
}

static void svm_set(struct hal_core *core, enum x86_field field, uint64_t value)
{
	*field_of(core, field) = value;
}

HAL_OUTLINE static uint64_t next_rip(const struct vmcb *vmcb, unsigned length)
{
	return svm_saves_nrip ? vmcb->control.nrip : vmcb->save.rip + length;
}

/* The interrupt shadow of an STI or MOV SS before it ends with the instruction. 15.21.5 "Interrupt Shadows". */
static void advance(struct vmcb *vmcb, uint64_t rip)
{
	vmcb->save.rip = rip;
	vmcb->control.interrupt_shadow = 0;
}

static void svm_skip(struct hal_core *core, const struct hal_exit *exit)
{
	struct vmcb *vmcb = vmcb_of(core);

	if (exit->length)
		advance(vmcb, vmcb->save.rip + exit->length);
	else if (vmcb->control.exitcode == VMEXIT_IOIO)
		advance(vmcb, vmcb->control.exitinfo2);
	else
		advance(vmcb, next_rip(vmcb, row_of(vmcb).length));
}

/* As an external interrupt, an NMI neither holds others nor, as INT 2 would, needs a gate that the interrupted program may call. */
#define NMI_AS_INTERRUPT (X86_EVENT_VALID | VECTOR_NMI)

/* The next exit replaces it. 15.20 "Event Injection". */
/* Delivery ends the shadow of STI or MOV SS: it must not hold an NMI back in the handler. */
static void svm_inject(struct hal_core *core, uint32_t event)
{
	vmcb_of(core)->control.interrupt_shadow = 0;
	vmcb_of(core)->control.eventinj = event == X86_EVENT_NMI ? NMI_AS_INTERRUPT : event;
}

static bool svm_has_event(const struct hal_core *core)
{
	return vmcb_of(core)->control.eventinj & X86_EVENT_VALID;
}

/* Those that enter.S has not saved: RSP, RBP and R12 to R15. */
enum { NOT_SAVED = 1 << 4 | 1 << 5 | 0xf << 12 };

/*
 * By the functions of the long way. HAL_FAULT: not at once. Calls are for the sandbox's kernel, not for its users. An ICR write that is no
 * fixed interrupt may post an event to this core, which checks its pending events only after the long way.
 */
static enum hal_action answer(struct hal_core *core, const struct vmcb *vmcb, struct hal_exit *exit)
{
	enum hal_action action;

	switch (exit->kind) {
	case BH_EXIT_CALL:
		if (vmcb->save.cpl || core->registers.rax != BH_CALL_VERSION)
			return HAL_FAULT;
		core->registers.rax = BH_INFO_VERSION;
		return HAL_SKIP;
	case BH_EXIT_IDENTIFY:
		x86_emulate_cpuid(core);
		return HAL_SKIP;
	case BH_EXIT_REGISTER:
		x86_decode_msr(core, vmcb->control.exitinfo1, exit);
		if (exit->kind == BH_EXIT_IPI)
			return apic_send_fixed(core, exit->value) ? HAL_SKIP : HAL_FAULT;
		break;
	default:
		return HAL_FAULT;
	}
	action = hal_core_emulate(core, exit);
	if (action == HAL_REFUSE)
		hal_core_apply(core, exit, action);
	return action;
}

static struct vmcb *answered(struct hal_core *core, struct vmcb *vmcb, enum bh_exit_reason kind)
{
	core->exits[kind]++;
	return vmcb;
}

HAL_OUTLINE static struct vmcb *answer_access(struct hal_core *core, struct vmcb *vmcb)
{
	struct hal_exit exit;

	decode_memory(vmcb, &exit);
	if (!x86_decode_filtered(core, &exit) || NOT_SAVED >> (exit.target & X86_TARGET_NUMBER) & 1)
		return NULL;
	if (x86_emulate_device(core, &exit) != HAL_SKIP)
		return NULL;
	advance(vmcb, vmcb->save.rip + exit.length);
	return answered(core, vmcb, BH_EXIT_DEVICE);
}

HAL_OUTLINE static struct vmcb *answer_instruction(struct hal_core *core, struct vmcb *vmcb)
{
	struct exit_row row = row_of(vmcb);
	struct hal_exit exit;
	enum hal_action action;

	exit.kind = row.kind;
	action = answer(core, vmcb, &exit);
	if (action == HAL_FAULT)
		return NULL;
	if (action == HAL_SKIP)
		advance(vmcb, next_rip(vmcb, row.length));
	return answered(core, vmcb, exit.kind);
}

struct vmcb *svm_answer_at_once(struct x86_registers *registers, struct vmcb *vmcb)
{
	struct hal_core *core = (struct hal_core *)((char *)registers - offsetof(struct hal_core, registers));

	if (vmcb->control.exitintinfo & X86_EVENT_VALID)
		return NULL;
	vmcb->control.eventinj = 0;
	vmcb->control.tlb_control = 0;
	return vmcb->control.exitcode == VMEXIT_NPF ? answer_access(core, vmcb) : answer_instruction(core, vmcb);
}

/*
 * What INIT leaves alone comes after everything it changes but CR2: the MSRs of system calls, and PAT. The former, which VMRUN leaves
 * alone, too, are in the processor, and fetched first. 14.1.3 "Processor Initialization State".
 */
static void svm_start(struct hal_core *core, uint8_t vector)
{
	const struct svm_states *states = core->states;
	struct vmcb *vmcb = vmcb_of(core);
	uint64_t caches = vmcb->save.cr0 & (CR0_CD | CR0_NW);

	__asm__ volatile("vmsave %0" : : "a"((uintptr_t)vmcb) : "memory");
	__builtin_memcpy_inline(vmcb, &states->init, offsetof(struct vmcb, save.star));
	vmcb->save.cs.selector = (uint16_t)(vector << 8);
	vmcb->save.cs.base = (uint64_t)vector << 12;
	vmcb->save.cr0 |= caches;
	vmcb->save.cr2 = 0;
	__asm__ volatile("vmload %0" : : "a"((uintptr_t)vmcb) : "memory");
}

static void svm_restart(struct hal_core *core)
{
	const struct svm_states *states = core->states;
	struct vmcb *vmcb = vmcb_of(core);

	__builtin_memcpy_inline(vmcb, &states->entry, sizeof(*vmcb));
	__asm__ volatile("vmload %0" : : "a"((uintptr_t)vmcb) : "memory");
}

static void svm_run(struct hal_core *core, struct hal_exit *exit)
{
	struct vmcb *vmcb = vmcb_of(core);

	svm_enter((uintptr_t)vmcb, &core->registers);
	core->registers.rsp = vmcb->save.rsp;
	vmcb->control.tlb_control = 0;
	vmcb->control.eventinj = interrupted(vmcb->control.exitintinfo);
	exit->kind = row_of(vmcb).kind;
	exit->raw[0] = vmcb->control.exitcode;
	exit->raw[1] = vmcb->control.exitinfo1;
	decode_details(core, exit);
}

const struct x86_vendor svm_vendor = {
	.run = svm_run,
	.wait = svm_wait,
	.get = svm_get,
	.set = svm_set,
	.skip = svm_skip,
	.inject = svm_inject,
	.has_event = svm_has_event,
	.start = svm_start,
	.enter = svm_restart,
	.drain = svm_drain,
	.code_shift = 8 * (offsetof(struct vmcb, save.cs.attributes) - offsetof(struct vmcb, save.cs)) +
		      9, /* 54:53 of the descriptor, 15.5.1 */
};
