/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up's only voice: one sentence on the boot console, before any sandbox owns it. */
#include "monitor.h"

#include "arch/arch.h"

static void say(const char *text)
{
	while (*text)
		arch_boot_putc(*text++);
}

_Noreturn void monitor_refuse(const char *what, const char *why)
{
	say("bulkhead: ");
	say(what);
	say(": ");
	say(why);
	say("\r\n");
	arch_machine_off(1);
}
