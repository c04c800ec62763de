/* SPDX-License-Identifier: Apache-2.0 */
/* Syndromes: ARM ARM D24.2.37 "ESR_EL1" describes the fields of every ESR_ELx. */
#pragma once
#include "hal/stage2/stage2.h"

#define ESR_CLASS(esr)     ((esr) >> 26 & 0x3f)
#define ESR_CALL_IMMEDIATE 0xffff

/* System register accesses: the number of a register is its part of the syndrome. */
#define SYSREG(op0, op1, crn, crm, op2) ((op0) << 20 | (op2) << 17 | (op1) << 14 | (crn) << 10 | (crm) << 1)
#define SYSREG_NUMBER                   SYSREG(3, 7, 15, 15, 7)
#define SYSREG_IS_READ                  1
#define SYSREG_ICC_SGI1R                SYSREG(3, 0, 12, 11, 5)

/* Decoders of one class each: fill in exit, return its kind. raw[0] is filled already. */
enum bh_exit_reason decode_data_abort(struct hal_core *core, uint64_t esr, struct hal_exit *exit);
enum bh_exit_reason decode_fetch_abort(struct hal_core *core, uint64_t esr, struct hal_exit *exit);

/* True for the registers that send SGIs. */
bool register_is_ipi(uint64_t number);
