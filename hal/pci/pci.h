/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.device. PCI functions below a sandbox that owns some. What a configuration register may hold is the same on every
 * machine, so it is decided here; how a machine reaches the registers, config.h.
 *
 *   guest ── reads ECAM ──► page of an own function, or for all others one page of ones     no exit
 *   guest ── writes ECAM ─► permission fault ─┐
 *   guest ── 0xCF8, 0xCFC ─► port exit ───────┴─► own function? ─► filter.c ─► the function
 *
 * A function masters the bus if an IOMMU translates for it (BH_DMA_TRANSLATED), or if there is none and the configuration lets it reach all
 * memory (BH_DMA_UNPROTECTED), and if its guest lets it. No other does: neither DMA nor
 * message-signalled interrupts, which are writes to memory (PCI Local Bus 3.0, 6.8.3 "MSI Operation"), leave it, whatever its tables
 * and capabilities say. A function whose line is not its sandbox's drives none: others' may share it. Of capabilities its guest writes
 * those of messages, where the IOMMU judges messages as well, by their function and wherever they go; and no others. Where the IOMMU judges
 * them by their address (VT-d), the address is the monitor's (pci_allow_messages).
 */
#pragma once
#include "abi/table.h"
#include "hal/hal.h"
#include "hal/lock.h"

/*
 * A stretch of configuration registers that its guest may write as it likes, switches of interrupts first, and what its first double word
 * gets when the function is reset. First 0: there is none. No bytes: that word is the monitor's.
 */
struct pci_stretch {
	uint8_t first, bytes;
	uint32_t reset;
};
enum { PCI_MESSAGES = 4 }; /* controls of MSI and MSI-X, data and address of MSI */
/* A table of MSI-X whose addresses are the monitor's: `address` and 0. Its guest reads its pages and writes the rest through the monitor.
 */
struct pci_table {
	uint64_t start, pages;      /* HPA, which is the GPA; of its first page */
	uint32_t bytes, page_bytes; /* 0: there is none */
	uint32_t address;
};
struct pci_function {
	uint32_t place;         /* of its first register */
	uint8_t device_control; /* offset of its register of that name, if it can be reset by itself; 0: it cannot */
	uint8_t may;            /* bits of the command register that its guest may set while every address is in its place */
	uint16_t always;        /* bits that are always set: PCI_COMMAND_INTX_DISABLE where its line is not its sandbox's */
	struct pci_stretch messages[PCI_MESSAGES];
	uint32_t bar[BH_PCI_FUNCTION_BARS]; /* as they read when they hold what is granted */
};

/* The functions of one sandbox. Const after start-up, but for the lock. */
struct pci_view {
	uint32_t count;
	struct hal_lock own;   /* between the cores of the sandbox alone */
	struct hal_lock *lock; /* check and write are one step for all cores that can reach these registers */
	struct pci_function functions[BH_MAX_PCI_FUNCTIONS];
	struct pci_table tables[BH_MAX_PCI_FUNCTIONS]; /* of the function with this number */
};

/* ---- Resident, on a core of the sandbox ---- */

/*
 * Carry out a guest's access of `width` bytes at `place`: function << 12 | register. Reads of other sandboxes' functions give ones; writes
 * to them, and to registers that are not for guests, change nothing. `self`: as hal/lock.h wants it. HAL_FAULT: a width or alignment that
 * the bus does not have.
 */
enum hal_action pci_read(const struct pci_view *view, uint32_t self, uint32_t place, uint32_t width, uint32_t *value);
enum hal_action pci_write(const struct pci_view *view, uint32_t self, uint32_t place, uint32_t width, uint32_t value);

/*
 * Silences the functions: they neither decode nor master the bus. Then, if `command` is PCI_FUNCTION_RESET, begins a reset of those that
 * can be reset by themselves: for PCI_RESET_MS nobody may access them, as their answers may fail. Else, unless it is PCI_SILENT, puts them
 * in their places and gives them `command`: PCI_COMMAND_DECODE is what start-up leaves. When this returns, each function has taken its
 * silence, and what it had written before has arrived: its command was read back, and the completion of a read may not pass posted writes,
 * as that of a configuration write may (PCI Express Base 3.0, 2.4.1 "Transaction Ordering Rules"). What it has asked to read can still be
 * under way: the IOMMU waits for that (hal/iommu/iommu.h). Requires: no guest of the sandbox runs.
 */
void pci_reset(const struct pci_view *view, uint32_t self, uint32_t command);

/* Returns which configuration register the sandbox sees at this address, or PCI_NOWHERE. */
#define PCI_NOWHERE UINT32_MAX
uint32_t pci_place(const struct pci_view *view, uint64_t gpa);

/* Answers an exit. Returns false if no configuration register is there. Stage 2 lets guests read these registers, so `exit` is a write, and
 * its value is set. */
static inline bool pci_emulate(const struct pci_view *view, uint32_t self, const struct hal_exit *exit, enum hal_action *action)
{
	uint32_t place = pci_place(view, exit->gpa);

	if (place == PCI_NOWHERE)
		return false;
	*action = pci_write(view, self, place, exit->width, (uint32_t)exit->value);
	return true;
}

/* Returns the table of MSI-X in whose pages this address is, or NULL. */
const struct pci_table *pci_table_of(const struct pci_view *view, uint64_t gpa);
/* Carries out a guest's write there. HAL_FAULT: other than a double word. */
enum hal_action pci_write_table(const struct pci_table *table, const struct hal_exit *exit);

/* ---- Start-up ---- */

/* PCI Express Base 3.0, 6.6.2 "Function-Level Reset (FLR)". */
enum { PCI_RESET_MS = 100 };
/* How long functions of this view take to be reset; 0: none can be. */
uint32_t pci_reset_ms(const struct pci_view *view);
/* Makes an empty view. Where one pair of ports leads to all configuration registers, all monitors share a lock on the page of `boxes`. */
void pci_create_view(struct pci_view *view, struct hal_kick_mailbox *boxes);
/*
 * Adds a function: checks that it is the one that the table means and places its base addresses. HAL_E_RANGE: no room, or no such function
 * on this board. HAL_E_UNSUPPORTED: another, or none; or one that no command register or IOMMU holds. Or it does not take its addresses, or
 * has an interrupt pin that cannot be switched off and no line: then it is in the view, for start-up to refuse.
 */
HAL_CHECKED enum hal_status pci_grant(struct pci_view *view, const struct bh_pci_function *function);
/*
 * Lets the guest of the function that was granted last use its messages, without their address where `address` is not 0: messages get that.
 * *table is the table of MSI-X that is then to be shown read-only, or NULL. HAL_E_UNSUPPORTED: the function's table of MSI-X is not as the
 * partition table has it.
 */
HAL_CHECKED enum hal_status pci_allow_messages(struct pci_view *view, const struct bh_pci_function *function, uint32_t address,
					       const struct pci_table **table);
/* Shows the sandbox the buses: its own functions read-only, and the page `absent` in place of all others. If `open`, shows all functions,
 * writable. Does nothing where there is no ECAM. */
HAL_CHECKED enum hal_status pci_show(struct hal_partition *partition, const struct pci_view *view, hpa_t absent, bool open);
/* Maps what resident functions touch. */
HAL_CHECKED enum hal_status pci_map(struct hal_space *space, const struct pci_view *view);
