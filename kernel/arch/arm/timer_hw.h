/* SPDX-License-Identifier: Apache-2.0 */
/* Between the vectors and the timer (timer_hw.c): when the last interrupt arrived. */
#pragma once
#include <stdint.h>

/* CNTVCT, read by the first instructions after the last interrupt that was an exception, as that which ends cpu_sleep is. */
extern uint64_t timer_hw_arrival;
