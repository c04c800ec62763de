/* SPDX-License-Identifier: Apache-2.0 */
/* Converts ticks of the machine's common clock, which arch_counter() counts. Good for spans up to centuries. */
#pragma once
#include <stdint.h>

/* `hz`: ticks a second, not 0. */
void clock_init(uint64_t hz);
uint64_t clock_to_ns(uint64_t ticks);
uint64_t clock_from_ns(uint64_t ns);
/* UINT64_MAX for more than 18 years: longer than anything that is asked for in earnest. */
uint64_t clock_from_us(uint64_t us);
/* Returns the frequency where info->clock_hz is 0 and the machine itself knows it: arch/<arch>/timer_hw.c */
uint64_t clock_machine_hz(void);
