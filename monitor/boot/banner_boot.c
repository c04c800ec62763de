/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up's one line of its own accord, on the boot console, while no sandbox owns it: what starts, and from which partition file. */
#include "monitor/boot/boot.h"

#include "arch/arch.h"

/* A name of the table: at most BH_NAME_BYTES, and nothing that a terminal would obey. */
static void say_name(const uint8_t *name)
{
	for (uint32_t n = 0; n < BH_NAME_BYTES && name[n]; n++)
		arch_boot_putc(name[n] >= ' ' && name[n] <= '~' ? (char)name[n] : '?');
}

static void say_number(uint32_t value)
{
	if (value >= 10)
		arch_boot_putc((char)('0' + value / 10 % 10));
	arch_boot_putc((char)('0' + value % 10));
}

void monitor_banner(const struct bh_table *table)
{
	monitor_say("bulkhead " BULKHEAD_VERSION " (table ");
	say_number(table->version);
	monitor_say("): ");
	say_name(table->platform);
	monitor_say(", ");
	say_name(table->partition);
	for (uint32_t n = 0; n < table->sandbox_count; n++) {
		monitor_say(n ? ", " : ": ");
		say_name(table->sandboxes[n].name);
	}
	monitor_say("\r\n");
	arch_boot_console_leave();
}
