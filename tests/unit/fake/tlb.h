/* SPDX-License-Identifier: Apache-2.0 */
/* Translations that cores keep, as a test has them. */
#pragma once
#include <stdint.h>

void stage2_invalidate(uint64_t vttbr, uint64_t own);
void stage2_wake(void);
