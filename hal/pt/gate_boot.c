/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the entry by which alone a part of what is mapped is reached, so that one store opens or closes it. */
#include "abi/table.h"
#include "hal/pt/walk.h"

enum { GATE_LEVEL = 1, LARGE_GATE_LEVEL = 2 };
_Static_assert(BH_GATE_BYTES == 1 << (PT_PAGE_BITS + PT_SLOT_BITS * GATE_LEVEL), "what an entry of this level translates");
_Static_assert(BH_LARGE_GATE_BYTES == 1 << (PT_PAGE_BITS + PT_SLOT_BITS * LARGE_GATE_LEVEL), "likewise");

/* Returns NULL if there is no table of this level for it, or something larger than an entry is mapped there. */
static uint64_t *entry_of(const struct pt *pt, uint64_t ia, unsigned level)
{
	uint64_t *entry = pt_root_entry(pt->format, pt->root, ia);
	unsigned at = pt->format->levels - 1u;

	while (at > level && pt_kind_of(pt->format, *entry, at) == PT_TABLE) {
		size_t slot = (size_t)(ia >> (PT_PAGE_BITS + PT_SLOT_BITS * --at)) & (PT_SLOTS - 1);

		entry = (uint64_t *)(uintptr_t)pt_oa_of(pt->format, *entry) + slot;
	}
	return at == level ? entry : NULL;
}

/* Within the stretch all of the range is mapped, in one piece and not to be executed, and nothing else. */
static bool is_alone(const struct pt *pt, uint64_t ia, uint64_t size, uint64_t stretch)
{
	uint64_t start = 0;
	struct hal_leaf leaf;

	for (uint64_t done = 0; done < stretch; done += BH_PAGE_BYTES) {
		if (pt_query(pt, ia + done, &leaf) != (done < size))
			return false;
		if (!done)
			start = leaf.hpa.v;
		if (done < size && (leaf.hpa.v - done != start || leaf.permissions & HAL_EXECUTE))
			return false;
	}
	return true;
}

enum hal_status pt_gate(const struct pt *pt, uint64_t ia, uint64_t size, struct hal_gate *out)
{
	unsigned level = size <= BH_GATE_BYTES ? GATE_LEVEL : LARGE_GATE_LEVEL;
	uint64_t *entry;

	if (!size || size > BH_LARGE_GATE_BYTES || pt_offset(ia, level) || !pt_fits(ia, size, pt->format->ia_bits))
		return HAL_E_RANGE;
	entry = entry_of(pt, ia, level);
	if (!entry || !is_alone(pt, ia, size, pt_span(level)))
		return HAL_E_OVERLAP;
	*out = (struct hal_gate){ .entry = entry, .open = *entry };
	pt_gate_turn(out, false);
	return HAL_OK;
}
