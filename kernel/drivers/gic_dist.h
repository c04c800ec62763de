/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a GICv2 distributor, a GICv3 distributor and a redistributor's SGI frame have in common: one bit, two bits or one
 * byte an interrupt at the same offsets. IHI 0048, 4.1.2 "Distributor register map"; IHI 0069, chapter 12. `frame` is the
 * frame's address, `number` an INTID in it.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* The SGI that the cores of a sandbox send each other. */
enum { GIC_IPI = 1 };

/* PPIs off. SGIs on: one that nobody should have sent is to be noticed. */
void gic_dist_reset_local(uint64_t frame);

/* Trigger of a device's line. */
void gic_dist_configure(uint64_t frame, uint32_t number, bool edge);

/* At the middle priority. */
void gic_dist_enable(uint64_t frame, uint32_t number);

/* Non-secure group 1, GICv3 alone: one interrupt; all SGIs and PPIs. */
void gic_dist_set_group1(uint64_t frame, uint32_t number);
void gic_dist_set_group1_local(uint64_t frame);
