/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A channel on the host, as two sandboxes have it: one memory, mapped once for each end, which can write its own area alone, and once for
 * their monitors. What lies around it is not mapped, and behind an area's slots nothing may be read.
 */
#pragma once
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/channel_inline.h"
#include "check.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define SCENE_FORBID(start, bytes) __asan_poison_memory_region(start, bytes)
#define SCENE_ALLOW(start, bytes)  __asan_unpoison_memory_region(start, bytes)
#endif
#endif
#ifndef SCENE_FORBID
#define SCENE_FORBID(start, bytes) ((void)(start))
#define SCENE_ALLOW(start, bytes)  ((void)(start))
#endif

struct scene {
	uint64_t bytes;
	uint32_t page_offset, slot_bytes;
	uint32_t slots[2];
	uint8_t *memory;  /* the monitors': all of it can be written */
	uint8_t *view[2]; /* the ends' */
	struct bh_channel *page;
	struct bh_channel_control *control[2]; /* by the monitors' view */
	int file;
};

static inline uint8_t *scene_map(const struct scene *scene, const int *protection)
{
	const uint64_t area[] = { scene->page_offset, BH_PAGE_BYTES, scene->bytes - scene->page_offset - BH_PAGE_BYTES };
	uint8_t *room = mmap(NULL, scene->bytes + 2 * BH_PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t at = 0;

	CHECK(room != MAP_FAILED);
	for (unsigned n = 0; n < 3; at += area[n++]) {
		CHECK(mmap(room + BH_PAGE_BYTES + at, area[n], protection[n], MAP_SHARED | MAP_FIXED, scene->file, (off_t)at) !=
		      MAP_FAILED);
	}
	return room + BH_PAGE_BYTES;
}

static inline uint8_t *scene_rest(const struct scene *scene, uint8_t *view, unsigned side, uint64_t *bytes)
{
	const uint64_t used = sizeof(struct bh_channel_control) + scene->slots[side] * (sizeof(struct bh_channel_slot) + scene->slot_bytes);

	*bytes = (side ? scene->bytes - scene->page_offset - BH_PAGE_BYTES : scene->page_offset) - used;
	return view + (side ? scene->page_offset + BH_PAGE_BYTES : 0) + used;
}

/* Both ends live, in their first life. */
static inline void scene_open(struct scene *scene, uint32_t kind, uint32_t slots, uint32_t slot_bytes)
{
	enum { RW = PROT_READ | PROT_WRITE };
	const uint64_t area[] = { bh_channel_area_bytes(slots, slot_bytes),
				  bh_channel_area_bytes(kind == BH_CHANNEL_MAILBOX ? slots : 0, slot_bytes) };
	uint64_t bytes;

	*scene = (struct scene){ .bytes = area[0] + BH_PAGE_BYTES + area[1], .page_offset = (uint32_t)area[0], .slot_bytes = slot_bytes };
	scene->slots[0] = slots;
	scene->slots[1] = kind == BH_CHANNEL_MAILBOX ? slots : 0;
	scene->file = memfd_create("channel", 0);
	CHECK(scene->file >= 0);
	CHECK(ftruncate(scene->file, (off_t)scene->bytes) == 0);
	scene->memory = scene_map(scene, (const int[]){ RW, RW, RW });
	scene->view[0] = scene_map(scene, (const int[]){ RW, PROT_READ, PROT_READ });
	scene->view[1] = scene_map(scene, (const int[]){ PROT_READ, PROT_READ, RW });
	for (unsigned n = 0; n < 4; n++)
		SCENE_FORBID(scene_rest(scene, scene->view[n / 2], n % 2, &bytes), bytes);
	scene->page = (struct bh_channel *)(void *)(scene->memory + area[0]);
	scene->control[0] = (struct bh_channel_control *)(void *)scene->memory;
	scene->control[1] = (struct bh_channel_control *)(void *)(scene->memory + area[0] + BH_PAGE_BYTES);
	*scene->page = (struct bh_channel){ .magic = BH_CHANNEL_MAGIC,
					    .version = BH_CHANNEL_VERSION,
					    .kind = kind,
					    .slots = slots,
					    .slot_bytes = slot_bytes,
					    .slot_stride = slot_bytes + (uint32_t)sizeof(struct bh_channel_slot),
					    .area_bytes = { area[0], area[1] },
					    .name = "test",
					    .end = { { .epoch = 1, .state = BH_CHANNEL_LIVES },
						     { .epoch = 1, .state = BH_CHANNEL_LIVES } } };
}

static inline void scene_close(struct scene *scene)
{
	uint8_t *views[] = { scene->memory, scene->view[0], scene->view[1] };
	uint64_t bytes;

	for (unsigned n = 0; n < 4; n++) {
		uint8_t *rest = scene_rest(scene, scene->view[n / 2], n % 2, &bytes);

		SCENE_ALLOW(rest, bytes);
	}
	for (unsigned n = 0; n < 3; n++)
		munmap(views[n] - BH_PAGE_BYTES, scene->bytes + 2 * BH_PAGE_BYTES);
	close(scene->file);
}

static inline void scene_attach(const struct scene *scene, unsigned side, struct bh_end *end)
{
	CHECK_EQ(bh_end_attach(end, scene->view[side], scene->bytes, scene->page_offset, side), BH_END_OK);
}

static inline struct bh_channel_slot *scene_slot(const struct scene *scene, unsigned side, uint32_t index)
{
	uint8_t *slots = (uint8_t *)(scene->control[side] + 1);

	return (struct bh_channel_slot *)(void *)(slots + index * (sizeof(struct bh_channel_slot) + scene->slot_bytes));
}

/* What monitors write. */
static inline void scene_set_state(struct scene *scene, unsigned side, uint32_t state)
{
	__atomic_store_n(&scene->page->end[side].state, state, __ATOMIC_RELEASE);
}

/* Its next life has said nothing yet, whatever this one wrote. Before its epoch is written. */
static inline void scene_unsay(struct scene *scene, unsigned side)
{
	__atomic_store_n(&scene->control[side]->peer, 0, __ATOMIC_RELAXED);
}

static inline void scene_new_life(struct scene *scene, unsigned side)
{
	scene_set_state(scene, side, BH_CHANNEL_COMING);
	scene_unsay(scene, side);
	__atomic_store_n(&scene->page->end[side].epoch, scene->page->end[side].epoch + 1, __ATOMIC_RELEASE);
	scene_set_state(scene, side, BH_CHANNEL_LIVES);
}

/* As if the two ends had exchanged so many messages in their first lives: a program that attaches goes on from there. */
static inline void scene_has_exchanged(struct scene *scene, uint32_t from_0, uint32_t from_1)
{
	for (unsigned side = 0; side < 2; side++) {
		scene->control[side]->sent = side ? from_1 : from_0;
		scene->control[side]->taken = side ? from_0 : from_1;
		scene->control[side]->epoch = scene->control[side]->peer = 1;
	}
}
