/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: pointers into a core's VMCB for `enum x86_field`, by which code that both vendors share reads the guest's state. */
#include "hal/x86/svm/svm.h"
#include "hal/x86/svm/vmcb.h"

/* clang-format off */
static const uint16_t fields[X86_FIELDS] = {
	[X86_RIP] = offsetof(struct vmcb, save.rip),
	[X86_RFLAGS] = offsetof(struct vmcb, save.rflags),
	[X86_CR0] = offsetof(struct vmcb, save.cr0),
	[X86_CR3] = offsetof(struct vmcb, save.cr3),
	[X86_CR4] = offsetof(struct vmcb, save.cr4),
	[X86_EFER] = offsetof(struct vmcb, save.efer),
	[X86_PAT] = offsetof(struct vmcb, save.g_pat),
	[X86_CS] = offsetof(struct vmcb, save.cs),
	[X86_CS_BASE] = offsetof(struct vmcb, save.cs.base),
};
/* clang-format on */

void svm_find_fields(struct hal_core *core)
{
	for (unsigned n = 0; n < X86_FIELDS; n++)
		core->field[n] = (uint64_t *)((char *)core->control + fields[n]);
}
