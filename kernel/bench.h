/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <stdbool.h>

/*
 * From the deadline of the timer to the first instruction of the handler, in ticks of the counter, a thousand times, waiting
 * asleep or in a loop; prints minimum, median and maximum. The heartbeat pauses meanwhile.
 */
void bench_timer(bool asleep);
