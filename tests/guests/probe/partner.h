/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An end of each of the sandbox's channels that takes part in it: sends what there is room for, takes what there is. A sentinel watches the
 * other end meanwhile, which may be hostile, or another sentinel (a channel with one is checked from end to end), of whom nothing may be lost, doubled or damaged;
 * a hostile sandbox takes part so that somebody listens to it. tools/bhtool/attack/stage.py says who has a channel with whom.
 */
#pragma once
#include <stdbool.h>

/* Takes all ends. `watches`: what is wrong is said, each thing of each channel once. The first core, once. */
void partner_begin(bool watches);

/* Does everything that the role of each end allows, a bounded number of times. */
void partner_take_part(void);

/* Whether both ends of all channels have said the same connection. */
bool partner_is_connected(void);

/* Says what came and went so far. */
void partner_report(void);
