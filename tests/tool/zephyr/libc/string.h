/* SPDX-License-Identifier: Apache-2.0 */
/* Where the compiler has none for its target. */
#pragma once
#include <stddef.h>

int strncmp(const char *one, const char *other, size_t bytes);
