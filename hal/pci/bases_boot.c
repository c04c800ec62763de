/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: what base address registers mean. Pure functions. PCI Local Bus 3.0, 6.2.5.1 "Address Maps". */
#include "abi/table.h"
#include "hal/hal.h"

_Static_assert(HAL_MAX_BASES == BH_FUNCTION_BARS, "a register each");

/* The low bits of a register. */
enum { BAR_PORTS = 1, BAR_WIDE = 4, BAR_PORT_BITS = 3, BAR_MEMORY_BITS = 0xf };

static bool is_wide(uint32_t value)
{
	return !(value & BAR_PORTS) && value & BAR_WIDE;
}

/* The base address that begins in register n. */
static void decode(const struct bh_function *function, uint32_t n, struct hal_base *base)
{
	uint32_t value = function->bar[n], mask = function->bar_mask[n];
	uint32_t bits = value & BAR_PORTS ? BAR_PORT_BITS : BAR_MEMORY_BITS;
	bool last = n + 1 == BH_FUNCTION_BARS;

	base->ports = value & BAR_PORTS;
	base->start = value & ~bits;
	base->bytes = -(mask & ~bits);
	if (is_wide(value) && !last)
		base->start |= (uint64_t)function->bar[n + 1] << 32;
	/* None is of 4 GiB or more on these machines: the upper word of a wide one is all mask. */
	if ((mask ^ value) & bits || base->bytes & (base->bytes - 1) || base->start & (base->bytes - 1) ||
	    (is_wide(value) && (last || function->bar_mask[n + 1] != UINT32_MAX)))
		base->bytes = 0;
}

uint32_t hal_function_bases(const struct bh_function *function, struct hal_base bases[HAL_MAX_BASES])
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < BH_FUNCTION_BARS; n += is_wide(function->bar[n]) ? 2 : 1)
		if (function->bar[n] || function->bar_mask[n])
			decode(function, n, &bases[count++]);
	return count;
}
