/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: the registers of disarm_boot.c on the core that runs this. */
#include "hal/arm/disarm.h"

#include "arch/arm/armv7/sysreg.h"
#include "registers.h"

#define REGISTERS(X) X(0, 0, 1, 2) X(0, 9, 12, 0) X(0, 9, 12, 2) X(0, 9, 12, 3) X(0, 9, 14, 2)
#define READ(opc1, crn, crm, opc2)         \
	case SYSREG(opc1, crn, crm, opc2): \
		return SYSREG_MRC_(opc1, c##crn, c##crm, opc2);
#define WRITE(opc1, crn, crm, opc2)                             \
	case SYSREG(opc1, crn, crm, opc2):                      \
		SYSREG_MCR_(value, opc1, c##crn, c##crm, opc2); \
		break;

static uint64_t read(uint32_t number)
{
	switch (number) {
		REGISTERS(READ)
	default:
		return 0;
	}
}

static void write(uint32_t number, uint64_t value)
{
	switch (number) {
		REGISTERS(WRITE)
	default:
		break;
	}
	arch_isb();
}

const struct disarm_core disarm_this_core = { read, write };
