/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam between what every x86 processor does and how AMD or Intel does it. hal_probe chooses a vendor on the boot
 * core before anything else runs; from then on hal.h goes through x86_vendor and nobody asks which one it is.
 */
#pragma once
#include "hal/hal.h"

struct pt;
struct pt_format;

/* Guest state that the vendor's control block holds. From CR0 to RIP: what decides which instruction the guest is at, but for memory. */
enum x86_field { X86_RFLAGS, X86_CR0, X86_CR3, X86_CR4, X86_EFER, X86_CS, X86_CS_BASE, X86_RIP, X86_PAT, X86_FIELDS };

/*
 * Bits L and D of the code segment, code_shift bits up in X86_CS: L means 64-bit mode where long mode is active. APM vol. 2, 4.8.1
 * "Code-Segment Descriptors".
 */
enum x86_code_size { X86_CODE_64 = 1, X86_CODE_32 = 2 };

/*
 * An event to deliver. The vendors share the layout: vector 7:0, type 10:8 (2 NMI, 3 exception), 11 error code, 31 valid.
 * APM vol. 2, 15.20 "Event Injection"; SDM vol. 3C, 25.8.3 "VM-Entry Controls for Event Injection". Error codes are 0.
 */
#define X86_EVENT_VALID    (UINT32_C(1) << 31)
#define X86_EVENT_IDENTITY UINT32_C(0x7ff) /* type and vector */
/* An NMI of the guest's. The vendor's own form of it must not hold real NMIs, and with them kicks, until the guest's IRET. */
#define X86_EVENT_NMI               (X86_EVENT_VALID | 2 << 8 | 2)
#define X86_EVENT_EXCEPTION(vector) (X86_EVENT_VALID | 3 << 8 | (vector))
#define X86_EVENT_HAS_ERROR         (UINT32_C(1) << 11)

/* Resident. */
struct x86_vendor {
	/*
	 * Runs the guest to its next exit and decodes it, into an `exit` of zeros and kind ERROR. Loads rax from core->registers and stores
	 * it there again; rsp is only stored. An event whose delivery the exit interrupted is delivered by the next run, unless another is
	 * injected. After a memory exit the fields from X86_CR0 to X86_RIP stand where core->noted says.
	 */
	void (*run)(struct hal_core *core, struct hal_exit *exit);
	/* Sleeps until an NMI; returns at once if one has come since the guest last ran. */
	void (*wait)(void);
	uint64_t (*get)(const struct hal_core *core, enum x86_field field);
	void (*set)(struct hal_core *core, enum x86_field field, uint64_t value);
	/* Moves the guest to the instruction after the one that exited. */
	void (*skip)(struct hal_core *core, const struct hal_exit *exit);
	/* Delivers an event before the next guest instruction. One a run. */
	void (*inject)(struct hal_core *core, uint32_t event);
	/* Returns whether an event already waits for the next run. */
	bool (*has_event)(const struct hal_core *core);
	/*
	 * On the core itself. The guest's state after INIT and a STARTUP at this vector: real mode, CS:IP at vector << 12, no event,
	 * no stale translation. SDM vol. 3A, 10.1.1 "Processor State After Reset", 9.4.4 "MP Initialization Example". General and
	 * debug registers are the caller's.
	 */
	void (*start)(struct hal_core *core, uint8_t vector);
	/* The same, but as core->entry says. */
	void (*enter)(struct hal_core *core);
	/*
	 * On the core itself: takes the most urgent pending external interrupt and discards it; its handler does not end it. May take
	 * NMIs, which are not reported.
	 */
	void (*drain)(void);
	uint8_t code_shift;
};
extern const struct x86_vendor *x86_vendor;

/* The one of the vendor's functions that is called from many places. */
uint64_t x86_get(const struct hal_core *core, enum x86_field field);

/* Start-up, dropped with it. */
enum { X86_VENDOR_PARTS = 2 };        /* text and rodata; arch/x86_64/monitor.lds */
enum { X86_MSRS_PER_RANGE = 0x2000 }; /* in either vendor's map */
struct x86_msrs {
	const uint32_t *at;
	size_t count;
};
#define X86_MSRS(array) { (array), sizeof(array) / sizeof((array)[0]) }
struct x86_vendor_boot {
	const struct x86_vendor *resident;
	struct hal_part parts[X86_VENDOR_PARTS];
	const struct pt_format *stage2;
	bool (*present)(void);
	/* As hal_probe, for a processor that is `present`. */
	HAL_CHECKED enum hal_status (*probe)(const char **missing);
	size_t msr_map_frames;
	struct x86_msrs msr_ranges; /* the first MSR of each range that its map covers; all others always exit */
	struct x86_msrs msrs_kept;  /* registers in those ranges that stay the monitor's even where `msr` is unprotected */
	void (*allow_msr)(struct hal_partition *partition, uint32_t msr, unsigned permissions);
	/* Drops leaf sizes of the stage-2 format that the processor lacks. */
	void (*narrow)(struct pt *stage2);
	/* Takes the core's control blocks from the arena. */
	HAL_CHECKED enum hal_status (*core_create)(struct hal_core *core, struct hal_arena *arena);
	/*
	 * On the core itself: virtualization on, guest state as core->entry says. No kick is lost from here on; `root` is that of
	 * the tables on which its monitor will run.
	 */
	void (*enable)(struct hal_core *core, uint64_t root);
	/* What vector 2 does in a monitor. */
	void (*nmi)(void);
};
extern const struct x86_vendor_boot *x86_vendor_boot;
extern const struct x86_vendor_boot svm_vendor_boot, vmx_vendor_boot;
