/* SPDX-License-Identifier: Apache-2.0 */
/* What only an ARMv7 sandbox can try. */
#include <stddef.h>

#include "counters.h"
#include "gic_attacks.h"
#include "kernel/core/cpu.h"
#include "probe/attack.h"

/* ---- Registers of coprocessors 14 and 15: "mrc=NAME" reads one, "mcr-NAME=VALUE" writes it and reads what became of it --- */

/* ARMv7 ARM B3.17, B7.1, C11.8, A2.9 "Thumb Execution Environment", A2.10 "Jazelle"; Cortex-A15 TRM (DDI 0438) 4.2 */
#define REGISTERS(X)                   \
	X(sctlr, 15, 0, c1, c0, 0)     \
	X(actlr, 15, 0, c1, c0, 1)     \
	X(scr, 15, 0, c1, c1, 0)       \
	X(hsctlr, 15, 4, c1, c0, 0)    \
	X(hcr, 15, 4, c1, c1, 0)       \
	X(hdcr, 15, 4, c1, c1, 1)      \
	X(hstr, 15, 4, c1, c1, 3)      \
	X(vtcr, 15, 4, c2, c1, 2)      \
	X(hvbar, 15, 4, c12, c0, 0)    \
	X(cnthctl, 15, 4, c14, c1, 0)  \
	X(cntfrq, 15, 0, c14, c0, 0)   \
	X(pmcr, 15, 0, c9, c12, 0)     \
	X(pmccntr, 15, 0, c9, c13, 0)  \
	X(l2ctlr, 15, 1, c9, c0, 2)    \
	X(l2ectlr, 15, 1, c9, c0, 3)   \
	X(cbar, 15, 4, c15, c0, 0)     \
	X(dbgdidr, 14, 0, c0, c0, 0)   \
	X(dbgdscr, 14, 0, c0, c1, 0)   \
	X(dbgbcr0, 14, 0, c0, c0, 5)   \
	X(dbgoslsr, 14, 0, c1, c1, 4)  \
	X(etmcr, 14, 1, c0, c0, 0)     \
	X(tpidrurw, 15, 0, c13, c0, 2) \
	X(teecr, 14, 6, c0, c0, 0)     \
	X(teehbr, 14, 6, c1, c0, 0)    \
	X(jidr, 14, 7, c0, c0, 0)      \
	X(joscr, 14, 7, c1, c0, 0)     \
	X(jmcr, 14, 7, c2, c0, 0)

#define OPERANDS(coprocessor, opc1, crn, crm, opc2) "p" #coprocessor ", " #opc1 ", %0, " #crn ", " #crm ", " #opc2
#define ATTEMPTS(name, ...)                                                                  \
	static uint64_t attack_mrc_##name(uint64_t a, uint64_t b)                            \
	{                                                                                    \
		uint32_t value;                                                              \
                                                                                             \
		__asm__ volatile("mrc " OPERANDS(__VA_ARGS__) : "=r"(value));                \
		return value;                                                                \
	}                                                                                    \
	static uint64_t attack_mcr_##name(uint64_t a, uint64_t b)                            \
	{                                                                                    \
		__asm__ volatile("mcr " OPERANDS(__VA_ARGS__)::"r"((uint32_t)a) : "memory"); \
		arch_isb();                                                                  \
		return attack_mrc_##name(0, 0);                                              \
	}
#define ROWS(name, ...) { "mrc=" #name, 0, false, attack_mrc_##name }, { "mcr-" #name, 1, false, attack_mcr_##name },

REGISTERS(ATTEMPTS)

static uint64_t attack_vttbr(uint64_t a, uint64_t b)
{
	return SYSREG_READ64(VTTBR);
}

/* What became of the OS lock: ARMv7 ARM C11.11 "DBGOSLAR", "DBGOSLSR". */
static uint64_t attack_oslar(uint64_t a, uint64_t b)
{
	__asm__ volatile("mcr p14, 0, %0, c1, c0, 4" ::"r"((uint32_t)a) : "memory");
	arch_isb();
	return attack_mrc_dbgoslsr(0, 0);
}

/* ---- What a life could leave behind: written in one, read in the next: ARMv7 ARM B1.11.4 "Enabling Advanced SIMD ..." - */

static void open_fp(void)
{
	SYSREG_WRITE(CPACR, 0xf << 20);
	arch_isb();
	__asm__ volatile(".fpu neon\n\tvmsr fpexc, %0" ::"r"(1 << 30));
}

static uint64_t attack_fp_write(uint64_t a, uint64_t b)
{
	open_fp();
	__asm__ volatile(".fpu neon\n\tvmov d17, %0, %0" ::"r"((uint32_t)a));
	return 0;
}

static uint64_t attack_fp_read(uint64_t a, uint64_t b)
{
	uint32_t low, high;

	open_fp();
	__asm__ volatile(".fpu neon\n\tvmov %0, %1, d17" : "=r"(low), "=r"(high));
	return low | high;
}

/* ---- Modes and states that a sandbox does not have --------------------------------------------------------------------- */

/* The mode it ends up in. */
static uint64_t attack_cps_hyp(uint64_t a, uint64_t b)
{
	uint32_t cpsr;

	__asm__ volatile("cps #0x1a\n\tmrs %0, cpsr" : "=r"(cpsr)::"memory");
	return cpsr & MODE_MASK;
}

static uint64_t attack_elr_hyp(uint64_t a, uint64_t b)
{
	uint32_t value;

	__asm__ volatile("mrs %0, elr_hyp" : "=r"(value));
	return value;
}

/* Without Jazelle it is a BX, here to what follows, in Thumb state as we are. */
static uint64_t attack_bxj(uint64_t a, uint64_t b)
{
	uint32_t target;

	__asm__ volatile("adr %0, 1f\n\torr %0, %0, #1\n\tbxj %0\n\t.balign 4\n1:" : "=&r"(target)::"memory");
	return 0;
}

/* ---- Calls below --------------------------------------------------------------------------------------------------- */

#define ATTACK_CALL(name)                                                                                           \
	static uint64_t attack_##name(uint64_t a, uint64_t b)                                                       \
	{                                                                                                           \
		register uint32_t r0 __asm__("r0") = (uint32_t)a;                                                   \
		register uint32_t r1 __asm__("r1") = (uint32_t)b;                                                   \
                                                                                                                    \
		__asm__ volatile(".arch_extension sec\n\t" #name " #0" : "+r"(r0), "+r"(r1)::"r2", "r3", "memory"); \
		return (uint64_t)(int32_t)r0;                                                                       \
	}
ATTACK_CALL(hvc)
ATTACK_CALL(smc)

/* DEN 0022, 5.4 "CPU_ON": MPIDR, entry. */
static uint64_t attack_cpu_on(uint64_t a, uint64_t b)
{
	return cpu_call_monitor(0xc4000003, a, b, 0);
}

/* Exceptions without end: the first instruction of every handler is undefined, or cannot be fetched. None is executed any more. */
static uint64_t attack_endless(uint64_t a, uint64_t b)
{
	static _Alignas(32) uint32_t undefined_vectors[8];

	for (unsigned n = 0; n < sizeof(undefined_vectors) / sizeof(undefined_vectors[0]); n++)
		undefined_vectors[n] = 0xe7f000f0; /* UDF #0 in ARM state */
	SYSREG_WRITE(VBAR, (uintptr_t)undefined_vectors);
	arch_isb();
	__asm__ volatile("udf #0" ::: "memory");
	return 0;
}

static uint64_t attack_hvc_immediate(uint64_t a, uint64_t b)
{
	register uint32_t r0 __asm__("r0") = BH_CALL_VERSION & ~(uint32_t)BH_CALL_64;

	__asm__ volatile("hvc #7" : "+r"(r0)::"r1", "r2", "r3", "memory");
	return r0;
}

/* call_registers.S */
uint32_t call_registers(uint32_t function);

static uint64_t attack_hvc_registers(uint64_t a, uint64_t b)
{
	return call_registers((uint32_t)a);
}

/* ---- Trapped accesses that a monitor has to complete with care --------------------------------------------------------- */

/* GICD_SGIR from LR of mode a, all masked: the register is banked. No operand may be in a register that FIQ mode banks. */
static uint64_t attack_mode_sgir(uint64_t a, uint64_t b)
{
	uint32_t saved;

	__asm__ volatile("mrs %0, cpsr\n\tmsr cpsr_c, %1\n\tmov lr, %2\n\tstr lr, [%3]\n\tmsr cpsr_c, %0"
			 : "=&l"(saved)
			 : "l"((uint32_t)a | CPSR_I | CPSR_F), "l"((uint32_t)b), "l"((uint32_t)gic_attack_frame("gicv2-dist") + GICD_SGIR)
			 : "lr", "memory");
	return 0;
}

/* The same with a load: GICD_CTLR into LR of mode a. */
static uint64_t attack_mode_read(uint64_t a, uint64_t b)
{
	uint32_t saved;
	uint32_t value;

	__asm__ volatile("mrs %0, cpsr\n\tmsr cpsr_c, %2\n\tmvn lr, #0\n\tldr lr, [%3]\n\tmov %1, lr\n\tmsr cpsr_c, %0"
			 : "=&l"(saved), "=&l"(value)
			 : "l"((uint32_t)a | CPSR_I | CPSR_F), "l"((uint32_t)gic_attack_frame("gicv2-dist"))
			 : "lr", "memory");
	return value;
}

/* The access opens an IT block: 1 if the rest is executed as it says, whoever completed the first instruction. */
static uint64_t attack_it_block(uint64_t a, uint64_t b)
{
	uint32_t value;
	uint32_t count = 0;

	__asm__ volatile("cmp %1, %1\n\titte eq\n\tldreq %0, [%2]\n\taddeq %1, %1, #1\n\taddne %1, %1, #2"
			 : "=&l"(value), "+l"(count)
			 : "l"((uint32_t)gic_attack_frame("gicv2-dist"))
			 : "cc", "memory");
	return count;
}

/* ---- Accesses whose syndrome describes nothing: ARMv7 ARM B3.13.6 "Use of the HSR", ISV -------------------------------- */

static uint64_t attack_ldrd(uint64_t a, uint64_t b)
{
	return arch_mmio_read64(a);
}

static uint64_t attack_strd(uint64_t a, uint64_t b)
{
	arch_mmio_write64(a, b);
	return 0;
}

static uint64_t attack_ldm(uint64_t a, uint64_t b)
{
	__asm__ volatile("ldm %0, {r2, r3}" ::"r"((uint32_t)a) : "r2", "r3", "memory");
	return 0;
}

static uint64_t attack_post_indexed(uint64_t a, uint64_t b)
{
	uint32_t address = (uint32_t)a;
	uint32_t value;

	__asm__ volatile("ldr %0, [%1], #4" : "=r"(value), "+r"(address)::"memory");
	return value;
}

/*
 * Reads of a filtered register into r8, sp and lr of FIQ mode, and inside an IT block: 0 if each value came where it belongs, and
 * nowhere else, and the block went on with its other half left out.
 */
static uint64_t attack_banked(uint64_t a, uint64_t b)
{
	register uint32_t address __asm__("r0") = (uint32_t)(gic_attack_frame("gicv2-dist") + a);
	register uint32_t conditional __asm__("r2");
	register uint32_t skipped __asm__("r3") = 0;
	register uint32_t eighth __asm__("r4");
	register uint32_t stack __asm__("r5");
	register uint32_t link __asm__("r6");
	register uint32_t own __asm__("r8") = ~address;
	uint32_t value = arch_mmio_read32(address);

	__asm__ volatile("mrs r1, cpsr\n\tcpsid i, #0x11\n\t"
			 "ldr r8, [r0]\n\tldr sp, [r0]\n\tldr lr, [r0]\n\t"
			 "mov r4, r8\n\tmov r5, sp\n\tmov r6, lr\n\tmsr cpsr_c, r1\n\t"
			 "cmp r0, r0\n\tite eq\n\tldreq r2, [r0]\n\tmovne r3, #1"
			 : "=r"(conditional), "+r"(skipped), "=r"(eighth), "=r"(stack), "=r"(link), "+r"(own)
			 : "r"(address)
			 : "r1", "cc", "memory");
	return (conditional ^ value) | (eighth ^ value) | (stack ^ value) | (link ^ value) | (own ^ ~address) | skipped;
}

const struct attack arch_attacks[] = {
	{ "sgir", 1, false, gic_attack_sgir },
	{ "gicd-read", 1, false, gic_attack_dist_read },
	{ "gicd-write", 2, false, gic_attack_dist_write },
	{ "gicd-write8", 2, false, gic_attack_dist_write8 },
	{ "order", 1, false, gic_attack_order },
	{ "mask", 1, false, gic_attack_mask },
	{ "sleep-masked", 0, false, gic_attack_sleep_masked },
	{ "endless", 0, false, attack_endless },
	{ "fp-write", 1, false, attack_fp_write },
	{ "fp-read", 0, false, attack_fp_read },
	{ "hvc", 1, false, attack_hvc },
	{ "cpu-on", 2, false, attack_cpu_on },
	{ "hvc-immediate", 0, false, attack_hvc_immediate },
	{ "hvc-registers", 1, false, attack_hvc_registers },
	{ "smc", 1, false, attack_smc },
	{ "pmu-count", 1, false, counters_count },
	{ "pmu-overflow", 1, false, counters_overflow },
	{ "pmu-below", 1, false, counters_below },
	{ "pmu-leave", 0, false, counters_leave },
	{ "pmu-left", 0, false, counters_left },
	{ "cps-hyp", 0, false, attack_cps_hyp },
	{ "elr-hyp", 0, false, attack_elr_hyp },
	{ "bxj", 0, false, attack_bxj },
	{ "mode-sgir", 2, false, attack_mode_sgir },
	{ "mode-read", 1, false, attack_mode_read },
	{ "it-block", 0, false, attack_it_block },
	{ "ldrd", 1, true, attack_ldrd },
	{ "strd", 1, true, attack_strd },
	{ "ldm", 1, true, attack_ldm },
	{ "post-indexed", 1, true, attack_post_indexed },
	{ "gicd-banked", 1, false, attack_banked },
	REGISTERS(ROWS){ "mrrc=vttbr", 0, false, attack_vttbr },
	{ "mcr-dbgoslar", 1, false, attack_oslar },
	{ NULL, 0, false, NULL },
};

/* Here all send by the distributor. */
uint64_t gic_sgi_to_self(uint32_t number)
{
	return 0;
}

uint64_t gic_attack_send(uint64_t a, uint64_t b)
{
	return gic_attack_store(a, b);
}

/* ACTLR is answered; L2CTLR is offered to no sandbox; GICD_CTLR is the distributor filter's. */
const struct storm arch_storms[] = {
	{ "refused", attack_mrc_l2ctlr, 0, NULL },
	{ "register", attack_mrc_actlr, 0, NULL },
	{ "device", gic_attack_dist_read, 0, NULL },
	{ "device-read", gic_attack_load, 0, gic_prepare_enable },
	{ "device-write", gic_attack_store, 0, gic_prepare_enable },
	{ "ipi", gic_attack_send, 0, gic_prepare_sgi },
	{ "idle", gic_attack_sleep, 0, NULL },
	{ NULL, NULL, 0, NULL },
};
