/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: what the two GIC versions share, and what each supplies. */
#pragma once
#include "gic.h"

/* GICD_TYPER.ITLinesNumber + 1. */
uint32_t gic_machine_words(void);
/* Shared lines: disabled, neither pending nor active; `groups` = group of each, all alike: 0 or ~0. */
void gic_silence_lines(uint32_t groups);
/* SGIs and PPIs of one core, at its frame: disabled, but for the kick, which outranks everything; PPIs level-sensitive, as timers are. */
void gic_start_banked(uint64_t frame, uint32_t groups);
HAL_CHECKED enum hal_status gic_map_device(struct hal_space *space, uint64_t base, uint64_t bytes);

/* HCR.TWI where a sandbox could sleep through a kick: it owns its CPU interface, and the monitor has to sleep in its place. */
uint64_t gic_idle_trap(const struct hal_partition *partition);
