/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: what base address registers mean. Pure functions. PCI Local Bus 3.0, 6.2.5.1 "Address Maps". */
#include "abi/table.h"
#include "hal/hal.h"

_Static_assert(HAL_MAX_BASES == BH_PCI_FUNCTION_BARS, "a register each");

/* The low bits of a register. */
enum { BAR_PORTS = 1, BAR_WIDE = 4, BAR_PORT_BITS = 3, BAR_MEMORY_BITS = 0xf };

static bool is_wide(uint32_t value)
{
	return !(value & BAR_PORTS) && value & BAR_WIDE;
}

static uint32_t type_bits(uint32_t value)
{
	return value & BAR_PORTS ? BAR_PORT_BITS : BAR_MEMORY_BITS;
}

/* Whether the first of the `left` registers that are left, with these masks, can. None is of 4 GiB or more on these machines. */
static bool can_hold(const struct hal_base *base, uint32_t value, const uint32_t *mask, uint32_t left)
{
	if ((mask[0] ^ value) & type_bits(value)) /* which are read-only */
		return false;
	if (base->bytes & (base->bytes - 1) || base->start & (base->bytes - 1))
		return false;
	return !is_wide(value) || (left > 1 && mask[1] == UINT32_MAX);
}

/* The base address that begins in register n. */
static struct hal_base decode(const struct bh_pci_function *function, uint32_t n)
{
	uint32_t value = function->bar[n], left = BH_PCI_FUNCTION_BARS - n;
	struct hal_base base = {
		.start = value & ~type_bits(value),
		.bytes = -(function->bar_mask[n] & ~type_bits(value)),
		.ports = value & BAR_PORTS,
	};

	if (is_wide(value) && left > 1)
		base.start |= (uint64_t)function->bar[n + 1] << 32;
	if (!can_hold(&base, value, &function->bar_mask[n], left))
		base.bytes = 0;
	return base;
}

bool hal_function_base(const struct bh_pci_function *function, uint32_t bar, struct hal_base *base)
{
	uint32_t n = 0;

	if (bar >= BH_PCI_FUNCTION_BARS)
		return false;
	while (n < bar)
		n += 1u + is_wide(function->bar[n]);
	*base = decode(function, bar);
	return n == bar && base->bytes;
}

uint32_t hal_function_bases(const struct bh_pci_function *function, struct hal_base bases[HAL_MAX_BASES])
{
	uint32_t count = 0;

	for (uint32_t n = 0; n < BH_PCI_FUNCTION_BARS; n += is_wide(function->bar[n]) ? 2 : 1)
		if (function->bar[n] || function->bar_mask[n])
			bases[count++] = decode(function, n);
	return count;
}
