/* SPDX-License-Identifier: Apache-2.0 */
/* What the timer and its measuring entry in vectors.S share. SDM vol. 3A, 11.12 "Extended xAPIC (x2APIC)", register map. */
#pragma once

#define MSR_X2APIC_EOI 0x80b

#define VECTOR_TIMER 0xe0
#define VECTOR_IPI   0xe1

#ifndef __ASSEMBLER__
#include <stdint.h>

extern uint64_t timer_hw_arrival; /* TSC as read by the first instruction of vector_measure */
#endif
