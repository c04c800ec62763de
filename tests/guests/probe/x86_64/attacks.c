/* SPDX-License-Identifier: Apache-2.0 */
/* What only an x86 sandbox can try. */
#include <stddef.h>

#include "descriptors.h"
#include "frame.h"
#include "kernel/core/clock.h"
#include "kernel/core/cpu.h"
#include "kernel/drivers/x2apic.h"
#include "kernel/core/info.h"
#include "kernel/core/irq.h"
#include "probe/mapping.h"
#include "probe/attack.h"
#include "probe/user.h"
#include "level_line.h"
#include "timer_hw.h"

enum { IOAPIC_BASE = 0xfec00000, MSR_X2APIC_ICR = 0x830, MSR_VM_HSAVE_PA = 0xc0010117, LOOP_PAGE = 0xf0, JMP_TO_ITSELF = 0xfeeb };

/* ---- Interrupts to others: SDM vol. 3, 12.12.9 "ICR Operation in x2APIC Mode" ---------------------------------------- */

static uint64_t attack_icr(uint64_t a, uint64_t b)
{
	x86_wrmsr(MSR_X2APIC_ICR, a);
	return 0;
}

/* Sends `a`, an interrupt to oneself, and looks before it is taken: its vector's bit of the trigger mode register. SDM vol. 3, 11.8.4. */
static uint64_t attack_icr_trigger(uint64_t a, uint64_t b)
{
	enum { MSR_X2APIC_TMR = 0x818 };
	uint64_t triggers;

	cpu_interrupts_disable();
	x86_wrmsr(MSR_X2APIC_ICR, a);
	triggers = x86_rdmsr(MSR_X2APIC_TMR + (uint8_t)a / 32);
	cpu_interrupts_enable();
	return triggers >> a % 32 & 1;
}

/* From another core: sends the first one off and into an endless loop below 1 MiB. */
static uint64_t attack_restart(uint64_t a, uint64_t b)
{
	arch_mmio_write32(LOOP_PAGE << 12, JMP_TO_ITSELF);
	for (uint64_t n = 0; n < a; n++) {
		uint64_t start = arch_counter(), pause = clock_from_ns(b * 1000000);

		x2apic_command(0, X2APIC_INIT);
		x2apic_command(0, X2APIC_STARTUP | LOOP_PAGE);
		while (arch_counter() - start < pause)
			arch_relax();
	}
	return a;
}

/* ---- Registers and ports ------------------------------------------------------------------------------------------- */

static uint64_t attack_rdmsr(uint64_t a, uint64_t b)
{
	return x86_rdmsr((uint32_t)a);
}

static uint64_t attack_wrmsr(uint64_t a, uint64_t b)
{
	x86_wrmsr((uint32_t)a, b);
	return 0;
}

static uint64_t attack_in(uint64_t a, uint64_t b)
{
	return x86_in8((uint16_t)a);
}

static uint64_t attack_in32(uint64_t a, uint64_t b)
{
	return x86_in32((uint16_t)a);
}

static uint64_t attack_out(uint64_t a, uint64_t b)
{
	x86_out8((uint16_t)a, (uint8_t)b);
	return 0;
}

static uint64_t attack_out32(uint64_t a, uint64_t b)
{
	x86_out32((uint16_t)a, (uint32_t)b);
	return 0;
}

/*
 * Selects the PCI register `a`, as 0xCF8 wants it, and reads it, `b` times; how often it was not what it was at first. The pause between is
 * another each time, so that two cores that do so meet in every way.
 */
static uint64_t attack_config(uint64_t a, uint64_t b)
{
	enum { CONFIG_ADDRESS = 0xcf8, CONFIG_DATA = 0xcfc, PAUSES = 37 };
	uint64_t others = 0;
	uint32_t first = 0;

	for (uint64_t n = 0; n < b; n++) {
		uint32_t value;

		x86_out32(CONFIG_ADDRESS, (uint32_t)a);
		value = x86_in32(CONFIG_DATA);
		if (!n)
			first = value;
		others += value != first;
		for (volatile uint64_t pause = n % PAUSES; pause; pause--)
			;
	}
	return others;
}

/* A string of bytes from a port: an access that an exit describes differently. */
static uint64_t attack_ins(uint64_t a, uint64_t b)
{
	uint8_t bytes[4] = { 0 };
	void *target = bytes;
	uint64_t count = sizeof(bytes);

	__asm__ volatile("rep insb" : "+D"(target), "+c"(count) : "d"((uint16_t)a) : "memory");
	return bytes[0];
}

static uint64_t attack_cpuid(uint64_t a, uint64_t b)
{
	struct x86_cpuid id = x86_cpuid((uint32_t)a, (uint32_t)b);

	return (uint64_t)id.ecx << 32 | id.eax;
}

/*
 * Whatever CPUID shows of performance counters and what samples or traces with them: 0, if nothing. SDM vol. 2A: leaf 1 DS and PDCM, 7
 * processor trace, 0AH; APM vol. 3, Appendix E: 80000001 IBS, LWP, PerfCtrExt*, 8000001B, 80000022.
 */
static uint64_t attack_counters_shown(uint64_t a, uint64_t b)
{
	enum { DS = 1 << 21, PDCM = 1 << 15, TRACE = 1 << 25, OF_AMD = 1 << 10 | 1 << 15 | 3 << 23 | 1 << 28 };
	struct x86_cpuid intel = x86_cpuid(0xa, 0), samples = x86_cpuid(0x8000001b, 0), amd = x86_cpuid(0x80000022, 0);

	return (x86_cpuid(1, 0).edx & DS) | (x86_cpuid(1, 0).ecx & PDCM) | (x86_cpuid(7, 0).ebx & TRACE) |
	       (x86_cpuid(0x80000001, 0).ecx & OF_AMD) | intel.eax | intel.ebx | intel.ecx | intel.edx | samples.eax | amd.eax | amd.ebx;
}

/* Sets bits of CR4; the others stay. */
static uint64_t attack_cr4(uint64_t a, uint64_t b)
{
	uint64_t cr4;

	__asm__ volatile("mov %%cr4, %0" : "=r"(cr4));
	__asm__ volatile("mov %0, %%cr4" ::"r"(cr4 | a) : "memory");
	return 0;
}

/* Of the bits `a` of CR0, sets `b` and clears the others; what is read of them afterwards. */
static uint64_t attack_cr0(uint64_t a, uint64_t b)
{
	uint64_t cr0;

	__asm__ volatile("mov %%cr0, %0" : "=r"(cr0));
	__asm__ volatile("mov %0, %%cr0" ::"r"((cr0 & ~a) | b) : "memory");
	__asm__ volatile("mov %%cr0, %0" : "=r"(cr0));
	return cr0 & a;
}

static uint64_t attack_cr0_read(uint64_t a, uint64_t b)
{
	uint64_t cr0;

	__asm__ volatile("mov %%cr0, %0" : "=r"(cr0));
	return cr0 & a;
}

/*
 * An x87 exception in the form of MS-DOS: with NE clear it is not #MF, but a signal to whoever has the line of FERR#. SDM vol. 1, 8.7.2
 * "MS-DOS Compatibility Sub-mode". A division of 1 by 0, all exceptions unmasked; what waits for the x87 unit raises it.
 */
static uint64_t attack_ferr(uint64_t a, uint64_t b)
{
	enum { CR0_MP = 1 << 1, CR0_EM = 1 << 2, CR0_TS = 1 << 3 };
	static const uint16_t unmasked = 0x340;

	attack_cr0(CR0_EM | CR0_TS | CR0_NE | CR0_MP, CR0_MP);
	__asm__ volatile("fninit; fldcw %0; fldz; fld1; fdivp; fwait" ::"m"(unmasked) : "memory");
	__asm__ volatile("fninit");
	return 0;
}

static uint64_t attack_xsetbv(uint64_t a, uint64_t b)
{
	__asm__ volatile("xsetbv" ::"c"(0), "a"((uint32_t)a), "d"((uint32_t)(a >> 32)));
	return 0;
}

/* ---- What a life could leave behind: written in one, read in the next -------------------------------------------------- */

enum { CR4_OSFXSR = 1 << 9 };

static uint64_t attack_xgetbv(uint64_t a, uint64_t b)
{
	uint32_t low, high;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

static uint64_t attack_fp_write(uint64_t a, uint64_t b)
{
	attack_cr4(CR4_OSFXSR, 0);
	__asm__ volatile("movq %0, %%xmm7" ::"r"(a));
	return 0;
}

static uint64_t attack_fp_read(uint64_t a, uint64_t b)
{
	uint64_t value;

	attack_cr4(CR4_OSFXSR, 0);
	__asm__ volatile("movq %%xmm7, %0" : "=r"(value));
	return value;
}

static uint64_t attack_dr_write(uint64_t a, uint64_t b)
{
	__asm__ volatile("mov %0, %%dr2" ::"r"(a));
	return 0;
}

static uint64_t attack_dr_read(uint64_t a, uint64_t b)
{
	uint64_t value;

	__asm__ volatile("mov %%dr2, %0" : "=r"(value));
	return value;
}

/* ---- The I/O APIC, and instructions that the decoder of trapped pages must not guess at -------------------------------- */

enum { IOWIN = 0x10 };

/* What stands in register `b` of the I/O APIC at `a`. */
static uint64_t attack_ioapic_read(uint64_t a, uint64_t b)
{
	arch_mmio_write32(a, (uint32_t)b);
	return arch_mmio_read32(a + IOWIN);
}

/* Writes b's upper half to the register that its lower half names; what stands there afterwards. */
static uint64_t attack_ioapic(uint64_t a, uint64_t b)
{
	arch_mmio_write32(a, (uint32_t)b);
	arch_mmio_write32(a + IOWIN, (uint32_t)(b >> 32));
	return arch_mmio_read32(a + IOWIN);
}

/* Compilers extend what they load. */
static uint64_t attack_extend(uint64_t a, uint64_t b)
{
	return arch_mmio_read8(a);
}

/* What a string instruction leaves in RDI and RSI is not looked at again. */
#define ATTACK_ACCESS(name, text)                                                  \
	static uint64_t attack_##name(uint64_t a, uint64_t b)                      \
	{                                                                          \
		__asm__ volatile(text ::"D"(a), "S"(&b), "a"(b) : "memory", "cc"); \
		return 0;                                                          \
	}
ATTACK_ACCESS(byte, "movb %%al, (%%rdi)")
ATTACK_ACCESS(word, "movw %%ax, (%%rdi)")
ATTACK_ACCESS(quadword, "movq %%rax, (%%rdi)")
ATTACK_ACCESS(string, "movsl")
ATTACK_ACCESS(store_string, "stosl")
ATTACK_ACCESS(or, "orl $1, (%%rdi)")
ATTACK_ACCESS(pop, "pushq %%rax; popq (%%rdi)")
ATTACK_ACCESS(nontemporal, "movnti %%eax, (%%rdi)")
ATTACK_ACCESS(constant, "movl $0, (%%rdi)")
ATTACK_ACCESS(prefixes, ".byte 0x2e, 0x3e, 0x36, 0x26, 0x2e, 0x3e; movl $0, (%%rdi)")

/* ---- Instructions a sandbox does not have, or not for long ----------------------------------------------------------- */

#define ATTACK_INSTRUCTION(name, text)                                      \
	static uint64_t attack_##name(uint64_t a, uint64_t b)               \
	{                                                                   \
		__asm__ volatile(text ::"a"(a), "c"(b), "d"(0) : "memory"); \
		return 0;                                                   \
	}
ATTACK_INSTRUCTION(vmrun, "vmrun")
ATTACK_INSTRUCTION(vmload, "vmload")
ATTACK_INSTRUCTION(vmsave, "vmsave")
ATTACK_INSTRUCTION(clgi, "clgi")
ATTACK_INSTRUCTION(stgi, "stgi")
ATTACK_INSTRUCTION(skinit, "skinit")
ATTACK_INSTRUCTION(invlpga, "invlpga")
ATTACK_INSTRUCTION(vmxon, "vmxon (%%rsp)")
ATTACK_INSTRUCTION(vmxoff, "vmxoff")
ATTACK_INSTRUCTION(vmclear, "vmclear (%%rsp)")
ATTACK_INSTRUCTION(vmptrld, "vmptrld (%%rsp)")
ATTACK_INSTRUCTION(vmptrst, "vmptrst (%%rsp)")
ATTACK_INSTRUCTION(vmlaunch, "vmlaunch")
ATTACK_INSTRUCTION(vmresume, "vmresume")
ATTACK_INSTRUCTION(vmread, "vmread %%rcx, %%rax")
ATTACK_INSTRUCTION(vmwrite, "vmwrite %%rax, %%rcx")
ATTACK_INSTRUCTION(invept, "invept (%%rsp), %%rcx")
ATTACK_INSTRUCTION(invvpid, "invvpid (%%rsp), %%rcx")
ATTACK_INSTRUCTION(vmfunc, "vmfunc")
ATTACK_INSTRUCTION(getsec, "getsec")
ATTACK_INSTRUCTION(invd, "invd")
ATTACK_INSTRUCTION(wbinvd, "wbinvd")
ATTACK_INSTRUCTION(wbinvd_on, "1: wbinvd\n\tjmp 1b")
ATTACK_INSTRUCTION(monitor, "monitor")
ATTACK_INSTRUCTION(mwait, "mwait")

static uint64_t attack_rdpmc(uint64_t a, uint64_t b)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"((uint32_t)a));
	return (uint64_t)high << 32 | low;
}

static uint64_t attack_vmmcall(uint64_t a, uint64_t b)
{
	return cpu_call_monitor(a, b, 0, 0);
}

/* ---- Exceptions without end ------------------------------------------------------------------------------------------ */

/* No vector can be delivered, nor the faults that come of it: shutdown. */
static uint64_t attack_triple(uint64_t a, uint64_t b)
{
	static const struct __attribute__((packed)) {
		uint16_t limit;
		uint64_t base;
	} nothing;

	__asm__ volatile("lidt %0\n\tud2" ::"m"(nothing));
	return 0;
}

/* Ends with the vectors `a` to `b` requested of its own core, and not taken. */
static uint64_t attack_pend(uint64_t a, uint64_t b)
{
	enum { MSR_X2APIC_SELF_IPI = 0x83f };

	cpu_interrupts_disable();
	for (uint64_t vector = a; vector <= b; vector++)
		x86_wrmsr(MSR_X2APIC_SELF_IPI, vector);
	return attack_triple(0, 0);
}

/* One #DB, taken and over: a data breakpoint where nobody else writes. It goes through a monitor that watches for those without end. */
static uint64_t attack_watch(uint64_t a, uint64_t b)
{
	static uint64_t watched;
	uint64_t control = 1 << 1 /* G0 */ | 1 << 16 /* write */ | 2 << 18 /* 8 bytes */;

	__asm__ volatile("mov %0, %%dr0\n\tmov %1, %%dr7" ::"r"(&watched), "r"(control));
	__atomic_store_n(&watched, 1, __ATOMIC_RELAXED);
	return 0;
}

/*
 * #DB whose delivery writes to where a data breakpoint lies, and so raises #DB again, before the handler's first instruction:
 * no interrupt, not even an NMI, gets a chance (CVE-2015-8104). QEMU 10 itself aborts here, on the bare machine too. APM vol. 2, 13.1.1.4
 * "Debug Control Register (DR7)".
 */
static uint64_t attack_int1loop(uint64_t a, uint64_t b)
{
	uint64_t top_word = descriptors_own_stack() - sizeof(uint64_t);
	uint64_t control = 1 << 1 /* G0 */ | 1 << 16 /* write */ | 2 << 18 /* 8 bytes */;

	descriptors_set_vector(1, vectors[1], true);
	__asm__ volatile("mov %0, %%dr0\n\tmov %1, %%dr7" ::"r"(top_word), "r"(control));
	__asm__ volatile("int $1" ::: "memory");
	__asm__ volatile("mov %0, %%dr7" ::"r"(0ULL));
	return 0;
}

/*
 * An instruction that is refused, again and again: the exception's handler begins with it, on a stack that each delivery begins anew. Its
 * core executes nothing else any more, with its interrupts off.
 */
#define ATTACK_ENDLESS(name, vector, instruction, rcx)                                                              \
	static uint64_t attack_endless_##name(uint64_t a, uint64_t b)                                               \
	{                                                                                                           \
		extern const char endless_##name[];                                                                 \
                                                                                                                    \
		descriptors_set_vector(vector, endless_##name, true);                                               \
		__asm__ volatile("endless_" #name ": " instruction ::"a"(X2APIC_SMI), "c"(rcx), "d"(0) : "memory"); \
		return 0;                                                                                           \
	}
ATTACK_ENDLESS(register, VECTOR_GP, "rdmsr", MSR_VM_HSAVE_PA)
ATTACK_ENDLESS(ipi, VECTOR_GP, "wrmsr", MSR_X2APIC_ICR)
ATTACK_ENDLESS(forbidden, VECTOR_UD, "monitor", 0)

/* ---- Without a stack: the page below the own one is a hole ------------------------------------------------------------- */

#define ATTACK_OVERFLOW(name, instruction)                                                                                  \
	static uint64_t overflow_##name(uint64_t a, uint64_t b)                                                             \
	{                                                                                                                   \
		cpu_interrupts_disable();                                                                                   \
		__asm__ volatile("mov %0, %%rsp\n\t" instruction "\n\tud2" ::"r"(descriptors_own_stack() - BH_PAGE_BYTES)); \
		return 0;                                                                                                   \
	}
ATTACK_OVERFLOW(nmi, "int $2")
ATTACK_OVERFLOW(df, "push %%rax")

/* ---- For a program in user mode -------------------------------------------------------------------------------------- */

void user_open_counters(void)
{
	x86_write_cr4(x86_read_cr4() | CR4_PCE);
}

/* clang-format off */
const struct attack arch_attacks[] = {
	{ "overflow=nmi", 0, false, overflow_nmi },
	{ "overflow=df", 0, false, overflow_df },
	{ "icr", 1, false, attack_icr },
	{ "icr-trigger", 1, false, attack_icr_trigger },
	{ "pend", 2, false, attack_pend },
	{ "restart", 2, false, attack_restart }, /* times, ms */
	{ "lvt", 2, false, attack_wrmsr },
	{ "rdmsr", 1, false, attack_rdmsr },
	{ "wrmsr", 2, false, attack_wrmsr },
	{ "in", 1, false, attack_in },
	{ "in32", 1, false, attack_in32 },
	{ "out", 2, false, attack_out },
	{ "out32", 2, false, attack_out32 },
	{ "ins", 1, false, attack_ins },
	{ "ioapic", 2, true, attack_ioapic },
	{ "ioapic-read", 2, true, attack_ioapic_read },
	{ "level-leave", 1, true, attack_level_leave },
	{ "level-rounds", 2, true, attack_level_rounds },
	{ "config", 2, false, attack_config },
	{ "extend", 1, true, attack_extend },
	{ "byte", 1, true, attack_byte },
	{ "word", 1, true, attack_word },
	{ "quadword", 1, true, attack_quadword },
	{ "string", 1, true, attack_string },
	{ "store-string", 1, true, attack_store_string },
	{ "or", 1, true, attack_or },
	{ "pop", 1, true, attack_pop },
	{ "nontemporal", 1, true, attack_nontemporal },
	{ "constant", 1, true, attack_constant },
	{ "prefixes", 1, true, attack_prefixes },
	{ "cpuid", 1, false, attack_cpuid },
	{ "counters-shown", 0, false, attack_counters_shown },
	{ "cr4", 1, false, attack_cr4 },
	{ "cr0", 2, false, attack_cr0 },
	{ "cr0-read", 1, false, attack_cr0_read },
	{ "ferr", 0, false, attack_ferr },
	{ "xsetbv", 1, false, attack_xsetbv },
	{ "xgetbv", 0, false, attack_xgetbv },
	{ "fp-write", 1, false, attack_fp_write },
	{ "fp-read", 0, false, attack_fp_read },
	{ "dr-write", 1, false, attack_dr_write },
	{ "dr-read", 0, false, attack_dr_read },
	{ "vmrun", 0, false, attack_vmrun },
	{ "vmload", 0, false, attack_vmload },
	{ "vmsave", 0, false, attack_vmsave },
	{ "clgi", 0, false, attack_clgi },
	{ "stgi", 0, false, attack_stgi },
	{ "skinit", 0, false, attack_skinit },
	{ "invlpga", 0, false, attack_invlpga },
	{ "vmxon", 0, false, attack_vmxon },
	{ "vmxoff", 0, false, attack_vmxoff },
	{ "vmclear", 0, false, attack_vmclear },
	{ "vmptrld", 0, false, attack_vmptrld },
	{ "vmptrst", 0, false, attack_vmptrst },
	{ "vmlaunch", 0, false, attack_vmlaunch },
	{ "vmresume", 0, false, attack_vmresume },
	{ "vmread", 0, false, attack_vmread },
	{ "vmwrite", 0, false, attack_vmwrite },
	{ "invept", 0, false, attack_invept },
	{ "invvpid", 0, false, attack_invvpid },
	{ "vmfunc", 0, false, attack_vmfunc },
	{ "getsec", 0, false, attack_getsec },
	{ "invd", 0, false, attack_invd },
	{ "wbinvd", 0, false, attack_wbinvd },
	{ "monitor", 0, false, attack_monitor },
	{ "mwait", 0, false, attack_mwait },
	{ "rdpmc", 0, false, attack_rdpmc },
	{ "vmmcall", 1, false, attack_vmmcall },
	{ "triple", 0, false, attack_triple },
	{ "watch", 0, false, attack_watch },
	{ "int1loop", 0, false, attack_int1loop },
	{ "endless=register", 0, false, attack_endless_register },
	{ "endless=ipi", 0, false, attack_endless_ipi },
	{ "endless=forbidden", 0, false, attack_endless_forbidden },
	{ NULL, 0, false, NULL },
};
/* clang-format on */

/* A page over itself. */
static uint64_t storm_copy(uint64_t a, uint64_t b)
{
	static uint8_t page[4096];
	void *to = page, *from = page;
	uint64_t left = sizeof(page);

	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(left)::"memory");
	return 0;
}

static void ignore_ipi(struct cpu_frame *frame) {}

/* To oneself, at the kernel's own vector. */
static void prepare_ipi(uint64_t operands[2])
{
	enum { ASSERT = 1 << 14 };

	if (info->core_count == 1)
		irq_attach_ipi(ignore_ipi);
	operands[0] = info->hardware_id[0] << 32 | ASSERT | VECTOR_IPI;
}

static uint64_t ioapic_window(void)
{
	return mapping_reach(IOAPIC_BASE, BH_PAGE_BYTES) + IOWIN;
}

/* The I/O APIC's data register; the other one names the entry of a line of one's own, or the version. */
static void prepare_ioapic(uint64_t operands[2])
{
	enum { VERSION = 1, FIRST_ENTRY = 0x10 };
	uint32_t index = VERSION;

	for (uint32_t n = 0; n < info->grant_count; n++)
		if (info->grants[n].kind && info->grants[n].line != BH_LINE_NONE)
			index = FIRST_ENTRY + 2 * info->grants[n].line;
	operands[0] = ioapic_window();
	arch_mmio_write32(operands[0] - IOWIN, index);
	operands[1] = arch_mmio_read32(operands[0]);
}

static uint64_t storm_read(uint64_t a, uint64_t b)
{
	return arch_mmio_read32(a);
}

static uint64_t storm_write(uint64_t a, uint64_t b)
{
	arch_mmio_write32(a, (uint32_t)b);
	return 0;
}

/* MSR_VM_HSAVE_PA belongs to SVM, which no sandbox has. */
const struct storm arch_storms[] = {
	{ "cpuid", attack_cpuid, 0, NULL },
	{ "identify", attack_cpuid, 0, NULL },
	{ "wbinvd", attack_wbinvd, 0, NULL },
	{ "wbinvd-on", attack_wbinvd_on, 0, NULL }, /* one strike that never ends */
	{ "copy", storm_copy, 0, NULL },
	{ "register", attack_rdmsr, MSR_PAT, NULL },
	{ "refused", attack_rdmsr, MSR_VM_HSAVE_PA, NULL },
	{ "ipi", attack_icr, 0, prepare_ipi },
	{ "device-read", storm_read, 0, prepare_ioapic },
	{ "device-write", storm_write, 0, prepare_ioapic },
	{ NULL, NULL, 0, NULL },
};
