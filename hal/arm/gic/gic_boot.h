/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: what the two GIC versions share, and what each supplies. */
#pragma once
#include "gic.h"

/* Fills gic_at from the board. */
void gic_locate(void);
/* GICD_TYPER.ITLinesNumber + 1. */
uint32_t gic_machine_words(void);
/* Disables all shared lines and makes them neither pending nor active. `groups`: 0 or ~0, the group of all. */
void gic_silence_lines(uint32_t groups);
/* Disables SGIs and PPIs of one core, at its frame, except for the kick, which gets the highest priority; makes PPIs level-sensitive. */
void gic_start_banked(uint64_t frame, uint32_t groups);
HAL_CHECKED enum hal_status gic_map_device(struct hal_space *space, uint64_t base, uint64_t bytes);

/* Returns HCR.TWI where a sandbox could sleep through a kick, because it owns its CPU interface: its monitor then sleeps in its place. */
uint64_t gic_idle_trap(const struct hal_partition *partition);
