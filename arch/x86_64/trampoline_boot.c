/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up, on the boot core: hands one secondary core after another its stack and argument, in memory that both see. */
#include <assert.h>

#include "abi/table.h"
#include "arch/arch.h"
#include "board.h"
#include "start.h"

enum { STACK_BYTES = 2048 }; /* a secondary core disarms itself and leaves for its private monitor */

/* entry_boot.S knows these offsets. */
struct core_request {
	uint64_t stack_top;
	uint32_t argument;
	uint32_t taken;
};
static_assert(offsetof(struct core_request, argument) == 8 && offsetof(struct core_request, taken) == 12, "used by entry_boot.S");

struct core_request x86_core_request;
extern const char x86_trampoline[], x86_trampoline_end[];

static _Alignas(16) char stacks[BH_MAX_CORES - 1][STACK_BYTES];
static unsigned stacks_used;

uint8_t x86_trampoline_prepare(uint32_t argument)
{
	char *page = (char *)(uintptr_t)board.pc.trampoline;

	for (const char *byte = x86_trampoline; byte < x86_trampoline_end; byte++)
		*page++ = *byte;
	x86_core_request = (struct core_request){
		.stack_top = (uintptr_t)stacks[stacks_used++ % (BH_MAX_CORES - 1)] + STACK_BYTES,
		.argument = argument,
	};
	arch_barrier();
	return (uint8_t)(board.pc.trampoline >> 12);
}

bool x86_trampoline_taken(void)
{
	return __atomic_load_n(&x86_core_request.taken, __ATOMIC_ACQUIRE);
}
