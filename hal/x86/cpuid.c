/* SPDX-License-Identifier: Apache-2.0 */
/* Resident: answers CPUID from the list that start-up made. Only what the guest's own state decides is added here. */
#include "hal/x86/core.h"

enum { FEATURE_OSXSAVE = 1 << 27, FEATURE_OSPKE = 1 << 4 };

static struct x86_cpuid look_up(const struct x86_identity *identity, uint32_t leaf, uint32_t subleaf)
{
	for (uint32_t n = 0; n < identity->count; n++) {
		const struct x86_answer *answer = &identity->answers[n];

		if (answer->leaf == leaf && (answer->subleaf == subleaf || answer->subleaf == X86_ANY_SUBLEAF))
			return answer->is;
	}
	return (struct x86_cpuid){ 0 };
}

/* Enabled by CR4, and the size of what XCR0 enables: this core's XCR0 is the guest's. APM vol. 3, Fn0000_000D. */
static void add_state(const struct hal_core *core, uint32_t leaf, uint32_t subleaf, struct x86_cpuid *r)
{
	uint64_t cr4 = x86_get(core, X86_CR4);

	if (leaf == LEAF_FEATURES && cr4 & CR4_OSXSAVE)
		r->ecx |= FEATURE_OSXSAVE;
	if (leaf == LEAF_STRUCTURED && subleaf == 0 && cr4 & CR4_PKE)
		r->ecx |= FEATURE_OSPKE;
	if (leaf == LEAF_XSAVE && subleaf <= 1)
		r->ebx = x86_cpuid(leaf, subleaf).ebx;
}

HAL_OUTLINE void x86_emulate_cpuid(struct hal_core *core)
{
	struct x86_registers *registers = &core->registers;
	uint32_t leaf = (uint32_t)registers->rax, subleaf = (uint32_t)registers->rcx;
	struct x86_cpuid r = look_up(&core->identity, leaf, subleaf);

	add_state(core, leaf, subleaf, &r);
	registers->rax = r.eax;
	registers->rbx = r.ebx;
	registers->rcx = r.ecx;
	registers->rdx = r.edx;
}
