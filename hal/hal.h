/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The partitioning interface: what a machine must be able to do to hold sandboxes apart, and nothing about how.
 *
 *   monitor/  ── policy ──►  hal.h  ──►  x86/   one image; a vendor's part, svm/ or vmx/, is chosen when the machine boots
 *                                  └──►  arm/   chosen when linked
 *
 * Two lives. Start-up (files named *_boot.c, dropped afterwards) runs on the boot core, one-to-one mapped, and prepares:
 * partitions, cores, spaces, all from the sandbox's own arena. Each core then switches off what a loader left on (hal_core_disarm) and
 * moves to its private monitor and its tables (hal_core_launch). Resident code runs on the sandbox's cores only, inside the private copy of
 * the monitor, and touches nothing but its own sandbox and the pages listed in docs/shared-state.md. Pointers handed out by start-up
 * functions lie in the arena, which both lives see at the same address.
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/guest.h"

typedef struct {
	uint64_t v;
} gpa_t; /* guest-physical address */
typedef struct {
	uint64_t v;
} hpa_t; /* host-physical address */

enum hal_status {
	HAL_OK,
	HAL_E_RANGE,       /* misaligned, empty, wraps, or beyond what the machine can address */
	HAL_E_PERMISSION,  /* permission set the format cannot express */
	HAL_E_OVERLAP,     /* mapped already; for unmap: not mapped */
	HAL_E_NOMEM,       /* the arena is exhausted */
	HAL_E_UNSUPPORTED, /* the machine lacks it */
	HAL_E_DENIED,      /* not granted */
	HAL_E_SEALED,      /* too late: the partition is sealed; or, where a function says so, too early: it is not */
};
/* Where several failures hold at once, a function returns the one that its contract names first, on every machine. */
#define HAL_CHECKED __attribute__((warn_unused_result))
/* Never inlined: measured to be smaller as a function of its own than as copies in its callers. */
#define HAL_OUTLINE __attribute__((noinline))

/* DMA: also for the partition's functions that master the bus. Of RAM that is the sandbox's own; of nothing else. */
enum hal_permission { HAL_READ = 1, HAL_WRITE = 2, HAL_EXECUTE = 4, HAL_DMA = 8 };
enum hal_memory { HAL_MEMORY_RAM, HAL_MEMORY_DEVICE, HAL_MEMORY_TYPES };

/* A run of free frames, and the rest of a frame that is in use. Both are handed out zeroed, upward, and never given back. */
struct hal_arena {
	uint64_t next; /* HPA, 4 KiB aligned */
	uint64_t end;
	uint64_t small, small_end; /* the rest; empty if they are equal */
};
/* Takes `frames` zeroed frames, side by side. Returns NULL if there are fewer, or none were asked for; the arena is then as it was. */
void *hal_arena_take(struct hal_arena *arena, size_t frames);
/* Takes `bytes` zeroed bytes, 64-byte aligned, in a frame that other small objects may share. Returns NULL as above, and for more than a
 * frame. */
void *hal_arena_take_small(struct hal_arena *arena, size_t bytes);

struct hal_partition; /* a sandbox as the hardware sees it: stage 2, filters, lines */
struct hal_core;      /* one guest core */

/* ---- Start-up: once, on the boot core ------------------------------------------------------------------------- */

/*
 * Checks every feature the backend needs and enables none. HAL_E_UNSUPPORTED: *missing names the first one lacking and
 * what to do about it, as an English clause for "cannot start: ...".
 */
HAL_CHECKED enum hal_status hal_probe(const char **missing);

/*
 * Ends all DMA but what is opened later: in the IOMMU's tables, `bytes` at `tables`, every entry of every function aborts, granted or not,
 * and the IOMMU obeys them from here on. Call once, after hal_probe and hal_machine_silence_functions, before memory is trusted. Returns
 * HAL_OK (also on a board without an IOMMU), or HAL_E_UNSUPPORTED: the board's is not there, lacks something or does not obey; *missing
 * says what, as with hal_probe.
 */
HAL_CHECKED enum hal_status hal_machine_block_dma(hpa_t tables, const char **missing);

/*
 * If the machine has a PCI function that start-up can drive, has it try to reach memory by DMA while every entry is closed, and leaves it
 * as it was. Call once, after hal_machine_block_dma, before any function is granted. Returns HAL_OK, also where nobody could
 * be asked or nobody answered within a bound, or HAL_E_UNSUPPORTED: something arrived; *missing says so, as with hal_probe.
 */
HAL_CHECKED enum hal_status hal_machine_try_dma(const char **missing);

/* Brings machine-wide interrupt hardware into the state where no line is enabled and none reaches any core. */
void hal_machine_init(void);

/* Counter frequency in Hz, measured where no register tells it (x86). May sleep about ten milliseconds; call once. */
uint64_t hal_machine_clock_hz(void);

/* The calling core's hardware_id, as the partition table names cores. After hal_machine_init. */
uint64_t hal_machine_core_id(void);

struct hal_partition_config {
	uint32_t index; /* sandbox number; its address-space tag (VMID, ASID, VPID) is this + 1 */
	uint32_t core_count;
	uint32_t cores[BH_MAX_SANDBOX_CORES];       /* machine core numbers */
	uint64_t hardware_id[BH_MAX_SANDBOX_CORES]; /* MPIDR affinity or APIC ID */
	uint32_t unprotected;                       /* enum bh_protection, or-ed: protections that it does without */
	bool masters;                               /* it is given functions that master the bus (BH_DMA_TRANSLATED) */
	bool trusted_idle;                          /* the sandbox promises never to sleep with its interrupts masked (BH-D314) */
	bool tolerate_ports; /* x86: ports that are not granted read as an empty bus; without it, touching one is a fault */
	struct hal_kick_mailbox *kick_mailboxes; /* shared page, one per machine core */
};
/*
 * Makes a partition in which nothing is mapped or granted, in frames of `arena`, where it stays.
 * Requires: hal_probe has returned HAL_OK; boot core.
 * Returns HAL_OK, HAL_E_RANGE (index, number of cores or a machine core number out of range) or HAL_E_NOMEM.
 * On failure *out is untouched; frames may have been taken from the arena.
 */
HAL_CHECKED enum hal_status hal_partition_create(struct hal_arena *arena, const struct hal_partition_config *config,
						 struct hal_partition **out);

/*
 * Maps [gpa, gpa+size) to [hpa, hpa+size) with the largest leaves that fit; with HAL_DMA also in the IOMMU's root of a partition that has
 * `masters`, for reads and writes. HAL_DMA alone maps in that root alone.
 * Returns HAL_OK, HAL_E_SEALED, HAL_E_RANGE (one of the three is no multiple of 4 KiB, the range is empty, wraps or is beyond what the
 * machine can address), HAL_E_PERMISSION (the format has no such set, or device memory would be executable), HAL_E_OVERLAP (something
 * is mapped there) or HAL_E_NOMEM.
 * On failure the partition maps what it mapped before (prepare, then commit); empty table frames may have been taken from the arena.
 */
HAL_CHECKED enum hal_status hal_partition_map(struct hal_partition *partition, gpa_t gpa, hpa_t hpa, uint64_t size, unsigned permissions,
					      enum hal_memory memory);
struct hal_leaf {
	hpa_t hpa;
	uint64_t size;
	unsigned permissions;
	enum hal_memory memory;
};
/* Returns whether `gpa` is mapped; if so, *out says to what, otherwise *out is untouched. Requires: start-up. */
bool hal_partition_query(const struct hal_partition *partition, gpa_t gpa, struct hal_leaf *out);

/*
 * x86: gives direct access to I/O ports [first, first+count).
 * Returns HAL_OK, HAL_E_UNSUPPORTED (the machine has no ports), HAL_E_SEALED or HAL_E_RANGE (empty, or beyond port 0xffff). On failure
 * nothing has changed.
 */
HAL_CHECKED enum hal_status hal_partition_allow_ports(struct hal_partition *partition, uint32_t first, uint32_t count);

/*
 * Routes a device line (GIC INTID, IOAPIC pin) to machine core `core`, at `vector` on x86; flags: enum bh_line_flags.
 * Returns HAL_OK, HAL_E_SEALED, HAL_E_DENIED (the core is not the partition's) or HAL_E_RANGE (no such line, no such vector where lines
 * have vectors, or no room for another). On failure nothing has changed.
 */
HAL_CHECKED enum hal_status hal_partition_grant_line(struct hal_partition *partition, uint32_t line, uint32_t core, uint32_t vector,
						     uint32_t flags);

/*
 * All PCI functions but the board's own bridges decode nothing, master nothing and interrupt nobody. Call once, before any is granted.
 * Returns false if one goes on mastering the bus: it may write wherever its loader or firmware has told it to.
 */
HAL_CHECKED bool hal_machine_silence_functions(void);

struct bh_pci_function;
/* A base address of a PCI function. */
struct hal_base {
	uint64_t start, bytes; /* 0 bytes: the table's values make no address; not to be used */
	bool ports;            /* I/O ports; otherwise memory */
};
enum { HAL_MAX_BASES = 6 };
/*
 * Decodes the base address registers that the table has for a function, in their order. Returns how many addresses there are; one of
 * 64 bits takes two registers. Pure: reads nothing but its arguments.
 */
uint32_t hal_function_bases(const struct bh_pci_function *function, struct hal_base bases[HAL_MAX_BASES]);
/* Decodes the one that begins in register `bar`. Returns whether one does that can be used. Pure. */
bool hal_function_base(const struct bh_pci_function *function, uint32_t bar, struct hal_base *base);

/*
 * Places a PCI function as the table says and gives it to the partition.
 * Returns HAL_OK, HAL_E_SEALED, HAL_E_RANGE (the machine has no such number, or no room for another) or HAL_E_UNSUPPORTED (another function
 * is there, or none; or its messages cannot be confined). On failure the partition is not to be sealed: it may have the function in part.
 */
HAL_CHECKED enum hal_status hal_partition_grant_function(struct hal_partition *partition, const struct bh_pci_function *function);
/*
 * Maps the configuration registers of the granted functions, read-only, and the frame `absent` in place of every other function's. With
 * BH_PROTECT_IO in `unprotected`, maps those of all functions, writable. Requires: all functions are granted.
 * Returns HAL_OK, HAL_E_SEALED, HAL_E_OVERLAP (something is mapped there) or HAL_E_NOMEM. Where no registers are memory it maps nothing.
 */
HAL_CHECKED enum hal_status hal_partition_show_functions(struct hal_partition *partition, hpa_t absent);

/* Ends construction: whatever would change the partition after this returns HAL_E_SEALED. From here on its functions, which are still
 * silent, have their translation. To seal again changes nothing. */
void hal_partition_seal(struct hal_partition *partition);

struct hal_entry {
	gpa_t pc;
	uint64_t arg;
	gpa_t stack;
	gpa_t area; /* x86: GDT and page tables, abi/guest.h; 0 elsewhere */
};
/* A hal_core stands at the start of a frame. The rest of that frame, at least this many bytes, is the stack of the monitor on this core. */
enum { HAL_STACK_BYTES = 1536 };
/*
 * Makes guest core `slot` of the partition: the first in its entry state, the others off until their guest starts them.
 * Returns HAL_OK, HAL_E_RANGE (the partition has no such slot), HAL_E_OVERLAP (the slot has its core) or HAL_E_NOMEM. On failure *out is
 * untouched, and the slot has the core that it had.
 */
HAL_CHECKED enum hal_status hal_core_create(struct hal_partition *partition, struct hal_arena *arena, uint32_t slot,
					    const struct hal_entry *entry, struct hal_core **out);

/* ---- Start-up: the monitor's own address space ------------------------------------------------------------------ */

struct hal_space; /* stage-1 tables of one private monitor */
/* Makes a space in which nothing is mapped, in frames of `arena`. Returns HAL_OK or HAL_E_NOMEM; after the latter *out is untouched. */
HAL_CHECKED enum hal_status hal_space_create(struct hal_arena *arena, struct hal_space **out);
/*
 * Maps [va, va+size) to [hpa, hpa+size) for the monitor itself. Returns what hal_partition_map does, for the same reasons; a space is never
 * sealed, and nothing in it is writable and executable at once (HAL_E_PERMISSION).
 */
HAL_CHECKED enum hal_status hal_space_map(struct hal_space *space, const void *va, hpa_t hpa, uint64_t size, unsigned permissions,
					  enum hal_memory memory);
/* The same for machine addresses [start, start+size), one to one, readable and writable. */
HAL_CHECKED static inline enum hal_status hal_space_map_same(struct hal_space *space, uint64_t start, uint64_t size, enum hal_memory memory)
{
	return hal_space_map(space, (const void *)(uintptr_t)start, (hpa_t){ start }, size, HAL_READ | HAL_WRITE, memory);
}

/*
 * Lists the parts of the resident image that this machine's backend adds to those that every private monitor has. One image may hold
 * several backends: a private monitor has zeros in place of the others' parts.
 * Returns how many there are; if there are none, *parts is NULL.
 */
struct hal_part {
	const char *start, *end;
};
size_t hal_resident_parts(const struct hal_part **parts);

/*
 * Maps RAM of the own sandbox, one to one and read only, where the machine tells so little about an exit that the monitor has to read
 * its guest's instructions (x86). Elsewhere it maps nothing.
 * Returns HAL_OK, HAL_E_RANGE (a misaligned or empty range, on every machine; beyond what this one can address, where it maps),
 * HAL_E_OVERLAP or HAL_E_NOMEM.
 */
HAL_CHECKED enum hal_status hal_space_map_ram(struct hal_space *space, hpa_t hpa, uint64_t size);

/*
 * Maps, one to one, the interrupt-controller registers this partition's filter needs, and the root frames of the partitions it may kick.
 * Returns HAL_OK, HAL_E_RANGE, HAL_E_OVERLAP or HAL_E_NOMEM.
 */
HAL_CHECKED enum hal_status hal_space_map_devices(struct hal_space *space, const struct hal_partition *partition);

/*
 * Lets `from` kick the first core of `to`. Requires: before hal_space_map_devices of `from`, and before any core of `to` is launched.
 * Returns HAL_OK or HAL_E_SEALED (`to` is not sealed yet); after the latter nothing has changed.
 */
HAL_CHECKED enum hal_status hal_partition_allow_kick(struct hal_partition *from, struct hal_partition *to);

/*
 * Also lets `from` send the notice (BH_NOTICE_VECTOR, BH_NOTICE_SGI) to the first core of `to`. Requires: start-up; `to` has agreed, is
 * another partition, and was not named before.
 */
void hal_partition_allow_notice(struct hal_partition *from, const struct hal_partition *to);

struct bh_line;
struct bh_channel_end;
/*
 * Routes `line` to machine core `core` at `vector`, as hal_partition_grant_line does for one of BH_LINE_RUNG, which no device raises:
 * other partitions ring it. On x86 it is told to them in *told, which hal_space_map has mapped for the monitors of both; elsewhere that is
 * left alone. Returns what hal_partition_grant_line does.
 */
HAL_CHECKED enum hal_status hal_partition_grant_doorbell(struct hal_partition *to, const struct bh_line *line, struct bh_channel_end *told);

/* What a partition reaches or not, as its monitor turns it. The fields are the backend's; zeros: there is none. */
struct hal_gate {
	uint64_t *entry; /* through which alone it is reached */
	uint64_t open;   /* what that holds while it is open */
};
static inline bool hal_gate_exists(const struct hal_gate *gate)
{
	return gate->entry;
}
/*
 * Makes a gate of [gpa, gpa+size), all of which is mapped, and closes it: until hal_gate_turn opens it, the partition does not reach it.
 * Nothing of it may be executable, as a kick must find its victim fetching from elsewhere (hal/arm/kick.c).
 * Returns HAL_OK, HAL_E_SEALED, HAL_E_RANGE (the range is empty, or does not begin one of the stretches that BH_GATE_BYTES or
 * BH_LARGE_GATE_BYTES divide memory into, the smaller one that holds it) or HAL_E_OVERLAP (it is not mapped in one piece, or can be
 * executed, or something else is in the same stretch). On failure nothing has changed.
 */
HAL_CHECKED enum hal_status hal_partition_gate(struct hal_partition *partition, gpa_t gpa, uint64_t size, struct hal_gate *out);

/*
 * Starts the machine core with this hardware id, which calls monitor_core_boot(argument) on the start-up tables with the stack
 * start-up gave it. HAL_E_UNSUPPORTED: firmware refused.
 */
HAL_CHECKED enum hal_status hal_core_start(uint64_t hardware_id, uint32_t argument);

/*
 * Stops what a loader may have left writing to memory, or counting towards an interrupt, on this core. Requires: on the core itself, before
 * hal_core_launch. Returns false if something stays on: the guest of this core then never runs, and hal_core_run reports ERROR instead.
 */
HAL_CHECKED bool hal_core_disarm(struct hal_core *core);

/*
 * On the core itself: enables virtualization and this core's part of the interrupt controller, leaves the start-up tables
 * for `space`, takes `stack_top`, and calls resident(core). The start-up image is gone after this.
 */
_Noreturn void hal_core_launch(struct hal_core *core, struct hal_space *space, void *stack_top, void (*resident)(struct hal_core *core));

/* ---- Resident: on the core itself, in the private copy ------------------------------------------------------------ */

/* A decoded exit. Fields that make no sense for the kind are 0. */
struct hal_exit {
	enum bh_exit_reason kind;
	enum bh_access access;
	uint32_t width;  /* bytes */
	uint32_t target; /* guest register that takes or gives the value; backend's numbering */
	uint32_t length; /* bytes of the instruction; 0: HAL_SKIP takes them from the hardware */
	uint64_t gpa;    /* MEMORY, DEVICE: address; PORT: port; REGISTER: its number; CALL, FIRMWARE: function */
	uint64_t gva;
	uint64_t value;  /* written value */
	uint64_t raw[2]; /* as struct bh_crash */
};

/* Clears *exit, kind ERROR. Inline, in a few stores of whole registers: the resident memset goes byte by byte. */
static inline void hal_exit_begin(struct hal_exit *exit)
{
	__builtin_memset_inline(exit, 0, sizeof(*exit));
	exit->kind = BH_EXIT_ERROR;
}

/*
 * Carries out what the sandbox's other cores have asked of this core: to start, to reset, to take an NMI. Returns whether its guest is to
 * run now. If false, the guest has not started this core, or has switched it off: the caller waits (hal_core_wait) and asks again. Also
 * true if this core's monitor trapped, so that hal_core_run can report it. Call after hal_kick_take, before hal_core_run; not needed after
 * an exit of a kind that cannot change what this asks (monitor/run.c).
 */
bool hal_core_ready(struct hal_core *core);

/* Returns the slot for which hal_core_create made the core. */
unsigned hal_core_slot(const struct hal_core *core);

/* By which a sandbox rings the other end of one of its channels. Start-up fills it; `next` is the backend's from there on. */
struct hal_doorbell {
	uint64_t gap;                      /* ticks of the arch counter from one ring to the next, at least; 0: it may not ring */
	uint64_t next;                     /* not before */
	const struct bh_channel_end *told; /* hal_partition_grant_doorbell */
	uint32_t line;
};

/*
 * Begins this core's work in its monitor, or begins it anew after a trap of the monitor: a lock that this core held then is given back,
 * after a bounded wait if it was still waiting for it (hal/lock.h). `exits` are the counters of this core's exits by reason, enum
 * bh_exit_reason: a backend may answer frequent exits without returning from hal_core_run, and counts those there. `doorbells`: of the
 * sandbox, BH_MAX_CHANNELS. Requires: on the core itself, before anything else that its monitor asks of it but its slot; both stay valid.
 */
void hal_core_begin(struct hal_core *core, uint64_t *exits, struct hal_doorbell *doorbells);

/* Runs the guest until its next exit that the caller has to answer. */
void hal_core_run(struct hal_core *core, struct hal_exit *exit);

/* What to do about an exit. */
enum hal_action {
	HAL_RESUME,  /* go on where it stopped: retry the instruction, or it has been completed */
	HAL_SKIP,    /* go on after the instruction */
	HAL_REFUSE,  /* give the guest the fault hardware without the feature would give (#UD, #GP, UNDEF) */
	HAL_STOP,    /* the sandbox asked to be switched off */
	HAL_FAULT,   /* park or restart it, with a crash record */
	HAL_RESTART, /* the sandbox asked to begin again */
};
/*
 * Answers an exit of kind DEVICE, PORT, REGISTER, IPI, IDENTIFY, FIRMWARE, IDLE or LONG as the machine itself would, within the grant.
 * For other kinds returns HAL_FAULT.
 */
enum hal_action hal_core_emulate(struct hal_core *core, const struct hal_exit *exit);
/* Carries out HAL_SKIP or HAL_REFUSE; for HAL_RESUME there is nothing to do. Requires: no other action. */
void hal_core_apply(struct hal_core *core, const struct hal_exit *exit, enum hal_action action);

/* The first argument of a hypercall, and its result (abi/guest.h). */
uint64_t hal_core_argument(const struct hal_core *core);
void hal_core_set_result(struct hal_core *core, uint64_t value);

/*
 * Answers the calls that need no policy, BH_CALL_VERSION and BH_CALL_DOORBELL, where hal_core_run returns them. `number`: counted from
 * BH_CALL_VERSION on. False: it is another call, and *result is untouched.
 */
bool hal_core_call(struct hal_core *core, uintptr_t number, int64_t *result);

/* Fills pc and registers of a crash record. */
void hal_core_record(const struct hal_core *core, struct bh_crash *crash);

/*
 * Ends this core's life: its guest is off, nothing is armed that could interrupt it (timers, lines of its own), and no later life finds its
 * registers. Kicks keep arriving. Requires: on the core itself, between two runs of its guest.
 */
void hal_core_quiesce(struct hal_core *core);
/*
 * Silences the sandbox's devices: its PCI functions neither master the bus nor decode nor have a translation, its lines reach no core. A
 * step of restarts, and the last of an end for good. Requires: the first core, after hal_core_quiesce of every core, so that nothing of the
 * sandbox runs. At the end for good, a core that does not come in time is not waited for: it never runs its guest again. Waits for locks,
 * bounded (hal/lock.h).
 *
 * Returns whether that is done. If so, what its functions had asked of memory has been answered, nothing of theirs reaches it any more
 * (BH-I1.dma), and the caller may write it. If not, the IOMMU has not confirmed it within a bound: the sandbox's frames are to stay as they
 * are.
 */
HAL_CHECKED bool hal_partition_quiesce(struct hal_core *core);
/* How many milliseconds after hal_partition_quiesce the sandbox's devices may be accessed again; 0: at once. Requires: start-up. */
uint32_t hal_partition_reset_ms(const struct hal_partition *partition);
/*
 * Gives the sandbox the hardware state of a first life: its lines and functions are as start-up left them, nothing is pending or active
 * that an earlier life caused, the other cores are off, every register of this core's guest is as before its first entry, no entry
 * of stage 2's root is missing.
 * Requires: the first core, so long after hal_partition_quiesce as hal_partition_reset_ms says. The caller has restored the sandbox's
 * memory.
 */
void hal_core_restart(struct hal_core *core);
/* Sleeps until a kick may have arrived. Spurious returns are allowed. */
void hal_core_wait(struct hal_core *core);

/*
 * Kicks: an interrupt from a monitor to a monitor that no guest can mask, lose or forge. Requests to one core coalesce:
 * each mailbox counts requests and acknowledgements, and a ticket is answered when the acknowledgements have reached it.
 */
struct hal_kick_mailbox {
	_Alignas(64) uint32_t requested; /* incremented by kickers */
	uint32_t sent;                   /* ARM: requests whose signal is on its way */
	uint32_t acknowledged;           /* written by the kicked core alone */
	uint32_t awake;                  /* the kicked core is in its private monitor, or about to enter it (x86); it alone writes this */
	uint32_t noticed;                /* not 0: a sandbox whose `notify` names this core's has been parked; kept for later lives */
};
/*
 * Kicks the first core of sandbox `target`; returns the ticket. Requires: target < BH_MAX_SANDBOXES.
 * Where hal_partition_allow_kick has not allowed it, sends nothing and returns 0, which is never answered.
 */
uint32_t hal_kick_send(struct hal_core *self, uint32_t target);
/* Returns whether the kick with this ticket of hal_kick_send has been acknowledged; false where `target` may not be kicked. */
bool hal_kick_answered(const struct hal_core *self, uint32_t target, uint32_t ticket);
/*
 * Kicks every other core of the own sandbox, on x86 also this one, and waits for none: whatever a core runs, it comes into its monitor.
 * Exception: where nobody may kick the sandbox, a core that sleeps with its CPU interface closed (GICv2) sleeps on.
 */
void hal_kick_siblings(struct hal_core *self);
/* Sends the interrupts that hal_partition_allow_notice has allowed, now and whenever one of their targets begins anew. Needs no answer. */
void hal_notice_send(const struct hal_core *self);
/*
 * Rings doorbell `n` of the own sandbox: its line becomes pending, after all that this core has
 * written. Who is rung takes it without an exit, and needs not be awake. Returns BH_OK, BH_E_DENIED or BH_E_LATER, as BH_CALL_DOORBELL
 * does; then nothing was done. Of two cores that ring at once one does, for both.
 */
int64_t hal_doorbell_ring(struct hal_core *self, uint64_t n);
/*
 * Opens a gate of the own partition, or closes it, in one store, however large it is. Opened: every core reaches what is behind it when
 * this returns. Closed: this core does not when its guest runs next, no other one from its next exit on, which comes at once and is not
 * waited for. To turn it to where it is is allowed; of two cores that turn it at once, one is the last.
 */
void hal_gate_turn(struct hal_core *self, const struct hal_gate *gate, bool open);
/*
 * Acknowledges the kicks that are pending for this core. Returns how many requests that answers. Bounded. Called after every exit by a
 * kick and in every wait loop, so that two cores that kick each other cannot deadlock.
 */
uint32_t hal_kick_take(struct hal_core *core);
