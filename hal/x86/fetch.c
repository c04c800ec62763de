/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident: the instruction behind an exit, and what became of it (BH-I8.bounded). Nothing of the guest's is trusted: its tables may lie,
 * change meanwhile or lead anywhere, so each step goes through the sandbox's own stage 2, and ends where that has no RAM.
 * What is fetched may differ from what ran; it is judged like any other.
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

/* Permissions do not matter: the processor has fetched from there. */
static bool translate(const struct hal_core *core, uint64_t address, uint64_t *hpa)
{
	int bits = paging_bits(x86_get(core, X86_CR0), x86_get(core, X86_CR4), x86_get(core, X86_EFER));
	uint64_t entry = x86_get(core, X86_CR3) & (bits == 27 ? ~UINT64_C(0x1f) : ADDRESS_MASK);

	if (bits <= 0)
		return !bits && ram_at(core->partition, address, hpa);
	do {
		bits -= 9;
		if (!ram_at(core->partition, entry + inside(address >> PAGE_SHIFT >> bits, 9) * 8, hpa))
			return false;
		entry = arch_mmio_read64(*hpa);
		if (!(entry & PRESENT))
			return false;
		entry &= ADDRESS_MASK | LARGE;
	} while (bits && !(entry & LARGE));
	bits += PAGE_SHIFT;
	return ram_at(core->partition, entry - inside(entry, (unsigned)bits) + inside(address, (unsigned)bits), hpa);
}

bool x86_fetch(const struct hal_core *core, struct x86_code *code)
{
	unsigned size = x86_vendor->code_size(core);
	uint64_t rip = x86_get(core, X86_RIP), hpa = 0;

	*code = (struct x86_code){ .is64 = size & X86_CODE_64 && x86_get(core, X86_EFER) & EFER_LMA };
	if (!code->is64 && !(size & X86_CODE_32))
		return false;
	if (!code->is64)
		rip = (uint32_t)(rip + x86_get(core, X86_CS_BASE));
	for (; code->count < X86_CODE_MAX; code->count++, rip++, hpa++) {
		if ((!code->count || !(rip & PAGE_MASK)) && !translate(core, rip, &hpa))
			break;
		code->bytes[code->count] = arch_mmio_read8(hpa);
	}
	return code->count;
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

/* An event waits: the exit came of its delivery, or of a walk on the way. */
bool x86_decode_access(struct hal_core *core, struct hal_exit *exit)
{
	struct x86_code code;

	if (exit->target != X86_TARGET_MEMORY || x86_vendor->has_event(core) || !x86_fetch(core, &code) || !x86_decode_mov(&code, exit))
		return false;
	if (exit->target != X86_TARGET_CONSTANT)
		exit->value = *x86_register(core, exit->target) >> shift_of(exit->target);
	exit->value &= mask_of(exit->width);
	exit->kind = BH_EXIT_DEVICE;
	return true;
}

/* One of four bytes clears what is above them. APM vol. 1, 3.1.2 "64-Bit-Mode Registers". */
void x86_complete_load(struct hal_core *core, const struct hal_exit *exit, uint64_t value)
{
	uint64_t *target = x86_register(core, exit->target);
	uint64_t mask = exit->width == 4 ? UINT64_MAX : mask_of(exit->width) << shift_of(exit->target);

	*target = (*target & ~mask) | (value << shift_of(exit->target) & mask);
}
