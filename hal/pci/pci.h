/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.device. PCI functions below a sandbox that owns some. What a configuration register may hold is the same on every
 * machine, so it is decided here; how a machine reaches the registers, config.h.
 *
 *   guest ── reads ECAM ──► page of an own function, or for all others one page of ones     no exit
 *   guest ── writes ECAM ─► permission fault ─┐
 *   guest ── 0xCF8, 0xCFC ─► port exit ───────┴─► own function? ─► filter.c ─► the function
 *
 * No function masters the bus in this version: neither DMA nor message-signalled interrupts, which are writes to memory (PCI
 * Local Bus 3.0, 6.8.3 "MSI Operation"), leave it, whatever its tables and capabilities say. Capabilities are not written at all.
 */
#pragma once
#include "abi/table.h"
#include "hal/hal.h"
#include "hal/lock.h"

struct pci_function {
	uint32_t place;                     /* of its first register */
	uint32_t bar[BH_PCI_FUNCTION_BARS]; /* as they read when they hold what is granted */
};

/* The functions of one sandbox. Const after start-up. */
struct pci_view {
	uint32_t count;
	struct hal_lock own;
	struct hal_lock *lock; /* check and write are one step for all cores that can reach these registers */
	struct pci_function functions[BH_MAX_PCI_FUNCTIONS];
};

/* ---- Resident, on a core of the sandbox ---- */

/*
 * A guest's access of `width` bytes at `place`: function << 12 | register. Reads of foreign functions give ones, writes to them
 * and to registers that are not for guests change nothing. HAL_FAULT: a width or alignment that the bus does not have.
 */
enum hal_action pci_read(const struct pci_view *view, uint32_t place, uint32_t width, uint32_t *value);
enum hal_action pci_write(const struct pci_view *view, uint32_t place, uint32_t width, uint32_t value);

/* As start-up leaves them, which is as firmware leaves devices: placed and decoding. Behind the end of a sandbox, before its next life. */
void pci_reset(const struct pci_view *view);

/* What is a configuration register at this address as the sandbox sees it, or PCI_NOWHERE. */
#define PCI_NOWHERE UINT32_MAX
uint32_t pci_place(const struct pci_view *view, uint64_t gpa);

/* Answers an exit, unless no configuration register is there: false. Stage 2 lets guests read those, so what comes here writes: its value
 * is set. */
static inline bool pci_emulate(const struct pci_view *view, const struct hal_exit *exit, enum hal_action *action)
{
	uint32_t place = pci_place(view, exit->gpa);

	if (place == PCI_NOWHERE)
		return false;
	*action = pci_write(view, place, exit->width, (uint32_t)exit->value);
	return true;
}

/* ---- Start-up ---- */

/* Where all configuration registers are behind one pair of ports, all monitors share a lock, on the page of `boxes`. */
void pci_create_view(struct pci_view *view, struct hal_kick_mailbox *boxes);
/* Checks that the function is the one the table means, places its base addresses, adds it. HAL_E_UNSUPPORTED: it is another, or none. */
HAL_CHECKED enum hal_status pci_grant(struct pci_view *view, const struct bh_pci_function *function);
/* Shows the sandbox the buses: its own functions read-only, of all others the page `absent`; if `open`, all as they are, to write, too.
 * Nothing where there is no ECAM. */
HAL_CHECKED enum hal_status pci_show(struct hal_partition *partition, const struct pci_view *view, hpa_t absent, bool open);
/* Maps what resident functions touch. */
HAL_CHECKED enum hal_status pci_map(struct hal_space *space, const struct pci_view *view);
