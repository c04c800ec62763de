/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of memory for tables, at addresses that fit every format (frames.h). */
#include "frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FRAMES_BASE 0x40000000u /* below AddressSanitizer's shadow */

static void map_once(void)
{
	static void *mapped;

	if (mapped)
		return;
	mapped = mmap((void *)(uintptr_t)FRAMES_BASE, (size_t)(FRAMES_MAX + 1) * BH_PAGE_BYTES, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	if (mapped == MAP_FAILED) {
		perror("frames: mmap");
		exit(1);
	}
}

struct hal_arena frames_arena(unsigned count)
{
	const uint64_t start = FRAMES_BASE + BH_PAGE_BYTES;
	const uint64_t bytes = (uint64_t)count * BH_PAGE_BYTES;

	map_once();
	memset((void *)(uintptr_t)start, 0xa5, bytes);
	return (struct hal_arena){ .next = start, .end = start + bytes };
}
