/* SPDX-License-Identifier: Apache-2.0 */
/* arch/arch.h on the development machine. */
#include "fake_arch.h"

#include <stdio.h>
#include <stdlib.h>

#include "arch/arch.h"

struct fake_arch fake_arch;

uint64_t arch_counter(void)
{
	static uint64_t ticks;

	return ticks++;
}

void arch_relax(void)
{
	if (fake_arch.on_relax)
		fake_arch.on_relax();
}

void arch_barrier(void)
{
	fake_arch.barriers++;
	if (fake_arch.on_barrier)
		fake_arch.on_barrier();
}

void arch_cache_flush(const void *at)
{
	if (fake_arch.on_flush)
		fake_arch.on_flush(at);
}

void arch_cache_flush_all(void)
{
	arch_cache_flush(NULL);
}

void arch_cache_clean(const void *start, size_t size)
{
	if (fake_arch.on_clean)
		fake_arch.on_clean(start, size);
}

void arch_cache_publish(const void *start, size_t size)
{
	arch_cache_clean(start, size);
	fake_arch.publishes++;
	fake_arch.published_bytes += size;
}

void arch_boot_putc(char c)
{
	putchar(c);
}

void arch_boot_console_leave(void) {}

_Noreturn void arch_machine_off(int status)
{
	exit(status);
}

_Noreturn void arch_halt(void)
{
	abort();
}
