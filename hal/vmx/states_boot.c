/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the states in which a guest core may begin, as lists of settings for start.c. */
#include "hal/vmx/states.h"

#include "arch/x86_64/x86.h"

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
enum { SEGMENTS = 8, LIMIT_64K = 0xffff };

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
	{ GUEST_DR7, 0x400 },
	{ GUEST_RFLAGS, 2 },
	{ GUEST_PENDING_DEBUG_EXCEPTIONS, 0 },
	{ GUEST_INTERRUPTIBILITY, 0 },
	{ GUEST_ACTIVITY_STATE, 0 },
	{ VM_ENTRY_INTERRUPTION_INFO, 0 },
};

/* Accessed and present, of 64 KiB. 25.4.1 "Guest Register State"; access rights: table 25-2. */
static const struct segment segments_after_init[SEGMENTS] = {
	{ 0, 0x93, LIMIT_64K }, /* ES */
	{ 0, 0x9b, LIMIT_64K }, /* CS */
	{ 0, 0x93, LIMIT_64K }, /* SS */
	{ 0, 0x93, LIMIT_64K }, /* DS */
	{ 0, 0x93, LIMIT_64K }, /* FS */
	{ 0, 0x93, LIMIT_64K }, /* GS */
	{ 0, 0x82, LIMIT_64K }, /* LDTR */
	{ 0, 0x8b, LIMIT_64K }, /* TR */
};

/*
 * What VMX operation fixes stays fixed (CR0.NE, CR4.VMXE), and CR4.MCE, so that a machine check exits instead of shutting the
 * core down. The guest sees what the shadows hold. SDM vol. 3C, 24.8 "Restrictions on VMX Operation".
 */
static const struct vmx_setting after_init[] = {
	{ GUEST_CR0, CR0_NE | CR0_ET },  { CR0_READ_SHADOW, 0 }, { GUEST_CR3, 0 },       { GUEST_CR4, CR4_VMXE | CR4_MCE },
	{ CR4_READ_SHADOW, 0 },          { GUEST_IA32_EFER, 0 }, { GUEST_GDTR_BASE, 0 }, { GUEST_GDTR_LIMIT, LIMIT_64K },
	{ GUEST_IDTR_LIMIT, LIMIT_64K }, { GUEST_RIP, 0 },       { GUEST_RSP, 0 },
};

/* Access rights: table 25-2 "Format of Access Rights". */
enum { CODE64_RIGHTS = 0xa09b, DATA_RIGHTS = 0xc093, TSS_BUSY_RIGHTS = 0x8b, UNUSABLE = 1 << 16 };
enum { GDT_LIMIT = 31, TABLES_OFFSET = 0x1000 };
#define PAT_RESET UINT64_C(0x0007040600070406) /* vol. 3A, table 12-12 */

static const struct segment segments_at_entry[SEGMENTS] = {
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

static const struct vmx_setting at_entry[] = {
	{ GUEST_IDTR_LIMIT, 0 },        { GUEST_GDTR_LIMIT, GDT_LIMIT },
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
	set(at, GUEST_CR3, entry->area.v + TABLES_OFFSET);
	set(at, GUEST_RIP, entry->pc.v);
	set(at, GUEST_RSP, entry->stack.v);
	set(at, VM_ENTRY_CONTROLS, entry_controls | ENTRY_IA32E_MODE_GUEST);
}
