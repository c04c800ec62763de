/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a board is: data alone. platforms/NAME/board.h has the one const `board` of an image, which every file sees as constants:
 *
 *   - start-up reads it whole, and is dropped with it;
 *   - the resident part has of it what the compiler puts into its instructions, or what start-up copied into the part's own state
 *     (gic_at, pci_ecam). It has no copy of the structure.
 *
 * All addresses are HPAs. Lists stand in macros of the same header besides, BOARD_PRIVATE_SPANS and others, because `bulkhead check` reads
 * them there (tools/bhtool/config/private.py), and so do what the linker and the assembler need. docs/boards.md explains each word.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/table.h"

struct board_span {
	uint64_t start, bytes;
};
struct board_spans {
	const struct board_span *at;
	uint32_t count;
};
/* The spans of a list in braces, at file scope. */
#define BOARD_SPANS(...)      { (const struct board_span[]){ __VA_ARGS__ }, BOARD_SPAN_COUNT(__VA_ARGS__) }
#define BOARD_SPAN_COUNT(...) (sizeof((const struct board_span[]){ __VA_ARGS__ }) / sizeof(struct board_span))

struct board_pci {
	uint64_t ecam;            /* configuration registers of bus 0, a page a function; 0: behind ports alone, or there is no PCI */
	uint32_t functions;       /* identifiers below this exist */
	struct board_span window; /* where base addresses may lie: memory, */
	struct board_span ports;  /* and I/O ports */
	uint64_t ports_at;        /* address of port 0 where ports are memory; else 0 */
};

/*
 * The boot console: start-up's few lines, before any sandbox runs. ARM: a kind is a row in arch/arm/console_boot.c. PCs have ports alone,
 * arch/x86_64/machine_boot.c.
 */
enum board_uart {
	BOARD_UART_PL011,
	BOARD_UART_16550,       /* and 8250, dw-apb: registers in memory */
	BOARD_UART_16550_PORTS, /* of PCs */
};
struct board_console {
	enum board_uart uart;
	uint64_t address; /* or first port */
	uint32_t stride;  /* 16550: bytes from register to register, 1 or 4 (reg-shift 0 or 2); those 4 apart are accessed as words */
};

/* ARM: the interrupt controller. 0: its kind has none. */
struct board_gic {
	uint64_t distributor;
	uint64_t interface;             /* GICv2: GICC */
	uint64_t redistributors;        /* GICv3: the first frame */
	struct board_spans translators; /* GICv3: every ITS, which start-up switches off; of a span only the start counts */
};

/* ARM: how cores but the first are started, and whether somebody switches the machine off. */
enum board_start {
	BOARD_START_PSCI,       /* firmware answers SMC */
	BOARD_START_SPIN_TABLE, /* each core waits until the word at its address names an entry: "enable-method" of the Devicetree
				   Specification */
};
struct board_release {
	uint64_t core;    /* MPIDR affinity */
	uint64_t address; /* `cpu-release-addr`: in RAM, 64 bits, within BOARD_RESERVED_RAM */
};
struct board_releases {
	const struct board_release *at;
	uint32_t count;
};
#define BOARD_RELEASES(...)                              \
	{ (const struct board_release[]){ __VA_ARGS__ }, \
	  sizeof((const struct board_release[]){ __VA_ARGS__ }) / sizeof(struct board_release) }

/* What stands between the machine's PCI functions and memory. */
struct board_iommu {
	enum bh_iommu kind;
	uint64_t registers; /* AMD-Vi and VT-d: where firmware, or the board's reset, has put them */
	uint32_t function;  /* AMD-Vi: the PCI function that it is itself */
};

/* PCs: what the processor does not tell about the machine. */
struct board_pc {
	uint16_t exit_port;     /* how an emulator is ended; 0: not at all */
	const char *exit_word;  /* written to it, byte by byte; NULL: a 32-bit write of n ends with status 2n+1 */
	uint16_t pm_timer_port; /* ACPI power-management timer, PM_TMR_BLK */
	uint64_t ioapic;
	uint16_t ioapic_source; /* what VT-d knows it by: bus << 8 | device << 3 | function, ACPI's DMAR has it; of boards with VT-d */
	uint64_t trampoline;    /* free page below 1 MiB for starting cores */
	/*
	 * Guests may fetch from pages of 2 MiB and 1 GiB even where the processor does not deny the page-size-change machine check:
	 * an emulator's has none, whatever model it shows.
	 */
	bool large_code_pages;
	bool counters_only_shown; /* an emulator's CPUID tells of performance counters and sampling that it does not have */
};

struct board {
	const char *name;                 /* of the platform: a table for another is refused */
	struct board_spans ram;           /* what tables may give away; ARM: in multiples of 2 MiB, ARMv7 below 4 GiB */
	struct board_spans reserved_ram;  /* of it what firmware keeps */
	struct board_spans private_spans; /* device registers, ... */
	struct board_spans private_ports; /* I/O ports, ... */
	struct board_spans private_lines; /* and interrupt lines that are no sandbox's */
	struct board_span banked;         /* the one device every sandbox may map, because each core has its own; no bytes: none */
	uint64_t core_id_mask;            /* bits that a core's number may have, ... */
	uint64_t core_id_greatest;        /* and the last of them */
	uint32_t first_vector;            /* of a device */
	uint32_t first_level_vector;      /* of a level-triggered line whose vector no guest chooses */
	struct board_pci pci;
	struct board_iommu iommu;
	struct board_console console;
	struct board_gic gic;
	struct {
		enum board_start by;
		struct board_releases releases; /* of a spin table */
	} start;
	struct board_pc pc;
};
