/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Physical memory for unit tests: host memory at a fixed address that every format can express (below 2 GiB), so that an
 * address is a physical address here as it is for start-up code.
 */
#pragma once
#include "hal/hal.h"

enum { FRAMES_MAX = 4096 };

/* An arena of 'count' frames full of junk, starting at a 4 KiB boundary that is aligned to nothing larger. Ends the one before. */
struct hal_arena frames_arena(unsigned count);
