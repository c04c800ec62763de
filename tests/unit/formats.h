/* SPDX-License-Identifier: Apache-2.0 */
/* Every format of hal/pt/pt.h, for tests that must hold for each. */
#pragma once
#include "hal/pt/pt.h"

static const struct pt_format *const every_format[] = { &pt_ept, &pt_npt, &pt_stage2, &pt_lpae, &pt_long,
							&pt_el2, &pt_hyp, &pt_amdvi,  &pt_vtd };

/* IOMMUs come last: they know neither execution nor memory types. */
enum { FORMATS = sizeof(every_format) / sizeof(every_format[0]), PROCESSOR_FORMATS = FORMATS - 2 };
