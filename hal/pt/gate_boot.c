/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the entry by which alone a part of what is mapped is reached, so that one store opens or closes it. */
#include "abi/table.h"
#include "hal/pt/walk.h"

enum { GATE_LEVEL = 1, LARGE_GATE_LEVEL = 2 };
_Static_assert(BH_GATE_BYTES == 1 << (PT_PAGE_BITS + PT_SLOT_BITS * GATE_LEVEL), "what an entry of this level translates");
_Static_assert(BH_LARGE_GATE_BYTES == 1 << (PT_PAGE_BITS + PT_SLOT_BITS * LARGE_GATE_LEVEL), "likewise");

/* Within the stretch all of the range is mapped, in one piece and not to be executed, and nothing else. */
static bool is_alone(const struct pt *pt, uint64_t ia, uint64_t size, uint64_t stretch)
{
	uint64_t start = 0, end;

	for (uint64_t done = 0; done < stretch; done = end) {
		struct pt_place place = pt_find(pt->format, pt->root, ia + done);
		struct hal_leaf leaf;

		end = done + pt_span(place.level);
		if (pt_describe(pt->format, &place, ia + done, &leaf) != (done < size))
			return false;
		if (!done)
			start = leaf.hpa.v;
		if (done < size && (end > size || leaf.hpa.v - done != start || leaf.permissions & HAL_EXECUTE))
			return false;
	}
	return true;
}

/* Requires: is_alone, and so tables down to this level. */
static uint64_t *entry_of(const struct pt *pt, uint64_t ia, unsigned level)
{
	uint64_t *entry = pt_root_entry(pt->format, pt->root, ia);

	for (unsigned at = pt->format->levels - 1u; at > level; at--)
		entry = (uint64_t *)(uintptr_t)pt_oa_of(pt->format, *entry) +
			((size_t)(ia >> (PT_PAGE_BITS + PT_SLOT_BITS * (at - 1))) & (PT_SLOTS - 1));
	return entry;
}

enum hal_status pt_gate(const struct pt *pt, uint64_t ia, uint64_t size, struct hal_gate *out)
{
	unsigned level = size <= BH_GATE_BYTES ? GATE_LEVEL : LARGE_GATE_LEVEL;
	uint64_t *entry;

	if (!size || size > BH_LARGE_GATE_BYTES || pt_offset(ia, level) || !pt_fits(ia, size, pt->format->ia_bits))
		return HAL_E_RANGE;
	if (!is_alone(pt, ia, size, pt_span(level)))
		return HAL_E_OVERLAP;
	entry = entry_of(pt, ia, level);
	*out = (struct hal_gate){ .entry = entry, .open = *entry };
	pt_gate_turn(out, false);
	return HAL_OK;
}
