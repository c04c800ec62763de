/* SPDX-License-Identifier: Apache-2.0 */
/* What cpu_switch of tests/unit/fake_threads.c leaves on a thread's stack: of one that has run, in front of its context. */
#pragma once
#include <stdint.h>

struct thread_state {
	uintptr_t argument, entry, begin;
	uintptr_t start; /* thread_start: it has not run */
};
