/* SPDX-License-Identifier: Apache-2.0 */
/* A guest whose first act is forbidden: a write to a hole of every sandbox's map. */
#include <stdint.h>

_Noreturn void _start(void);

void _start(void)
{
	const uintptr_t hole = 0x10000000;

	for (;;)
		*(volatile uint32_t *)hole = 0;
}
