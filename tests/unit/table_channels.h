/* SPDX-License-Identifier: Apache-2.0 */
/* What start-up refuses of channels, their doorbells, and lines that others ring: one invariant of monitor/boot/table/ a row. */
#pragma once
#include "good_table.h"
#include "table_patch.h"

#define RING(field, value)    SET(channels[GOOD_RING].field, value)
#define MAILBOX(field, value) SET(channels[GOOD_MAILBOX].field, value)
#define RUNG(field, value)    SET(lines[GOOD_RUNG].field, value)

/* clang-format off: one invariant a line. */
static const struct broken broken_channels[] = {
	{ "a channel has an unknown kind", { RING(kind, BH_CHANNEL_KINDS) } },
	{ "a channel has unknown flags", { RING(flags, BH_CHANNEL_ON_REQUEST | BH_CHANNEL_TERMINAL) } },
	{ "a channel has a number of slots that its kind does not have", { RING(slots, 0) } },
	{ "a channel has a number of slots that its kind does not have", { RING(slots, 6) } },
	{ "a channel has a number of slots that its kind does not have",
	  { RING(slots, 2 * BH_CHANNEL_MOST_SLOTS), RING(area_bytes[0], 0x41000) } },
	{ "a channel has a number of slots that its kind does not have", { MAILBOX(slots, 2), MAILBOX(area_bytes[0], 0x3000) } },
	{ "a channel has a number of slots that its kind does not have", { RING(kind, BH_CHANNEL_LATEST), RING(slots, 2) } },
	{ "a channel has a number of slots that its kind does not have", { RING(kind, BH_CHANNEL_LATEST), RING(slots, 5) } },
	{ "a channel has a number of slots that its kind does not have", { RING(kind, BH_CHANNEL_LATEST), RING(slots, 18) } },
	{ "a channel's slots have a size that there is not", { RING(slot_bytes, 0) } },
	{ "a channel's slots have a size that there is not", { RING(slot_bytes, 72) } },
	{ "a channel's slots have a size that there is not",
	  { RING(slot_bytes, 0x100040), RING(slots, 1), RING(area_bytes[0], 0x101000) } },
	{ "a channel's areas have another size than its slots", { RING(area_bytes[0], 0x2000) } },
	{ "a channel's areas have another size than its slots", { RING(area_bytes[0], 0x1008) } },
	{ "a channel's areas have another size than its slots", { RING(slots, 32) } },
	{ "a channel's areas have another size than its slots", { RING(area_bytes[1], 0) } },
	{ "a channel's areas have another size than its slots", { MAILBOX(area_bytes[1], 0x1000) } },
	{ "a channel does not have two sandboxes", { RING(sandbox[0], 2) } },
	{ "a channel does not have two sandboxes", { RING(sandbox[1], 2) } },
	{ "a channel does not have two sandboxes", { RING(sandbox[1], 0) } },
	{ "a channel is misaligned or outside RAM", { MAILBOX(hpa, 0x72003040) } },
	{ "a channel is misaligned or outside RAM", { MAILBOX(hpa, UINT64_C(0xfffffffffffff000)) } },
	{ "a channel overlaps monitor frames", { MAILBOX(hpa, 0x40413000) } },
	{ "a channel lies in RAM reserved for firmware or start-up", { MAILBOX(hpa, 0xbfdff000) } },
	{ "two channels overlap", { MAILBOX(hpa, 0x72002000) } },
	{ "a sandbox is given a channel as RAM", { MAILBOX(hpa, 0x50ffc000) } },
	{ "a sandbox is given a boot snapshot", { MAILBOX(hpa, 0x70002000) } },
	{ "a part of a channel has device memory type", { SET(regions[GOOD_SENDS].memory_type, BH_MEMORY_DEVICE) } },
	{ "a sandbox is given what is no part of a channel for its end", { SET(regions[GOOD_SENDS].sandbox, 1) } },
	{ "a sandbox is given what is no part of a channel for its end", { SET(regions[GOOD_SENDS].permissions, 7) } },
	{ "a sandbox is given what is no part of a channel for its end", { SET(regions[GOOD_SENDS].size, 0x2000) } },
	{ "a sandbox is given what is no part of a channel for its end", { SET(regions[GOOD_SENDS].hpa, 0x71fff000) } },
	{ "a sandbox is given what is no part of a channel for its end", { SET(regions[GOOD_SENDER_SEES].permissions, 3) } },
	{ "a sandbox is given what is no part of a channel for its end", { SET(regions[GOOD_SENDER_SEES].size, 0x3000) } },
	{ "a sandbox is given what is no part of a channel for its end", { SET(regions[GOOD_TAKES].hpa, 0x72001000) } },
	{ "a sandbox is given what is no part of a channel for its end", { SET(regions[GOOD_RECEIVER_SEES].permissions, 3) } },
	{ "a sandbox is given what is no part of a channel for its end", { SET(channel_count, 0) } },
	{ "a sandbox is given a part of a channel twice",
	  { SET(regions[GOOD_SENDER_SEES].permissions, 3), SET(regions[GOOD_SENDER_SEES].hpa, 0x72000000),
	    SET(regions[GOOD_SENDER_SEES].size, 0x1000) } },
	/* doorbells: the sender of GOOD_RING rings the receiver by GOOD_RUNG; nobody rings by GOOD_MAILBOX */
	{ "an end of a channel rings, and the other has no line for it, or not at all", { RING(gap_us[0], 0) } },
	{ "an end of a channel rings, and the other has no line for it, or not at all", { RING(gap_us[1], 1000) } },
	{ "an end of a channel rings, and the other has no line for it, or not at all", { RING(rung_line[1], 0), SET(line_count, 2) } },
	{ "an end of a channel rings, and the other has no line for it, or not at all", { MAILBOX(gap_us[0], 1) } },
	{ "an end of a channel rings, and the other has no line for it, or not at all", { MAILBOX(rung_line[0], 48) } },
	{ "an end of a channel is rung by a line that its sandbox does not have for it", { RING(rung_line[1], 49) } },
	{ "an end of a channel is rung by a line that its sandbox does not have for it", { SET(line_count, 2) } },
	{ "an end of a channel is rung by a line that its sandbox does not have for it", { RUNG(flags, 0) } },
	{ "an end of a channel is rung by a line that its sandbox does not have for it", { RING(rung_line[1], 40), SET(line_count, 2) } },
	{ "an end of a channel is rung by a line that its sandbox does not have for it",
	  { RING(gap_us[0], 0), RING(rung_line[1], 0), RING(gap_us[1], 1000), RING(rung_line[0], 48) } },
	{ "a line that others ring is not that of one end of a channel", { RING(gap_us[0], 0), RING(rung_line[1], 0) } },
	{ "an end of a channel is rung by a line that its sandbox does not have for it", { RUNG(sandbox, 0), RUNG(core, 1) } },
	{ "an end of a channel is rung by a line that its sandbox does not have for it", { RUNG(line, 49) } },
	{ "a line that others ring is not that of one end of a channel", { SET(lines[0].flags, BH_LINE_RUNG) } },
	{ "a line that others ring is not that of one end of a channel", { MAILBOX(gap_us[1], 1000), MAILBOX(rung_line[0], 48) } },
	{ "a line that others ring is not that of one end of a channel", { SET(lines[1].flags, BH_LINE_RUNG) } },
	{ "a line that others ring is level-triggered", { RUNG(flags, BH_LINE_RUNG | BH_LINE_LEVEL), RUNG(vector, 0x44) } },
	{ "an interrupt line has unknown flags", { RUNG(flags, BH_LINE_RUNG | 16) } },
	{ "an interrupt line has unknown flags", { SET(lines[0].flags, BH_LINE_LEVEL | 1 << 15) } },
	/* and what holds of all lines holds of these */
	{ "an interrupt line is not a device's", { RUNG(line, 45), RING(rung_line[1], 45) } },
	{ "two interrupt lines share a vector", { RUNG(vector, 0x42) } },
	{ "an interrupt line goes to another core than its sandbox's first", { RUNG(core, 1) } },
	{ "a sandbox mixes lines that its guest opens with lines that start-up opens", { RUNG(flags, BH_LINE_RUNG | BH_LINE_MASKED) } },
};

/* Just inside the limits. */
static const struct patch accepted_channels[][PATCHES] = {
	{ RING(gap_us[0], 1) },
	{ RING(gap_us[0], UINT32_MAX) },
	{ RING(gap_us[0], 0), RING(rung_line[1], 0), SET(line_count, 2) },
	{ RUNG(flags, BH_LINE_RUNG | BH_LINE_MASKED), SET(lines[1].flags, BH_LINE_LEVEL | BH_LINE_MASKED) },
};
/* clang-format on */
