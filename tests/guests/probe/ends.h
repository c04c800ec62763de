/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that fault, overrun their stacks, are stopped, begin again and miss deadlines. */
#pragma once
#include <stdbool.h>

/* Tries one kind, and says what came of it. Returns false if there is none of that name. */
bool ends_run(const char *kind);
