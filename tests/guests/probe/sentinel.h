/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps watch over its own memory: all RAM that the kernel does not use holds a pattern, the kernel's text a checksum. A slice of it is
 * checked a thousand times a second, beside the heartbeat. It reports how often it has checked everything, and what had changed.
 */
#pragma once

/* Never returns. */
_Noreturn void sentinel_run(void);
