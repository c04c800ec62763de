/* SPDX-License-Identifier: Apache-2.0 */
/* What both kinds of kick share: gicv3_kick.c, poison.c. */
#include "hal/stage2/stage2.h"

bool hal_kick_answered(const struct hal_core *self, uint32_t target, uint32_t ticket)
{
	const struct hal_kick_box *box = &self->partition->boxes[self->partition->targets[target].core];

	return (int32_t)(__atomic_load_n(&box->acknowledged, __ATOMIC_ACQUIRE) - ticket) >= 0;
}
