/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers of this core that the kernel does not use and that nobody else may touch: system registers and a few of the floating-point
 * unit's. A sentinel fills them and checks whether they keep their values. Registers in use need no check: the sentinel itself would fail.
 */
#pragma once
#include <stdint.h>

#define MARK_MIX 0x9e3779b97f4a7c15ULL /* 2^64 over the golden ratio: neighbours get unlike words */

/* <arch>/marks.c. On the core itself. */
void marks_set(void);
/* Returns how many do not hold what marks_set left. */
uint64_t marks_lost(void);
/* Calls the monitor with 0 in all other registers, so that what it keeps of them does not depend on what was done before. Interrupts are
 * off. */
void marks_call(uint64_t function);
