/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that stage 2 refused: where to, and whether anybody answers there. */
#include "hal/stage2/aarch64/decode.h"

#include "arch/aarch64/sysreg.h"

/* ISS of an abort. */
#define ISS_VALID         (1u << 24)         /* ISV: the fields that describe the instruction hold */
#define ISS_SIZE(esr)     ((esr) >> 22 & 3)  /* SAS: log2 of bytes */
#define ISS_SIGNED        (1u << 21)         /* SSE */
#define ISS_REGISTER(esr) ((esr) >> 16 & 31) /* SRT */
#define ISS_64_BITS       (1u << 15)         /* SF */
#define ISS_CACHE         (1u << 8)          /* CM: maintenance, reported as a write */
#define ISS_WALK          (1u << 7)          /* S1PTW: not the access itself but the guest's own table walk */
#define ISS_WRITE         (1u << 6)          /* WnR */
#define ISS_STATUS(esr)   ((esr) & 0x3f)

enum { STATUS_TYPE = 0x3c, STATUS_TRANSLATION = 0x04, STATUS_TRANSLATION_LEVEL_1 = 0x05, STATUS_PERMISSION = 0x0c };
enum { ROOT_SHIFT = 30, SPSR_AARCH32 = 1 << 4, SPSR_EL_MASK = 0xc, PAR_F = 1 };

/* ARM ARM D24.2 "PAR_EL1" bits 51:12, "HPFAR_EL2" bits 43:4. */
#define PAR_PA     0x000ffffffffff000u
#define HPFAR_FIPA 0x00000ffffffffff0u

/* What the guest's own tables make of an address; 0 if they too refuse. PAR_EL1 is the guest's, so it is put back. */
static uint64_t walk_guest(const struct hal_core *core, uint64_t gva)
{
	uint64_t saved = SYSREG_READ(PAR_EL1);
	uint64_t par;

	if (core->guest.spsr & SPSR_EL_MASK)
		__asm__ volatile("at s1e1r, %0\n\tisb" : : "r"(gva) : "memory");
	else
		__asm__ volatile("at s1e0r, %0\n\tisb" : : "r"(gva) : "memory");
	par = SYSREG_READ(PAR_EL1);
	SYSREG_WRITE(PAR_EL1, saved);
	return par & PAR_F ? 0 : par & PAR_PA;
}

/* HPFAR_EL2 need not hold an address after a permission fault, unless the walk met it: ARM ARM D24.2 "HPFAR_EL2". */
static void locate(const struct hal_core *core, uint64_t esr, struct hal_exit *exit)
{
	uint64_t gva = SYSREG_READ(FAR_EL2);
	uint64_t page = (SYSREG_READ(HPFAR_EL2) & HPFAR_FIPA) << 8;

	exit->raw[1] = SYSREG_READ(HPFAR_EL2);
	if ((esr & STATUS_TYPE) == STATUS_PERMISSION && !(esr & ISS_WALK))
		page = walk_guest(core, gva);
	exit->gva = gva;
	exit->gpa = page | (gva & 0xfff);
}

/*
 * A hole in the root is 0. A root entry that is not, and was yet not translated, has been poisoned by a kick (its valid bit
 * taken, kick.c) or is just being healed: the access will be tried again.
 */
static bool was_poisoned(const struct hal_core *core, uint64_t esr, uint64_t gpa)
{
	uint64_t index = gpa >> ROOT_SHIFT;

	return ISS_STATUS(esr) == STATUS_TRANSLATION_LEVEL_1 && index < STAGE2_ROOT_ENTRIES &&
	       __atomic_load_n(&core->partition->stage2.root[index], __ATOMIC_RELAXED);
}

/* Translation, access flag, permission; the rest are errors of the machine. */
static enum bh_exit_reason decode_abort(struct hal_core *core, uint64_t esr, struct hal_exit *exit)
{
	locate(core, esr, exit);
	if (ISS_STATUS(esr) > (STATUS_PERMISSION | 3))
		return BH_EXIT_ERROR;
	return was_poisoned(core, esr, exit->gpa) ? BH_EXIT_KICK : BH_EXIT_MEMORY;
}

enum bh_exit_reason decode_fetch_abort(struct hal_core *core, uint64_t esr, struct hal_exit *exit)
{
	exit->access = BH_ACCESS_EXECUTE;
	exit->width = 4;
	return decode_abort(core, esr, exit);
}

/* One register to or from a hole, described fully. */
static bool is_plain_access(const struct hal_core *core, uint64_t esr)
{
	return esr & ISS_VALID && !(esr & (ISS_WALK | ISS_CACHE)) && (esr & STATUS_TYPE) == STATUS_TRANSLATION &&
	       !(core->guest.spsr & SPSR_AARCH32);
}

enum bh_exit_reason decode_data_abort(struct hal_core *core, uint64_t esr, struct hal_exit *exit)
{
	bool write = esr & ISS_WRITE && !(esr & ISS_CACHE);
	enum bh_exit_reason kind = decode_abort(core, esr, exit);

	exit->access = write ? BH_ACCESS_WRITE : BH_ACCESS_READ;
	if (!(esr & ISS_VALID))
		return kind;
	exit->width = 1u << ISS_SIZE(esr);
	exit->target = ISS_REGISTER(esr);
	if (write)
		exit->value = guest_read(core, exit->target) & (~UINT64_C(0) >> (64 - 8 * exit->width));
	return kind == BH_EXIT_MEMORY && is_plain_access(core, esr) ? gic_classify(core, exit->gpa, write) : kind;
}

void guest_complete_load(struct hal_core *core, const struct hal_exit *exit, uint64_t value)
{
	unsigned unused = 64 - 8 * exit->width;

	value <<= unused;
	value = exit->raw[0] & ISS_SIGNED ? (uint64_t)((int64_t)value >> unused) : value >> unused;
	guest_write(core, exit->target, exit->raw[0] & ISS_64_BITS ? value : (uint32_t)value);
}
