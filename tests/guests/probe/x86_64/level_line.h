/* SPDX-License-Identifier: Apache-2.0 */
/* The level-triggered line of an edu device whose registers are at `a`; the sandbox has no other line. On the first core. */
#pragma once
#include <stdint.h>

/* Masks the line and leaves it asserted: what the sandbox's next life begins with. */
uint64_t attack_level_leave(uint64_t a, uint64_t b);

/*
 * `b` rounds, the first raised while the line is masked. Returns how many interrupts arrived where the entry said (15:0), how many of all
 * found it in service (31:16), and how many came while it was masked (63:32).
 */
uint64_t attack_level_rounds(uint64_t a, uint64_t b);
