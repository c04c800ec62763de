/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pulse by which others judge this sandbox: a beat at a fixed rate, counted in the log ring, where the tool and sandboxes
 * with `log-access` see it, together with the beats that came too late.
 */
#pragma once
#include <stdint.h>

struct bh_telemetry;

enum { HEARTBEAT_HZ = 1000 };

/*
 * Beats `hz` times a second from now on; 0 stops it. Counts go on. VCPUs of the core are admitted beside HEARTBEAT_HZ: more is refused with
 * a sentence once there are VCPUs, and nothing changes. Requires: the first core.
 */
void heartbeat_start(uint64_t hz);

/* Returns the least time between two beats that has to be expected, in ticks: HEARTBEAT_HZ, or what was started beyond that. */
uint64_t heartbeat_distance(void);

/*
 * Delays the next beat by at least `ns` nanoseconds: disables interrupts on this core and polls the counter until then.
 * Requires: the main program, on the core that beats, before it has VCPUs, with interrupts enabled; they are enabled again when it returns.
 */
void heartbeat_delay(uint64_t ns);

/* Fills in what is told of beats. Requires: the main program of the first core. */
void heartbeat_tell(struct bh_telemetry *said);

/* Reports on the beats once for every thousand; where there are threads, the thousandth wakes the main program, and one
 * by which telemetry is due. Requires: the main program.
 */
void heartbeat_report(void);
