/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <stdint.h>

extern uint64_t timer_hw_arrival; /* CNTVCT_EL0 as read by the first instruction of the last interrupt */
