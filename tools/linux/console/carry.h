/* SPDX-License-Identifier: Apache-2.0 */
/* bulkhead-console between the two rings of a terminal and a file that shows it, and from which is typed. */
#ifndef BULKHEAD_CARRY_H
#define BULKHEAD_CARRY_H
#include <stddef.h>

#include "bulkhead_channel.h"

enum { ENDED, GONE, WRONG, REFUSED }; /* what the program ends with */

/* Says on standard error what is wrong with whom (""): `error` as the library returns it, -errno. */
void complain(const char *what, const char *name, int error);

/* What was typed is sent, in messages as long as they may be; what finds no room in time is lost, as on a line. Returns 0 or -errno. */
int send_typed(struct bulkhead_channel *hears, const char *text, size_t length);

/*
 * Both ways, until the input ends, `leave` is typed (0: none), or the sandbox is gone. `keeps`: an input that ends may begin again, as that
 * of a pseudoterminal does. Between two looks at what was typed it shows no more messages than there are slots. Returns ENDED, GONE, or
 * REFUSED, and then has said why.
 */
int carry(struct bulkhead_channel *says, struct bulkhead_channel *hears, int in, int out, int leave, int keeps);

#endif
