/* SPDX-License-Identifier: Apache-2.0 */
/* Sleep of the main program, and how handlers know that their core slept. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/*
 * The main program waits here: sleeps between interrupts, until done() says so. done() is asked with interrupts disabled, so that nothing
 * it waits for can slip between the question and the sleep. On the first core it prints what has become due: after each interrupt, and
 * where there are threads each time that it is woken, which the heartbeat does when a report is due (heartbeat.h).
 */
void idle_until(bool (*done)(void));

/* Sleeps until an interrupt has been served. Requires: interrupts disabled, as they are when it returns. */
void idle_sleep(void);

/*
 * Whether the first core has slept in idle_until since `moment` (of arch_counter) or longer, undisturbed by interrupts and kicks, up to the
 * interrupt whose handler asks: then it has executed nothing since but the way there.
 */
bool idle_slept_since(uint64_t moment);
/* Notes that the core has served an interrupt, or dropped a stray one: the next does not come out of sleep. */
void idle_end_sleep(void);
