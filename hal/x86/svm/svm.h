/* SPDX-License-Identifier: Apache-2.0 */
/* AMD SVM behind the vendor seam. */
#pragma once
#include "hal/x86/core.h"

extern const struct x86_vendor svm_vendor;

/* Whether the processor keeps the next instruction's address in the VMCB. Start-up finds out. */
extern bool svm_saves_nrip;

/*
 * enter.S. Runs the guest of this VMCB (HPA) to its next exit; registers but RSP pass through `registers`.
 * Global interrupts are off before and after it, and on only while the guest runs.
 */
void svm_enter(uint64_t vmcb, struct x86_registers *registers);

/*
 * Answers an exit if it is a frequent one that concerns this core's guest alone: a hypercall for the version, CPUID,
 * a fixed interrupt within the sandbox, a register, an access to a filtered page. Counts it (hal_core_begin). Requires: called by enter.S,
 * right after the exit; RAX, RCX, RDX, RBX, RDI and RSI to R11 of the guest are in `registers`, the others still in the processor. Returns
 * the VMCB, to be run again, or NULL: nothing of the exit has been carried out, and svm_enter returns.
 */
struct vmcb *svm_answer_at_once(struct x86_registers *registers, struct vmcb *vmcb);

/* Start-up: sets core->field[] to where the fields stand in its VMCB. Requires: core->control. */
void svm_find_fields(struct hal_core *core);

/* Sleeps with global interrupts on until an NMI has been taken: one that is already pending, or the next. */
void svm_wait(void);

/* Switches global and external interrupts on for a moment. */
void svm_drain(void);

/* The NMI handler, vector 2. */
void svm_nmi(void);
