/* SPDX-License-Identifier: Apache-2.0 */
/* AMD SVM behind the vendor seam. */
#pragma once
#include "hal/x86/core.h"

extern const struct x86_vendor svm_vendor;

/* The processor keeps the next instruction's address in the VMCB. Start-up finds out. */
extern bool svm_saves_nrip;

/*
 * enter.S. Runs the guest of this VMCB (HPA) to its next exit; registers but RAX and RSP pass through `registers`.
 * Global interrupts are off before and behind it, and on only while the guest runs.
 */
void svm_enter(uint64_t vmcb, struct x86_registers *registers);

/* Sleeps with global interrupts on until an NMI has been taken: one that is already pending, or the next. */
void svm_wait(void);

/* Global interrupts on for a moment, and external ones, too. */
void svm_drain(void);

/* What vector 2 does. */
void svm_nmi(void);
