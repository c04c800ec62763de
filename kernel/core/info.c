/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the information page, and calls the monitor (info.h). */
#include "kernel/core/info.h"

#include <stddef.h>

#include "kernel/core/cpu.h"
#include "kernel/core/text.h"

const struct bh_info *info;
static bool sandboxed;

void info_init(const struct bh_info *given)
{
	sandboxed = given != NULL;
	info = given ? given : info_bare_machine();
}

static const struct bh_grant *grants_end(void)
{
	uint32_t count = info->grant_count;

	return info->grants + (count < BH_MAX_GRANTS ? count : BH_MAX_GRANTS);
}

const struct bh_grant *info_find(enum bh_grant_kind kind, const char *name)
{
	for (const struct bh_grant *grant = info->grants; grant < grants_end(); grant++)
		if (grant->kind == kind && (!name || text_equal((const char *)grant->name, name)))
			return grant;
	return NULL;
}

uint64_t info_dma_address(const void *own)
{
	const struct bh_grant *seen = info_find(BH_GRANT_DMA_RAM, NULL), *ram = info_find(BH_GRANT_RAM, NULL);

	return (uintptr_t)own + (seen && ram ? seen->gpa - ram->gpa : 0);
}

int64_t info_call_monitor(enum bh_call function, uint64_t a, uint64_t b)
{
	if (!sandboxed)
		return BH_E_UNKNOWN;
	return (int64_t)cpu_call_monitor(function, a, b, 0);
}

const struct bh_stats *info_statistics(void)
{
	static struct bh_stats none; /* not const: zeros that are not in the image */
	const struct bh_grant *grant = info_find(BH_GRANT_STATS, NULL);

	return grant ? (const struct bh_stats *)(uintptr_t)grant->gpa : &none;
}
