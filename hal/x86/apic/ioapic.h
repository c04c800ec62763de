/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The I/O APIC, one for the whole machine, as each sandbox sees it: an 82093AA of its own in which only granted pins are wired. A
 * Linux guest, which unmasks its pins itself, sees them as pins 1, 3, 4, ...: a kernel that starts walks over all pins up to the last. No
 * guest maps it. What a guest writes of a granted entry is kept for it to read; the machine's entry gets what the grant allows.
 *
 *   guest:    mask | vector | own cores, as it names them | mode        machine:  mask | vector | one own core | fixed, physical
 *             trigger, polarity: read as written                                  trigger, polarity: as configured
 *                                                                              with VT-d: | vector | an index of VT-d's
 *
 * When a core ends a level interrupt, that clears the remote IRR of every level-triggered entry with that vector, whoever owns the line.
 * So no two sandboxes have level lines with the same vector, whatever their guests write:
 *
 *   0x20 .. 0xef   the one sandbox whose guest chooses vectors itself (Linux, BH-R110)
 *   0xf0 .. 0xfe   the vectors of grants, one a line (BH-R111)
 *
 * Only entries send level-triggered interrupts: the filters of the ICR and of the local vector table leave the trigger mode "edge" alone,
 * and messages of functions have that of the IOMMU's entry, whatever they say: RqEoi on AMD-Vi, the trigger mode on VT-d, both 0.
 * Intel 82093AA data sheet, 3.0 "Register Description"; SDM vol. 3A, 11.8.4 "Interrupt Acceptance for Fixed Interrupts" and 11.8.5
 * "Signaling Interrupt Servicing Completion".
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/table.h"
#include "hal/hal.h"
#include "hal/lock.h"

/* Vectors that lines may have: below are the processor's own, above is the spurious interrupt's. */
enum { IOAPIC_FIRST_VECTOR = 32, IOAPIC_LAST_VECTOR = 254 };

struct ioapic_line {
	uint32_t entry[2];                  /* low and high word, as the guest wrote them */
	uint16_t wiring;                    /* trigger and polarity, as configured: bits of the low word */
	uint8_t vector;                     /* granted */
	uint8_t index, shown;               /* the register that holds the low word: in the machine, and in the guest's view */
	uint8_t first_vector, more_vectors; /* that an open entry may have: the first, and how many after it */
	uint8_t slot;                       /* of the core it goes to first */
	bool touched;                       /* by the guest: start-up keeps off */
	bool starts_masked;                 /* the guest is to open it */
	bool rung;                          /* by others: there is no such pin, and `index` is its number in `told` */
};

/* Lines of one sandbox: those of an I/O APIC of 24 pins, and one a channel. */
enum { IOAPIC_LINES = 24 + BH_MAX_CHANNELS };
struct ioapic_view {
	struct hal_lock *lock; /* of the machine's index and window; who has no line reaches neither, and has another */
	uint32_t index;        /* IOREGSEL */
	uint32_t last_pin;     /* the last that is shown */
	uint32_t count;
	struct ioapic_line lines[IOAPIC_LINES];
	struct bh_channel_end *told[BH_MAX_CHANNELS]; /* where lines that are rung lead, for those who ring them */
	uint32_t told_count;
};

/* Start-up, boot core. */
void ioapic_mask_all(void);
/*
 * Grants `pin` of the machine to the sandbox of `view`: to its core `slot`, at `vector`. flags: enum bh_line_flags.
 * The lock of all who have lines lies on the page of `boxes`.
 * The guest knows a line with BH_LINE_MASKED as pin 1, 3, 4, ... in the order of the grants, any other line by the machine's number.
 * Requires: start-up; one sandbox's lines have BH_LINE_MASKED all or none, as start-up has checked, so no two are shown as one pin.
 * Returns false if the machine has no such pin or the view no room; then the view is as it was.
 */
bool ioapic_grant(struct ioapic_view *view, uint32_t pin, uint32_t slot, uint32_t vector, uint32_t flags, struct hal_kick_mailbox *boxes);
/* The same for a line that others ring, edge-triggered. `told`: hal_partition_grant_doorbell. */
bool ioapic_grant_rung(struct ioapic_view *view, uint32_t pin, uint32_t slot, uint32_t vector, uint32_t flags,
		       struct hal_kick_mailbox *boxes, struct bh_channel_end *told);

/*
 * Resident from here on, any core of the sandbox. Every granted line as start-up leaves it: masked, to its first core, at its vector.
 * `self`: as hal/lock.h wants it.
 */
void ioapic_reset(struct hal_partition *partition, uint32_t self);

/* On a core that can take interrupts: unmasks the lines that go to it, but for those that its sandbox has programmed meanwhile. */
void ioapic_open(const struct hal_core *core);

/* A guest's access, decoded. HAL_FAULT: not 32 bits wide, or a line is to go where the sandbox may not send, or at a vector that is not
 * its. */
enum hal_action ioapic_emulate(struct hal_core *core, const struct hal_exit *exit);
