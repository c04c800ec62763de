/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: is SVM here, and the control block of a guest core in its entry state. Manual sections are APM vol. 2's. */
#include "arch/x86_64/x86.h"
#include "hal/x86/svm/controls.h"
#include "hal/x86/svm/svm.h"
#include "hal/x86/svm/vmcb.h"
#include "hal/x86/entry.h"

#define MSR_VM_CR       0xc0010114u
#define MSR_VM_HSAVE_PA 0xc0010117u
enum { VM_CR_SVMDIS = 1 << 4, CPUID_SVM = 1 << 2, SVM_NESTED_PAGING = 1 << 0, SVM_NRIP_SAVE = 1 << 3 };

/* 15.4 "Enabling SVM". CPUID Fn8000_0001_ECX[SVM]. */
static bool svm_present(void)
{
	return x86_cpuid(0x80000000, 0).eax >= 0x8000000a && x86_cpuid(0x80000001, 0).ecx & CPUID_SVM;
}

static enum hal_status svm_probe(const char **missing)
{
	struct x86_cpuid svm = x86_cpuid(0x8000000a, 0);

	svm_saves_nrip = svm.edx & SVM_NRIP_SAVE;
	if (x86_rdmsr(MSR_VM_CR) & VM_CR_SVMDIS)
		*missing = "the firmware has switched AMD SVM off; enable it there (SVM mode)";
	else if (!(svm.edx & SVM_NESTED_PAGING))
		*missing = "the processor has SVM without nested paging; use a newer one, or in QEMU -cpu max";
	else if (svm.ebx <= BH_MAX_SANDBOXES)
		*missing = "the processor has too few address-space identifiers; use a newer one";
	else
		return HAL_OK;
	return HAL_E_UNSUPPORTED;
}

enum { MSR_MAP_RANGE_BYTES = 0x800 };
static const uint32_t msr_ranges[] = { 0, 0xc0000000, 0xc0010000 };

/*
 * 15.10.1 "I/O Permissions Map": three frames, of the third three bits alone, for accesses that run over port 0xffff. The map of registers
 * stands there, and these three are registers 0 (read, written) and 1 (read), of machine checks on the first Pentium: they always exit.
 */
static const uint32_t msrs_kept[] = { 0, 1, MSR_VM_CR, MSR_VM_HSAVE_PA };

/* 15.11 "MSR Intercepts": three ranges of 8192, two bits each: read, write. Registers outside always exit. */
static void svm_allow_msr(struct hal_partition *partition, uint32_t msr, unsigned permissions)
{
	for (size_t range = 0; range < sizeof(msr_ranges) / sizeof(msr_ranges[0]); range++) {
		uint32_t n = msr - msr_ranges[range];

		if (n < X86_MSRS_PER_RANGE)
			partition->msr_map[range * MSR_MAP_RANGE_BYTES + n / 4] &= (uint8_t)~((permissions & (HAL_READ | HAL_WRITE))
											      << n % 4 * 2);
	}
}

/* Interrupts are physical: V_INTR_MASKING stays 0, so that RFLAGS.IF and CR8 are the guest's own. 15.21.1, 15.16. */
static void set_control(struct vmcb_control *control, const struct hal_partition *partition)
{
	svm_set_intercepts(control, partition->unprotected);
	control->iopm_base_pa = (uintptr_t)partition->port_map;
	control->msrpm_base_pa = (uintptr_t)partition->msr_map;
	control->guest_asid = partition->index + 1;
	control->tlb_control = TLB_CONTROL_FLUSH_ALL;
	control->np_enable = 1;
	control->n_cr3 = (uintptr_t)partition->stage2.root;
}

/* 1 GiB leaves only where the processor has them. APM vol. 3, CPUID Fn8000_0001_EDX[Page1GB]. */
static void svm_narrow(struct pt *stage2)
{
	if (x86_cpuid(0x80000001, 0).edx >> 26 & 1)
		return;
	stage2->leaf_levels &= ~PT_LEAF_1G;
	stage2->executable_leaf_levels &= ~PT_LEAF_1G;
}

/*
 * Attributes as 15.5.1 packs them; limits of 64 KiB. 14.1.3 "Processor Initialization State". A processor may refuse to enter
 * long mode from a 16-bit TSS, and guests load another only afterwards.
 */
enum { CODE16_ATTRIBUTES = 0x9b, DATA16_ATTRIBUTES = 0x93, LDT_ATTRIBUTES = 0x82, TSS_BUSY_ATTRIBUTES = 0x8b };

static void set_after_init(struct vmcb_save *save)
{
	const struct vmcb_segment data = { .attributes = DATA16_ATTRIBUTES, .limit = LIMIT_RESET };

	save->es = save->cs = save->ss = save->ds = save->fs = save->gs = save->gdtr = save->idtr = save->ldtr = save->tr = data;
	save->cs.attributes = CODE16_ATTRIBUTES;
	save->ldtr.attributes = LDT_ATTRIBUTES;
	save->tr.attributes = TSS_BUSY_ATTRIBUTES;
	save->efer = EFER_SVME;
	save->cr0 = CR0_ET;
}

/* Attributes: 4.8.1, 4.8.2, 4.8.3, as 15.5.1 packs them. */
enum { CODE64_ATTRIBUTES = 0xa9b, DATA_ATTRIBUTES = 0xc93 };

/* The entry state of abi/guest.h. */
static void set_entry(struct vmcb_save *save, const struct hal_entry *entry)
{
	const struct vmcb_segment data = { .selector = ENTRY_DATA, .attributes = DATA_ATTRIBUTES, .limit = UINT32_MAX };

	save->cs = (struct vmcb_segment){ .selector = ENTRY_CODE, .attributes = CODE64_ATTRIBUTES, .limit = UINT32_MAX };
	save->ss = save->ds = save->es = data;
	save->fs = save->gs = (struct vmcb_segment){ .attributes = DATA_ATTRIBUTES, .limit = UINT32_MAX };
	save->ldtr = (struct vmcb_segment){ .attributes = LDT_ATTRIBUTES };
	save->tr = (struct vmcb_segment){ .attributes = TSS_BUSY_ATTRIBUTES };
	save->gdtr = (struct vmcb_segment){ .base = entry->area.v, .limit = ENTRY_GDT_LIMIT };
	save->efer = EFER_SVME | EFER_LMA | EFER_LME;
	save->cr0 = CR0_PG | CR0_ET | CR0_PE;
	save->cr3 = entry->area.v + ENTRY_TABLES;
	save->cr4 = CR4_PAE;
	save->g_pat = PAT_RESET;
	save->rip = entry->pc.v;
	save->rsp = entry->stack.v;
}

/* In frames of zeros: all that is the same in both. */
static void prepare(struct vmcb *state, const struct hal_partition *partition)
{
	set_control(&state->control, partition);
	state->save.dr6 = DR6_RESET;
	state->save.dr7 = DR7_RESET;
	state->save.rflags = RFLAGS_ONE;
}

static void prepare_entry(struct vmcb *state, const struct hal_core *core)
{
	prepare(state, core->partition);
	set_entry(&state->save, &core->entry);
}

static enum hal_status svm_core_create(struct hal_core *core, struct hal_arena *arena)
{
	struct svm_states *states = hal_arena_take(arena, 1);
	struct vmcb *vmcb = hal_arena_take(arena, 1);

	core->host = hal_arena_take(arena, 1);
	if (!states || !vmcb || !core->host)
		return HAL_E_NOMEM;
	prepare(&states->init, core->partition);
	set_after_init(&states->init.save);
	prepare_entry(&states->entry, core);
	prepare_entry(vmcb, core);
	core->control = vmcb;
	core->states = states;
	svm_find_fields(core);
	return HAL_OK;
}

/* VMLOAD: what VMRUN leaves alone, for the only time; from here on it is the guest's. 15.5.2 "VMSAVE and VMLOAD Instructions". */
static void svm_enable(struct hal_core *core, uint64_t root)
{
	x86_wrmsr(MSR_EFER, x86_rdmsr(MSR_EFER) | EFER_SVME);
	x86_wrmsr(MSR_VM_HSAVE_PA, (uintptr_t)core->host);
	__asm__ volatile("clgi" : : : "memory");
	__asm__ volatile("vmload %0" : : "a"((uintptr_t)core->control) : "memory");
}

extern const char __svm_text_start[], __svm_text_end[], __svm_rodata_start[], __svm_rodata_end[];

const struct x86_vendor_boot svm_vendor_boot = {
	.resident = &svm_vendor,
	.parts = {
		{ __svm_text_start, __svm_text_end },
		{ __svm_rodata_start, __svm_rodata_end },
	},
	.stage2 = &pt_npt,
	.present = svm_present,
	.probe = svm_probe,
	.msr_map_frames = 2,
	.msr_ranges = X86_MSRS(msr_ranges),
	.msrs_kept = X86_MSRS(msrs_kept),
	.allow_msr = svm_allow_msr,
	.narrow = svm_narrow,
	.core_create = svm_core_create,
	.enable = svm_enable,
	.nmi = svm_nmi,
};
