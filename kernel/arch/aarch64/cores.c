/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox's other cores, by PSCI (Arm Power State Coordination Interface, DEN 0022), 5.1 "Function prototypes". */
#include "core_start.h"
#include "kernel/clock.h"
#include "kernel/cpu.h"
#include "kernel/info.h"

enum { PSCI_CPU_OFF = 0x84000002, PATIENCE_NS = 100000000 };
#define PSCI_CPU_ON        0xc4000003ULL
#define PSCI_AFFINITY_INFO 0xc4000004ULL
enum { AFFINITY_OFF = 1, LOWEST_LEVEL = 0 };

extern const char core_start[]; /* start.S */

/* Aligned to the largest cache line there is, so that cleaning it cleans nothing else. */
static _Alignas(2048) struct core_start start;

/* What is cleaned is what the core will read with its caches off: Arm ARM, "DC CVAC". */
static void publish(const void *at)
{
	__asm__ volatile("dc cvac, %0\n\tdsb sy" ::"r"(at) : "memory");
}

static void describe(unsigned slot, void *stack_top, void (*entry)(void))
{
	start = (struct core_start){
		.slot = slot,
		.stack_top = (uint64_t)stack_top,
		.mair = SYSREG_READ(mair_el1),
		.tcr = SYSREG_READ(tcr_el1),
		.ttbr0 = SYSREG_READ(ttbr0_el1),
		.sctlr = SYSREG_READ(sctlr_el1),
		.entry = (uint64_t)entry,
		.vbar = SYSREG_READ(vbar_el1),
	};
	publish(&start.slot);
	publish(&start.vbar);
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
	return is_off(affinity) && !cpu_call_monitor(PSCI_CPU_ON, affinity, (uint64_t)core_start, (uint64_t)&start);
}

_Noreturn void cpu_stop_core(void)
{
	cpu_call_monitor(PSCI_CPU_OFF, 0, 0, 0);
	cpu_halt();
}
