/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks for what finds none. They are there before there are frames. */
#include "emergency.h"

#include "kernel/core/cpu.h"

_Alignas(1 << EMERGENCY_STACK_SHIFT) uint8_t emergency_stacks[BH_MAX_SANDBOX_CORES][1 << EMERGENCY_STACK_SHIFT]
	__attribute__((section(".noinit")));

uintptr_t cpu_emergency_stack(void)
{
	return (uintptr_t)(emergency_stacks + cpu_slot() + 1);
}

/* It stays pending: it is acknowledged in a handler. */
void cpu_serve_lost_interrupt(void) {}
