/* SPDX-License-Identifier: Apache-2.0 */
/* What a guest is told about its core, and switching off what it is not told about. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* Fills guest.features of the calling core with what its guest may see. Returns whether the core has more, so that reads have to trap. */
bool features_fill(uint64_t *features);
/* Closes control registers of later architecture versions, where the core has them. */
void features_close(void);
