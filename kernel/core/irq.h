/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupts, straight from the machine to this sandbox's vectors. A number is what the controller reports: the INTID on
 * ARM, the vector on x86. A handler gets the frame of what it interrupted (cpu.h), which it may change: execution goes on where the
 * frame says. It gets NULL where the core slept, if that is ended without an exception. Handlers run with interrupts disabled, do not sleep
 * and do not print.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/guest.h"

struct cpu_frame; /* cpu.h */

struct irq_controller {
	const char *grant;   /* it is used where a BH_GRANT_IRQCHIP of this name exists */
	bool numbers_in_hex; /* as its manual writes them */
	uint32_t ipi;        /* number as which send_ipi's interrupt arrives */
	uint32_t notice;     /* number of a monitor's notice that another sandbox has been parked */
	void (*init)(void);
	/* Initializes what belongs to one core. Called on each further core of the sandbox. */
	void (*init_core)(void);
	/* Enables the core's own interrupt `number` (a timer). */
	void (*enable_local)(uint32_t number);
	/* Enables the device's line, to this core. Returns the number as which it will arrive. */
	uint32_t (*enable_device)(const struct bh_grant *grant);
	/* Interrupts core `slot` of the sandbox: the sender exits once, the receiver never. */
	void (*send_ipi)(unsigned slot);
	/* Masks what is not more urgent than `priority`. Returns the mask as it then reads. NULL where nobody asks (x86). */
	uint32_t (*mask)(uint32_t priority);
	/* Priority of the interrupt that is being served. NULL as `mask`. */
	uint32_t (*running)(void);
	/* Takes one interrupt: irq_dispatch() between acknowledgement and end. */
	void (*serve)(struct cpu_frame *frame, uint32_t vector);
};

/* This architecture's controllers, ended by NULL: arch/<arch>/drivers.c */
extern const struct irq_controller *const irq_controllers[];

/* Brings up the controller the sandbox was given; with none, stops the kernel. */
void irq_init(void);

/* The same on a further core, which may then take what was attached on the first one by irq_attach_local. */
void irq_init_core(void);

/* Who attaches to a number that has a handler takes its place; its counts go on. */
void irq_attach_local(uint32_t number, void (*handler)(struct cpu_frame *frame));
/* Returns the number as which it arrives; 0: the grant has no line. */
uint32_t irq_attach_device(const struct bh_grant *grant, void (*handler)(struct cpu_frame *frame));

/* Returns where this core counts how many of that number it has served, for good; NULL: nobody has attached to it. */
const uint64_t *irq_count(uint32_t number);

/* Interrupts between the cores of the sandbox. */
void irq_attach_ipi(void (*handler)(struct cpu_frame *frame));
void irq_send_ipi(unsigned slot);

/*
 * Attaches the handler of the notice that another sandbox has been parked; both configurations have to ask for it. If a notice has come
 * already, handler(NULL) is called at once.
 */
void irq_attach_notice(void (*handler)(struct cpu_frame *frame));

/* Set this core's priority mask, and read its running priority: struct irq_controller. */
uint32_t irq_mask(uint32_t priority);
uint32_t irq_running_priority(void);

/* From the vectors: an interrupt has come, on x86 at `vector`, to what `frame` describes. */
void irq_serve(struct cpu_frame *frame, uint32_t vector);

/* Called by the controller: calls the handler of `number`, or counts it as a stray if it has none. */
void irq_dispatch(struct cpu_frame *frame, uint32_t number);

struct irq_census {
	uint32_t number;
	bool in_hex;      /* as the controller's manual writes it */
	const char *name; /* of the device; "ipi", "notice", or "local": the core's own, its timer */
	uint64_t count;   /* served since the kernel began, by all cores */
};
/* Tells about the nth number that has a handler. Returns false if there are no more. */
bool irq_ask(unsigned n, struct irq_census *census);

/* Names the strays that have come since the last call, each number only once. Requires: the main program. */
void irq_report_strays(void);
