/* SPDX-License-Identifier: Apache-2.0 */
/* The performance monitors of a core, as a test has them: what is written is noted by the register's name. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "arch_inline.h"

enum { PMU_RESET = 1 << 2 };
#define PMU_WRITE(name, value) pmu_write(#name, value)

void pmu_write(const char *name, uint32_t value);
bool pmu_is_there(void);
unsigned pmu_counters(void);
unsigned pmu_granted(void);
void pmu_clear_overflow(uint32_t counters);
