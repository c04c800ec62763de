/* SPDX-License-Identifier: Apache-2.0 */
/* The first backend of a family: it refuses every machine, in one sentence. */
#include "hal/hal.h"

enum hal_status hal_probe(const char **missing)
{
	*missing = "this version has no backend for RISC-V; take a machine that `tools/bulkhead platforms` lists as proved";
	return HAL_E_UNSUPPORTED;
}
