/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hal.h on x86: what both vendors share. These structures lie in the sandbox's arena. After start-up a partition is constant, except for
 * `ioapic`, under its lock, and the lock in `pci`. A hal_core is touched by its core alone, except for the core events that siblings post.
 *
 * The room has a circle: these structures contain what the I/O APIC and CPUID keep for a sandbox, so this header includes theirs, and
 * their resident code looks up the sandbox's cores and registers here.
 */
#pragma once
#include <assert.h>
#include <stddef.h>

#include "abi/table.h"
#include "arch/x86_64/start.h"
#include "hal/hal.h"
#include "hal/x86/apic/ioapic.h"
#include "hal/iommu/iommu.h"
#include "hal/pci/pci.h"
#include "hal/pt/pt.h"
#include "hal/x86/cpuid.h"
#include "hal/x86/decode.h"
#include "hal/x86/vendor.h"

/*
 * By the numbers that instructions have for them, SDM vol. 2A, table 2-2, and as in struct bh_crash.reg. rax and rsp are in the control
 * block while the guest runs; rsp is only shown here.
 */
struct x86_registers {
	uint64_t rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8, r9, r10, r11, r12, r13, r14, r15;
};
enum { X86_REGISTERS = sizeof(struct x86_registers) / sizeof(uint64_t) };

/* Another sandbox's first core, as far as a kick or a notice needs to know it. */
struct x86_kick_target {
	struct hal_kick_mailbox *box; /* NULL: not allowed */
	uint32_t apic_id;
};

/* What resident code looks at comes first: what stands there is reached with short displacements. */
struct hal_partition {
	uint32_t core_count;
	bool tolerate_ports;
	uint32_t apic_id[BH_MAX_SANDBOX_CORES];
	uint64_t ram_mask, ram_leaf; /* a leaf of stage 2 with ram_leaf in these bits is the sandbox's own RAM */
	struct hal_kick_mailbox *kick_mailboxes;
	struct ioapic_view ioapic;
	struct pci_view pci;
	struct iommu_view iommu;
	uint32_t line_target[BH_MAX_SANDBOX_CORES]; /* iommu_admit_lines, if it has a line */
	struct hal_core *core[BH_MAX_SANDBOX_CORES];
	struct x86_kick_target kick[BH_MAX_SANDBOXES];
	struct x86_kick_target told[BH_MAX_SANDBOXES]; /* sandboxes that get the notice when this one is parked; the list ends with an entry
							  without a box */
	struct pt stage2;
	uint32_t index;
	/* Start-up alone. */
	uint32_t unprotected; /* enum bh_protection */
	bool sealed;
	uint8_t *port_map;                    /* a bit a port, 1: exits; both vendors read the same */
	uint8_t *msr_map;                     /* vendor's layout */
	uint32_t cores[BH_MAX_SANDBOX_CORES]; /* machine core numbers */
};

/* Registers and the long list come last: what stands before them is reached with short displacements. */
struct hal_core {
	struct x86_trap trap; /* of its monitor; x86_space_enter wants it first */
	struct hal_partition *partition;
	struct hal_kick_mailbox *box;
	void *control; /* VMCB or VMCS, one frame */
	void *host;    /* host save area or VMXON region, one frame */
	void *states;  /* in which its guest may begin, in the vendor's form */
	uint32_t slot;
	uint32_t apic_id;
	uint32_t self;        /* hal_lock_bit */
	uint32_t pending;     /* core events: pending_events.c */
	uint32_t pci_address; /* what the guest wrote to port 0xCF8, port.c */
	uint8_t startup_vector;
	bool started;                   /* the core's own: the guest has a state to run from */
	bool nmi;                       /* the core's own: one waits for room */
	uint64_t *exits;                /* hal_core_begin */
	struct hal_doorbell *doorbells; /* likewise */
	struct x86_registers registers;
	struct hal_entry entry;
	struct x86_noted noted;
	uint64_t *field[X86_FIELDS]; /* each field's place: in the VMCB; on VT-x in `state`, filled after a memory exit */
	uint64_t state[X86_FIELDS];
	struct x86_identity identity;
};
static_assert(offsetof(struct hal_core, trap) == 0, "");
static_assert(sizeof(struct hal_core) + HAL_STACK_BYTES <= BH_PAGE_BYTES, "a frame with its monitor's stack");

/* A private monitor's own tables. */
struct hal_space {
	struct pt tables;
};

/* Answers of the shared code: what the processor would have done, within the grant. */
void x86_emulate_cpuid(struct hal_core *core);
enum hal_action x86_emulate_msr(struct hal_core *core, const struct hal_exit *exit);
/* Of a DEVICE exit: the I/O APIC, or a configuration register of PCI. */
enum hal_action x86_emulate_device(struct hal_core *core, const struct hal_exit *exit);
enum hal_action x86_emulate_port(struct hal_core *core, const struct hal_exit *exit);

/*
 * Posts a core event, what INIT, STARTUP or NMI does to a processor, to a core of the own sandbox, which may be the caller itself.
 * Requires: any core of the sandbox.
 * Returns whether the event changes the core's state. If true, the core must check its pending events before it runs the guest again.
 */
bool x86_post_init(struct hal_core *core);
bool x86_post_startup(struct hal_core *core, uint8_t vector);
bool x86_post_nmi(struct hal_core *core);

/* Marks the core's guest as off until a STARTUP, or as on. Discards all pending core events. */
void x86_mark_off(struct hal_core *core);
void x86_mark_on(struct hal_core *core);

/* Removes everything that the core's guest had or armed. Requires: on the core itself. */
void x86_core_stop(struct hal_core *core);

/*
 * Gives the registers that INIT does not change the values that they have at the core's first entry: the processor's own (those of system
 * calls, and the state that XSAVE knows), then those that the vendor keeps. Requires: on the core itself.
 */
void x86_core_forget(struct hal_core *core);

/*
 * Puts the guest into the state that INIT and this STARTUP leave, and sends itself an NMI, because a kick may have come meanwhile.
 * Requires: on the core itself.
 */
void x86_core_start(struct hal_core *core, uint8_t vector);

/* Sends an NMI to a core of the own sandbox. Whatever that core does, it then checks its pending events. */
void x86_kick_core(const struct hal_core *core);
/* Repeats the notice of another sandbox's end that this core was sent before its life began. Requires: its APIC is on. */
void x86_repeat_notice(const struct hal_core *core);

/*
 * hal_exit.target of port exits: RAX, or a string in memory. Of memory exits: MEMORY if it was an instruction that read or wrote, and
 * not a walk of the guest's tables.
 */
enum { X86_TARGET_RAX, X86_TARGET_MEMORY };

/* hal_exit.gpa of register exits: an MSR's number, or one of these. */
#define X86_XCR(n) (UINT64_C(1) << 32 | (n))
#define X86_CR(n)  (UINT64_C(2) << 32 | (n))

/*
 * Turns a memory exit into one of a filtered device if the address is such a device's and decode.h knows the instruction. Returns whether
 * it did. Requires: no event was being delivered. Of `exit`, access, gpa and target count.
 */
bool x86_decode_filtered(struct hal_core *core, struct hal_exit *exit);

/* Vendors decode an MSR exit with this: ICR writes are IPIs, everything else a register. */
void x86_decode_msr(const struct hal_core *core, bool write, struct hal_exit *exit);

/* Start-up: makes the fields the first of the words that are compared. Requires: core->field[]. */
void x86_note_fields(struct hal_core *core);

/* Start-up: lets the guest use the MSRs that are its core's own without exits. */
void x86_allow_msrs(struct hal_partition *partition);

/* Start-up: opens what the sandbox is to do without. */
void x86_unprotect(struct hal_partition *partition);
