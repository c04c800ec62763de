/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <stdint.h>

/*
 * `runs` times makes two SGIs of different priority pending while interrupts are disabled, and lets them come. In how many runs
 * the more urgent one came first, and the other behind it. On the first core.
 */
uint64_t gic_order(uint64_t runs);
