/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the states in which a guest core may begin, as lists of settings for start.c. */
#include "hal/x86/vmx/states.h"

#include "arch/x86_64/x86.h"
#include "hal/x86/entry.h"

static void set(struct vmx_state *state, uint32_t field, uint64_t value)
{
	state->settings[state->count++] = (struct vmx_setting){ field, value };
}

static void set_all(struct vmx_state *state, const struct vmx_setting *settings, size_t count)
{
	for (size_t n = 0; n < count; n++)
		set(state, settings[n].field, settings[n].value);
}
#define SET_ALL(state, table) set_all((state), (table), sizeof(table) / sizeof((table)[0]))

struct segment {
	uint16_t selector;
	uint32_t rights, limit;
};
enum { SEGMENTS = 8 };

static void set_segments(struct vmx_state *state, const struct segment segments[SEGMENTS])
{
	for (unsigned n = 0; n < SEGMENTS; n++) {
		set(state, GUEST_ES_SELECTOR + VMCS_SEGMENT_STEP * n, segments[n].selector);
		set(state, GUEST_ES_BASE + VMCS_SEGMENT_STEP * n, 0);
		set(state, GUEST_ES_LIMIT + VMCS_SEGMENT_STEP * n, segments[n].limit);
		set(state, GUEST_ES_ACCESS_RIGHTS + VMCS_SEGMENT_STEP * n, segments[n].rights);
	}
}

/* What both states have in common. SDM vol. 3A, table 10-1 "IA-32 and Intel 64 Processor States". */
static const struct vmx_setting common[] = {
	{ GUEST_IDTR_BASE, 0 },
	{ GUEST_DR7, DR7_RESET },
	{ GUEST_RFLAGS, RFLAGS_ONE },
	{ GUEST_PENDING_DEBUG_EXCEPTIONS, 0 },
	{ GUEST_INTERRUPTIBILITY, 0 },
	{ GUEST_ACTIVITY_STATE, 0 },
	{ VM_ENTRY_INTERRUPTION_INFO, 0 },
};

/* Vol. 3C, table 25-2 "Format of Access Rights". Code and data are accessed: they have been loaded. */
enum { CODE16_RIGHTS = 0x9b, DATA16_RIGHTS = 0x93, LDT_RIGHTS = 0x82, TSS_BUSY_RIGHTS = 0x8b };
enum { CODE64_RIGHTS = 0xa09b, DATA_RIGHTS = 0xc093, UNUSABLE = 1 << 16 };

/* 25.4.1 "Guest Register State". */
static const struct segment segments_after_init[SEGMENTS] = {
	{ 0, DATA16_RIGHTS, LIMIT_RESET },   /* ES */
	{ 0, CODE16_RIGHTS, LIMIT_RESET },   /* CS */
	{ 0, DATA16_RIGHTS, LIMIT_RESET },   /* SS */
	{ 0, DATA16_RIGHTS, LIMIT_RESET },   /* DS */
	{ 0, DATA16_RIGHTS, LIMIT_RESET },   /* FS */
	{ 0, DATA16_RIGHTS, LIMIT_RESET },   /* GS */
	{ 0, LDT_RIGHTS, LIMIT_RESET },      /* LDTR */
	{ 0, TSS_BUSY_RIGHTS, LIMIT_RESET }, /* TR */
};

/*
 * What VMX operation fixes stays fixed (CR0.NE, CR4.VMXE), and CR4.MCE, so that a machine check exits instead of shutting the
 * core down. The guest sees what the shadows hold. SDM vol. 3C, 24.8 "Restrictions on VMX Operation".
 */
static const struct vmx_setting after_init[] = {
	{ GUEST_CR0, CR0_NE | CR0_ET },
	{ CR0_READ_SHADOW, 0 },
	{ GUEST_CR3, 0 },
	{ GUEST_CR4, CR4_VMXE | CR4_MCE },
	{ CR4_READ_SHADOW, 0 },
	{ GUEST_IA32_EFER, 0 },
	{ GUEST_GDTR_BASE, 0 },
	{ GUEST_GDTR_LIMIT, LIMIT_RESET },
	{ GUEST_IDTR_LIMIT, LIMIT_RESET },
	{ GUEST_RIP, 0 },
	{ GUEST_RSP, 0 },
};

static const struct segment segments_at_entry[SEGMENTS] = {
	/* clang-format off */
	{ ENTRY_DATA, DATA_RIGHTS, UINT32_MAX },   /* ES */
	{ ENTRY_CODE, CODE64_RIGHTS, UINT32_MAX }, /* CS */
	{ ENTRY_DATA, DATA_RIGHTS, UINT32_MAX },   /* SS */
	{ ENTRY_DATA, DATA_RIGHTS, UINT32_MAX },   /* DS */
	{ 0, DATA_RIGHTS, UINT32_MAX },            /* FS */
	{ 0, DATA_RIGHTS, UINT32_MAX },            /* GS */
	{ 0, UNUSABLE, 0 },                        /* LDTR */
	{ 0, TSS_BUSY_RIGHTS, 0 },                 /* TR */
	/* clang-format on */
};

static const struct vmx_setting at_entry[] = {
	{ GUEST_IDTR_LIMIT, 0 },        { GUEST_GDTR_LIMIT, ENTRY_GDT_LIMIT },
	{ GUEST_IA32_SYSENTER_CS, 0 },  { GUEST_IA32_SYSENTER_ESP, 0 },
	{ GUEST_IA32_SYSENTER_EIP, 0 }, { GUEST_CR0, CR0_PG | CR0_NE | CR0_ET | CR0_PE },
	{ CR0_READ_SHADOW, CR0_NE },    { GUEST_CR4, CR4_VMXE | CR4_MCE | CR4_PAE },
	{ CR4_READ_SHADOW, CR4_PAE },   { GUEST_IA32_EFER, EFER_LMA | EFER_LME },
	{ GUEST_IA32_PAT, PAT_RESET },
};

void vmx_states_make(struct vmx_states *states, const struct hal_entry *entry, uint32_t entry_controls)
{
	struct vmx_state *init = &states->init, *at = &states->entry;

	set_segments(init, segments_after_init);
	SET_ALL(init, common);
	SET_ALL(init, after_init);
	set(init, VM_ENTRY_CONTROLS, entry_controls & ~(uint32_t)ENTRY_IA32E_MODE_GUEST);

	set_segments(at, segments_at_entry);
	SET_ALL(at, common);
	SET_ALL(at, at_entry);
	set(at, GUEST_GDTR_BASE, entry->area.v);
	set(at, GUEST_CR3, entry->area.v + ENTRY_TABLES);
	set(at, GUEST_RIP, entry->pc.v);
	set(at, GUEST_RSP, entry->stack.v);
	set(at, VM_ENTRY_CONTROLS, entry_controls | ENTRY_IA32E_MODE_GUEST);
}
