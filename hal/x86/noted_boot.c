/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: fills in where the first words that a core compares (struct x86_noted) stand: the guest's state from CR0 to RIP. */
#include "hal/x86/core.h"

void x86_note_fields(struct hal_core *core)
{
	for (unsigned n = 0; n < X86_STATE_WORDS; n++)
		core->noted.place[n] = (uintptr_t)core->field[X86_CR0 + n];
}
