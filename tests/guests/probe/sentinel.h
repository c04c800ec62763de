/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps watch over its own memory: all RAM that the kernel does not use holds a pattern, the kernel's text a checksum. A slice of it is
 * checked a thousand times a second, beside the heartbeat. It reports how often it has checked everything, and what had changed. After each
 * slice it takes part in its channels, and says what is wrong with them (partner.h). Once its gate is open (struct bh_log) it leaves those
 * closed that it opens on request, and says that it rests.
 */
#pragma once
#include <stdint.h>

/*
 * Checks slice after slice, all of its memory so many times (0: for ever), and calls its monitor so many times after each slice.
 * Requires: a grant of RAM; else the sandbox stops.
 */
void sentinel_run(uint64_t calls, uint64_t passes);
