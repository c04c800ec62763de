/* SPDX-License-Identifier: Apache-2.0 */
/* Priorities of the GIC: whether urgent interrupts come first, and whether a mask holds. */
#pragma once
#include <stdint.h>

/*
 * `runs` times makes two SGIs of different priority pending while interrupts are disabled, and lets them come. In how many runs
 * the more urgent one came first, and the other after it. On the first core.
 */
uint64_t gic_order(uint64_t runs);

/*
 * Makes two SGIs pending, of priority 0x40 and 0x80, waits 2.5 ms with this mask, and then lets both in. A byte each, from the lowest:
 * the mask as it read; how many came while it held, and in all (four bits each); the running priority of the first, and of the other.
 */
uint64_t gic_mask(uint64_t mask);
