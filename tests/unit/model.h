/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a translation table means, without tables: a sorted list of leaves, and which blocks a table divides. It covers a
 * window of 4 GiB and predicts every status, every leaf and the number of frames.
 */
#pragma once
#include "hal/pt/pt.h"

enum { MODEL_LEAVES = 8192, MODEL_WINDOW_BITS = 32, MODEL_BLOCKS = 1 << (MODEL_WINDOW_BITS - 21) };

struct model_leaf {
	uint64_t ia, oa, size;
	unsigned permissions;
	enum hal_memory memory;
};

struct model {
	uint64_t window; /* first address, multiple of 4 GiB */
	unsigned ia_bits, oa_bits;
	unsigned leaf_levels, executable_leaf_levels;
	bool execute_or_write; /* the format has no set with both */
	unsigned count;
	struct model_leaf leaves[MODEL_LEAVES];
	bool divided[3][MODEL_BLOCKS]; /* by level: 1 = blocks of 2 MiB, 2 = of 1 GiB */
	bool used;                     /* a table below a fourth level exists */
};

void model_reset(struct model *model);
enum hal_status model_map(struct model *model, const struct model_leaf *run);
enum hal_status model_unmap(struct model *model, uint64_t ia, uint64_t size);
/* The leaf around ia, or NULL. */
const struct model_leaf *model_find(const struct model *model, uint64_t ia);
/* Frames of a table with this many levels, its root included. */
unsigned model_frames(const struct model *model, unsigned levels);
