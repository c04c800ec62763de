/* SPDX-License-Identifier: Apache-2.0 */
/* What only an AArch64 sandbox can try. */
#include <stddef.h>

#include "counters.h"
#include "gic_attacks.h"
#include "kernel/core/cpu.h"
#include "kernel/core/info.h"
#include "probe/mapping.h"
#include "probe/attack.h"

/* ---- Interrupts to others: IHI 0069 "ICC_SGI1R_EL1", "ICC_SGI0R_EL1" ---------------------------------------------- */

static uint64_t attack_sgi(uint64_t a, uint64_t b)
{
	SYSREG_WRITE(icc_sgi1r_el1, a);
	arch_isb();
	return 0;
}

static uint64_t attack_sgi0(uint64_t a, uint64_t b)
{
	SYSREG_WRITE(icc_sgi0r_el1, a);
	arch_isb();
	return 0;
}

/* Group 1 of the other security state: IHI 0069 "ICC_ASGI1R_EL1". */
static uint64_t attack_asgi(uint64_t a, uint64_t b)
{
	SYSREG_WRITE(icc_asgi1r_el1, a);
	arch_isb();
	return 0;
}

static uint64_t attack_gicr_write(uint64_t a, uint64_t b)
{
	uint64_t base = gic_attack_frame("gicv3-redist");

	if (!base)
		return NOTHING_THERE;
	arch_mmio_write32(base + a, (uint32_t)b);
	return arch_mmio_read32(base + a);
}

/* Ends an interrupt that is none: IHI 0069 "ICC_DIR_EL1". */
static uint64_t attack_dir(uint64_t a, uint64_t b)
{
	SYSREG_WRITE(icc_dir_el1, a);
	arch_isb();
	return 0;
}

/*
 * How many frames lie before this core's, by a walk from the machine's first as kernels with a board's base built in do it; 0x100 more
 * where the own is marked as the last. NOTHING_THERE: the walk ended, or went on for ever.
 */
static uint64_t attack_walk(uint64_t a, uint64_t b)
{
	enum { TYPER = 8, VLPIS = 1 << 1, LAST = 1 << 4, FRAMES = 0x20000, MOST = 64 };
	uint64_t mpidr = SYSREG_READ(mpidr_el1), affinity = (mpidr >> 32 & 0xff) << 24 | (mpidr & 0xffffff);

	for (uint64_t n = 0; n < MOST; n++) {
		uint64_t typer = arch_mmio_read64(mapping_reach(a, sizeof(uint64_t) + TYPER) + TYPER);

		if (typer >> 32 == affinity)
			return typer & LAST ? n | 0x100 : n;
		if (typer & LAST)
			break;
		a += typer & VLPIS ? 2 * FRAMES : FRAMES;
	}
	return NOTHING_THERE;
}

/* Exceptions without end: the first instruction of every handler is undefined, or cannot be fetched. None is executed any more. */
static uint64_t attack_endless(uint64_t a, uint64_t b)
{
	static _Alignas(0x800) uint32_t undefined_vectors[0x800 / sizeof(uint32_t)]; /* all zeros, which is UDF #0 */

	SYSREG_WRITE(vbar_el1, (uintptr_t)undefined_vectors);
	arch_isb();
	__asm__ volatile("udf #0" ::: "memory");
	return 0;
}

/* An access whose syndrome describes nothing. */
static uint64_t attack_dczva(uint64_t a, uint64_t b)
{
	__asm__ volatile("dc zva, %0" ::"r"(a) : "memory");
	return 0;
}

/* ---- Calls below --------------------------------------------------------------------------------------------------- */

static uint64_t attack_hvc(uint64_t a, uint64_t b)
{
	return cpu_call_monitor(a, b, 0, 0);
}

static uint64_t attack_hvc_immediate(uint64_t a, uint64_t b)
{
	register uint64_t x0 __asm__("x0") = BH_CALL_VERSION;

	__asm__ volatile("hvc #7" : "+r"(x0)::"x1", "x2", "x3", "memory");
	return x0;
}

/* call_registers.S */
uint64_t call_registers(uint64_t function);

static uint64_t attack_hvc_registers(uint64_t a, uint64_t b)
{
	return call_registers(a);
}

static uint64_t attack_smc(uint64_t a, uint64_t b)
{
	register uint64_t x0 __asm__("x0") = a;
	register uint64_t x1 __asm__("x1") = b;

	__asm__ volatile("smc #0" : "+r"(x0), "+r"(x1)::"x2", "x3", "memory");
	return x0;
}

/* DEN 0022, 5.4 "CPU_ON": MPIDR, entry. */
static uint64_t attack_cpu_on(uint64_t a, uint64_t b)
{
	return cpu_call_monitor(0xc4000003, a, b, 0);
}

/* ---- System registers nobody was granted ---------------------------------------------------------------------------- */

#define ATTACK_MRS(name)                                          \
	static uint64_t attack_mrs_##name(uint64_t a, uint64_t b) \
	{                                                         \
		return SYSREG_READ(name);                         \
	}
#define ATTACK_MSR(name)                                          \
	static uint64_t attack_msr_##name(uint64_t a, uint64_t b) \
	{                                                         \
		SYSREG_WRITE(name, a);                            \
		arch_isb();                                       \
		return SYSREG_READ(name);                         \
	}
ATTACK_MRS(pmcr_el0)
ATTACK_MRS(pmccntr_el0)
ATTACK_MRS(mdscr_el1)
ATTACK_MRS(mdrar_el1)
ATTACK_MRS(tpidr_el0)
ATTACK_MRS(icc_ap0r0_el1)
ATTACK_MRS(dbgclaimclr_el1)
ATTACK_MSR(icc_ap0r0_el1)
ATTACK_MSR(dbgclaimset_el1)
ATTACK_MRS(dbgbcr0_el1)
ATTACK_MRS(oslsr_el1)
ATTACK_MRS(actlr_el1)
ATTACK_MRS(sctlr_el2)
ATTACK_MRS(hcr_el2)
ATTACK_MRS(cnthctl_el2)
ATTACK_MRS(icc_iar0_el1)
ATTACK_MRS(ich_hcr_el2)
ATTACK_MRS(s3_0_c9_c9_0)  /* PMSCR_EL1: statistical profiling */
ATTACK_MRS(s3_0_c1_c2_0)  /* ZCR_EL1: scalable vectors */
ATTACK_MRS(s3_0_c15_c0_0) /* implementation defined */
ATTACK_MRS(s3_1_c15_c2_0) /* CPUACTLR_EL1 of Cortex-A57 */
ATTACK_MRS(s3_1_c11_c0_2) /* L2CTLR_EL1 of Cortex-A57 */
ATTACK_MSR(pmcr_el0)
ATTACK_MSR(mdscr_el1)
ATTACK_MSR(tpidr_el0)
ATTACK_MSR(dbgbcr0_el1)
ATTACK_MSR(actlr_el1)
ATTACK_MSR(vbar_el2)
ATTACK_MSR(icc_pmr_el1)
ATTACK_MSR(icc_ctlr_el1)
ATTACK_MSR(icc_ap1r0_el1)
ATTACK_MSR(icc_igrpen0_el1)
ATTACK_MSR(icc_igrpen1_el1)
ATTACK_MSR(icc_sre_el1)
ATTACK_MSR(cntv_ctl_el0)
ATTACK_MSR(cntp_ctl_el0)

/* What became of the OS lock: ARM ARM D24.3 "OSLAR_EL1", "OSLSR_EL1". */
static uint64_t attack_oslar(uint64_t a, uint64_t b)
{
	SYSREG_WRITE(oslar_el1, a);
	arch_isb();
	return SYSREG_READ(oslsr_el1);
}

/* ---- What a life could leave behind: written in one, read in the next ------------------------------------------------- */

enum { CPACR_FPEN = 3 << 20 };

static uint64_t attack_fp_write(uint64_t a, uint64_t b)
{
	SYSREG_WRITE(cpacr_el1, CPACR_FPEN);
	arch_isb();
	__asm__ volatile(".arch_extension fp\n\tfmov d17, %0" ::"r"(a));
	return 0;
}

static uint64_t attack_fp_read(uint64_t a, uint64_t b)
{
	uint64_t value;

	SYSREG_WRITE(cpacr_el1, CPACR_FPEN);
	arch_isb();
	__asm__ volatile(".arch_extension fp\n\tfmov %0, d17" : "=r"(value));
	return value;
}

#define MRS(label, name) { "mrs=" label, 0, false, attack_mrs_##name }
#define MSR(name)        { "msr-" #name, 1, false, attack_msr_##name }

const struct attack arch_attacks[] = {
	{ "sgi", 1, false, attack_sgi },
	{ "sgi0", 1, false, attack_sgi0 },
	{ "asgi", 1, false, attack_asgi },
	{ "dir", 1, false, attack_dir },
	{ "walk", 1, false, attack_walk },
	{ "sgir", 1, false, gic_attack_sgir },
	{ "gicd-read", 1, false, gic_attack_dist_read },
	{ "gicd-write", 2, false, gic_attack_dist_write },
	{ "gicd-write8", 2, false, gic_attack_dist_write8 },
	{ "gicr-write", 2, false, attack_gicr_write },
	{ "order", 1, false, gic_attack_order },
	{ "mask", 1, false, gic_attack_mask },
	{ "sleep-masked", 0, false, gic_attack_sleep_masked },
	{ "endless", 0, false, attack_endless },
	{ "dczva", 1, true, attack_dczva },
	{ "fp-write", 1, false, attack_fp_write },
	{ "fp-read", 0, false, attack_fp_read },
	{ "hvc", 1, false, attack_hvc },
	{ "hvc-immediate", 0, false, attack_hvc_immediate },
	{ "hvc-registers", 1, false, attack_hvc_registers },
	{ "smc", 1, false, attack_smc },
	{ "pmu-count", 1, false, counters_count },
	{ "pmu-overflow", 1, false, counters_overflow },
	{ "pmu-below", 1, false, counters_below },
	{ "pmu-leave", 0, false, counters_leave },
	{ "pmu-left", 0, false, counters_left },
	{ "cpu-on", 2, false, attack_cpu_on },
	MRS("pmu", pmcr_el0),
	MRS("pmccntr", pmccntr_el0),
	MRS("debug", mdscr_el1),
	MRS("mdrar", mdrar_el1),
	MRS("tpidr", tpidr_el0),
	MRS("ap0r0", icc_ap0r0_el1),
	MRS("claim", dbgclaimclr_el1),
	MSR(icc_ap0r0_el1),
	MSR(dbgclaimset_el1),
	MRS("dbgbcr0", dbgbcr0_el1),
	MRS("oslsr", oslsr_el1),
	MRS("actlr", actlr_el1),
	MRS("sctlr_el2", sctlr_el2),
	MRS("hcr_el2", hcr_el2),
	MRS("cnthctl_el2", cnthctl_el2),
	MRS("icc_iar0", icc_iar0_el1),
	MRS("ich_hcr", ich_hcr_el2),
	MRS("spe", s3_0_c9_c9_0),
	MRS("sve", s3_0_c1_c2_0),
	MRS("impdef", s3_0_c15_c0_0),
	MRS("cpuactlr", s3_1_c15_c2_0),
	MRS("l2ctlr", s3_1_c11_c0_2),
	{ "msr-oslar", 1, false, attack_oslar },
	MSR(pmcr_el0),
	MSR(mdscr_el1),
	MSR(tpidr_el0),
	MSR(dbgbcr0_el1),
	MSR(actlr_el1),
	MSR(vbar_el2),
	MSR(icc_pmr_el1),
	MSR(icc_ctlr_el1),
	MSR(icc_ap1r0_el1),
	MSR(icc_igrpen0_el1),
	MSR(icc_igrpen1_el1),
	MSR(icc_sre_el1),
	MSR(cntv_ctl_el0),
	MSR(cntp_ctl_el0),
	{ NULL, 0, false, NULL },
};

/* ---- One exit after the other ---------------------------------------------------------------------------------------- */

/* IHI 0069 "ICC_SGI1R_EL1". */
uint64_t gic_sgi_to_self(uint32_t number)
{
	uint64_t id = info->hardware_id[0], aff0 = id & 0xff, aff1 = id >> 8 & 0xff, aff2 = id >> 16 & 0xff, aff3 = id >> 32 & 0xff;

	return aff3 << 48 | aff0 >> 4 << 44 | aff2 << 32 | (uint64_t)number << 24 | aff1 << 16 | 1U << (aff0 & 15);
}

uint64_t gic_attack_send(uint64_t a, uint64_t b)
{
	if (a)
		arch_mmio_write32(a, (uint32_t)b);
	else
		SYSREG_WRITE(icc_sgi1r_el1, b);
	return 0;
}

/* ACTLR_EL1 is offered to no sandbox; OSLSR_EL1 is answered; GICD_CTLR is the distributor filter's. */
const struct storm arch_storms[] = {
	{ "refused", attack_mrs_actlr_el1, 0, NULL },
	{ "register", attack_mrs_oslsr_el1, 0, NULL },
	{ "device", gic_attack_dist_read, 0, NULL },
	{ "device-read", gic_attack_load, 0, gic_prepare_enable },
	{ "device-write", gic_attack_store, 0, gic_prepare_enable },
	{ "ipi", gic_attack_send, 0, gic_prepare_sgi },
	{ "idle", gic_attack_sleep, 0, NULL },
	{ NULL, NULL, 0, NULL },
};
