/* SPDX-License-Identifier: Apache-2.0 */
/* Prints another sandbox's log on this sandbox's console, line by line. */
#pragma once
#include <stdbool.h>

/*
 * Says each line that the sandbox called `name` has written to its log or writes from now on, for good. Main program only.
 * Returns false, and at once, if its log was not granted. Lines that were overwritten before they were read are left out.
 */
bool follow_log(const char *name);
