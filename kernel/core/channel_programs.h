/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs at the two ends of a channel, which has the name of their VCPU: `source` sends a message in each of its periods, `sink` takes in
 * each of its periods all that has come, and looks at what it is; `relay` sends it on besides. As struct program_run says; other cores',
 * too.
 */
#pragma once
#include <stdint.h>

/* What a source sends: the same words in each connection, so that a sink knows what has to come. */
struct channel_sample {
	uint64_t number; /* in its connection, from 0 on */
	uint64_t clock;  /* when it was sent: ticks, which all sandboxes share */
	uint64_t pattern[4];
};

void channel_source(void *run);
void channel_sink(void *run);
/* A sink of a ring that sends what it takes on in the ring whose name has "-on" behind. */
void channel_relay(void *run);
