/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ARM interrupt controller below a sandbox that receives its interrupts directly: gicv2 or gicv3, one linked per board.
 *
 *   guest ── IAR, EOIR ──────────────────────────► CPU interface      direct, no exit
 *   guest ── trapped page ──► gic_filter ──► distributor, redistributor    one exit an access, own lines only
 *   guest ── SGI ──► trapped ──► own cores only                      one exit an SGI
 *
 * The distributor is one device that all private monitors share, without a lock: every access made here for a guest sets
 * or clears bits of its own lines, or writes whole bytes or words of one line. Registers without such access (GICD_ICFGR, with two
 * bits a line, and GICD_CTLR) are written at start-up only. SGI 15 belongs to the monitors, docs/shared-state.md.
 *
 * Resident functions run on the guest's own core.
 */
#pragma once
#include "hal/hal.h"

enum {
	GIC_KICK_SGI = 15,
	GIC_FIRST_SPI = 32,
	GIC_LINES_A_WORD = 32,
	GIC_WORDS = 32,            /* INTIDs 0..1019, ARM IHI 0069 2.2 "INTIDs" */
	GIC_GUEST_PRIORITY = 0x10, /* highest a guest can give: the kick's, 0, stays above */
	GIC_RESET_PRIORITY = 0xa0,
};

/* SGIs and PPIs a guest has on its own core: all but the kick. */
#define GIC_GUEST_BANKED (~(UINT32_C(1) << GIC_KICK_SGI))

/* The interrupt controller as one sandbox may see it. */
struct gic_view {
	uint32_t lines[GIC_WORDS];                     /* of the distributor: bit n of word w is INTID 32w + n */
	uint32_t words;                                /* the guest sees that many, GICD_TYPER.ITLinesNumber + 1 */
	uint32_t control;                              /* GICD_CTLR as the guest wrote it: the real switch is everybody's */
	uint32_t control_fixed;                        /* its bits that read as one whatever is written */
	uint32_t interfaces;                           /* GICv2: CPU interfaces of own cores, a bit each */
	uint32_t reachable;                            /* GICv2: those it may send SGIs to: the same, or all without ipi protection */
	uint64_t sgi_group;                            /* GICv3: what of ICC_SGI1R_EL1 names the own cores' group of sixteen */
	uint64_t sgi_list;                             /* GICv3: their bits in it; 0 if they are of several groups */
	uint64_t redistributors[BH_MAX_SANDBOX_CORES]; /* GICv3: own cores' frames, boot core first */
	uint64_t last_redistributor;                   /* GICv3: of those the greatest address */
	uint64_t redistributor_bytes;                  /* GICv3: size of all redistributors of the machine */
};

/* ---- Start-up ---- */

struct hal_space;

/* Returns NULL, or the first thing that this driver misses, as hal_probe reports it. */
const char *gic_missing(void);
/* Switches off what reads or writes tables in memory. Returns NULL, or a refusal that names the register that stays on. */
const char *gic_disarm(void);
/* Fills the partition's view. */
void gic_create_view(struct hal_partition *partition);
/* Maps what the resident functions touch. */
HAL_CHECKED enum hal_status gic_map(struct hal_space *space, const struct hal_partition *partition);
/* Returns the traps, bits of HCR, that isolation needs with this controller. */
uint64_t gic_traps(const struct hal_partition *partition);
/* Initializes this core's part of the controller: the kick armed, everything else off. */
void gic_start_core(const struct hal_core *core);

/* ---- Resident ---- */

/* Returns what kind of exit a refused access to `gpa` is: DEVICE or IPI if it is to the controller, else MEMORY. */
enum bh_exit_reason gic_classify(const struct hal_core *core, uint64_t gpa, bool write);
/* Answers DEVICE: reads through gic_filter, writes what is granted. */
enum hal_action gic_emulate(struct hal_core *core, const struct hal_exit *exit);
/* Answers IPI: sends to own cores; HAL_FAULT if it names another or the kick. */
enum hal_action gic_emulate_ipi(struct hal_core *core, const struct hal_exit *exit);
/* Sends what a trapped register access asks for, if that is an SGI to own cores in its plainest form. false: nothing was done. */
bool gic_send_at_once(struct hal_core *core, uint64_t syndrome);
/*
 * Answers a frequent access to a word at once. Of `exit`, gpa, access, width, target, value and raw[0] count. Returns false, having done
 * nothing, for any other.
 */
bool gic_access_at_once(struct hal_core *core, const struct hal_exit *exit);
/* Answers REGISTER for registers of the CPU interface. Returns HAL_REFUSE for any other. */
enum hal_action gic_emulate_register(struct hal_core *core, const struct hal_exit *exit);
/* The kick's signal (kick.c): gic_signal sends it to a core; gic_clear_signal clears it here, whether or not it was taken. */
void gic_signal(uint64_t hardware_id);
void gic_clear_signal(void);
/* Sends BH_NOTICE_SGI to the guest of the other core. */
void gic_notice(uint64_t hardware_id);
/* Makes a line of the distributor pending, whoever has it, after all that this core has written. */
void gic_ring(uint32_t line);
/* Sleeps until a kick may have arrived or, where the guest has this core switched on, an interrupt of the guest's. May return earlier. */
void gic_wait(struct hal_core *core);
/*
 * gic_reset_core resets the CPU interface and the banked lines of a guest core that starts: nothing stays pending or active but the kick.
 * gic_reset_lines switches the sandbox's shared lines off and routes them as start-up did. Requires: none of its cores runs.
 */
void gic_reset_core(struct hal_core *core);
void gic_reset_lines(const struct hal_partition *partition);
/* Closes this core's CPU interface to everything but the kick. What its guest left pending at the distributor stays there. */
void gic_quiesce(void);
