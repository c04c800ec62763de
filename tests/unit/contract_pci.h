/* SPDX-License-Identifier: Apache-2.0 */
/* A bus with one function, for contract.h: it has an identity, and registers that hold what is written where it may be. */
#pragma once
#include "hal/pci/config.h"
#include "hal/pci/pci.h"

uint64_t pci_ecam;

enum { FUNCTION_ID = 0x18, FUNCTION_IDENTITY = 0x11ab10ec };

/* What is written to the command is on its way until it is read; some bits never go. */
static uint32_t function_command, function_posted, function_stuck;

uint32_t pci_config_read(uint32_t place)
{
	if (place >> PCI_REGISTER_BITS != FUNCTION_ID)
		return UINT32_MAX;
	if (place % PCI_PAGE_BYTES == PCI_COMMAND)
		return function_command = function_posted | function_stuck;
	return place % PCI_PAGE_BYTES == PCI_IDENTITY ? FUNCTION_IDENTITY : 0;
}

void pci_config_write(uint32_t place, uint32_t value)
{
	if (place == (FUNCTION_ID << PCI_REGISTER_BITS | PCI_COMMAND))
		function_posted = value;
}

void pci_reset(const struct pci_view *view, uint32_t self, uint32_t command) {}
