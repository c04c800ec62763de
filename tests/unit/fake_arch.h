/* SPDX-License-Identifier: Apache-2.0 */
/* What fake_arch.c saw. */
#pragma once
#include <stddef.h>

struct fake_arch {
	unsigned barriers;
	unsigned publishes;
	size_t published_bytes;
	void (*on_clean)(const void *start, size_t size); /* called by every clean, and by every publish, which is one; may be NULL */
	void (*on_barrier)(void);                         /* called by every arch_barrier; may be NULL */
	void (*on_relax)(void);                           /* by every arch_relax, so in every turn of a wait; may be NULL */
	void (*on_flush)(const void *at); /* by every arch_cache_flush, and with NULL by arch_cache_flush_all; may be NULL */
};
extern struct fake_arch fake_arch;
