/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: functions of hal.h over x86_vendor, and for each kind of exit the code that answers it. */
#include "hal/x86/core.h"

#include "arch/x86_64/x86.h"
#include "board.h"
#include "hal/iommu/pc.h"
#include "hal/pci/config.h"
#include "hal/x86/apic/apic.h"
#include "hal/x86/apic/ioapic.h"
#include "hal/x86/decode.h"

enum { PAGE_SHIFT = 12 };

const struct x86_vendor *x86_vendor;

HAL_OUTLINE uint64_t x86_get(const struct hal_core *core, enum x86_field field)
{
	return x86_vendor->get(core, field);
}

/* A table of MSI-X whose addresses are the monitor's, or NULL. */
static const struct pci_table *table_at(const struct hal_core *core, uint64_t gpa)
{
	return iommu_has_addresses() ? pci_table_of(&core->partition->pci, gpa) : NULL;
}

/* An access there is carried out as far as it is granted, if its instruction is understood. */
static bool is_filtered(const struct hal_core *core, uint64_t gpa)
{
	return gpa >> PAGE_SHIFT == board.pc.ioapic >> PAGE_SHIFT || pci_place(&core->partition->pci, gpa) != PCI_NOWHERE ||
	       table_at(core, gpa);
}

unsigned hal_core_slot(const struct hal_core *core)
{
	return core->slot;
}

void hal_core_begin(struct hal_core *core, uint64_t *exits, struct hal_doorbell *doorbells)
{
	core->exits = exits;
	core->doorbells = doorbells;
	hal_lock_leave(core->partition->ioapic.lock, core->self);
	hal_lock_leave(core->partition->pci.lock, core->self);
	iommu_leave(&core->partition->iommu, core->self);
}

bool x86_decode_filtered(struct hal_core *core, struct hal_exit *exit)
{
	return is_filtered(core, exit->gpa) && x86_decode_access(core, exit);
}

/* A trap of the monitor itself is reported in place of a run; it ends the sandbox. */
HAL_OUTLINE void hal_core_run(struct hal_core *core, struct hal_exit *exit)
{
	hal_exit_begin(exit);
	if (core->trap.rip) {
		exit->gva = core->trap.rip;
		exit->raw[0] = core->trap.vector;
		exit->raw[1] = core->trap.error;
	} else
		x86_vendor->run(core, exit);
	if (exit->kind == BH_EXIT_MEMORY)
		x86_decode_memory(core, exit);
}

/* Every register 0. What was pending has been taken, kicks' NMIs perhaps among it: so one more. */
static void reset_core(struct hal_core *core)
{
	core->registers = (struct x86_registers){ 0 };
	x86_clear_breakpoints();
	apic_reset();
	x86_kick_core(core);
}

/* SDM vol. 3A, table 10-1 "IA-32 and Intel 64 Processor States Following Power-up, Reset, or INIT": EDX tells the processor's model. */
void x86_core_start(struct hal_core *core, uint8_t vector)
{
	reset_core(core);
	core->registers.rdx = x86_cpuid(LEAF_FEATURES, 0).eax;
	x86_vendor->start(core, vector);
}

HAL_OUTLINE void x86_core_forget(struct hal_core *core)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = { { MSR_SYSENTER_CS, MSR_SYSENTER_EIP }, { MSR_STAR, MSR_SFMASK }, { MSR_FS_BASE, MSR_TSC_AUX } };

	for (size_t n = 0; n < sizeof(ranges) / sizeof(ranges[0]); n++)
		for (uint32_t msr = ranges[n].first; msr <= ranges[n].last; msr++)
			x86_wrmsr(msr, 0);
	x86_clear_extended();
	x86_vendor->enter(core);
}

void x86_core_stop(struct hal_core *core)
{
	core->started = false;
	core->nmi = false;
	apic_quiet();
}

/*
 * Lines that still point here raise requests that nobody takes: a core whose guest is off has its interrupts off. Registers that INIT
 * leaves alone get their first values here, because the next life does not begin with an INIT.
 */
HAL_OUTLINE void hal_core_quiesce(struct hal_core *core)
{
	x86_mark_off(core);
	x86_core_stop(core);
	x86_core_forget(core);
}

/* A masked entry drops what its line raises: Intel 82093AA data sheet, 3.2.4 "I/O Redirection Table Registers". */
bool hal_partition_quiesce(struct hal_core *core)
{
	bool quiet;

	pci_reset(&core->partition->pci, core->self, PCI_SILENT);
	ioapic_reset(core->partition, core->self);
	quiet = iommu_close(&core->partition->iommu, core->self);
	pci_reset(&core->partition->pci, core->self, PCI_FUNCTION_RESET);
	return quiet;
}

/* Whatever cores that were still running asked of those that had stopped is forgotten. The rest is as hal_core_quiesce has left it. */
void hal_core_restart(struct hal_core *core)
{
	for (uint32_t slot = 1; slot < core->partition->core_count; slot++)
		x86_mark_off(core->partition->core[slot]);
	x86_mark_on(core);
	core->started = true;
	pci_reset(&core->partition->pci, core->self, PCI_COMMAND_DECODE);
	(void)iommu_open(&core->partition->iommu, core->self); /* closed or open: both are the sandbox's own */
	reset_core(core);
	core->registers.rdi = core->registers.rsi = core->entry.arg;
	apic_enable();
	x86_repeat_notice(core);
	ioapic_open(core);
}

/*
 * WBINVD and INVD: caches are coherent and no guest owns a device that is not, so nothing is to be done. #DB and #AC go
 * back to the guest. One that arose while another event was delivered comes again with that event, which the next run
 * delivers; while itself was delivered, that would go on for ever.
 */
static enum hal_action emulate_long(struct hal_core *core, const struct hal_exit *exit)
{
	uint32_t vector = (uint32_t)exit->gpa;

	if (!vector)
		return HAL_SKIP;
	if (exit->value && !((exit->value ^ X86_EVENT_EXCEPTION(vector)) & X86_EVENT_IDENTITY))
		return HAL_FAULT;
	if (!exit->value)
		x86_vendor->inject(core, X86_EVENT_EXCEPTION(vector) | (vector == VECTOR_AC ? X86_EVENT_HAS_ERROR : 0));
	return HAL_RESUME;
}

HAL_OUTLINE enum hal_action x86_emulate_device(struct hal_core *core, const struct hal_exit *exit)
{
	const struct pci_table *table = table_at(core, exit->gpa);
	enum hal_action action;

	if (table)
		return pci_write_table(table, exit);
	return pci_emulate(&core->partition->pci, core->self, exit, &action) ? action : ioapic_emulate(core, exit);
}

HAL_OUTLINE enum hal_action hal_core_emulate(struct hal_core *core, const struct hal_exit *exit)
{
	switch (exit->kind) {
	case BH_EXIT_IDENTIFY:
		x86_emulate_cpuid(core);
		return HAL_SKIP;
	case BH_EXIT_REGISTER:
		return x86_emulate_msr(core, exit);
	case BH_EXIT_IPI:
		return apic_write_icr(core, exit->value);
	case BH_EXIT_PORT:
		return x86_emulate_port(core, exit);
	case BH_EXIT_DEVICE:
		return x86_emulate_device(core, exit);
	case BH_EXIT_LONG:
		return emulate_long(core, exit);
	default:
		return HAL_FAULT;
	}
}

/* #GP(0) for what exists but is not for this guest, #UD for what does not exist. */
void hal_core_apply(struct hal_core *core, const struct hal_exit *exit, enum hal_action action)
{
	bool exists = exit->kind == BH_EXIT_REGISTER || exit->kind == BH_EXIT_IPI || exit->kind == BH_EXIT_PORT;

	if (action == HAL_SKIP)
		x86_vendor->skip(core, exit);
	if (action == HAL_REFUSE)
		x86_vendor->inject(core, exists ? X86_EVENT_EXCEPTION(VECTOR_GP) | X86_EVENT_HAS_ERROR : X86_EVENT_EXCEPTION(VECTOR_UD));
}

bool hal_core_call(struct hal_core *core, uintptr_t number, int64_t *result)
{
	if (number == BH_CALL_DOORBELL - BH_CALL_VERSION)
		*result = hal_doorbell_ring(core, hal_core_argument(core));
	else if (!number)
		*result = BH_INFO_VERSION;
	else
		return false;
	return true;
}

uint64_t hal_core_argument(const struct hal_core *core)
{
	return core->registers.rbx;
}

void hal_core_set_result(struct hal_core *core, uint64_t value)
{
	core->registers.rax = value;
}

/* reg: the sixteen in the order of struct x86_registers, then RFLAGS, CR0, CR3, CR4, EFER. */
void hal_core_record(const struct hal_core *core, struct bh_crash *crash)
{
	const uint64_t *registers = &core->registers.rax;

	for (unsigned n = 0; n < X86_REGISTERS; n++)
		crash->reg[n] = registers[n];
	for (unsigned n = X86_RFLAGS; n <= X86_EFER; n++)
		crash->reg[X86_REGISTERS + n - X86_RFLAGS] = x86_get(core, (enum x86_field)n);
	crash->register_count = X86_REGISTERS + X86_EFER - X86_RFLAGS + 1;
	crash->pc = x86_get(core, X86_RIP);
}

void hal_core_wait(struct hal_core *core)
{
	x86_vendor->wait();
}
