/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a guest may write to a configuration register of its own function. A function answers at its granted addresses or
 * nowhere: addresses change only while it does not decode, and it decodes only with every address in its place.
 */
#include "hal/pci/pci.h"

#include "arch/arch.h"
#include "hal/pci/config.h"

/* After the barrier the next holder finds the registers as this one left them. */
static void give(struct hal_lock *lock, uint32_t self)
{
	arch_barrier();
	hal_lock_give(lock, self);
}

static bool is_placed(const struct pci_function *function)
{
	for (uint32_t n = 0; n < BH_PCI_FUNCTION_BARS; n++)
		if (pci_config_read(function->place + PCI_BASE_ADDRESS + 4 * n) != function->bar[n])
			return false;
	return true;
}

static bool decodes(const struct pci_function *function)
{
	return pci_config_read(function->place + PCI_COMMAND) & PCI_COMMAND_DECODE;
}

static bool is_message(const struct pci_function *function, uint32_t offset)
{
	for (const struct pci_stretch *one = function->messages; one < function->messages + PCI_MESSAGES; one++)
		if (offset - one->first < one->bytes)
			return true;
	return false;
}

/* All ones ask for the size. PCI Local Bus 3.0, 6.2.2 "Device Control", 6.2.5.1 "Address Maps". The status is not for guests to clear. */
static void write_register(const struct pci_function *function, uint32_t offset, uint32_t value)
{
	uint32_t bar = (offset - PCI_BASE_ADDRESS) / 4;

	if (offset == PCI_COMMAND)
		value = (value & (PCI_COMMAND_INTX_DISABLE | (is_placed(function) ? function->may : 0))) | function->always;
	else if (bar < BH_PCI_FUNCTION_BARS ? decodes(function) || (value != UINT32_MAX && value != function->bar[bar])
					    : offset != PCI_INTERRUPT_LINE && !is_message(function, offset))
		return;
	pci_config_write(function->place + offset, value);
}

static const struct pci_function *find(const struct pci_view *view, uint32_t place)
{
	for (uint32_t n = 0; n < view->count; n++)
		if ((view->functions[n].place ^ place) < PCI_PAGE_BYTES)
			return &view->functions[n];
	return NULL;
}

/* The bits of its double word that an access of `width` bytes at `place` is about. */
static uint32_t bits_of(uint32_t place, uint32_t width)
{
	return UINT32_MAX >> (32 - 8 * width) << 8 * (place & 3);
}

static bool is_possible(uint32_t place, uint32_t width)
{
	return width && width <= 4 && !(place & (width - 1));
}

enum hal_action pci_read(const struct pci_view *view, uint32_t self, uint32_t place, uint32_t width, uint32_t *value)
{
	const struct pci_function *function = find(view, place);

	if (!is_possible(place, width))
		return HAL_FAULT;
	*value = UINT32_MAX;
	if (function) {
		hal_lock_take(view->lock, self);
		*value = pci_config_read(place & ~UINT32_C(3)) >> 8 * (place & 3);
		give(view->lock, self);
	}
	return HAL_SKIP;
}

enum hal_action pci_write(const struct pci_view *view, uint32_t self, uint32_t place, uint32_t width, uint32_t value)
{
	const struct pci_function *function = find(view, place);
	uint32_t offset = place & (PCI_PAGE_BYTES - 4), bits;

	if (!is_possible(place, width))
		return HAL_FAULT;
	bits = bits_of(place, width);
	if (function) {
		hal_lock_take(view->lock, self);
		write_register(function, offset, (pci_config_read(function->place + offset) & ~bits) | (value << 8 * (place & 3) & bits));
		give(view->lock, self);
	}
	return HAL_SKIP;
}

/* The write to the command may still be on its way when it has been carried out here; what is read back has arrived. */
static void silence(uint32_t place, uint32_t always)
{
	pci_config_write(place + PCI_COMMAND, PCI_SILENT | always);
	(void)pci_config_read(place + PCI_COMMAND);
}

/*
 * Some functions decode for ever: those are moved while they do. Of a capability's first double word the lower half is read-only. Above
 * device control is a status that ones clear.
 */
static void reset_function(const struct pci_function *function, uint32_t command)
{
	uint32_t place = function->place, control = place + function->device_control;

	silence(place, function->always);
	for (uint32_t n = 0; n < PCI_MESSAGES; n++)
		if (function->messages[n].first)
			pci_config_write(place + function->messages[n].first, function->messages[n].reset);
	if (command == PCI_FUNCTION_RESET && function->device_control)
		pci_config_write(control, (pci_config_read(control) & UINT16_MAX) | command);
	if (!(command & PCI_COMMAND_DECODE))
		return;
	for (uint32_t n = 0; n < BH_PCI_FUNCTION_BARS; n++)
		pci_config_write(place + PCI_BASE_ADDRESS + 4 * n, function->bar[n]);
	pci_config_write(place + PCI_COMMAND, command | function->always);
}

void pci_reset(const struct pci_view *view, uint32_t self, uint32_t command)
{
	hal_lock_take(view->lock, self);
	for (uint32_t n = 0; n < view->count; n++)
		reset_function(&view->functions[n], command);
	give(view->lock, self);
}
