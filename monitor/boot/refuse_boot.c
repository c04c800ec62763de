/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up gives up: a sentence on the boot console, before any sandbox owns it, and the machine ends. */
#include "monitor/boot/boot.h"

#include "arch/arch.h"

void monitor_say(const char *text)
{
	while (*text)
		arch_boot_putc(*text++);
}

_Noreturn void monitor_refuse(const char *what, const char *why)
{
	monitor_say("bulkhead: ");
	monitor_say(what);
	monitor_say(": ");
	monitor_say(why);
	monitor_say("\r\n");
	arch_machine_off(1);
}
