/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox's other cores, by PSCI (Arm Power State Coordination Interface, DEN 0022), 5.1 "Function prototypes". */
#include "core_start.h"
#include "kernel/core/clock.h"
#include "kernel/core/cpu.h"
#include "kernel/core/info.h"
#include "kernel/core/space.h"

enum { PSCI_CPU_OFF = 0x84000002, PATIENCE_NS = 100000000 };
/* 64-bit calls where there are; see cpu_call_monitor. */
#define PSCI_CPU_ON        0xc4000003ULL
#define PSCI_AFFINITY_INFO 0xc4000004ULL
enum { AFFINITY_OFF = 1, LOWEST_LEVEL = 0 };

extern const char core_start[]; /* start.S */

/* Aligned to the largest cache line there is, so that cleaning it cleans nothing else. */
static _Alignas(2048) struct core_start start;

static void describe(unsigned slot, void *stack_top, void (*entry)(void))
{
	start = core_start_like_this();
	start.ttbr0 = (uintptr_t)kernel_space.root; /* ASID 0 */
	start.slot = slot;
	start.stack_top = (uintptr_t)stack_top;
	start.entry = (uintptr_t)entry;
	core_start_publish(&start.slot);
	core_start_publish(&start.vbar);
}

static bool is_off(uint64_t affinity)
{
	uint64_t begin = arch_counter(), patience = clock_from_ns(PATIENCE_NS);

	while (cpu_call_monitor(PSCI_AFFINITY_INFO, affinity, LOWEST_LEVEL, 0) != AFFINITY_OFF)
		if (arch_counter() - begin > patience)
			return false;
		else
			arch_relax();
	return true;
}

bool cpu_start_core(unsigned slot, void *stack_top, void (*entry)(void))
{
	uint64_t affinity = info->hardware_id[slot];

	describe(slot, stack_top, entry);
	return is_off(affinity) && !cpu_call_monitor(PSCI_CPU_ON, affinity, (uintptr_t)core_start, (uintptr_t)&start);
}

_Noreturn void cpu_stop_core(void)
{
	cpu_call_monitor(PSCI_CPU_OFF, 0, 0, 0);
	cpu_halt();
}
