/* SPDX-License-Identifier: Apache-2.0 */
/* The processor below the sandbox kernel's own files: one core at a time, whose interrupts and slot the test sees and sets. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

extern struct fake_cpu {
	unsigned slot;
	bool enabled;        /* interrupts */
	void (*sleep)(void); /* what happens while the core sleeps; NULL: nothing, and then a sleep ends the test */
} fake_cpu;
