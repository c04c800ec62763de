/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident: the instruction that exited, and what became of it (BH-I8.bounded). Nothing of the guest's is trusted: its tables may lie,
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
static const uint64_t *read_memory(const struct hal_partition *partition, struct x86_noted *noted, uint64_t gpa)
{
	uint32_t n = noted->count;

	if (!ram_at(partition, gpa, &noted->place[n]))
		return NULL;
	noted->count++;
	noted->word[n] = arch_mmio_read64(noted->place[n]);
	return &noted->word[n];
}

static uint64_t state_of(const struct x86_noted *noted, enum x86_field field)
{
	return noted->word[field - X86_CR0];
}

/* Permissions do not matter: the processor has fetched from there. */
static bool translate(const struct hal_partition *partition, struct x86_noted *noted, uint64_t address, uint64_t *gpa)
{
	int bits = paging_bits(state_of(noted, X86_CR0), state_of(noted, X86_CR4), state_of(noted, X86_EFER));
	uint64_t table = state_of(noted, X86_CR3) & (bits == 27 ? UINT64_C(0xffffffe0) : ADDRESS_MASK);
	const uint64_t *entry;

	*gpa = address;
	if (bits <= 0)
		return !bits;
	do {
		bits -= 9;
		entry = read_memory(partition, noted, table + inside(address >> PAGE_SHIFT >> bits, 9) * 8);
		if (!entry || !(*entry & PRESENT))
			return false;
		table = *entry & ADDRESS_MASK;
	} while (bits && !(*entry & LARGE));
	bits += PAGE_SHIFT;
	*gpa = table - inside(table, (unsigned)bits) + inside(address, (unsigned)bits);
	return true;
}

/* Word by word, until the instruction is whole: what follows it does not matter, and mostly one word is enough. */
HAL_OUTLINE bool x86_fetch(const struct hal_partition *partition, struct x86_noted *noted, enum bh_access access)
{
	struct x86_code *code = &noted->code;
	uint64_t rip, gpa = 0;
	unsigned size, count;

	for (unsigned n = 0; n < X86_STATE_WORDS; n++)
		noted->word[n] = arch_mmio_read64(noted->place[n]);
	noted->count = X86_STATE_WORDS;
	noted->access = BH_ACCESS_NONE;
	size = state_of(noted, X86_CS) >> x86_vendor->code_shift;
	rip = state_of(noted, X86_RIP);
	code->is64 = state_of(noted, X86_EFER) & EFER_LMA && size & X86_CODE_64;
	if (access == BH_ACCESS_EXECUTE || !(code->is64 || size & X86_CODE_32))
		return false;
	if (!code->is64)
		rip = (uint32_t)(rip + state_of(noted, X86_CS_BASE));
	code->first = rip & 7;
	rip -= code->first;
	count = 0u - code->first;
	for (unsigned n = 0; n < X86_CODE_WORDS; n++, rip += 8, gpa += 8) {
		const uint64_t *word = NULL;

		if ((n && rip & PAGE_MASK) || translate(partition, noted, rip, &gpa))
			word = read_memory(partition, noted, gpa);
		if (!word)
			break;
		code->words[n] = *word;
		count += 8;
		code->count = (uint8_t)(count < X86_CODE_MAX ? count : X86_CODE_MAX);
		if (x86_decode_mov(code, access, &noted->mov)) {
			noted->access = access;
			return true;
		}
	}
	return false;
}

uint64_t *x86_register(struct hal_core *core, uint32_t number)
{
	return &core->registers.rax + (number & X86_TARGET_NUMBER);
}

static unsigned shift_of(uint32_t target)
{
	return target & X86_TARGET_HIGH ? 8 : 0;
}

/* The instruction at which the guest is, in noted->mov: the one that was noted if every word stands as it was. false: no plain MOV. */
HAL_OUTLINE static bool find(const struct hal_partition *partition, struct x86_noted *noted, enum bh_access access)
{
	size_t n = noted->count;

	if (noted->access != access)
		return x86_fetch(partition, noted, access);
	while (n--)
		if (arch_mmio_read64(noted->place[n]) != noted->word[n])
			return x86_fetch(partition, noted, access);
	return true;
}

static uint64_t stored(struct hal_core *core, const struct x86_mov *mov)
{
	return mov->target == X86_TARGET_CONSTANT ? mov->value : *x86_register(core, mov->target) >> shift_of(mov->target);
}

bool x86_decode_access(struct hal_core *core, struct hal_exit *exit)
{
	const struct x86_mov *mov = &core->noted.mov;

	if (exit->target != X86_TARGET_MEMORY || !find(core->partition, &core->noted, exit->access))
		return false;
	exit->kind = BH_EXIT_DEVICE;
	exit->width = mov->width;
	exit->target = mov->target;
	exit->length = mov->length;
	if (exit->access == BH_ACCESS_WRITE)
		exit->value = stored(core, mov) & mov->mask;
	return true;
}

/* An event waits: the exit came of its delivery, or of a walk on the way. */
void x86_decode_memory(struct hal_core *core, struct hal_exit *exit)
{
	if (!x86_vendor->has_event(core))
		x86_decode_filtered(core, exit);
}
