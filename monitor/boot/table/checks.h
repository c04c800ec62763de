/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks of a partition table, one a subject, each in a file of its own. Each returns the first invariant that is broken, as an English
 * clause, or NULL. The order in which they run is table_boot.c's; a check may rely on those before it. Callers go one way:
 *
 *   table_boot.c ─► header_boot.c
 *             ├──► regions_boot.c ─► devices_boot.c ─► spans_boot.c
 *             │                │             └─► channels_boot.c (lines that are rung)
 *             │                └─► channels_boot.c ─► spans_boot.c
 *             ├──► devices_boot.c, channels_boot.c
 *             └──► payload_boot.c ─► header_boot.c (checksum), spans_boot.c
 *
 * The room has a circle of two: table_boot.c, whose header names what all checks are about, includes this one.
 */
#pragma once
#include "monitor/boot/table/table.h"

/* header_boot.c: numbers of the table itself, of cores and of what sandboxes may do to each other */
const char *refuse_header(const struct bh_table *table, const struct table_limits *limits);
const char *refuse_hardware(const struct bh_table *table, const struct table_limits *limits);
const char *refuse_cores(const struct bh_table *table, const struct table_limits *limits);

/* The table's words, whatever types its fields have. */
typedef uint64_t __attribute__((__may_alias__)) table_word;
/*
 * Goes on with a checksum, FNV-1a over 64-bit words, by so many words. Each step is a bijection, so any change confined to one word changes
 * the result.
 */
#define CHECKSUM_OF_NOTHING UINT64_C(0xcbf29ce484222325)
uint64_t words_checksum(uint64_t checksum, const table_word *words, uint64_t count);

/* regions_boot.c: memory, of monitors and of sandboxes */
const char *refuse_pools(const struct bh_table *table, const struct table_limits *limits);
const char *refuse_regions(const struct bh_table *table, const struct table_limits *limits);

/* devices_boot.c: registers, PCI functions, I/O ports, interrupt lines */
const char *refuse_functions(const struct bh_table *table, const struct table_limits *limits);
const char *refuse_ports(const struct bh_table *table, const struct table_limits *limits);
const char *refuse_lines(const struct bh_table *table, const struct table_limits *limits);
/* One region that is device registers, whose span is in whole pages and does not wrap. */
const char *refuse_device(const struct bh_table *table, const struct table_limits *limits, const struct bh_region *region);

/* channels_boot.c: memory that two sandboxes share */
const char *refuse_channels(const struct bh_table *table, const struct table_limits *limits);
/* One region that is a part of a channel, whose span is in whole pages and does not wrap. */
const char *refuse_part(const struct bh_table *table, const struct bh_region *region);

/* One line with BH_LINE_RUNG. */
const char *refuse_rung(const struct bh_table *table, const struct bh_line *line);

/* payload_boot.c: what is copied into sandboxes, when the machine starts and when a sandbox does so again */
const char *refuse_payloads(const struct bh_table *table, const struct table_limits *limits);
const char *refuse_restarts(const struct bh_table *table, const struct table_limits *limits);
