/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.memory. Random sequences of map and unmap against the model, for every format: the same statuses, the same translation of every
 * leaf and around every edge, the same number of tables. One argument: how many sequences a format gets.
 */
#include "check.h"
#include "formats.h"
#include "frames.h"
#include "geometries.h"
#include "model.h"
#include "random.h"

enum { OPERATIONS = 24, ARENA_FRAMES = 256 };

static const struct pt_format *const geometries[] = { &geometry_sv39x4, &geometry_concatenated };
enum { GEOMETRIES = sizeof(geometries) / sizeof(geometries[0]), ALL_FORMATS = PROCESSOR_FORMATS + GEOMETRIES };

static struct model model;
static struct pt pt;
static struct hal_arena arena;
static uint64_t seen[HAL_E_SEALED + 1]; /* answers by status: a run that never meets one proves nothing about it */

static bool one_in(unsigned n)
{
	return !below(n);
}

/* A place and size that make interesting leaves: around the edges of 2 MiB and 1 GiB blocks, with and without a matching oa. */
static struct model_leaf random_run(void)
{
	static const unsigned granules[] = { 12, 12, 21, 21, 30 };
	unsigned bits = granules[below(5)];
	uint64_t window = UINT64_C(1) << MODEL_WINDOW_BITS, granule = UINT64_C(1) << bits;
	struct model_leaf run = { .memory = one_in(4) ? HAL_MEMORY_DEVICE : HAL_MEMORY_RAM };

	run.permissions = one_in(8) ? (unsigned)below(9) : HAL_READ | (unsigned)below(4) << 1;
	run.size = granule * (1 + below(bits == 30 ? 2 : 20));
	run.ia = model.window + below(window >> bits) * granule;
	if (bits == 12)
		run.ia = model.window + below((window >> 21) - 1) * 0x200000 + (512 - 12 + below(24)) * 0x1000;
	else if (one_in(3))
		run.size += 0x1000 * below(10);
	run.oa = below(UINT64_C(1) << (model.oa_bits - bits)) << bits;
	if (bits == 21 && one_in(4))
		run.oa += 0x1000;
	if (run.oa % 0x200000 || (run.permissions & HAL_EXECUTE && model.executable_leaf_levels == PT_LEAF_4K))
		run.size = 0x1000 + run.size % 0x600000; /* nothing but 4 KiB leaves, so not too many */
	if (run.size > model.window + window - run.ia)
		run.size = model.window + window - run.ia;
	return run;
}

/* One argument that must be refused, now and then. */
static void spoil(struct model_leaf *run)
{
	switch (below(6)) {
	case 0:
		run->ia += 0x800;
		break;
	case 1:
		run->oa += 1;
		break;
	case 2:
		run->size = one_in(2) ? 0 : run->size + 8;
		break;
	case 3:
		run->ia += UINT64_C(1) << model.ia_bits;
		break;
	case 4:
		run->oa = (UINT64_C(1) << model.oa_bits) - (one_in(2) ? 0 : run->size - 0x1000);
		break;
	default:
		run->size = -run->ia;
		break;
	}
}

static void check_place(uint64_t ia)
{
	const struct model_leaf *expected = model_find(&model, ia);
	struct hal_leaf leaf = { .size = 1 };

	CHECK_EQ(pt_query(&pt, ia, &leaf), !!expected);
	CHECK_EQ(leaf.size, expected ? expected->size : 1);
	if (!expected)
		return;
	CHECK_EQ(leaf.hpa.v, expected->oa + (ia - expected->ia));
	CHECK_EQ(leaf.permissions, expected->permissions);
	CHECK_EQ(leaf.memory, expected->memory);
}

static void check_edges(uint64_t ia, uint64_t size)
{
	check_place(ia - 1);
	check_place(ia);
	check_place(ia + size - 1);
	check_place(ia + size);
}

static void step_map(void)
{
	struct model_leaf run = random_run();
	enum hal_status expected;

	if (one_in(8))
		spoil(&run);
	expected = model_map(&model, &run);
	CHECK_EQ(pt_map(&pt, run.ia, (hpa_t){ run.oa }, run.size, run.permissions, run.memory), expected);
	seen[expected]++;
	check_edges(run.ia, run.size);
}

/* A few leaves that exist, with edges that are sometimes wrong. */
static void step_unmap(void)
{
	unsigned first = (unsigned)below(model.count), last = first;
	uint64_t ia = model.leaves[first].ia, size = model.leaves[first].size;

	while (++last < model.count && !one_in(4))
		size = model.leaves[last].ia + model.leaves[last].size - ia;
	if (one_in(4))
		ia += one_in(2) ? 0x1000 : -UINT64_C(0x1000);
	if (one_in(4))
		size += one_in(2) ? 0x1000 : -UINT64_C(0x1000);
	CHECK_EQ(pt_unmap(&pt, ia, size), model_unmap(&model, ia, size));
	check_edges(ia, size);
}

static void start(const struct pt_format *format)
{
	model_reset(&model);
	model.ia_bits = format->ia_bits;
	model.oa_bits = one_in(2) ? format->oa_bits : 36;
	model.leaf_levels = one_in(2) ? 7 : 3;
	model.executable_leaf_levels = one_in(2) ? model.leaf_levels : 1;
	model.execute_or_write = format == &pt_long || format == &pt_el2 || format == &pt_hyp;
	model.window = one_in(2) ? 0 : (UINT64_C(1) << format->ia_bits) - (UINT64_C(1) << MODEL_WINDOW_BITS);

	arena = frames_arena(ARENA_FRAMES);
	CHECK_EQ(pt_init(&pt, format, &arena), HAL_OK);
	pt.oa_bits = (uint8_t)model.oa_bits;
	pt.leaf_levels = (uint8_t)model.leaf_levels;
	pt.executable_leaf_levels = (uint8_t)model.executable_leaf_levels;
}

static void run_sequence(const struct pt_format *format)
{
	uint64_t root_bytes;

	start(format);
	root_bytes = pt.table_bytes;
	for (unsigned n = 0; n < OPERATIONS; n++)
		if (model.count && one_in(3))
			step_unmap();
		else
			step_map();
	for (unsigned n = 0; n < model.count; n++)
		check_edges(model.leaves[n].ia, model.leaves[n].size);
	CHECK_EQ(pt.table_bytes, root_bytes + (model_frames(&model, format->levels) - 1) * UINT64_C(4096));
}

int main(int argc, char **argv)
{
	const uint64_t sequences = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;

	for (unsigned n = 0; n < ALL_FORMATS; n++) {
		const struct pt_format *format = n < PROCESSOR_FORMATS ? every_format[n] : geometries[n - PROCESSOR_FORMATS];

		check_context.subject = format->name;
		for (check_context.round = 0; check_context.round < sequences; check_context.round++) {
			random_state = check_context.round * ALL_FORMATS + n;
			run_sequence(format);
		}
	}
	CHECK(seen[HAL_OK] && seen[HAL_E_RANGE] && seen[HAL_E_PERMISSION] && seen[HAL_E_OVERLAP]);
	printf("maps: %" PRIu64 " done, %" PRIu64 " out of range, %" PRIu64 " not permitted, %" PRIu64 " overlapping\n", seen[HAL_OK],
	       seen[HAL_E_RANGE], seen[HAL_E_PERMISSION], seen[HAL_E_OVERLAP]);
	printf("%" PRIu64 " sequences of %d operations for each of %d formats\n", sequences, OPERATIONS, ALL_FORMATS);
	return 0;
}
