/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: is VT-x here, and the VMCS of a guest core in its entry state. Manual sections are SDM vol. 3C's and 3D's. */
#include "arch/x86_64/start.h"
#include "arch/x86_64/x86.h"
#include "board.h"
#include "hal/x86/vmx/controls.h"
#include "hal/x86/vmx/states.h"
#include "hal/x86/vmx/vmx.h"
#include "hal/x86/exceptions.h"

/* Appendix A "VMX Capability Reporting Facility"; vol. 4, 2.1 "Architectural MSRs". */
enum {
	IA32_FEATURE_CONTROL = 0x3a,
	IA32_ARCH_CAPABILITIES = 0x10a,
	IA32_VMX_BASIC = 0x480,
	IA32_VMX_CR0_FIXED0 = 0x486,
	IA32_VMX_CR4_FIXED0 = 0x488,
	IA32_VMX_PROCBASED_CTLS2 = 0x48b,
	IA32_VMX_EPT_VPID_CAP = 0x48c,
	IA32_VMX_TRUE_PINBASED_CTLS = 0x48d,
	IA32_VMX_TRUE_PROCBASED_CTLS = 0x48e,
	IA32_VMX_TRUE_EXIT_CTLS = 0x48f,
	IA32_VMX_TRUE_ENTRY_CTLS = 0x490,
};
enum { FEATURE_CONTROL_LOCK = 1 << 0, FEATURE_CONTROL_VMX = 1 << 2 };
#define VMX_BASIC_REVISION      UINT32_C(0x7fffffff)
#define VMX_BASIC_TRUE_CONTROLS (UINT64_C(1) << 55)
enum { CPUID_VMX = 1 << 5, CPUID_XSAVE = 1 << 26, CPUID_ARCH_CAPABILITIES = 1 << 29, IF_PSCHANGE_MC_NO = 1 << 6 };

static uint32_t controls[VMX_WORDS];

/* 24.6 "Discovering Support for VMX". */
static bool vmx_present(void)
{
	return x86_cpuid(1, 0).ecx & CPUID_VMX;
}

/* 24.7 "Enabling and Entering VMX Operation". */
static bool firmware_forbids(void)
{
	uint64_t control = x86_rdmsr(IA32_FEATURE_CONTROL);

	return control & FEATURE_CONTROL_LOCK && !(control & FEATURE_CONTROL_VMX);
}

/* The monitor leaves NE, PE and PG set, and so does unrestricted guest but for the last two. 24.8 "Restrictions on VMX Operation". */
static bool fixes_more_bits(void)
{
	return x86_rdmsr(IA32_VMX_CR0_FIXED0) & ~(CR0_PG | CR0_NE | CR0_PE) || x86_rdmsr(IA32_VMX_CR4_FIXED0) & ~(uint64_t)CR4_VMXE;
}

/* Not before the true controls are known to be there: the secondary ones only exist with the bit that vmx_controls_make looks at first. */
static const char *control_missing(void)
{
	const uint64_t capability[VMX_WORDS] = {
		[VMX_PIN] = x86_rdmsr(IA32_VMX_TRUE_PINBASED_CTLS),    [VMX_PROCESSOR] = x86_rdmsr(IA32_VMX_TRUE_PROCBASED_CTLS),
		[VMX_SECONDARY] = x86_rdmsr(IA32_VMX_PROCBASED_CTLS2), [VMX_EXIT] = x86_rdmsr(IA32_VMX_TRUE_EXIT_CTLS),
		[VMX_ENTRY] = x86_rdmsr(IA32_VMX_TRUE_ENTRY_CTLS),
	};

	return vmx_controls_make(capability, controls);
}

static enum hal_status vmx_probe(const char **missing)
{
	const char *lacks = NULL;

	if (firmware_forbids())
		lacks = "the firmware has switched Intel VT-x off; enable it there (Virtualization Technology)";
	else if (!(x86_rdmsr(IA32_VMX_BASIC) & VMX_BASIC_TRUE_CONTROLS))
		lacks = "the processor's VT-x is the first generation's; use a newer one";
	else if (fixes_more_bits())
		lacks = "the processor's VT-x wants control-register bits that this monitor does not know";
	if (!lacks)
		lacks = control_missing();
	if (!lacks)
		lacks = vmx_paging_missing(x86_rdmsr(IA32_VMX_EPT_VPID_CAP));
	if (!lacks)
		return HAL_OK;
	*missing = lacks;
	return HAL_E_UNSUPPORTED;
}

/*
 * A guest that changes the size of a page it fetches from can stop the whole machine on processors that do not say otherwise; small
 * leaves below executable memory leave it nothing to change. Vol. 4, table 2-2, IA32_ARCH_CAPABILITIES[IF_PSCHANGE_MC_NO].
 */
static bool survives_page_size_change(void)
{
	if (x86_cpuid(LEAF_STRUCTURED, 0).edx & CPUID_ARCH_CAPABILITIES && x86_rdmsr(IA32_ARCH_CAPABILITIES) & IF_PSCHANGE_MC_NO)
		return true;
	return board.pc.large_code_pages;
}

static void vmx_narrow(struct pt *stage2)
{
	stage2->leaf_levels = vmx_leaf_levels(x86_rdmsr(IA32_VMX_EPT_VPID_CAP));
	stage2->executable_leaf_levels = survives_page_size_change() ? stage2->leaf_levels : PT_LEAF_4K;
}

static const uint32_t msr_ranges[] = { 0, 0xc0000000 };

/* 25.6.9 "MSR-Bitmap Address": two ranges of 8192, a bit each; reads first, then writes. Registers outside always exit. */
static void vmx_allow_msr(struct hal_partition *partition, uint32_t msr, unsigned permissions)
{
	enum { RANGE_BYTES = 0x400, WRITES = 0x800 };

	for (size_t range = 0; range < sizeof(msr_ranges) / sizeof(msr_ranges[0]); range++) {
		uint32_t n = msr - msr_ranges[range];
		uint8_t *reads = &partition->msr_map[range * RANGE_BYTES], bit = (uint8_t)(1u << n % 8);

		if (n >= X86_MSRS_PER_RANGE)
			continue;
		if (permissions & HAL_READ)
			reads[n / 8] &= (uint8_t)~bit;
		if (permissions & HAL_WRITE)
			reads[WRITES + n / 8] &= (uint8_t)~bit;
	}
}

/* 25.11.5 "VMXON Region", 25.2 "Format of the VMCS Region": both begin with the processor's revision; the rest is its own. */
static void *take_region(struct hal_arena *arena)
{
	uint32_t *region = hal_arena_take(arena, 1);

	if (region)
		*region = (uint32_t)x86_rdmsr(IA32_VMX_BASIC) & VMX_BASIC_REVISION;
	return region;
}

static enum hal_status vmx_core_create(struct hal_core *core, struct hal_arena *arena)
{
	core->control = take_region(arena);
	core->host = take_region(arena);
	core->states = hal_arena_take(arena, 1);
	if (!core->control || !core->host || !core->states)
		return HAL_E_NOMEM;
	vmx_states_make(core->states, &core->entry, controls[VMX_ENTRY]);
	for (unsigned n = 0; n < X86_FIELDS; n++)
		core->field[n] = &core->state[n];
	return HAL_OK;
}

/*
 * 24.7. Earlier owners of the machine may have left translations that are tagged with our EPT pointers and VPIDs, so all go: 29.4.3.3 and
 * 29.4.3.4, guidelines for INVVPID and INVEPT, "immediately after execution of the VMXON instruction". Later a kick
 * does (hal_gate_turn): besides gates, the tables of a partition are finished before its cores come here.
 */
static void enter_operation(struct hal_core *core)
{
	uint64_t vmxon = (uintptr_t)core->host, vmcs = (uintptr_t)core->control;
	uint64_t xsave = x86_cpuid(1, 0).ecx & CPUID_XSAVE ? CR4_OSXSAVE : 0;

	if (!(x86_rdmsr(IA32_FEATURE_CONTROL) & FEATURE_CONTROL_LOCK))
		x86_wrmsr(IA32_FEATURE_CONTROL, FEATURE_CONTROL_LOCK | FEATURE_CONTROL_VMX);
	x86_write_cr4(x86_read_cr4() | CR4_VMXE | xsave);
	__asm__ volatile("vmxon %0" : : "m"(vmxon) : "cc", "memory");
	vmx_invept(INVALIDATE_ALL_CONTEXTS);
	vmx_invvpid(INVALIDATE_ALL_CONTEXTS, 0);
	__asm__ volatile("vmclear %0" : : "m"(vmcs) : "cc", "memory");
	__asm__ volatile("vmptrld %0" : : "m"(vmcs) : "cc", "memory");
}

/*
 * What a guest may write of CR4: what its CPUID shows, and PCE, which has no bit there and opens an instruction that exits. Any other bit,
 * of a later processor too, stays as it is, and a guest that sets it gets #GP. SDM vol. 3A, 2.5 "Control Registers".
 */
enum {
	CR4_VME_TO_PAE = 0x3f, /* VME, PVI, TSD, DE, PSE, PAE */
	CR4_PGE = 1 << 7,
	CR4_OSFXSR = 1 << 9,
	CR4_OSXMMEXCPT = 1 << 10,
	CR4_UMIP = 1 << 11,
	CR4_FSGSBASE = 1 << 16,
	CR4_PCIDE = 1 << 17,
	CR4_SMAP = 1 << 21,
	CR4_GUESTS = CR4_VME_TO_PAE | CR4_PGE | CR4_PCE | CR4_OSFXSR | CR4_OSXMMEXCPT | CR4_UMIP | CR4_FSGSBASE | CR4_PCIDE | CR4_OSXSAVE |
		     CR4_SMEP | CR4_SMAP | CR4_PKE,
};

/* 25.6.16 "ENCLS-Exiting Bitmap", 25.6.17 "ENCLV-Exiting Bitmap": every leaf, where the processor has the instruction. */
static void forbid_enclaves(void)
{
	if (controls[VMX_SECONDARY] & ENCLS_EXITING)
		vmx_write(ENCLS_EXITING_BITMAP, UINT64_MAX);
	if (controls[VMX_SECONDARY] & ENCLV_EXITING)
		vmx_write(ENCLV_EXITING_BITMAP, UINT64_MAX);
}

/* The port map's frames are the two I/O bitmaps; an access over port 0xffff exits anyway. 25.6.4 "I/O-Bitmap Addresses". */
static void set_controls(const struct hal_partition *partition)
{
	vmx_write(PIN_BASED_CONTROLS, controls[VMX_PIN]);
	vmx_write(PROCESSOR_BASED_CONTROLS, controls[VMX_PROCESSOR]);
	vmx_write(SECONDARY_CONTROLS, controls[VMX_SECONDARY]);
	vmx_write(VM_EXIT_CONTROLS, controls[VMX_EXIT]);
	vmx_write(VM_ENTRY_CONTROLS, controls[VMX_ENTRY]);
	vmx_write(EXCEPTION_BITMAP, x86_exceptions(partition->unprotected));
	vmx_write(IO_BITMAP_A, (uintptr_t)partition->port_map);
	vmx_write(IO_BITMAP_B, (uintptr_t)partition->port_map + BH_PAGE_BYTES);
	vmx_write(MSR_BITMAPS, (uintptr_t)partition->msr_map);
	vmx_write(EPT_POINTER, (uintptr_t)partition->stage2.root | partition->stage2.format->control);
	vmx_write(VIRTUAL_PROCESSOR_ID, partition->index + 1);
	vmx_write(CR0_GUEST_HOST_MASK, CR0_KEPT);
	vmx_write(CR4_GUEST_HOST_MASK, ~(uint64_t)CR4_GUESTS);
	vmx_write(VMCS_LINK_POINTER, UINT64_MAX);
}

/* What no guest and no monitor uses, and what guests begin with. A cleared VMCS has no defined content. */
static void set_zeros(void)
{
	static const uint16_t fields[] = {
		PAGE_FAULT_ERROR_CODE_MASK,
		PAGE_FAULT_ERROR_CODE_MATCH,
		CR3_TARGET_COUNT,
		VM_EXIT_MSR_STORE_COUNT,
		VM_EXIT_MSR_LOAD_COUNT,
		VM_ENTRY_MSR_LOAD_COUNT,
		GUEST_IA32_DEBUGCTL,
		HOST_IA32_SYSENTER_CS,
		HOST_IA32_SYSENTER_ESP,
		HOST_IA32_SYSENTER_EIP,
		HOST_FS_SELECTOR,
		HOST_GS_SELECTOR,
		HOST_FS_BASE,
		HOST_GS_BASE,
		HOST_TR_BASE,
	};

	for (size_t n = 0; n < sizeof(fields) / sizeof(fields[0]); n++)
		vmx_write(fields[n], 0);
}

extern const char x86_gdt[], x86_idt[];

/* As this core is now, but for the address space. A task-state segment is demanded and not used: no gate changes the stack. */
static void set_host(uint64_t root)
{
	enum { CODE64 = 0x08, DATA = 0x10, ANY_TASK = 0x18 };

	vmx_write(HOST_CR0, x86_read_cr0());
	vmx_write(HOST_CR3, root);
	vmx_write(HOST_CR4, x86_read_cr4());
	vmx_write(HOST_IA32_EFER, x86_rdmsr(MSR_EFER));
	vmx_write(HOST_IA32_PAT, x86_rdmsr(MSR_PAT));
	vmx_write(HOST_CS_SELECTOR, CODE64);
	vmx_write(HOST_SS_SELECTOR, DATA);
	vmx_write(HOST_DS_SELECTOR, DATA);
	vmx_write(HOST_ES_SELECTOR, DATA);
	vmx_write(HOST_TR_SELECTOR, ANY_TASK);
	vmx_write(HOST_GDTR_BASE, (uintptr_t)x86_gdt);
	vmx_write(HOST_IDTR_BASE, (uintptr_t)x86_idt);
	vmx_write(HOST_RIP, (uintptr_t)vmx_exit);
}

static void vmx_enable(struct hal_core *core, uint64_t root)
{
	enter_operation(core);
	set_controls(core->partition);
	forbid_enclaves();
	set_zeros();
	set_host(root);
	vmx_restart(core);
}

extern const char __vmx_text_start[], __vmx_text_end[], __vmx_rodata_start[], __vmx_rodata_end[];

const struct x86_vendor_boot vmx_vendor_boot = {
	.resident = &vmx_vendor,
	.parts = {
		{ __vmx_text_start, __vmx_text_end },
		{ __vmx_rodata_start, __vmx_rodata_end },
	},
	.stage2 = &pt_ept,
	.present = vmx_present,
	.probe = vmx_probe,
	.narrow = vmx_narrow,
	.msr_map_frames = 1,
	.msr_ranges = X86_MSRS(msr_ranges),
	.allow_msr = vmx_allow_msr,
	.core_create = vmx_core_create,
	.enable = vmx_enable,
	.nmi = vmx_nmi,
};
