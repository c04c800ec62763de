/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that stage 2 refused: where to, and whether anybody answers there. */
#include "hal/arm/decode.h"

/* ISS of an abort; SF is 0 on ARMv7. */
#define ISS_VALID              (1u << 24)              /* ISV: the fields that describe the instruction hold */
#define ISS_SIZE(syndrome)     ((syndrome) >> 22 & 3)  /* SAS: log2 of bytes */
#define ISS_SIGNED             (1u << 21)              /* SSE */
#define ISS_REGISTER(syndrome) ((syndrome) >> 16 & 31) /* SRT */
#define ISS_64_BITS            (1u << 15)              /* SF */
#define ISS_CACHE              (1u << 8)               /* CM: maintenance, reported as a write */
#define ISS_WALK               (1u << 7)               /* S1PTW: not the access itself but the guest's own table walk */
#define ISS_WRITE              (1u << 6)               /* WnR */
#define ISS_STATUS(syndrome)   ((syndrome) & 0x3f)

enum { STATUS_TYPE = 0x3c, STATUS_TRANSLATION = 0x04, STATUS_TRANSLATION_LEVEL_1 = 0x05, STATUS_PERMISSION = 0x0c };
enum { ROOT_SHIFT = 30, REGISTER_BITS = 8 * sizeof(uintptr_t) };

/* HPFAR_EL2 bits 43:4; HPFAR is shorter. */
#define HPFAR_FIPA 0x00000ffffffffff0u

/*
 * HPFAR need not hold an address after a permission fault, unless the walk met it: ARM ARM D24.2 "HPFAR_EL2"; ARMv7 ARM B4.1.71 "HPFAR".
 * Then the guest's tables are asked, through stage 2, which a kick may have poisoned since. false: they did not say.
 */
static bool locate(const struct hal_core *core, uint64_t syndrome, struct hal_exit *exit)
{
	uint64_t gva = syndrome_address(exit->access);
	uint64_t page;

	exit->raw[1] = syndrome_page();
	page = (exit->raw[1] & HPFAR_FIPA) << 8;
	if ((syndrome & STATUS_TYPE) == STATUS_PERMISSION && !(syndrome & ISS_WALK))
		page = guest_translate(core, gva);
	exit->gva = gva;
	exit->gpa = page | (gva & 0xfff);
	return page != UNTRANSLATED;
}

/*
 * A hole in the root is 0. A root entry that is not, and was yet not translated, has been poisoned by a kick (its valid bit
 * taken, kick.c) or is just being healed: the access will be tried again.
 */
static bool was_poisoned(struct hal_core *core, uint64_t syndrome, uint64_t gpa)
{
	uint64_t index = gpa >> ROOT_SHIFT;

	return ISS_STATUS(syndrome) == STATUS_TRANSLATION_LEVEL_1 && index < STAGE2_ROOT_ENTRIES &&
	       __atomic_load_n(&core->partition->stage2.root[index], __ATOMIC_RELAXED) && kick_explains(core);
}

/* Translation, access flag, permission; the rest are errors of the machine. */
static enum bh_exit_reason decode_abort(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit)
{
	if (!locate(core, syndrome, exit) && kick_explains(core))
		return BH_EXIT_KICK;
	if (ISS_STATUS(syndrome) > (STATUS_PERMISSION | 3))
		return BH_EXIT_ERROR;
	return was_poisoned(core, syndrome, exit->gpa) ? BH_EXIT_KICK : BH_EXIT_MEMORY;
}

/* ISV, SAS, EA, CM and S1PTW; the status of a translation fault at level 2 or 3; FnV is 0 then. */
#define WORD_MASK   (ISS_VALID | 3u << 22 | 1u << 9 | ISS_CACHE | ISS_WALK | 0x3e)
#define WORD_ACCESS (ISS_VALID | 2u << 22 | (STATUS_TRANSLATION | 2))

bool decode_word_access(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit)
{
	if ((syndrome & WORD_MASK) != WORD_ACCESS || !guest_is_served(core))
		return false;
	exit->raw[0] = syndrome;
	exit->access = syndrome & ISS_WRITE ? BH_ACCESS_WRITE : BH_ACCESS_READ;
	exit->width = 4;
	exit->target = ISS_REGISTER(syndrome);
	exit->gpa = (syndrome_page() & HPFAR_FIPA) << 8 | (syndrome_address(exit->access) & 0xfff);
	exit->value = (uint32_t)guest_read(core, exit->target);
	return true;
}

enum bh_exit_reason decode_fetch_abort(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit)
{
	exit->access = BH_ACCESS_EXECUTE;
	exit->width = 4;
	return decode_abort(core, syndrome, exit);
}

/* One register to or from a place that stage 2 refuses, described fully. */
static bool is_plain_access(const struct hal_core *core, uint64_t syndrome)
{
	return syndrome & ISS_VALID && !(syndrome & (ISS_WALK | ISS_CACHE)) && guest_is_served(core);
}

/* The interrupt controller is a hole; PCI configuration registers may be read. */
static enum bh_exit_reason classify(const struct hal_core *core, uint64_t syndrome, const struct hal_exit *exit)
{
	if ((syndrome & STATUS_TYPE) == STATUS_TRANSLATION)
		return gic_classify(core, exit->gpa, exit->access == BH_ACCESS_WRITE);
	return pci_place(&core->partition->pci, exit->gpa) == PCI_NOWHERE ? BH_EXIT_MEMORY : BH_EXIT_DEVICE;
}

enum bh_exit_reason decode_data_abort(struct hal_core *core, uint64_t syndrome, struct hal_exit *exit)
{
	bool write = syndrome & ISS_WRITE && !(syndrome & ISS_CACHE);
	enum bh_exit_reason kind;

	exit->access = write ? BH_ACCESS_WRITE : BH_ACCESS_READ;
	kind = decode_abort(core, syndrome, exit);
	if (!(syndrome & ISS_VALID))
		return kind;
	exit->width = 1u << ISS_SIZE(syndrome);
	exit->target = ISS_REGISTER(syndrome);
	if (write)
		exit->value = (uintptr_t)guest_read(core, exit->target) & (UINTPTR_MAX >> (REGISTER_BITS - 8 * exit->width));
	return kind == BH_EXIT_MEMORY && is_plain_access(core, syndrome) ? classify(core, syndrome, exit) : kind;
}

void guest_complete_load(struct hal_core *core, const struct hal_exit *exit, uint64_t value)
{
	unsigned unused = REGISTER_BITS - 8 * exit->width;
	uintptr_t extended = (uintptr_t)value << unused;

	extended = exit->raw[0] & ISS_SIGNED ? (uintptr_t)((intptr_t)extended >> unused) : extended >> unused;
	guest_write(core, exit->target, exit->raw[0] & ISS_64_BITS ? extended : (uint32_t)extended);
}
