/* SPDX-License-Identifier: Apache-2.0 */
/* What a hostile sandbox may try on any ARM: the GIC's registers. Each is a struct attack's attempt (kernel/attack.h). */
#pragma once
#include <stdint.h>

enum { GICD_SGIR = 0xf00 };  /* IHI 0048, 4.3.15 */
enum { NOTHING_THERE = -1 }; /* returned where the machine lacks what the attack is about */

/* Address of the part of the interrupt controller that was granted under this name; 0: none was. */
uint64_t gic_attack_frame(const char *name);

/* An interrupt to others: a is GICD_SGIR. */
uint64_t gic_attack_sgir(uint64_t a, uint64_t b);
/* The distributor's register at offset a; written with b first. */
uint64_t gic_attack_dist_read(uint64_t a, uint64_t b);
uint64_t gic_attack_dist_write(uint64_t a, uint64_t b);
/* gic_mask(a), gic_order.h. */
uint64_t gic_attack_mask(uint64_t a, uint64_t b);
/* Asleep behind a CPU interface that lets nothing through. Returns only where there is none. */
uint64_t gic_attack_sleep_masked(uint64_t a, uint64_t b);
/* No attack: two interrupts of different priority at once, a times; how often the urgent one came first. */
uint64_t gic_attack_order(uint64_t a, uint64_t b);
