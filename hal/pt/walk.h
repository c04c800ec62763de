/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a table is walked, whatever its format: where an address's entry is, and what an entry means. The builder of start-up (pt_boot.c) and
 * the resident editor (pt_live.c) share it. Nothing here writes.
 *
 * The room has a circle: formats and places are declared in pt.h, whose builder, pt_boot.c, walks by this header.
 */
#pragma once
#include "hal/pt/pt.h"

enum { PT_PAGE_BITS = 12, PT_SLOT_BITS = 9, PT_SLOTS = 1 << PT_SLOT_BITS, PT_PERMISSION_SETS = 8 };

enum pt_kind { PT_HOLE, PT_TABLE, PT_LEAF };

/* Where a walk ends: a hole or a leaf, never a table. */
struct pt_place {
	uint64_t *entry;
	uint64_t word; /* what it held when the walk came by */
	unsigned level;
	enum pt_kind kind;
};

/* Bytes that an entry of this level translates. */
static inline uint64_t pt_span(unsigned level)
{
	return UINT64_C(1) << (PT_PAGE_BITS + PT_SLOT_BITS * level);
}

static inline uint64_t pt_offset(uint64_t address, unsigned level)
{
	return address & (pt_span(level) - 1);
}

/* The address an entry holds, and how an entry holds it. Bits above oa_bits are 0. */
static inline uint64_t pt_oa_of(const struct pt_format *format, uint64_t entry)
{
	return (entry & format->address) << format->address_shift;
}

static inline uint64_t pt_word_of(const struct pt_format *format, uint64_t oa)
{
	return oa >> format->address_shift;
}

static inline enum pt_kind pt_kind_of(const struct pt_format *format, uint64_t entry, unsigned level)
{
	if (!(entry & format->present))
		return PT_HOLE;
	return level && !((entry ^ format->table) & format->kind) ? PT_TABLE : PT_LEAF;
}

/* Requires: ia fits format->ia_bits. The root has a slot for each value of ia's uppermost bits, however many those are. */
static inline uint64_t *pt_root_entry(const struct pt_format *format, uint64_t *root, uint64_t ia)
{
	return root + (size_t)(ia >> (PT_PAGE_BITS + PT_SLOT_BITS * (format->levels - 1u)));
}

static inline uint64_t pt_load(const uint64_t *entry)
{
	return __atomic_load_n(entry, __ATOMIC_RELAXED);
}

/* Walks from the entry of the root, which is taken to hold `word`. */
static inline struct pt_place pt_find_from(const struct pt_format *format, uint64_t *entry, uint64_t word, uint64_t ia)
{
	size_t page = (size_t)(ia >> PT_PAGE_BITS); /* fits a register, even where the address does not */
	unsigned level = format->levels - 1u;

	while (pt_kind_of(format, word, level) == PT_TABLE) {
		level--;
		entry = (uint64_t *)(uintptr_t)pt_oa_of(format, word) + (page >> PT_SLOT_BITS * level & (PT_SLOTS - 1));
		word = pt_load(entry);
	}
	return (struct pt_place){ entry, word, level, pt_kind_of(format, word, level) };
}

static inline struct pt_place pt_find(const struct pt_format *format, uint64_t *root, uint64_t ia)
{
	uint64_t *entry = pt_root_entry(format, root, ia);

	return pt_find_from(format, entry, pt_load(entry), ia);
}

static inline bool pt_fits(uint64_t start, uint64_t size, unsigned bits)
{
	uint64_t end = UINT64_C(1) << bits;

	return start < end && size <= end - start;
}

/* Whether a leaf may have these permissions: the format has the set, and no device is executable. */
static inline bool pt_may(const struct pt_format *format, unsigned permissions, enum hal_memory memory)
{
	if (permissions >= PT_PERMISSION_SETS || !(format->permissions >> permissions & 1))
		return false;
	return !(memory == HAL_MEMORY_DEVICE && permissions & HAL_EXECUTE);
}

static inline unsigned pt_permissions_of(const struct pt_format *format, uint64_t entry)
{
	uint64_t mask = 0;
	unsigned set = 0;

	for (unsigned n = 0; n < PT_PERMISSION_SETS; n++)
		mask |= format->permission[n];
	while (!(format->permissions >> set & 1) || format->permission[set] != (entry & mask))
		set++;
	return set;
}

static inline enum hal_memory pt_memory_of(const struct pt_format *format, uint64_t entry)
{
	uint64_t mask = format->memory[HAL_MEMORY_RAM] | format->memory[HAL_MEMORY_DEVICE];

	return (entry & mask) == format->memory[HAL_MEMORY_RAM] ? HAL_MEMORY_RAM : HAL_MEMORY_DEVICE;
}

/* What a place says of `ia`. Returns false, and leaves *out as it was, for a hole. */
static inline bool pt_describe(const struct pt_format *format, const struct pt_place *place, uint64_t ia, struct hal_leaf *out)
{
	if (place->kind == PT_HOLE)
		return false;
	out->hpa.v = pt_oa_of(format, place->word) + pt_offset(ia, place->level);
	out->size = pt_span(place->level);
	out->permissions = pt_permissions_of(format, place->word);
	out->memory = pt_memory_of(format, place->word);
	return true;
}
