/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include <stdbool.h>

/*
 * The main program waits here: sleeps between interrupts and prints what has become due, until done() says so. done() is
 * asked with interrupts disabled, so that nothing it waits for can slip between the question and the sleep.
 */
void idle_until(bool (*done)(void));
