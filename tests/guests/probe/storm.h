/* SPDX-License-Identifier: Apache-2.0 */
/* One exit after the other: what storms and the measurement of exits have in common. The kinds: storm.c, <arch>/attacks.c. */
#pragma once
#include <stdbool.h>

#include "probe/attack.h"

struct strike {
	const struct storm *storm;
	uint64_t operands[2];
};

/* Makes the operands of this kind; "" is a call's. Returns false if there is no such kind. */
bool storm_prepare(const char *kind, struct strike *strike);

/* Makes one exit. Survives an exception. */
void storm_strike(const struct strike *strike);
