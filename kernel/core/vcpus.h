/* SPDX-License-Identifier: Apache-2.0 */
/* VCPUs that the partition file asks for, and that commands make, each with one of the programs that are compiled in (programs.h). */
#pragma once

#include "kernel/core/admit.h"
#include "kernel/core/command.h"
#include "kernel/core/programs.h"

/* Makes the VCPUs of the information page (BH_GRANT_VCPU) of this core, and says of each that cannot be made why. Once, in its main
 * program. */
void vcpus_start(void);

/*
 * Makes a Main VCPU of this core and a thread on it, both with the program's name, or with NAME-2 and so on if a VCPU has that. Times in
 * ticks. Returns the name, or NULL and has said why.
 */
const char *vcpus_make(const struct program *program, uint64_t budget, uint64_t period);

/* The VCPU has another period: its program goes by that from its next round on. */
void vcpus_tell_period(const struct thread_vcpu *on, uint64_t period);

/* Says why a VCPU does not get what was asked for it, with the numbers, and with what would fit. */
void vcpus_say_refused(const struct admit_request *asked, const struct admit_refusal *refusal);

/* Says, as that command, that a Main VCPU cannot have such a budget or period, and which it can. */
void vcpus_say_invalid(const char *command, const char *name);

/* Returns the nth thread that was made on this core, from 0 on, or NULL after the last. */
struct thread *vcpus_thread(unsigned n);

/* Returns the name of the program on the VCPU of that row of traces, of any core; NULL: it is none that was made here. */
const char *vcpus_program(uint32_t row);

/* vcpu=BUDGET_US,PERIOD_US,PROGRAM: a VCPU of this core and a thread on it that runs the program */
void run_vcpu(const struct command_line *line);
/* vcpus: what each was promised and given */
void run_vcpus(const struct command_line *line);
