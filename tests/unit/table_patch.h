/* SPDX-License-Identifier: Apache-2.0 */
/* How a test changes one thing of the good partition table, and why that is refused. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Writes 'value' into a field of the table. */
struct patch {
	size_t offset, bytes;
	uint64_t value;
};
#define SET(field, value) { offsetof(struct bh_table, field), sizeof(((struct bh_table *)0)->field), (value) }

enum { PATCHES = 4 };
struct broken {
	const char *why;
	struct patch patches[PATCHES];
};
