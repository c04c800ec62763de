/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the words of the registers that say what the modes below Hyp may do. A pure function of what the core has. */
#pragma once
#include <stdint.h>

struct controls {
	uint32_t hcr, hcptr, hdcr, hstr, cnthctl;
};

/* `interrupts`: gic_traps. `counters`: pmu_grant. `unprotected`: enum bh_protection. */
struct controls controls_make(uint64_t interrupts, uint32_t counters, unsigned unprotected);
