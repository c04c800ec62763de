/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident: the instruction behind an exit, and what became of it (BH-I8.bounded). Nothing of the guest's is trusted: its tables may lie,
 * change meanwhile or lead anywhere, so each step goes through the sandbox's own stage 2, and ends where that has no RAM.
 * What is fetched may differ from what ran; it is judged like any other.
 *
 * What was read is noted. As long as each word of it stands in memory as it was, and the registers that led there are the same, walk and
 * decoder would find the same again. The places noted are the sandbox's RAM, which stays.
 */
#include "arch/arch.h"
#include "arch/x86_64/x86.h"
#include "hal/x86/core.h"
#include "hal/x86/decode.h"

#define NOTHING_NOTED UINT32_MAX
enum { PAGE_SHIFT = 12, PAGE_MASK = (1 << PAGE_SHIFT) - 1, PRESENT = 1 << 0, LARGE = 1 << 7 };
#define ADDRESS_MASK UINT64_C(0x000ffffffffff000)

static uint64_t inside(uint64_t address, unsigned shift)
{
	return address & ((UINT64_C(1) << shift) - 1);
}

/*
 * Where a byte of the sandbox's RAM lies. Both vendors' tables have four levels of 512 entries, bit 0 for readable, bit 7 for a large
 * leaf. A walk of four steps; nothing but what guests may execute counts, which the private monitor maps (hal_space_map_ram). Of what a
 * sandbox without memory protection has beyond that it maps nothing: code there that needs decoding ends the sandbox by a trap.
 */
static bool ram_at(const struct hal_partition *partition, uint64_t gpa, uint64_t *hpa)
{
	uint64_t table = (uintptr_t)partition->stage2.root, entry;
	unsigned shift = 48;

	if (gpa >> shift)
		return false;
	do {
		shift -= 9;
		entry = ((const uint64_t *)(uintptr_t)table)[gpa >> shift & 511];
		if (!(entry & PRESENT))
			return false;
		table = entry & ADDRESS_MASK;
	} while (shift > PAGE_SHIFT && !(entry & LARGE));
	*hpa = table + inside(gpa, shift);
	return (entry & partition->ram_mask) == partition->ram_leaf;
}

/*
 * SDM vol. 3A, 4.4 "PAE Paging", 4.5 "4-Level Paging and 5-Level Paging": tables of entries of eight bytes, 9 bits of the address a
 * level. How many bits there are above a page; 0: no paging; -1: 32-bit paging, whose tables are different.
 */
static int paging_bits(uint64_t cr0, uint64_t cr4, uint64_t efer)
{
	if (!(cr0 & CR0_PG))
		return 0;
	if (efer & EFER_LMA)
		return cr4 & CR4_LA57 ? 45 : 36;
	return cr4 & CR4_PAE ? 27 : -1;
}

/* Eight bytes of the sandbox's RAM, read once and noted; NULL: it has none there. */
static const uint64_t *read_word(const struct hal_partition *partition, struct x86_noted *noted, uint64_t gpa)
{
	struct x86_read *read = &noted->reads[noted->count];

	if (!ram_at(partition, gpa, &read->hpa))
		return NULL;
	noted->count++;
	read->value = arch_mmio_read64(read->hpa);
	return &read->value;
}

/* Permissions do not matter: the processor has fetched from there. */
static bool translate(const struct hal_partition *partition, struct x86_noted *noted, uint64_t address, uint64_t *gpa)
{
	const uint64_t *state = noted->state;
	int bits = paging_bits(state[X86_CR0], state[X86_CR4], state[X86_EFER]);
	uint64_t table = state[X86_CR3] & (bits == 27 ? UINT64_C(0xffffffe0) : ADDRESS_MASK);
	const uint64_t *entry;

	*gpa = address;
	if (bits <= 0)
		return !bits;
	do {
		bits -= 9;
		entry = read_word(partition, noted, table + inside(address >> PAGE_SHIFT >> bits, 9) * 8);
		if (!entry || !(*entry & PRESENT))
			return false;
		table = *entry & ADDRESS_MASK;
	} while (bits && !(*entry & LARGE));
	bits += PAGE_SHIFT;
	*gpa = table - inside(table, (unsigned)bits) + inside(address, (unsigned)bits);
	return true;
}

HAL_OUTLINE bool x86_fetch(const struct hal_partition *partition, struct x86_noted *noted)
{
	struct x86_code *code = &noted->code;
	unsigned size = noted->state[X86_CS] >> x86_vendor->code_shift, words = 0, count;
	uint64_t rip = noted->state[X86_RIP], gpa = 0;

	noted->count = 0;
	code->is64 = size & noted->state[X86_EFER] / EFER_LMA & X86_CODE_64;
	if (!code->is64) {
		rip = (uint32_t)(rip + noted->state[X86_CS_BASE]);
		if (!(size & X86_CODE_32))
			return false;
	}
	code->first = rip & 7;
	for (rip -= code->first; words < X86_CODE_WORDS; words++, rip += 8, gpa += 8) {
		const uint64_t *word = NULL;

		if ((words && rip & PAGE_MASK) || translate(partition, noted, rip, &gpa))
			word = read_word(partition, noted, gpa);
		if (!word)
			break;
		code->words[words] = *word;
	}
	count = 8 * words - code->first;
	code->count = (uint8_t)(count < X86_CODE_MAX ? count : X86_CODE_MAX);
	return words;
}

uint64_t *x86_register(struct hal_core *core, uint32_t number)
{
	return &core->registers.rax + (number & X86_TARGET_NUMBER);
}

static unsigned shift_of(uint32_t target)
{
	return target & X86_TARGET_HIGH ? 8 : 0;
}

static uint64_t mask_of(uint32_t width)
{
	return UINT64_MAX >> (64 - 8 * width);
}

/* Notes the state that decides which instruction the guest is at. Whether it is the one that was noted, and memory what it was. */
static bool is_noted(const struct hal_core *core, struct x86_noted *noted, enum bh_access access)
{
	uint64_t changes = (noted->access ^ access) | x86_vendor->note(core, noted->state);

	noted->access = access;
	for (unsigned n = 0; !changes && n < noted->count; n++)
		changes = noted->reads[n].value ^ arch_mmio_read64(noted->reads[n].hpa);
	return !changes;
}

/* The instruction at which the guest is, or NULL: none of those above. */
HAL_OUTLINE static const struct x86_mov *decode(const struct hal_core *core, struct x86_noted *noted, enum bh_access access)
{
	if (is_noted(core, noted, access) || (x86_fetch(core->partition, noted) && x86_decode_mov(&noted->code, access, &noted->mov)))
		return &noted->mov;
	noted->access = NOTHING_NOTED;
	return NULL;
}

/* An event waits: the exit came of its delivery, or of a walk on the way. */
bool x86_decode_access(struct hal_core *core, struct hal_exit *exit)
{
	const struct x86_mov *mov = NULL;

	if (exit->target == X86_TARGET_MEMORY && !x86_vendor->has_event(core))
		mov = decode(core, &core->noted, exit->access);
	if (!mov)
		return false;
	exit->kind = BH_EXIT_DEVICE;
	exit->width = mov->width;
	exit->target = mov->target;
	exit->length = mov->length;
	exit->value = mov->value;
	if (exit->target != X86_TARGET_CONSTANT)
		exit->value = *x86_register(core, exit->target) >> shift_of(exit->target);
	exit->value &= mask_of(exit->width);
	return true;
}

/* One of four bytes clears what is above them. APM vol. 1, 3.1.2 "64-Bit-Mode Registers". */
void x86_complete_load(struct hal_core *core, const struct hal_exit *exit, uint64_t value)
{
	uint64_t *target = x86_register(core, exit->target);
	uint64_t mask = exit->width == 4 ? UINT64_MAX : mask_of(exit->width) << shift_of(exit->target);

	*target = (*target & ~mask) | (value << shift_of(exit->target) & mask);
}
