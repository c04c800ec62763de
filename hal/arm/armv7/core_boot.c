/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-I1.register, BH-I2.exitless. The registers that confine a guest core. Every control register is written whole: nothing that a loader
 * or a previous life left there counts. ARMv7 ARM B4.1 describes each by name.
 */
#include "hal/arm/stage2.h"

#include "arch/arch.h"
#include "controls.h"

/* What the guest may do. */
static void confine(const struct hal_core *core)
{
	const struct controls controls = controls_make(gic_traps(core->partition), pmu_grant(), core->partition->unprotected);

	SYSREG_WRITE(VTCR, STAGE2_FORMAT.control);
	SYSREG_WRITE64(VTTBR, core->partition->vttbr);
	SYSREG_WRITE(HCR, controls.hcr);
	SYSREG_WRITE(HCPTR, controls.hcptr);
	SYSREG_WRITE(HSTR, controls.hstr);
	SYSREG_WRITE(HDCR, controls.hdcr);
	SYSREG_WRITE(CNTHCTL, controls.cnthctl);
	SYSREG_WRITE64(CNTVOFF, 0);
	SYSREG_WRITE(CNTHP_CTL, 0);
	SYSREG_WRITE(VPIDR, SYSREG_READ(MIDR));
	SYSREG_WRITE(VMPIDR, SYSREG_READ(MPIDR));
	arch_isb();
	SYSREG_WRITE(TLBIALL, 0);
	arch_barrier();
	arch_isb();
}

_Noreturn void hal_core_launch(struct hal_core *core, struct hal_space *space, void *stack_top, void (*resident)(struct hal_core *core))
{
	core->guest.stack_top = (uintptr_t)stack_top;
	core->guest.resident = (uintptr_t)resident;
	confine(core);
	gic_start_core(core);
	SYSREG_WRITE(HTPIDR, core);
	SYSREG_WRITE(HVBAR, guest_vectors);
	arch_barrier();
	guest_space_enter(core, (uintptr_t)space->tables.root);
}
