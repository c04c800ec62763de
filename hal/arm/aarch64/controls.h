/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the words of the registers that say what EL1 and EL0 may do. A pure function of what the core has. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct controls {
	uint64_t hcr, cptr, mdcr, hstr, cnthctl;
};

/* `interrupts`: gic_traps. `hides`: the core has features that a guest must not rely on, so reads of its identification registers trap and
 * are answered. `counters`: pmu_grant. `unprotected`: enum bh_protection. */
struct controls controls_make(uint64_t interrupts, bool hides, unsigned counters, unsigned unprotected);
