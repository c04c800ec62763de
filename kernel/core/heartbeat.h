/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pulse others judge this sandbox by: a beat at a fixed rate, counted in the log ring, where the tool and sandboxes
 * with `log-access` see it, together with the beats that came too late.
 */
#pragma once
#include <stdint.h>

enum { HEARTBEAT_HZ = 1000 };

/* Beats `hz` times a second from now on; 0: no more. Counts go on. */
void heartbeat_start(uint64_t hz);

/*
 * Delays the next beat by at least `ns` nanoseconds: disables interrupts on this core and polls the counter until then.
 * Requires: the main program, on the core that beats, with interrupts enabled; they are enabled again when it returns.
 */
void heartbeat_delay(uint64_t ns);

/* Once for every thousand beats, when called from the main program, says how they went. */
void heartbeat_report(void);
