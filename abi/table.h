/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The partition table: what the host tool decided, as the monitor reads it when the machine boots. Const, versioned,
 * checksummed. The same rules as in guest.h: the tool reads this header through cffi, so only enums, scalars and arrays.
 *
 *   header | board | cores[] | sandboxes[] | regions[] | ports[] | lines[] | copies[] | pieces[] | pci_functions[] | channels[]
 *
 * Arrays are dense, counts in the header.
 *
 * The table lies at the symbol `partition_table` of the monitor image. It is checked once by start-up code (monitor/boot/
 * table/) and dropped with it; what is needed later is copied into the sandbox's private monitor.
 */
#pragma once
#include "channel.h"
#include "guest.h"

enum {
	BH_TABLE_MAGIC = 0x54504842 /* "BHPT" */,
	BH_TABLE_VERSION = 13,
	BH_MAX_CORES = 32,
	BH_MAX_SANDBOXES = 8,
	BH_MAX_REGIONS = 96,
	BH_MAX_PORTS = 64,
	BH_MAX_LINES = 64,
	BH_MAX_COPIES = 64,
	BH_MAX_PIECES = 64,
	BH_MAX_RESTARTS = 1000000,
	BH_MAX_PCI_FUNCTIONS = 16,
	BH_PCI_FUNCTION_BARS = 6,
	BH_MAX_CHANNELS = 16,
	BH_CLOCK_DIGITS = 10, /* blanks at bh_sandbox.clock_text */
	BH_SMALL_CORES = 4,   /* of a sandbox whose pool has at most BH_SMALL_POOL_BYTES; each core more may take BH_CORE_POOL_BYTES */
	BH_SMALL_POOL_BYTES = 0x50000,
	BH_CORE_POOL_BYTES = 0x4000,
	BH_MAX_POOL_BYTES = BH_SMALL_POOL_BYTES + (BH_MAX_SANDBOX_CORES - BH_SMALL_CORES) * BH_CORE_POOL_BYTES,
};

/*
 * A sandbox's pool: whole frames of its monitor, never mapped in full by any sandbox. What precedes the crash record is
 * shared with the world as written; the rest of the record's frame and all after it is the start-up allocator's, for the private
 * copy, tables, stacks and maps. The tool counts what start-up will take; a pool with fewer frames is refused.
 */
enum {
	BH_POOL_STATS = 0x0000, /* struct bh_stats */
	BH_POOL_INFO = 0x1000,  /* struct bh_info, put there by the image */
	BH_POOL_LOG = 0x2000,   /* struct bh_log, BH_LOG_BYTES */
	BH_POOL_CRASH = 0x6000, /* struct bh_crash */
	BH_POOL_ARENA = 0x7000,
	BH_POOL_ABSENT = 0x7000, /* of a sandbox with PCI functions, all ones: configuration registers of others and of none */
};

enum bh_permission { BH_PERM_READ = 1, BH_PERM_WRITE = 2, BH_PERM_EXECUTE = 4 };
enum bh_memory_type { BH_MEMORY_RAM, BH_MEMORY_DEVICE };
/*
 * A new kind needs a case in monitor/boot/table/regions_boot.c (may two sandboxes share it?), its rows in tools/bhtool/config/grants.py and
 * its place in place.py, tools/bhtool/oracle/policy.py, and a row in tests/unit/good_table.c. hal needs no change: every kind is mapped
 * alike.
 */
enum bh_region_kind {
	BH_REGION_RAM,     /* private RAM */
	BH_REGION_DEVICE,  /* device registers, given to one sandbox */
	BH_REGION_POOL,    /* window into a pool: stats, info, own or foreign log */
	BH_REGION_BANKED,  /* device registers that hardware banks per core (GICv2 GICC): every sandbox may have them */
	BH_REGION_OPEN,    /* what a sandbox without its memory or irq protection reaches besides; nobody's own, and anybody's */
	BH_REGION_BAR,     /* whole pages around one base address of a PCI function of the sandbox */
	BH_REGION_DMA,     /* what functions of a sandbox without its dma protection reach besides; its processors do not */
	BH_REGION_FAULTS,  /* the queue in which the IOMMU records what it has blocked; anybody's to read */
	BH_REGION_CHANNEL, /* of a channel, one end's part: its own area, or the rest */
};
/*
 * Why a device that is granted reaches no memory but its sandbox's. Start-up refuses one that nobody has judged. TRANSLATED is for PCI
 * functions of a board with an IOMMU alone, whose registers have it, too.
 */
enum bh_dma {
	BH_DMA_UNKNOWN,
	BH_DMA_FREE,        /* it masters no bus: by its binding, or by the word of the board tree */
	BH_DMA_TRANSLATED,  /* it may master the bus: the IOMMU leads all that it does to its sandbox's RAM */
	BH_DMA_UNPROTECTED, /* it may master the bus and reaches all memory, as the configuration says; of a board without an IOMMU */
};
/* What stands between PCI functions and memory (hal/iommu). */
enum bh_iommu { BH_IOMMU_NONE, BH_IOMMU_SMMUV3, BH_IOMMU_AMDVI, BH_IOMMU_VTD, BH_IOMMU_KINDS };
/* Tables and queues that an IOMMU has once for the machine, in frames that no sandbox maps: how many bytes, and how they are aligned. */
enum {
	BH_IOMMU_ALIGN = 0x10000,
	BH_SMMUV3_BYTES = 0x10000,
	BH_AMDVI_BYTES = 0x210000,
	BH_VTD_BYTES = 0x90000,
};
/* Where in them the IOMMU writes down what it has blocked, one page; its manual has the form of the records (hal/iommu/README.md). */
enum { BH_SMMUV3_EVENTS = 0x5000, BH_AMDVI_EVENTS = 0x202000 };
struct bh_region {
	uint64_t gpa;
	uint64_t hpa;
	uint64_t size; /* bytes, multiple of 4 KiB */
	uint32_t sandbox;
	uint8_t permissions; /* enum bh_permission, or-ed */
	uint8_t memory_type; /* enum bh_memory_type */
	uint8_t kind;        /* enum bh_region_kind */
	uint8_t dma;         /* enum bh_dma; of DEVICE and BAR */
};
struct bh_ports { /* x86 only */
	uint16_t sandbox;
	uint16_t first;
	uint16_t count;
	uint16_t dma; /* enum bh_dma */
};
/*
 * MASKED: until its guest programs it, with a vector that it chooses; of level-triggered lines, in one sandbox at most. RUNG: no device
 * raises it but the other end of a channel, through its monitor.
 */
enum bh_line_flags { BH_LINE_LEVEL = 1, BH_LINE_ACTIVE_LOW = 2, BH_LINE_MASKED = 4, BH_LINE_RUNG = 8 };
/* x86: lines that are rung are no pins of the machine's: they have numbers from here on. */
enum { BH_FIRST_RUNG_LINE = 64, BH_LAST_RUNG_LINE = BH_FIRST_RUNG_LINE + 2 * BH_MAX_CHANNELS - 1 };
/* x86: level-triggered lines whose vectors are not chosen by guests have theirs from here on, where Linux gives none to devices. */
enum { BH_FIRST_LEVEL_VECTOR = 0xf0, BH_LAST_LEVEL_VECTOR = 0xfe };
struct bh_line {
	uint32_t sandbox;
	uint32_t line;   /* ARM: INTID >= 32; x86: IOAPIC pin */
	uint32_t core;   /* machine core it goes to first */
	uint16_t vector; /* x86 only */
	uint16_t flags;  /* enum bh_line_flags */
};
/*
 * Payload arrives in place, or, where a boot loader chooses the places, as one boot module: pieces in whole pages, one
 * after the other without gaps. Both addresses ascend from row to row, so that the module can be spread out over RAM that
 * it lies in itself (monitor/boot/module_boot.c).
 */
struct bh_copy {
	uint64_t offset; /* in the module */
	uint64_t target; /* HPA: RAM of the sandbox, or its information page */
	uint64_t size;   /* bytes, multiple of 4 KiB */
	uint32_t sandbox;
	uint32_t pad;
};
/*
 * A PCI function. Its base address registers as they read when they hold the granted addresses, type bits and all, and after
 * all ones were written to them; 0 and 0: the function has none there. PCI Local Bus 3.0, 6.2.5 "Base Addresses".
 */
struct bh_pci_function {
	uint32_t sandbox;
	uint32_t id;       /* bus << 8 | device << 3 | function */
	uint32_t identity; /* device << 16 | vendor */
	uint32_t bar[BH_PCI_FUNCTION_BARS];
	uint32_t bar_mask[BH_PCI_FUNCTION_BARS];
	uint32_t dma;      /* enum bh_dma */
	uint32_t table;    /* where its table of MSI-X lies, as its capability says it: PCI Local Bus 3.0, 6.8.2.4 */
	uint32_t messages; /* entries of that; 0: it has no MSI-X, or the board tree does not say, which VT-d does not have */
	uint32_t line;     /* 1: its guest may let it interrupt by its line (INTx), which its sandbox was granted; 0: it never does */
};
/*
 * What a sandbox that restarts finds in its memory, besides zeros. Start-up copies it from `target` to the sandbox's boot
 * snapshot, each restart copies it back. Both addresses ascend from row to row of a sandbox; in the copy there are no gaps.
 */
struct bh_piece {
	uint64_t offset; /* in the boot snapshot */
	uint64_t target; /* HPA: RAM of the sandbox */
	uint64_t size;   /* bytes, multiple of 4 KiB */
	uint32_t sandbox;
	uint32_t pad;
};
/*
 * A channel (channel.h): area of end 0, page, area of end 1. Regions give it to the sandboxes of its ends. With BH_CHANNEL_ON_REQUEST in
 * `flags` each reaches it while it has it open, and sees it alone at the beginning of a stretch of BH_GATE_BYTES, or, if it does not fit
 * there, of BH_LARGE_GATE_BYTES.
 */
enum { BH_GATE_BYTES = 0x200000, BH_LARGE_GATE_BYTES = 0x40000000 };
struct bh_channel_row {
	uint64_t hpa;           /* page aligned; of nobody else's memory */
	uint64_t area_bytes[2]; /* multiples of 4 KiB */
	uint32_t sandbox[2];    /* from, to */
	uint32_t kind;          /* enum bh_channel_kind */
	uint32_t slots;
	uint32_t slot_bytes;
	uint32_t gap_us[2];    /* at least so long from one ring by that end to the next; 0: it does not ring */
	uint32_t rung_line[2]; /* by which that end is rung, one of the lines of its sandbox; 0: it is not */
	uint32_t flags;        /* BH_CHANNEL_ON_REQUEST, or 0 */
	uint8_t name[BH_NAME_BYTES];
};
enum bh_on_fault { BH_ON_FAULT_PARK, BH_ON_FAULT_RESTART };
/* Protections that a sandbox can do without: BH-D102. */
enum bh_protection {
	BH_PROTECT_MEMORY = 1, /* stage 2 maps what was granted */
	BH_PROTECT_IO = 2,     /* x86: I/O ports that were granted */
	BH_PROTECT_MSR = 4,    /* model-specific, system and coprocessor registers by allow-list */
	BH_PROTECT_IPI = 8,    /* interrupts to own cores only */
	BH_PROTECT_IRQ = 16,   /* the interrupt controller, own lines only */
	BH_PROTECT_ABORT = 32, /* exceptions that could go on for ever, and errors of the machine, come to the monitor */
	BH_PROTECT_DMA = 64,   /* the IOMMU leads functions to RAM of their sandbox */
	BH_PROTECT_ALL = 127,
};
enum bh_sandbox_flags { BH_SANDBOX_TRUSTED_IDLE = 1, BH_SANDBOX_LINUX = 2 };
struct bh_sandbox {
	uint8_t name[BH_NAME_BYTES];
	uint32_t flags; /* enum bh_sandbox_flags */
	uint32_t core_count;
	uint32_t cores[BH_MAX_SANDBOX_CORES]; /* machine core numbers, boot core first */
	uint32_t may_kick;                    /* bit n: sandbox n */
	uint32_t on_fault;                    /* enum bh_on_fault */
	uint32_t max_restarts;                /* after that many faults it is parked all the same */
	uint32_t heartbeat_timeout_us;        /* 0: nobody watches */
	uint32_t unprotected;                 /* enum bh_protection, or-ed: switched off */
	uint16_t notifies;                    /* bit n: sandbox n is told when this one is parked */
	uint16_t accepts;                     /* bit n: sandbox n may tell this one so */
	uint64_t pool;                        /* HPA */
	uint64_t pool_bytes;                  /* more than BH_POOL_ARENA, as many more as its cores explain: BH_SMALL_CORES */
	uint64_t entry;                       /* GPA of the first instruction */
	uint64_t arg;                         /* see guest.h */
	uint64_t stack;                       /* GPA, initial stack pointer */
	uint64_t entry_area;                  /* x86: GPA of GDT (+0x0) and one-to-one page tables, root at +0x1000; else 0 */
	uint64_t clock_text; /* HPA of 10 blanks to fill with the clock in kHz, decimal, left aligned (x86 Linux); 0: none */
	uint64_t snapshot;   /* HPA of the boot snapshot, mapped for no sandbox; on_fault RESTART only, else 0 */
	uint64_t snapshot_bytes;
};
struct bh_table {
	uint32_t magic;    /* BH_TABLE_MAGIC */
	uint32_t version;  /* BH_TABLE_VERSION */
	uint32_t size;     /* sizeof(struct bh_table) */
	uint32_t iommu;    /* enum bh_iommu: the board's */
	uint64_t checksum; /* FNV-1a over the 64-bit little-endian words of the table, this field taken as 0 */
	uint8_t platform[BH_NAME_BYTES];
	uint8_t partition[BH_NAME_BYTES]; /* file that it was made from, for people */
	uint64_t shared;                  /* HPA of one page: kick mailboxes (docs/shared-state.md) */
	uint64_t iommu_tables;            /* HPA of BH_*_BYTES for the kind in `iommu`, BH_IOMMU_ALIGN-aligned; NONE: 0 */
	uint64_t module_bytes;            /* of the one boot module that must come with the image; 0: there must be none */
	uint64_t module_checksum;         /* FNV-1a over its 64-bit little-endian words */
	uint32_t core_count, sandbox_count, region_count, port_count, line_count, copy_count, piece_count, pci_function_count;
	uint32_t channel_count, pad;
	uint64_t hardware_id[BH_MAX_CORES]; /* MPIDR affinity or APIC ID of machine core n */
	struct bh_sandbox sandboxes[BH_MAX_SANDBOXES];
	struct bh_region regions[BH_MAX_REGIONS];
	struct bh_ports ports[BH_MAX_PORTS];
	struct bh_line lines[BH_MAX_LINES];
	struct bh_copy copies[BH_MAX_COPIES];
	struct bh_piece pieces[BH_MAX_PIECES];
	struct bh_pci_function pci_functions[BH_MAX_PCI_FUNCTIONS];
	struct bh_channel_row channels[BH_MAX_CHANNELS];
};
