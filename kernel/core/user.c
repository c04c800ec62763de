/* SPDX-License-Identifier: Apache-2.0 */
/* Enters processes, and serves what they raise: calls (user_call, none so far) and first uses of floating point (user.h). */
#include "kernel/core/user.h"

#include <stddef.h>

#include "abi/guest.h"
#include "kernel/core/cpu.h"

/* Touched by its core alone, interrupts disabled. */
static struct core {
	struct cpu_user *running;
	struct cpu_user *fp_owner; /* NULL: the registers hold nobody's values */
} cores[BH_MAX_SANDBOX_CORES];

static struct core *this_core(void)
{
	return &cores[cpu_slot()];
}

void user_switch(struct cpu_user *to)
{
	struct core *core = this_core();

	if (core->running)
		cpu_user_save(core->running);
	if (to)
		cpu_user_load(to);
	core->running = to;
	cpu_fp_enable(to && core->fp_owner == to);
}

static void save_fp(struct core *core)
{
	cpu_fp_enable(true);
	if (core->fp_owner)
		cpu_fp_save(&core->fp_owner->fp);
}

bool user_take_fp(void)
{
	struct core *core = this_core();

	if (!core->running || core->fp_owner == core->running)
		return false;
	save_fp(core);
	cpu_fp_load(&core->running->fp);
	core->fp_owner = core->running;
	return true;
}

void user_release(struct cpu_user *user)
{
	struct core *core = this_core();

	if (core->running == user)
		user_switch(NULL);
	if (core->fp_owner != user)
		return;
	save_fp(core);
	core->fp_owner = NULL;
	cpu_fp_enable(false);
}

void user_leave_core(void)
{
	struct core *core = this_core();

	if (core->running)
		user_switch(NULL);
	if (core->fp_owner)
		user_release(core->fp_owner);
}

void user_call(struct cpu_frame *frame)
{
	cpu_frame_set_result(frame, USER_E_UNKNOWN);
}
