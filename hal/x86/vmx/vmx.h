/* SPDX-License-Identifier: Apache-2.0 */
/* Intel VT-x behind the vendor seam. Everything here requires that this core's VMCS is the current one, as it is from `enable` on. */
#pragma once
#include "hal/x86/vmx/vmcs.h"
#include "hal/x86/core.h"

extern const struct x86_vendor vmx_vendor;

/*
 * Bits of CR0 that the monitor keeps; a guest reads them from a shadow. Entries and exits leave CD and NW as they are: SDM vol.
 * 3C, 27.3.2.1 "Loading Guest Control Registers, Debug Registers, and MSRs", 28.5.1 "Loading Host Control Registers, Debug Registers,
 * MSRs".
 */
#define CR0_KEPT (CR0_NE | CR0_NW | CR0_CD)

/* vmx_read and vmx_write cannot fail: the probe has checked every field that is used. */
static inline uint64_t vmx_read(uint64_t field)
{
	uint64_t value;

	__asm__ volatile("vmread %1, %0" : "=r"(value) : "r"(field) : "cc");
	return value;
}

static inline void vmx_write(uint64_t field, uint64_t value)
{
	__asm__ volatile("vmwrite %1, %0" : : "r"(field), "r"(value) : "cc");
}

/* SDM vol. 3C, 31.3 "VMX Instructions": the descriptor of INVEPT and INVVPID, and their types. */
struct vmx_invalidation {
	uint64_t tag, address;
};
enum { INVALIDATE_SINGLE_CONTEXT = 1, INVALIDATE_ALL_CONTEXTS = 2 };

static inline void vmx_invvpid(uint64_t type, uint64_t vpid)
{
	const struct vmx_invalidation descriptor = { vpid, 0 };

	__asm__ volatile("invvpid %0, %1" : : "m"(descriptor), "r"(type) : "cc", "memory");
}

static inline void vmx_invept(uint64_t type)
{
	static const struct vmx_invalidation everything;

	__asm__ volatile("invept %0, %1" : : "m"(everything), "r"(type) : "cc", "memory");
}

/* start.c. The state that INIT and STARTUP give a core that begins at page `vector`. */
void vmx_start(struct hal_core *core, uint8_t vector);
/* The same, but as abi/guest.h says. */
void vmx_restart(struct hal_core *core);

/*
 * enter.S. Runs the guest to its next exit; general registers but RSP pass through `registers`. Returns false if the
 * processor refused to enter; VM_INSTRUCTION_ERROR then tells why.
 */
bool vmx_enter(struct x86_registers *registers);

/* Where every exit leads; HOST_RIP. */
void vmx_exit(void);

/* Sleeps until an NMI has been taken; one that came since the guest last ran counts. */
void vmx_wait(void);

/* What vector 2 does. */
void vmx_nmi(void);

/* Unblocks NMIs after an exit that one of them caused. An NMI that is pending is taken here. */
void vmx_unblock_nmi(void);
