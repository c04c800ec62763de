/* SPDX-License-Identifier: Apache-2.0 */
/* What the smallest guests need of this processor: a call of the monitor, and sleep. */
#pragma once
#include <stdint.h>

#include "abi/guest.h"

static inline void tiny_call_monitor(uint32_t function)
{
	register uint32_t r0 __asm__("r0") = function & ~(uint32_t)BH_CALL_64;

	__asm__ volatile("hvc #0" : "+r"(r0)::"memory");
}

static inline void tiny_sleep(void)
{
	__asm__ volatile("wfi");
}
