/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: switches off each row of disarm_controls (aarch64/, armv7/), and writes the refusal that names one which stays on. */
#include "hal/arm/disarm.h"

#include <stdbool.h>
#include <stddef.h>

static bool stays_on(const struct disarm_core *core, const struct disarm_control *control)
{
	core->write(control->number, control->off);
	return core->read(control->number) & control->on;
}

const struct disarm_control *disarm(const struct disarm_core *core)
{
	const struct disarm_control *first = NULL;

	for (const struct disarm_control *control = disarm_controls; control->name; control++)
		if (control->exists(core) && stays_on(core, control) && !first)
			first = control;
	return first;
}

static char *append(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	*at = 0;
	return at;
}

static char *append_hex(char *at, uint64_t value)
{
	char digits[2] = "";

	for (int shift = 60; shift >= 0; shift -= 4) {
		digits[0] = "0123456789abcdef"[value >> shift & 15];
		if (value >> shift || !shift)
			at = append(at, digits);
	}
	return at;
}

const char *disarm_refusal(const char *name, uint64_t address)
{
	static char text[256];
	char *at = append(text, name);

	if (address)
		at = append_hex(append(at, " at 0x"), address);
	append(at, " stays on, so that something goes on writing to memory or interrupting; let the boot loader leave it off");
	return text;
}
