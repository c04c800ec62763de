/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <stdint.h>

/* Under SVM; abi/guest.h has the other instruction. */
static inline void tiny_call_monitor(uint64_t function)
{
	__asm__ volatile("vmmcall" : "+a"(function)::"memory");
}

static inline void tiny_sleep(void)
{
	__asm__ volatile("hlt");
}
