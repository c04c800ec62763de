/* SPDX-License-Identifier: Apache-2.0 */
/* The processor of the sandbox kernel's unit tests: kernel/core/cpu.h says what each does; tests/unit/fake_cpu.c counts and checks. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

void cpu_interrupts_enable(void);
bool cpu_interrupts_disable(void);
void cpu_interrupts_restore(bool enabled);
void cpu_sleep(void);
bool cpu_sleep_before_interrupt(void);
uint64_t cpu_call_monitor(uint64_t function, uint64_t a, uint64_t b, uint64_t c);
unsigned cpu_slot(void);
