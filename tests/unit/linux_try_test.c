/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.linux. The other end begins a new life at any access of poll(2): whoever asks next is told, once. tools/linux/include/channel_try.h
 */
#include <poll.h>

static void step(void);
#define __atomic_load_n(place, order) (step(), __atomic_load_n(place, order))
#include "channel_scene.h"
#include "channel_try.h"

enum { MOST_LOADS = 32, SLOT_BYTES = 64 };
static struct scene scene;
static int left = -1; /* loads until the other end, end 0, lives anew; negative: it does not */

static void step(void)
{
	if (left >= 0 && left-- == 0) {
		scene.control[0]->peer = 0;
		scene.page->end[0].epoch++;
	}
}

/* Returns whether it lived anew before the poll was over. */
static bool is_told(uint32_t kind, uint32_t slots, int at)
{
	struct try_news news = { .fresh = true };
	struct bh_end own, other;
	unsigned told = 0;
	bool happened;

	scene_open(&scene, kind, slots, SLOT_BYTES);
	scene_attach(&scene, 0, &other);
	scene_attach(&scene, 1, &own);
	for (unsigned n = 0; n < 3; n++) {
		(void)bh_end_look(&other);
		(void)try_ready(&own, &news, POLLIN, POLLOUT);
	}
	CHECK(own.connected);
	left = at;
	(void)try_ready(&own, &news, POLLIN, POLLOUT);
	happened = left < 0;
	left = -1;
	for (unsigned n = 0; n < 3; n++)
		told += try_tell_reset(&own, &news) != 0;
	CHECK_EQ(told, happened);
	scene_close(&scene);
	return happened;
}

int main(void)
{
	static const uint32_t kinds[][2] = { { BH_CHANNEL_RING, 4 }, { BH_CHANNEL_MAILBOX, 1 }, { BH_CHANNEL_LATEST, 4 } };

	for (unsigned n = 0; n < 3; n++) {
		int at = 0;

		while (is_told(kinds[n][0], kinds[n][1], at))
			at++;
		CHECK(at > 3 && at < MOST_LOADS);
	}
	return 0;
}
