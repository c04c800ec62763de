/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory behind caches, as one with caches off sees it: what was written is there once it has been cleaned, byte by byte, and not before.
 * Caches write back on their own, too, so what a test finds stale here may be found new on a machine: it is never to be relied on.
 */
#pragma once
#include <string.h>

#include "check.h"
#include "fake_arch.h"

/* The memory a test watches, and what is behind its caches. */
static uint8_t *caches_front, *caches_behind;
static size_t caches_bytes;

/* Cleaning what is not watched is an error. */
static inline void caches_clean(const void *start, size_t size)
{
	size_t at = (size_t)((const uint8_t *)start - caches_front);

	CHECK(at <= caches_bytes && size <= caches_bytes - at);
	memcpy(caches_behind + at, start, size);
}

/* From here on; both are the same now. */
static inline void caches_watch(void *front, void *behind, size_t bytes)
{
	caches_front = front;
	caches_behind = behind;
	caches_bytes = bytes;
	memcpy(behind, front, bytes);
	fake_arch = (struct fake_arch){ .on_clean = caches_clean };
}
