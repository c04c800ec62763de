/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends of all channels of the sandbox, which take part in them: send what there is room for, take what there is. A sentinel watches the
 * other ends meanwhile: one of a hostile sandbox may do anything, and must harm nobody; of another sentinel's messages none may be lost,
 * doubled or damaged. A hostile sandbox takes part so that somebody listens to it. Who has channels with whom:
 * tools/bhtool/attack/stage.py.
 */
#pragma once
#include <stdbool.h>

/* Takes all ends. `watches`: what is wrong is said, each thing of each channel once. The first core, once. */
void partner_begin(bool watches);

/*
 * Does everything that the role of each end allows, a bounded number of times. Who watches also opens and closes what is opened on request,
 * each for a number of looks; for others what partner_set_open has opened is open.
 */
void partner_take_part(void);

/*
 * Opens all that is opened on request, anew if it is open, or closes it, whatever was done to it meanwhile. For who watches: closes it, and
 * from then on leaves it closed.
 */
void partner_set_open(bool open);

/* Whether both ends of all channels, or of those that are opened on request, have said the same connection. */
bool partner_is_connected(bool on_request);

/* Says what came and went so far. */
void partner_report(void);
