/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ARM stage 2: what hal.h's opaque structures hold, and what its parts offer each other. The guest's registers and how they
 * are spelled stand in the folder of the architecture, chosen when linked; the interrupt controller in gic/.
 *
 * The room has a circle: a partition contains what the interrupt controller keeps for it, so this header includes gic.h, and the
 * controller's filter looks up the partition's cores here.
 */
#pragma once
#include "hal/hal.h"
#include "hal/arm/gic/gic.h"
#include "hal/iommu/iommu.h"
#include "hal/pci/pci.h"
#include "hal/pt/pt.h"

#include "abi/table.h"
#include "guest.h"
#include "hcr.h"

/*
 * A stage-2 root, and a bit for each of its entries that is valid, as hal_partition_seal found them. A kick touches no other entry: later
 * gates alone come and go (hal_gate_turn), and who reaches what is behind one must fetch elsewhere, as nothing there is executable.
 */
enum { ROOT_BITS = 8 * sizeof(uintptr_t), ROOT_WORDS = (STAGE2_ROOT_ENTRIES + ROOT_BITS - 1) / ROOT_BITS };
struct root {
	uint64_t *entries; /* NULL: none */
	uintptr_t used[ROOT_WORDS];
};

/* A sandbox whose first core this one may kick. */
struct kick_target {
	struct root root; /* no entries: not granted */
	uint64_t vttbr;
	uint64_t hardware_id;
	struct hal_kick_mailbox *box;
};

/* Where a core begins: abi/guest.h, or CPU_ON. */
struct core_entry {
	uint64_t pc;
	uint64_t arg;
	uint64_t stack;
};

struct hal_partition {
	struct pt stage2;
	struct root root;
	uint64_t vttbr;       /* root and VMID, as VTTBR wants them */
	uint32_t unprotected; /* enum bh_protection */
	bool trusted_idle;
	bool kickable; /* somebody may kick it */
	bool sealed;
	bool closed; /* none of its cores is to run: the sandbox has ended, or is being restarted */
	uint32_t core_count;
	uint32_t cores_on;       /* or started */
	struct core_entry entry; /* of the sandbox */
	uint32_t cores[BH_MAX_SANDBOX_CORES];
	uint64_t hardware_id[BH_MAX_SANDBOX_CORES];
	struct hal_core *siblings[BH_MAX_SANDBOX_CORES];
	struct gic_view gic;
	struct pci_view pci;
	struct iommu_view iommu;
	struct hal_kick_mailbox *box; /* the first core's */
	struct kick_target targets[BH_MAX_SANDBOXES];
	struct told {
		struct hal_kick_mailbox *box; /* NULL: the last was before this one */
		uint64_t hardware_id;
	} told[BH_MAX_SANDBOXES]; /* first cores of the sandboxes that are told of the end */
};

/* As PSCI's AFFINITY_INFO reports them, but for STARTED. psci.c */
enum core_power { POWER_ON, POWER_OFF, POWER_PENDING, POWER_STARTED };

struct hal_core {
	struct guest guest; /* first: switch.S */
	struct hal_partition *partition;
	uint64_t *exits;                /* hal_core_begin */
	struct hal_doorbell *doorbells; /* likewise */
	uint32_t slot;
	uint32_t self;           /* hal_lock_bit */
	uint32_t power;          /* enum core_power */
	struct core_entry entry; /* of its next start */
	uint64_t priority_mask;  /* GICv3: ICC_PMR_EL1 as its guest reads it */
	uint32_t kick_seen;      /* requests when it last came in over a poisoned root, */
	uint32_t kick_retries;   /* and how often since, kick.c */
	uint32_t kick_lost;      /* signals that were waited for in vain */
};

_Static_assert(sizeof(struct hal_core) + HAL_STACK_BYTES <= BH_PAGE_BYTES, "a frame with its monitor's stack");

/* A private monitor's own tables. */
struct hal_space {
	struct pt tables;
};

/* ---- each architecture ---- */

/* Start-up. Returns NULL, or the first thing that the processor lacks, as hal_probe reports it. */
const char *processor_missing(void);

/* General register n, the machine's numbering; a register that is always zero reads 0 and drops writes. */
uint64_t guest_read(const struct hal_core *core, unsigned n);
void guest_write(struct hal_core *core, unsigned n, uint64_t value);
/* Moves the guest's PC to the instruction after the one that `syndrome` describes. */
void guest_skip(struct hal_core *core, uint64_t syndrome);
/* Completes a trapped load: extends `value` as its instruction says. */
void guest_complete_load(struct hal_core *core, const struct hal_exit *exit, uint64_t value);
/* On the core itself: the guest's state at `core->entry`, as after reset; registers that reset leaves unknown are made known. */
void guest_start(struct hal_core *core);
/* Switches the core's timers and counters off. Requires: on the core itself. */
void guest_quiesce(void);
/* Answers REGISTER. */
enum hal_action register_emulate(struct hal_core *core, const struct hal_exit *exit);

/* ---- shared ---- */

/* What MDCR_EL2 and HDCR both say of performance monitors. ARM ARM D24.2 "MDCR_EL2"; ARMv7 ARM B4.1 "HDCR". */
enum {
	PMU_HPMN = 0x1f,    /* so many event counters are the guest's; others would be the monitor's, and are off: HPME is clear */
	PMU_TPMCR = 1 << 5, /* trap PMCR, */
	PMU_TPM = 1 << 6,   /* and the rest */
};
/* Start-up. Returns these bits for this core's guest. Without the architecture's performance monitors, the registers trap. */
unsigned pmu_grant(void);
/* On the core itself, after pmu_grant's word is in its register: the guest's counters are 0 and count nothing; no overflow stands. */
void guest_clear_counters(void);

/* Answers FIRMWARE. */
enum hal_action psci_emulate(struct hal_core *core, const struct hal_exit *exit);

/* Undoes what a kick did to this core, kick.c. Acknowledges nothing: hal_kick_take does, before the guest runs again. */
void kick_clear(const struct hal_core *core);
/* Undoes hal_kick_siblings, whose cores have stopped since: the sandbox may run again. */
void kick_reopen(struct hal_core *core);
/* Repeats the notice of another sandbox's end that this core was sent before this life. Call after a reset of its interrupt controller. */
void kick_repeat_notice(const struct hal_core *core);
/* Returns whether an access that found the root poisoned is to be tried again. False after a bounded number of tries. */
bool kick_explains(struct hal_core *core);
/* Whether this core has a kick to answer. */
bool kick_is_pending(const struct hal_core *core);
