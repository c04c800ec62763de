/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local APIC in x2APIC mode. Guests own the one of their core: registers are theirs to use without an exit, except
 * those that send (the interrupt command register) or that choose what kind of interrupt arrives (local vector tables).
 *
 * APM vol. 2, 16.11 "Accessing x2APIC Register Set"; SDM vol. 3A, 11.12 "Extended XAPIC (x2APIC)".
 */
#pragma once
#include "hal/hal.h"

enum {
	APIC_FIRST = 0x800,
	APIC_ID = 0x802,
	APIC_TPR = 0x808,
	APIC_EOI = 0x80b,
	APIC_SVR = 0x80f,
	APIC_ESR = 0x828,
	APIC_LVT_CMCI = 0x82f,
	APIC_ICR = 0x830,
	APIC_LVT_TIMER = 0x832,
	APIC_LVT_THERMAL = 0x833,
	APIC_LVT_PERFORMANCE = 0x834,
	APIC_LVT_LINT0 = 0x835,
	APIC_LVT_LINT1 = 0x836,
	APIC_LVT_ERROR = 0x837,
	APIC_TIMER_INITIAL = 0x838,
	APIC_TIMER_CURRENT = 0x839,
	APIC_TIMER_DIVIDE = 0x83e,
	APIC_SELF_IPI = 0x83f,
};

/* The delivery mode, the same field in ICR and LVT. SDM vol. 3A, 11.6.1 "Interrupt Command Register (ICR)". */
enum apic_mode { APIC_FIXED, APIC_LOWEST, APIC_SMI, APIC_RESERVED, APIC_NMI, APIC_INIT, APIC_STARTUP, APIC_EXTINT };
static inline enum apic_mode apic_mode_of(uint64_t value)
{
	return (enum apic_mode)(value >> 8 & 7);
}
/* Vectors below 16 are exceptions only. SDM vol. 3A, 11.5.2 "Valid Interrupt Vectors"; the field is the same, too. */
static inline bool apic_vector_exists(uint64_t value)
{
	return (uint8_t)value >= 16;
}
enum {
	ICR_MODE = 7 << 8,
	ICR_LOGICAL = 1 << 11,
	ICR_SHORTHAND = 3 << 18,
	ICR_ASSERT = 1 << 14,
	SVR_ENABLE = 1 << 8,
	LVT_MASKED = 1 << 16,
	LVT_PERIODIC = 1 << 17
};

/* Resident. Sends one interrupt to the core with this APIC ID, which sees all that was written to memory before. */
void apic_send(uint32_t apic_id, enum apic_mode mode, uint8_t vector);

/* Masks every local source of interrupts and stops the timer. What is pending stays pending. */
void apic_quiet(void);

/* Puts the APIC into the state after INIT and STARTUP. May swallow NMIs of kicks. Requires: on the core itself, in its monitor. */
void apic_reset(void);

/* Switches the APIC on, as firmware hands it to an operating system. */
void apic_enable(void);

/* Returns the cores that a destination names: bit n for own core n, APIC_FOREIGN if any of them is not the sandbox's. */
#define APIC_FOREIGN (UINT32_C(1) << 31)
uint32_t apic_named(const struct hal_partition *partition, uint32_t destination, bool logical);

/*
 * The fast path of a write to the interrupt command register: sends a fixed interrupt to the APIC ID of one of the own cores. For any other
 * write returns false, and nothing has happened.
 */
bool apic_send_fixed(const struct hal_core *core, uint64_t icr);
/* Guest writes, as hal_core_emulate. HAL_FAULT, HAL_REFUSE: nothing has been sent, no core event posted. */
enum hal_action apic_write_icr(struct hal_core *core, uint64_t icr);
bool apic_write_lvt(struct hal_core *core, uint32_t msr, uint64_t *value);

/* Start-up, on each core. Brings the APIC into x2APIC mode, enabled and quiet, whatever state firmware left. */
void apic_init(void);
/*
 * Start-up, boot core. Takes every other core out of wherever firmware has parked it: UEFI parks cores in a loop in RAM that is about to
 * become a sandbox's. The caller sleeps a few times before it writes to that RAM.
 */
void apic_stop_others(void);
/* Start-up, boot core. Sleeps until the timer has run down once: 20 us in emulators, below 1 ms on any processor. */
void apic_sleep(void);
