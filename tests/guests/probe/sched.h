/* SPDX-License-Identifier: Apache-2.0 */
/* What threads and VCPUs cost, from a read of the counter to the next: one line for each measurement. */
#pragma once

/* Measures everything, or says why it cannot. The heartbeat pauses meanwhile. */
void sched_measure(void);
