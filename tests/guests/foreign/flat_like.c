/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts as kvm-unit-tests on ARM do, and kernels of their kind: a flat binary, entered at its first byte with the device tree's address as
 * argument (r2 on ARMv7, which here equals r0). It clears what lies after its own bytes before it looks at the tree, so the tree has to
 * lie above that; then it goes through the whole tree, by its own lengths. Devicetree specification, 5 "Flattened Devicetree (DTB) Format".
 */
#include "foreign.h"

enum { MAGIC = 0xd00dfeed, BEGIN_NODE = 1, END_NODE = 2, PROPERTY = 3, NOTHING = 4, END = 9, CLEARED = 1 << 20 };

static uint32_t cell(uintptr_t address)
{
	return __builtin_bswap32(read32(address));
}

void foreign_interrupt(void) {}

static uintptr_t past_name(uintptr_t at)
{
	while (read8(at))
		at++;
	return (at + 4) & ~(uintptr_t)3;
}

/* How many nodes there are; 0: the structure ends nowhere. */
static uint32_t count_nodes(uintptr_t tree)
{
	uintptr_t at = tree + cell(tree + 8), end = tree + cell(tree + 4);
	uint32_t nodes = 0;

	while (at < end) {
		uint32_t token = cell(at);

		at += 4;
		if (token == END)
			return nodes;
		if (token == BEGIN_NODE) {
			at = past_name(at);
			nodes++;
		} else if (token == PROPERTY) {
			at += 8 + ((cell(at) + 3) & ~3u);
		}
	}
	return 0;
}

_Noreturn void foreign_main(uintptr_t argument)
{
	extern uint8_t __bss_end[];
	uintptr_t end = (uintptr_t)__bss_end;

	uart_start();
	say("entered at", (uintptr_t)BH_LINK_ADDRESS);
	for (uintptr_t at = end; at < end + CLEARED; at += 4)
		write32(at, 0);
	say("tree above the image:", argument > end);
	say("magic", cell(argument));
	say("tree has nodes:", count_nodes(argument) > 5);
	power_off();
}
