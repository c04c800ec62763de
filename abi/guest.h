/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract between a sandbox and the monitor below it: what a program finds when it is entered, and what it may ask.
 *
 * Owned by nobody's code: the monitor writes these structures, any guest reads them, and the `bulkhead` tool reads both
 * this file (through cffi) and the memory. So: only enums, fixed-size scalars and arrays; no pointer, bit field or macro
 * in a structure. Every structure is little-endian and naturally aligned. docs/guest.md is the prose to this header.
 *
 * Entry. AArch64: EL1h, MMU and caches off, DAIF masked, x0 = arg, SP_EL1 = stack.
 *        ARMv7: SVC mode, ARM state (Thumb if bit 0 of the entry is set), MMU and caches off, A, I and F masked,
 *        r0 = r2 = arg (Linux ignores r0), r1 = all ones (Linux: no machine number), SP_svc = stack.
 *        x86_64: 64-bit mode, first 4 GiB mapped one to one, CS 0x10, SS/DS/ES 0x18, IF=0, RDI = RSI = arg, RSP = stack.
 * arg is the GPA of struct bh_info for `os,type = "native"`, of what the kernel expects (FDT, boot_params) for Linux.
 * The first core of a sandbox is entered; it starts the others as on the machine below: PSCI CPU_ON, INIT and STARTUP.
 */
#pragma once
#include <stdint.h>

enum { BH_PAGE_BYTES = 4096, BH_NAME_BYTES = 32, BH_MAX_SANDBOX_CORES = 16, BH_MAX_GRANTS = 38 };

/* The interrupt that tells a sandbox, on its first core, that another has been parked: a vector on x86, an INTID on ARM. */
enum { BH_NOTICE_VECTOR = 0xe2, BH_NOTICE_SGI = 14 };

/*
 * Why a sandbox trapped into its monitor; index of every exit counter, so the order is part of the contract. A new one comes last, and
 * needs the backends' decoders and emulators, monitor/exits.c, SETTLED of monitor/run.c, and tools/bhtool/codes/reasons.py. While there are
 * at most BH_EXIT_SLOTS, nothing else of struct bh_stats moves.
 */
enum bh_exit_reason {
	BH_EXIT_KICK,      /* another monitor asked for attention */
	BH_EXIT_MEMORY,    /* access that stage 2 does not allow */
	BH_EXIT_DEVICE,    /* filtered device register: distributor, redistributor, IOAPIC, PCI configuration */
	BH_EXIT_PORT,      /* I/O port that is not granted */
	BH_EXIT_REGISTER,  /* filtered MSR or system register */
	BH_EXIT_IPI,       /* inter-processor interrupt through the send filter */
	BH_EXIT_CALL,      /* hypercall of this contract */
	BH_EXIT_FIRMWARE,  /* firmware call (PSCI) */
	BH_EXIT_IDENTIFY,  /* CPUID */
	BH_EXIT_IDLE,      /* WFI where somebody may kick the sandbox (ARM without trusted-idle) */
	BH_EXIT_LONG,      /* long instruction: WBINVD, INVD */
	BH_EXIT_FORBIDDEN, /* instruction a sandbox does not have: VMRUN, CLGI, MONITOR, SMC nonsense */
	BH_EXIT_RESET,     /* triple fault, INIT, reset or power-off of the sandbox */
	BH_EXIT_ERROR,     /* the machine reported something no table entry knows */
	BH_EXIT_HANG,      /* no exit: its heartbeat was missed when somebody kicked it */
	BH_EXIT_REASONS,
};
enum { BH_EXIT_SLOTS = 20 /* counters that there is room for */ };

/* Life of a sandbox, as its monitor sees it. */
enum bh_state { BH_STATE_COLD, BH_STATE_RUNNING, BH_STATE_READY, BH_STATE_PARKED, BH_STATE_OFF };

/* Read-only to its sandbox, one page, written by the sandbox's monitor alone; one row a core, so no locks. */
enum { BH_STATS_MAGIC = 0x54534842 /* "BHST" */ };
struct bh_core_stats {
	uint64_t exits[BH_EXIT_SLOTS];
	uint64_t kicks; /* kicks acknowledged: several may coalesce into one exit, some arrive between exits */
};
struct bh_stats {
	uint32_t magic;
	uint32_t state; /* enum bh_state */
	uint32_t core_count;
	uint32_t sandbox;       /* index in the partition table */
	uint64_t boot_clock;    /* arch counter when the monitor's start-up code was entered */
	uint64_t start_clock;   /* arch counter just before the first guest instruction */
	uint64_t ready_clock;   /* arch counter when the sandbox called BH_CALL_READY, 0 before */
	uint32_t restarts;      /* lives before this one */
	uint32_t pool_bytes;    /* memory that its monitor takes, this page and the log included; RAM and a restart's copy are not */
	uint64_t restart_ticks; /* of the arch counter, from where its first core stops to where it is ready to run */
	uint64_t longest_restart_ticks; /* of all its restarts */
	struct bh_core_stats core[BH_MAX_SANDBOX_CORES];
	/* The lowest 32 bits of each core's exits at BH_CALL_READY: separates boot from steady state. */
	uint32_t at_ready[BH_MAX_SANDBOX_CORES][BH_EXIT_SLOTS];
};

/* What the sandbox was doing when its monitor parked it. Not visible to the sandbox. */
enum { BH_CRASH_MAGIC = 0x52434842 /* "BHCR" */, BH_CRASH_REGISTERS = 36 };
enum bh_access { BH_ACCESS_NONE, BH_ACCESS_READ, BH_ACCESS_WRITE, BH_ACCESS_EXECUTE };
struct bh_crash {
	uint32_t magic;
	uint32_t reason; /* enum bh_exit_reason */
	uint32_t core;   /* machine core number */
	uint32_t access; /* enum bh_access */
	uint64_t gpa;    /* MEMORY, DEVICE: address; PORT: port; REGISTER: register number */
	uint64_t gva;    /* virtual address where the machine gives one */
	uint64_t pc;
	uint64_t value;  /* value written, where known */
	uint64_t raw[2]; /* ESR, HPFAR | EXITCODE, EXITINFO1 | exit reason, qualification */
	uint64_t clock;  /* arch counter */
	uint32_t width;  /* bytes */
	uint32_t register_count;
	uint64_t reg[BH_CRASH_REGISTERS]; /* AArch64 x0-x30, SP_EL1, SPSR, ...; ARMv7 r0-r14, ...; x86 RAX, ... in the backend's order */
};

/* A console without a UART: a ring the sandbox writes and the tool (or a sandbox with `log-access`) reads. */
enum { BH_LOG_MAGIC = 0x474c4842 /* "BHLG" */, BH_LOG_BYTES = 16384, BH_LOG_TEXT_BYTES = BH_LOG_BYTES - 64 };
struct bh_log {
	uint32_t magic;
	uint32_t text_bytes; /* BH_LOG_TEXT_BYTES */
	uint64_t head;       /* bytes ever written; text[head % text_bytes] is next */
	uint64_t beats;      /* heartbeats so far */
	uint64_t beat_period_ns;
	uint64_t beat_gaps; /* beats that came more than one period late */
	uint64_t beat_late_max_ns;
	uint64_t gate;                   /* not 0: the tool lets who waits for it go on, with so many ns of patience */
	uint64_t beat_awake_late_max_ns; /* latest lateness + 1 of beats whose core was awake when they fell due; 0: not told */
	uint8_t text[BH_LOG_TEXT_BYTES];
};

/*
 * Table of grants: everything the sandbox owns beyond its cores. A new kind comes last; programs skip kinds that they do not know. Rows are
 * made in tools/bhtool/config/grants.py; docs/guest.md lists the kinds.
 */
enum bh_grant_kind {
	BH_GRANT_NONE,
	BH_GRANT_RAM,          /* gpa, size */
	BH_GRANT_DEVICE,       /* gpa, size of registers; line, vector */
	BH_GRANT_PORTS,        /* gpa = first port, size = ports; line, vector */
	BH_GRANT_LOG,          /* own log ring, read and write */
	BH_GRANT_FOREIGN_LOG,  /* another sandbox's log ring, read only; name = that sandbox */
	BH_GRANT_STATS,        /* struct bh_stats, read only */
	BH_GRANT_IRQCHIP,      /* gpa, size; name "gicv2-dist", "gicv2-cpu", "gicv3-dist", "gicv3-redist", "x2apic" */
	BH_GRANT_PCI_FUNCTION, /* gpa, size of its configuration registers (size 0: reached by ports only); line, vector */
	/*
	 * gpa, size of the queue in which the IOMMU records what it has blocked, read only; vector: enum bh_fault_form. A row for each
	 * function that masters the bus, all of the same queue: flags as FUNCTION's; name = its sandbox, compatible = its role label.
	 */
	BH_GRANT_DMA_FAULTS,
	BH_GRANT_DMA_RAM, /* gpa = where PCI functions see the RAM of BH_GRANT_RAM, size; no row: by the sandbox's own addresses */
	/*
	 * A VCPU that the sandbox kernel makes when it starts; no memory. name; compatible = its program; flags: BH_VCPU_*.
	 * Main VCPU: gpa = budget, size = period, in ns; vector 0, line = BH_LINE_NONE. I/O VCPU: vector = percent of its core; line of
	 * the device that it serves; gpa = how often in a second that interrupts at most, 0: not told; size = the shortest period, in
	 * ns, of those it serves.
	 */
	BH_GRANT_VCPU,
	/*
	 * A channel (channel.h): gpa, size of all of it; vector = which end the sandbox is, 0 or 1; line = where in it struct bh_channel
	 * lies; name; compatible = the other end's sandbox; flags: BH_CHANNEL_*.
	 */
	BH_GRANT_CHANNEL,
	/*
	 * The doorbells of the channel of this name, no memory. line, vector: by which the sandbox is rung, edge-triggered, at its first
	 * core; BH_LINE_NONE: never. gpa = how many ns lie at least between two rings of its own by BH_CALL_DOORBELL, 0: it may not ring;
	 * size = between two of the other end's.
	 */
	BH_GRANT_DOORBELL,
};
/* For admission, in ns: what a switch between VCPUs takes at most, and a top half with its masking and unmasking, where the platform says
 * nothing else (switch_ns, top_half_ns of struct bh_info); the VCPU of the sandbox kernel's main program. */
enum { BH_VCPU_SWITCH_NS = 1000, BH_VCPU_TOP_HALF_NS = 2000, BH_VCPU_MAIN_BUDGET_NS = 20000000, BH_VCPU_MAIN_PERIOD_NS = 100000000 };
/* In flags of a VCPU: its core, as counted in cores[]; it never runs without budget; all VCPUs of the sandbox go by deadline. */
enum { BH_VCPU_CORE = 0xff, BH_VCPU_FOREGROUND_ONLY = 0x100, BH_VCPU_EDF = 0x200 };
/*
 * In flags of a channel: a ring that the sandbox's console writes, or reads, besides its own UART (`terminal` of the sandbox's node); the
 * sandbox reaches it from BH_CALL_OPEN to BH_CALL_CLOSE, and an access at any other time is a fault, as to what it was never granted; the
 * latest value in which the sandbox says what it does (`telemetry` of its node), with slots of BH_TELEMETRY_BYTES or more.
 */
enum { BH_CHANNEL_TERMINAL = 1, BH_CHANNEL_ON_REQUEST = 2, BH_CHANNEL_TELEMETRY = 4 };
enum { BH_TELEMETRY_BYTES = 3744 /* struct bh_telemetry, telemetry.h */ };
/* Whose records: Arm IHI 0070, 7.3 "Event records"; AMD 48882, 2.5 "Event Logging". 0: there is none. */
enum bh_fault_form { BH_FAULTS_SMMUV3 = 1, BH_FAULTS_AMDVI = 2 };
enum { BH_FAULTS_BYTES = 0x1000 };
/* Of a device's flags, from these bits on, four bits each: `reg-shift` and `reg-io-width` of its node; a width of 0 is the driver's own. */
enum { BH_GRANT_REG_SHIFT = 4, BH_GRANT_REG_WIDTH = 8 };
enum { BH_LINE_NONE = 0xffffffff };
struct bh_grant {
	uint32_t kind;   /* enum bh_grant_kind */
	uint32_t line;   /* ARM: INTID; x86: IOAPIC pin; BH_LINE_NONE */
	uint32_t vector; /* x86: vector the line is routed to; else 0 */
	uint32_t flags;  /* bit 0: level; DEVICE: BH_GRANT_REG_*; FUNCTION: bits 31:16 bus, device, function; VCPU: BH_VCPU_* */
	uint64_t gpa;
	uint64_t size;
	uint8_t name[BH_NAME_BYTES];       /* role label: "uart1" */
	uint8_t compatible[BH_NAME_BYTES]; /* of the device node: of a UART the first name that a driver of ours knows, else the first */
};

/*
 * The information page: read-only to its sandbox, made by the tool (make_info, tools/bhtool/config/table.py); clock_hz is filled in by
 * start-up code where only the machine knows it. What is not used reads as 0. The page is full: a new field raises the version
 * (docs/versions.md), a row of a new kind in `grants` does not, as programs skip it.
 */
enum { BH_INFO_MAGIC = 0x4e494842 /* "BHIN" */, BH_INFO_VERSION = 3, BH_INFO_OLDEST = 3 /* that still runs: docs/versions.md */ };
/* An ELF note, name "Bulkhead", by which a program can say the version it was built for; one that says none is taken as it is. */
enum { BH_NOTE_CONTRACT = 1 /* its descriptor: one word, BH_INFO_VERSION */ };
struct bh_info {
	uint32_t magic;
	uint32_t version;
	uint32_t sandbox; /* own index */
	uint32_t core_count;
	uint32_t cores[BH_MAX_SANDBOX_CORES];       /* machine core numbers, boot core first */
	uint64_t hardware_id[BH_MAX_SANDBOX_CORES]; /* MPIDR affinity or APIC ID */
	uint64_t clock_hz;                          /* of CNTVCT or TSC; 0: read it from the machine (CNTFRQ) */
	uint8_t name[BH_NAME_BYTES];
	uint8_t arguments[192]; /* `bootargs`, NUL-terminated */
	uint32_t grant_count;
	uint16_t switch_ns; /* what the platform says for BH_VCPU_SWITCH_NS; 0, as before there was this: nothing */
	uint16_t top_half_ns;
	struct bh_grant grants[BH_MAX_GRANTS];
};

/*
 * Hypercalls. AArch64: HVC #0, function in x0, arguments x1-x3, result in x0, x1-x17 otherwise kept.
 * x86: VMMCALL (AMD) or VMCALL (Intel), function in RAX, arguments RBX, RCX, RDX, result in RAX.
 * ARMv7: HVC #0, function in r0, arguments r1-r3, result in r0, sign-extended from 32 bits; r1-r12 otherwise kept.
 * Function numbers lie in SMCCC's vendor-specific hypervisor range, 64-bit fast calls; a 32-bit sandbox (ARMv7) makes 32-bit
 * calls: the same numbers without BH_CALL_64. An unknown function returns BH_E_UNKNOWN and changes nothing.
 *
 * A new one comes last, and needs monitor/exits.c, tools/bhtool/codes/contract.py (a row in CALLS, and the numbers of BH_E_UNKNOWN),
 * docs/guest.md, and docs/codes.md regenerated. One that never returns also needs ENDING_CALLS in tools/bhtool/attack/resets.py and
 * calls_left_out in tests/guests/probe/arm/sweep_arm.c.
 */
enum { BH_CALL_64 = 0x40000000 };
enum bh_call {
	BH_CALL_VERSION = 0xc6000000, /* -> BH_INFO_VERSION */
	BH_CALL_READY = 0xc6000001,   /* steady state begins: counters are copied to at_ready */
	BH_CALL_PARK = 0xc6000002,    /* end of work of all cores; they wait in their monitor for good; never returns */
	BH_CALL_KICK = 0xc6000003,    /* kick the first core of sandbox `arg0` (needs `may-kick`); -> BH_OK when acknowledged */
	BH_CALL_RESTART = 0xc6000004, /* begin again where on-fault = "restart", as BH_CALL_PARK elsewhere; never returns */
	/*
	 * Rings the other end of the sandbox's channel number `arg0`, as its rows of BH_GRANT_CHANNEL count from 0 on: its line becomes
	 * pending.
	 * -> BH_OK, and then all that was written before reaches it before the interrupt does; BH_E_DENIED: no such doorbell; BH_E_LATER:
	 * less than its ns since the last one, and nothing was done.
	 */
	BH_CALL_DOORBELL = 0xc6000005,
	/*
	 * Opens and closes the sandbox's end of its channel number `arg0`, as BH_CALL_DOORBELL counts, which has BH_CHANNEL_ON_REQUEST.
	 * Open: the caller and all its cores reach it, then the other end sees a new life of this one. Closed: the caller reaches it no
	 * more, nor do its other cores from their next exit on, for which they do not wait; then the other end sees it closed, and keeps
	 * what it has. What is open is opened anew. A sandbox that begins again finds them closed. If two of its cores open and close one
	 * at the same time, either may come last. -> BH_OK; BH_E_DENIED: it has no such channel, and nothing has changed.
	 */
	BH_CALL_OPEN = 0xc6000006,
	BH_CALL_CLOSE = 0xc6000007,
};
enum bh_result { BH_OK = 0, BH_E_UNKNOWN = -1, BH_E_DENIED = -2, BH_E_TIMEOUT = -3, BH_E_LATER = -4 };
