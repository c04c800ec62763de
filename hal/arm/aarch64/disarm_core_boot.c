/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the registers of disarm_boot.c on the core that runs this. By encoding: assemblers know some only for cores that have them. */
#include "hal/arm/disarm.h"

#include "arch/arm/aarch64/sysreg.h"
#include "registers.h"

/* clang-format off */
#define REGISTERS(X)                                                                                                            \
	X(3, 0, 0, 5, 0) X(3, 0, 1, 2, 1) X(3, 4, 1, 2, 1) X(3, 0, 9, 11, 0) X(3, 0, 9, 11, 3) X(3, 0, 9, 11, 7)                 \
	X(3, 0, 9, 9, 0) X(3, 4, 9, 9, 0) X(3, 0, 9, 10, 0) X(3, 0, 9, 10, 3) X(3, 0, 9, 10, 7) X(3, 3, 9, 12, 0)                \
	X(3, 3, 9, 12, 2) X(3, 3, 9, 12, 3) X(3, 0, 9, 14, 2)
/* clang-format on */
#define READ(op0, op1, crn, crm, op2)         \
	case SYSREG(op0, op1, crn, crm, op2): \
		return SYSREG_READ(S##op0##_##op1##_C##crn##_C##crm##_##op2);
#define WRITE(op0, op1, crn, crm, op2)                                         \
	case SYSREG(op0, op1, crn, crm, op2):                                  \
		SYSREG_WRITE(S##op0##_##op1##_C##crn##_C##crm##_##op2, value); \
		break;

static uint64_t read(uint32_t number)
{
	switch (number) {
		REGISTERS(READ)
	default:
		return 0;
	}
}

/* What was sampled and traced before is in memory when this returns: PSB CSYNC, TSB CSYNC; no operation on cores without them. */
static void write(uint32_t number, uint64_t value)
{
	switch (number) {
		REGISTERS(WRITE)
	default:
		break;
	}
	__asm__ volatile("isb\n\thint #17\n\thint #18\n\tdsb nsh\n\tisb" : : : "memory");
}

const struct disarm_core disarm_this_core = { read, write };
