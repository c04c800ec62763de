/* SPDX-License-Identifier: Apache-2.0 */
/* Two loops over memory, like those of STREAM and RandomAccess: `bench protections` measures what a protection costs them. */
#pragma once
#include <stdint.h>

/* Passes of STREAM's triad, a[i] = b[i] + q c[i], and updates of RandomAccess, t[r] ^= r. Each says how many ticks of the counter it took.
 */
void work_stream(uint64_t passes);
void work_random(uint64_t updates);
