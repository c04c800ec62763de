/* SPDX-License-Identifier: Apache-2.0 */
/* Configuration registers as every function has them, and how this machine reaches them. PCI Local Bus 3.0, 6.1 "Configuration Space
 * Organization". */
#pragma once
#include <stdint.h>

enum {
	PCI_IDENTITY = 0x00, /* device << 16 | vendor */
	PCI_COMMAND = 0x04,  /* status above: bits that a one clears */
	PCI_CLASS = 0x08,
	PCI_HEADER = 0x0c,
	PCI_BASE_ADDRESS = 0x10,
	PCI_ROM_ADDRESS = 0x30,
	PCI_CAPABILITIES = 0x34,   /* offset of the first; 0: there is none */
	PCI_INTERRUPT_LINE = 0x3c, /* a note for software; the rest of the word is read-only */
};
enum {
	PCI_COMMAND_IO = 1 << 0,
	PCI_COMMAND_MEMORY = 1 << 1,
	PCI_COMMAND_MASTER = 1 << 2,
	PCI_COMMAND_DECODE = PCI_COMMAND_IO | PCI_COMMAND_MEMORY,
	PCI_COMMAND_INTX_DISABLE = 1 << 10,
	PCI_SILENT = 0,
	PCI_FUNCTION_RESET = 1 << 15, /* no command: of device control. PCI Express Base 3.0, 7.8.4 "Device Control Register" */
	PCI_STATUS_CAPABILITIES = 1 << 20,
	PCI_HEADER_TYPE = 0x7f << 16,
	PCI_HEADER_MULTI = 1 << 23,
	PCI_CLASS_BRIDGE = 0x06,
	PCI_VENDOR = 0xffff,
};
enum { PCI_REGISTER_BITS = 12, PCI_PAGE_BYTES = 1 << PCI_REGISTER_BITS };

/*
 * Configuration mechanism 1 of PCs: an address register, and four ports of data. PCI Local Bus 3.0, 3.2.2.3.2 "Software Generation of
 * Configuration Transactions": 31 enable, 23:8 function, 7:2 double word.
 */
enum { PCI_PORT_ADDRESS = 0xcf8, PCI_PORT_DATA = 0xcfc, PCI_PORTS = 8, PCI_ADDRESS_FUNCTION_SHIFT = 8 };
enum { PCI_ADDRESS_FUNCTION_MASK = 0xffff, PCI_ADDRESS_REGISTER_MASK = 0xfc };
#define PCI_ADDRESS_ENABLE (UINT32_C(1) << 31)

/*
 * Where configuration registers are memory, function after function; a HPA. Start-up writes it before anything here is called. Data and not
 * a constant of the code, whose size would depend on it.
 */
extern uint64_t pci_ecam;

/* Start-up: the offset of a function's first capability of this kind, or 0. PCI Local Bus 3.0, 6.7 "Capabilities List". */
enum { PCI_CAPABILITY_MSI = 0x05, PCI_CAPABILITY_EXPRESS = 0x10, PCI_CAPABILITY_MSI_X = 0x11 };
uint32_t pci_capability(uint32_t function, uint32_t kind);

/* The double word at `place`, function << PCI_REGISTER_BITS | offset, a multiple of 4. */
uint32_t pci_config_read(uint32_t place);
void pci_config_write(uint32_t place, uint32_t value);
