/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: a guest core as INIT and STARTUP leave it. SDM vol. 3A, table 10-1 "IA-32 and Intel 64 Processor States". */
#include "arch/x86_64/x86.h"
#include "hal/vmx/vmx.h"

/*
 * What VMX operation fixes stays fixed (CR0.NE, CR4.VMXE), and CR4.MCE, so that a machine check exits instead of shutting the
 * core down. The guest sees what the shadows hold. SDM vol. 3C, 24.8 "Restrictions on VMX Operation".
 */
static const struct {
	uint16_t field, value;
} reset[] = {
	{ GUEST_CR0, CR0_NE | CR0_ET },
	{ CR0_READ_SHADOW, 0 },
	{ GUEST_CR3, 0 },
	{ GUEST_CR4, CR4_VMXE | CR4_MCE },
	{ CR4_READ_SHADOW, 0 },
	{ GUEST_IA32_EFER, 0 },
	{ GUEST_GDTR_BASE, 0 },
	{ GUEST_GDTR_LIMIT, 0xffff },
	{ GUEST_IDTR_BASE, 0 },
	{ GUEST_IDTR_LIMIT, 0xffff },
	{ GUEST_DR7, 0x400 },
	{ GUEST_RFLAGS, 2 },
	{ GUEST_RIP, 0 },
	{ GUEST_RSP, 0 },
	{ GUEST_PENDING_DEBUG_EXCEPTIONS, 0 },
	{ GUEST_INTERRUPTIBILITY, 0 },
	{ GUEST_ACTIVITY_STATE, 0 },
	{ VM_ENTRY_INTERRUPTION_INFO, 0 },
};

/* ES, CS, SS, DS, FS, GS, LDTR, TR: accessed and present, of 64 KiB. 25.4.1 "Guest Register State", table 25-2. */
static const uint8_t access_rights[] = { 0x93, 0x9b, 0x93, 0x93, 0x93, 0x93, 0x82, 0x8b };
enum { LIMIT_64K = 0xffff };
#define DR6_RESET UINT64_C(0xffff0ff0)

/*
 * As INIT does, the last line forgets translations: those of the guest's earlier life carry the same VPID. SDM vol. 3C, 29.4.3.3
 * "Guidelines for Use of the INVVPID Instruction". EPT did not change, so INVEPT is not needed.
 */
void vmx_start(struct hal_core *core, uint8_t vector)
{
	for (unsigned n = 0; n < sizeof(access_rights); n++) {
		vmx_write(GUEST_ES_SELECTOR + VMCS_SEGMENT_STEP * n, 0);
		vmx_write(GUEST_ES_BASE + VMCS_SEGMENT_STEP * n, 0);
		vmx_write(GUEST_ES_LIMIT + VMCS_SEGMENT_STEP * n, LIMIT_64K);
		vmx_write(GUEST_ES_ACCESS_RIGHTS + VMCS_SEGMENT_STEP * n, access_rights[n]);
	}
	vmx_write(GUEST_CS_SELECTOR, (uint64_t)vector << 8);
	vmx_write(GUEST_CS_BASE, (uint64_t)vector << 12);
	for (unsigned n = 0; n < sizeof(reset) / sizeof(reset[0]); n++)
		vmx_write(reset[n].field, reset[n].value);
	x86_write_cr2(0);
	x86_write_dr6(DR6_RESET);
	vmx_write(VM_ENTRY_CONTROLS, vmx_read(VM_ENTRY_CONTROLS) & ~(uint64_t)ENTRY_IA32E_MODE_GUEST);
	vmx_invvpid(INVALIDATE_SINGLE_CONTEXT, core->partition->index + 1);
}

/* Access rights: table 25-2 "Format of Access Rights". */
enum { CODE64_RIGHTS = 0xa09b, DATA_RIGHTS = 0xc093, TSS_BUSY_RIGHTS = 0x8b, UNUSABLE = 1 << 16 };
enum { GDT_LIMIT = 31, TABLES_OFFSET = 0x1000 };
#define PAT_RESET UINT64_C(0x0007040600070406) /* vol. 3A, table 12-12 */

static const struct {
	uint16_t selector;
	uint32_t rights, limit;
} segments[] = {
	/* clang-format off */
	{ 0x18, DATA_RIGHTS, UINT32_MAX },   /* ES */
	{ 0x10, CODE64_RIGHTS, UINT32_MAX }, /* CS */
	{ 0x18, DATA_RIGHTS, UINT32_MAX },   /* SS */
	{ 0x18, DATA_RIGHTS, UINT32_MAX },   /* DS */
	{ 0, DATA_RIGHTS, UINT32_MAX },      /* FS */
	{ 0, DATA_RIGHTS, UINT32_MAX },      /* GS */
	{ 0, UNUSABLE, 0 },                  /* LDTR */
	{ 0, TSS_BUSY_RIGHTS, 0 },           /* TR */
	/* clang-format on */
};

/* The entry state of abi/guest.h, where it is not that after INIT. */
void vmx_restart(struct hal_core *core)
{
	const struct hal_entry *entry = &core->entry;

	vmx_start(core, 0);
	for (unsigned n = 0; n < sizeof(segments) / sizeof(segments[0]); n++) {
		vmx_write(GUEST_ES_SELECTOR + VMCS_SEGMENT_STEP * n, segments[n].selector);
		vmx_write(GUEST_ES_LIMIT + VMCS_SEGMENT_STEP * n, segments[n].limit);
		vmx_write(GUEST_ES_ACCESS_RIGHTS + VMCS_SEGMENT_STEP * n, segments[n].rights);
	}
	vmx_write(GUEST_IDTR_LIMIT, 0);
	vmx_write(GUEST_IA32_SYSENTER_CS, 0);
	vmx_write(GUEST_IA32_SYSENTER_ESP, 0);
	vmx_write(GUEST_IA32_SYSENTER_EIP, 0);
	vmx_write(GUEST_GDTR_BASE, entry->area.v);
	vmx_write(GUEST_GDTR_LIMIT, GDT_LIMIT);
	vmx_write(GUEST_CR0, CR0_PG | CR0_NE | CR0_ET | CR0_PE);
	vmx_write(CR0_READ_SHADOW, CR0_NE);
	vmx_write(GUEST_CR3, entry->area.v + TABLES_OFFSET);
	vmx_write(GUEST_CR4, CR4_VMXE | CR4_MCE | CR4_PAE);
	vmx_write(CR4_READ_SHADOW, CR4_PAE);
	vmx_write(GUEST_IA32_EFER, EFER_LMA | EFER_LME);
	vmx_write(GUEST_IA32_PAT, PAT_RESET);
	vmx_write(GUEST_RIP, entry->pc.v);
	vmx_write(GUEST_RSP, entry->stack.v);
	vmx_write(VM_ENTRY_CONTROLS, vmx_read(VM_ENTRY_CONTROLS) | ENTRY_IA32E_MODE_GUEST);
}
