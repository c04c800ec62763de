/* SPDX-License-Identifier: Apache-2.0 */
/* Few frames for the sandbox kernel's unit tests: the others are taken, and given back. */
#pragma once
#include <stdint.h>

#include "check.h"
#include "kernel/core/frames.h"

enum { OTHERS_FRAMES = 1024 };

static uint64_t hoard[OTHERS_FRAMES];
static unsigned hoarded;

static void leave(uint64_t count)
{
	while (frames_free() > count)
		CHECK((hoard[hoarded++] = frames_take(FRAME_OTHERS)));
}

static void release(void)
{
	while (hoarded)
		CHECK(frames_give(hoard[--hoarded], 1, FRAME_OTHERS));
}
