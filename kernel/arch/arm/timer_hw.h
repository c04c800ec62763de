/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <stdint.h>

extern uint64_t timer_hw_arrival; /* CNTVCT as the first instructions of the last interrupt knew it; cpu.c */
