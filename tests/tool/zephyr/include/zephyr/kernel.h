/* SPDX-License-Identifier: Apache-2.0 */
/* Of Zephyr's header what the SDK's sample needs, as Zephyr declares it; whoever tests defines it. */
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct {
	int64_t ticks;
} k_timeout_t;
#define K_MSEC(ms) ((k_timeout_t){ (ms) })

int32_t k_sleep(k_timeout_t timeout);

#define K_MEM_CACHE_NONE 0
#define K_MEM_CACHE_WT   1
#define K_MEM_CACHE_WB   2
