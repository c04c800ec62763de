/* SPDX-License-Identifier: Apache-2.0 */
/* The architecture of the unit tests: no machine, so what would be instructions are functions that a test can watch. */
#pragma once
#include <stdint.h>

uint64_t arch_counter(void);
void arch_relax(void);
void arch_barrier(void);
