/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.register, BH-I2.exitless. The registers that confine a guest core, before its first instruction. Every control register is
 * written whole: nothing that a loader or a previous life left there counts. ARM ARM D24.2 describes each by name.
 */
#include "hal/arm/stage2.h"

#include "arch/arch.h"
#include "controls.h"
#include "features_boot.h"

/* What the guest may do. */
static void confine(struct hal_core *core)
{
	const struct controls controls = controls_make(gic_traps(core->partition), features_fill(core->guest.features), pmu_grant(),
						       core->partition->unprotected);

	features_close();
	SYSREG_WRITE(VTCR_EL2, STAGE2_FORMAT.control);
	SYSREG_WRITE(VTTBR_EL2, core->partition->vttbr);
	SYSREG_WRITE(HCR_EL2, controls.hcr);
	SYSREG_WRITE(CPTR_EL2, controls.cptr);
	SYSREG_WRITE(HSTR_EL2, controls.hstr);
	SYSREG_WRITE(MDCR_EL2, controls.mdcr);
	SYSREG_WRITE(CNTHCTL_EL2, controls.cnthctl);
	SYSREG_WRITE(ACTLR_EL2, 0);
	SYSREG_WRITE(CNTVOFF_EL2, 0);
	SYSREG_WRITE(CNTHP_CTL_EL2, 0);
	SYSREG_WRITE(VPIDR_EL2, SYSREG_READ(MIDR_EL1));
	SYSREG_WRITE(VMPIDR_EL2, SYSREG_READ(MPIDR_EL1));
	SYSREG_WRITE(OSLAR_EL1, 0);
	SYSREG_WRITE(OSDLR_EL1, 0);
	arch_isb();
	__asm__ volatile("tlbi vmalls12e1\n\tdsb sy\n\tisb" : : : "memory");
}

_Noreturn void hal_core_launch(struct hal_core *core, struct hal_space *space, void *stack_top, void (*resident)(struct hal_core *core))
{
	core->guest.stack_top = (uintptr_t)stack_top;
	core->guest.resident = (uintptr_t)resident;
	confine(core);
	gic_start_core(core);
	SYSREG_WRITE(TPIDR_EL2, core);
	SYSREG_WRITE(VBAR_EL2, guest_vectors);
	arch_barrier();
	guest_space_enter(core, (uintptr_t)space->tables.root);
}
