/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.messages. What may be a channel, and what an end attaches to: each word of the page and of the grant that is wrong is refused.
 * abi/channel_end.h
 */
#include "channel_ends.h"

static enum bh_end_result attach(uint64_t bytes, uint32_t page_offset, unsigned side)
{
	void *data;
	enum bh_end_result result = bh_end_attach(&end[0], scene.view[0], bytes, page_offset, side);

	CHECK((bh_ring_reserve(&end[0], &data) == BH_END_INVALID) == (result == BH_END_INVALID || side));
	return result;
}

static void refuses_page(const char *what, uint32_t kind, uint32_t slots, uint32_t slot_bytes, uint32_t stride)
{
	struct bh_channel good = *scene.page;

	check_context.subject = what;
	CHECK_EQ(attach(scene.bytes, scene.page_offset, 0), BH_END_OK);
	scene.page->kind = kind;
	scene.page->slots = slots;
	scene.page->slot_bytes = slot_bytes;
	scene.page->slot_stride = stride;
	CHECK_EQ(attach(scene.bytes, scene.page_offset, 0), BH_END_INVALID);
	*scene.page = good;
}

static void attaches(void)
{
	enum { STRIDE = SLOT_BYTES + 64 };
	static _Alignas(64) uint8_t copy[4 * 4096];
	struct bh_channel good;

	open_channel(BH_CHANNEL_RING, SLOTS);
	good = *scene.page;
	CHECK_EQ(scene.bytes, 3 * 4096);
	refuses_page("no kind", BH_CHANNEL_KINDS, SLOTS, SLOT_BYTES, STRIDE);
	refuses_page("another kind", BH_CHANNEL_MAILBOX, SLOTS, SLOT_BYTES, STRIDE);
	refuses_page("a mailbox of several", BH_CHANNEL_MAILBOX, 2, SLOT_BYTES, STRIDE);
	refuses_page("a latest value of two slots", BH_CHANNEL_LATEST, 2, SLOT_BYTES, STRIDE);
	refuses_page("half a pair", BH_CHANNEL_LATEST, 5, SLOT_BYTES, STRIDE);
	refuses_page("no slots", BH_CHANNEL_RING, 0, SLOT_BYTES, STRIDE);
	refuses_page("no power of two", BH_CHANNEL_RING, 3, SLOT_BYTES, STRIDE);
	refuses_page("too many slots for the area", BH_CHANNEL_RING, 32, SLOT_BYTES, STRIDE);
	refuses_page("no bytes", BH_CHANNEL_RING, SLOTS, 0, 64);
	refuses_page("part of a line", BH_CHANNEL_RING, SLOTS, 96, 160);
	refuses_page("too long for the area", BH_CHANNEL_RING, SLOTS, 1024, 1088);
	refuses_page("a stride too short", BH_CHANNEL_RING, SLOTS, SLOT_BYTES, SLOT_BYTES);
	scene.page->magic++;
	CHECK_EQ(attach(scene.bytes, scene.page_offset, 0), BH_END_INVALID);
	*scene.page = good;
	scene.page->version++;
	CHECK_EQ(attach(scene.bytes, scene.page_offset, 0), BH_END_INVALID);
	*scene.page = good;
	for (unsigned n = 0; n < 2; n++) {
		scene.page->area_bytes[n] += 4096;
		CHECK_EQ(attach(scene.bytes, scene.page_offset, 0), BH_END_INVALID);
		*scene.page = good;
	}
	check_context.subject = "place";
	CHECK_EQ(attach(scene.bytes - 4096, scene.page_offset, 0), BH_END_INVALID);
	CHECK_EQ(attach(scene.bytes + 4096, scene.page_offset, 0), BH_END_INVALID);
	CHECK_EQ(attach(scene.bytes, 0, 0), BH_END_INVALID);
	CHECK_EQ(attach(scene.bytes, scene.page_offset + 64, 0), BH_END_INVALID);
	/* Behind the last page nothing is mapped. */
	CHECK_EQ(bh_end_attach(&end[0], scene.view[0] + scene.bytes - 4096, 4096, 4096, 0), BH_END_INVALID);
	CHECK_EQ(bh_end_attach(&end[0], scene.view[0] + scene.bytes - 4096, 64, 4096, 0), BH_END_INVALID);
	CHECK_EQ(attach(scene.bytes, scene.page_offset, 2), BH_END_INVALID);
	CHECK_EQ(attach(scene.bytes, scene.page_offset, 1), BH_END_OK);
	CHECK_EQ(bh_end_attach(&end[0], NULL, scene.bytes, scene.page_offset, 0), BH_END_INVALID);
	memcpy(copy + 4, scene.memory, scene.bytes);
	CHECK_EQ(bh_end_attach(&end[0], copy + 4, scene.bytes, scene.page_offset, 0), BH_END_INVALID);
	scene_close(&scene);
	/* Both ends of a mailbox have a slot. */
	scene_open(&scene, BH_CHANNEL_MAILBOX, 1, 8192);
	scene_attach(&scene, 0, &end[0]);
	scene_attach(&scene, 1, &end[1]);
	scene_close(&scene);
	/* A page that says where it lies, but not where the grant says. */
	open_channel(BH_CHANNEL_RING, 32);
	good = *scene.page;
	memcpy(scene.memory + 4096, &good, sizeof(good));
	CHECK_EQ(attach(scene.bytes, 4096, 0), BH_END_INVALID);
	CHECK_EQ(attach(scene.bytes, scene.page_offset, 0), BH_END_OK);
	scene_close(&scene);
}

static void bounds(void)
{
	check_context.subject = "bounds";
	CHECK(bh_channel_valid(BH_CHANNEL_RING, 1024, 1 << 20));
	CHECK(!bh_channel_valid(BH_CHANNEL_RING, 2048, 64));
	CHECK(!bh_channel_valid(BH_CHANNEL_RING, 1, (1 << 20) + 64));
	CHECK(bh_channel_valid(BH_CHANNEL_RING, 1, 64));
	CHECK(!bh_channel_valid(BH_CHANNEL_RING, 0, 64));
	CHECK(bh_channel_valid(BH_CHANNEL_MAILBOX, 1, 64));
	CHECK(!bh_channel_valid(BH_CHANNEL_MAILBOX, 2, 64));
	CHECK(bh_channel_valid(BH_CHANNEL_LATEST, 4, 64));
	CHECK(bh_channel_valid(BH_CHANNEL_LATEST, 16, 64));
	CHECK(!bh_channel_valid(BH_CHANNEL_LATEST, 2, 64));
	CHECK(!bh_channel_valid(BH_CHANNEL_LATEST, 7, 64));
	CHECK(!bh_channel_valid(BH_CHANNEL_LATEST, 18, 64));
	CHECK(!bh_channel_valid(BH_CHANNEL_KINDS, 1, 64));
	CHECK_EQ(bh_channel_area_bytes(0, 1 << 20), 4096);
	CHECK_EQ(bh_channel_area_bytes(20, 128), 4096);
	CHECK_EQ(bh_channel_area_bytes(60, 64), 8192);
	CHECK_EQ(bh_channel_area_bytes(1024, 1 << 20), 1024ULL * ((1 << 20) + 64) + 4096);
	CHECK_EQ(bh_crc32c(0, "123456789", 9), 0xe3069283);
	CHECK_EQ(bh_crc32c(bh_crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
}

int main(void)
{
	bounds();
	attaches();
	return 0;
}
