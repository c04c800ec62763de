/* SPDX-License-Identifier: Apache-2.0 */
/* What a hostile sandbox may try on any ARM: the GIC's registers. Each is a struct attack's attempt (attack.h). */
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
/* The byte at offset a, written with b. */
uint64_t gic_attack_dist_write8(uint64_t a, uint64_t b);
/* gic_mask(a), gic_order.h. */
uint64_t gic_attack_mask(uint64_t a, uint64_t b);
/* The word b to the device register at address a; a read of it. */
uint64_t gic_attack_store(uint64_t a, uint64_t b);
uint64_t gic_attack_load(uint64_t a, uint64_t b);
/* Asleep until the timer expires, at once. Interrupts disabled. */
uint64_t gic_attack_sleep(uint64_t a, uint64_t b);
/* An SGI to oneself, by value and register: gic_prepare_sgi made both. */
uint64_t gic_attack_send(uint64_t a, uint64_t b);

/* In <arch>/attacks.c: ICC_SGI1R_EL1's value, where the machine has that register. */
uint64_t gic_sgi_to_self(uint32_t number);

/* Of struct storm: GICD_ISENABLER1 and what stands there; the SGI that cores of the kernel send each other. */
void gic_prepare_enable(uint64_t operands[2]);
void gic_prepare_sgi(uint64_t operands[2]);
/* Sleeps with a CPU interface that lets nothing through. Returns only where there is none. */
uint64_t gic_attack_sleep_masked(uint64_t a, uint64_t b);
/* No attack: two interrupts of different priority at once, a times; how often the urgent one came first. */
uint64_t gic_attack_order(uint64_t a, uint64_t b);
