/* SPDX-License-Identifier: Apache-2.0 */
/* Start-up: is this an SMMUv3 that can do it; then every stream aborts, and the SMMU is on. Arm IHI 0070. */
#include "hal/iommu/smmuv3.h"

#include "arch/words.h"
#include "board.h"

/* A field of an identification register, and the values of it that will do; all in the field's place: 6.3 "Register formats". */
static const struct need {
	uint32_t where;
	uint32_t field, least, most;
	const char *otherwise;
} needs[] = {
#define REMEDY "; describe the board as one without an IOMMU"
	{ SMMU_IDR0, 1 << 0, 1 << 0, 1 << 0, "the SMMU has no stage 2" REMEDY },
	{ SMMU_IDR0, 1 << 3, 1 << 3, 1 << 3, "the SMMU does not walk tables of AArch64" REMEDY },           /* TTF */
	{ SMMU_IDR0, 1 << 4, 1 << 4, 1 << 4, "the SMMU does not look into caches when it walks" REMEDY },   /* COHACC */
	{ SMMU_IDR0, 3 << 21, 0, 2 << 21, "the SMMU walks big-endian tables alone" REMEDY },                /* TTENDIAN */
	{ SMMU_IDR0, 3 << 24, 0, 1 << 24, "the SMMU stalls every fault until somebody answers it" REMEDY }, /* STALL_MODEL */
	{ SMMU_IDR1, 0x3f, SMMU_STREAM_BITS, 0x3f, "the SMMU has too few streams" REMEDY },                 /* SIDSIZE */
	{ SMMU_IDR1, 0x1f << 16, SMMU_EVENT_BITS << 16, 0x1f << 16, "the SMMU's event queue is too short" REMEDY },
	{ SMMU_IDR1, 0x1f << 21, SMMU_COMMAND_BITS << 21, 0x1f << 21, "the SMMU's command queue is too short" REMEDY },
	{ SMMU_IDR1, 3 << 29, 0, 0, "the SMMU's tables or queues lie where nobody can change it" REMEDY }, /* TABLES_, QUEUES_PRESET */
	{ SMMU_IDR5, 1 << 4, 1 << 4, 1 << 4, "the SMMU has no pages of 4 KiB" REMEDY },                    /* GRAN4K */
	{ SMMU_IDR5, 7, 2, 7, "the SMMU's addresses have fewer than 40 bits" REMEDY },                     /* OAS */
};

static const char *probe(void)
{
	smmu.registers = board.iommu.registers;
	for (size_t n = 0; n < sizeof(needs) / sizeof(needs[0]); n++) {
		uint32_t has = smmu_read(needs[n].where) & needs[n].field;

		if (has < needs[n].least || has > needs[n].most)
			return needs[n].otherwise;
	}
	return board.pci.functions > SMMU_STREAMS ? "the board has more PCI functions than the stream table; correct `pci` in its board.h"
						  : NULL;
}

/* Returns whether the register has come to hold `value` in these bits, within a bound. */
static bool settles(uint32_t where, uint32_t bits, uint32_t value)
{
	for (unsigned turns = SMMU_PATIENCE; turns; turns--) {
		if ((smmu_read(where) & bits) == value)
			return true;
		arch_relax();
	}
	return false;
}

/* SMMU_GBPA: what becomes of all streams while the SMMU is off. */
#define GBPA_UPDATE (UINT32_C(1) << 31)
#define GBPA_ABORT  (UINT32_C(1) << 20)
static bool abort_all(void)
{
	if (!settles(SMMU_GBPA, GBPA_UPDATE, 0))
		return false;
	smmu_write(SMMU_GBPA, GBPA_UPDATE | GBPA_ABORT);
	return settles(SMMU_GBPA, GBPA_UPDATE | GBPA_ABORT, GBPA_ABORT);
}

/* SMMU_CR0, SMMU_CR0ACK. */
enum { CR0_SMMUEN = 1 << 0, CR0_EVENTQEN = 1 << 2, CR0_CMDQEN = 1 << 3, CR0_ATSCHK = 1 << 4, CR0_ENABLES = 0x1f };
static bool control(uint32_t enables)
{
	smmu_write(SMMU_CR0, enables);
	return settles(SMMU_CR0ACK, CR0_ENABLES, enables);
}

/* Nothing goes on that a loader began: neither translations nor queues nor interrupts. */
static bool stop(void)
{
	smmu_write(SMMU_IRQ_CTRL, 0);
	return control(0) && settles(SMMU_IRQ_CTRLACK, 7, 0);
}

static void fill(uint64_t tables)
{
	uint64_t *words = (uint64_t *)(uintptr_t)tables;

	smmu.streams = (uint64_t(*)[SMMU_STREAM_WORDS])words;
	smmu.commands = (uint64_t(*)[SMMU_COMMAND_WORDS])(words + SMMU_STREAM_BYTES / WORD_BYTES);
	words_fill(words, BH_SMMUV3_BYTES / WORD_BYTES, 0);
	for (unsigned n = 0; n < SMMU_STREAMS; n++)
		smmu.streams[n][0] = SMMU_STE_ABORT;
	arch_barrier();
}

static void write_long(uint32_t where, uint64_t value)
{
	smmu_write(where, (uint32_t)value);
	smmu_write(where + 4, (uint32_t)(value >> 32));
}

/*
 * SMMU_CR1, SMMU_CR2: walks and queues go through caches, inner shareable; a stream beyond the table is an event;
 * processors' broadcast invalidations are not for the SMMU. Registers may be written while all is off.
 */
enum { CR1_WRITE_BACK_INNER = 3 << 10 | 1 << 8 | 1 << 6 | 3 << 4 | 1 << 2 | 1, CR2_RECINVSID = 1 << 1, CR2_PTM = 1 << 2 };
static void point(void)
{
	uint64_t commands = (uintptr_t)smmu.commands;

	smmu_write(SMMU_CR1, CR1_WRITE_BACK_INNER);
	smmu_write(SMMU_CR2, CR2_RECINVSID | CR2_PTM);
	write_long(SMMU_STRTAB_BASE, (uintptr_t)smmu.streams);
	smmu_write(SMMU_STRTAB_BASE_CFG, SMMU_STREAM_BITS);
	write_long(SMMU_CMDQ_BASE, commands | SMMU_COMMAND_BITS);
	smmu_write(SMMU_CMDQ_PROD, 0);
	smmu_write(SMMU_CMDQ_CONS, 0);
	write_long(SMMU_EVENTQ_BASE, (commands + SMMU_COMMAND_BYTES) | SMMU_EVENT_BITS);
	smmu_write(SMMU_EVENTQ_PROD, 0);
	smmu_write(SMMU_EVENTQ_CONS, 0);
	smmu_write(SMMU_GERRORN, smmu_read(SMMU_GERROR));
}

/* 4.3 "Configuration structure invalidation", 4.4 "TLB invalidation": nothing that an earlier system left is used. */
enum { CFGI_ALL_RANGE = 31 };
static bool invalidate_all(void)
{
	uint32_t at;

	if (!control(CR0_CMDQEN) || !smmu_begin(&at))
		return false;
	at = smmu_put(at, SMMU_CMD_CFGI_ALL, CFGI_ALL_RANGE);
	at = smmu_put(at, SMMU_CMD_TLBI_NSNH_ALL, 0);
	return smmu_send(at);
}

/*
 * Where functions may say that an address is translated already, it is looked up all the same, and as no entry has EATS, all of it aborts.
 * The bit is reserved where they may not: 3.9 "PCI Express, PASIDs, PRI, and ATS", 6.3 "Register formats", SMMU_CR0.
 */
enum { IDR0_ATS = 1 << 10 };
static uint32_t checks(void)
{
	return smmu_read(SMMU_IDR0) & IDR0_ATS ? CR0_ATSCHK : 0;
}

/* 3.11 "Reset, Enable and initialization". An event that finds the queue full is lost, and does no harm: 7.4 "Event queue overflow". */
static const char *block(uint64_t tables)
{
	uint32_t on;

	if (!abort_all() || !stop())
		return "the SMMU does not stop; let the boot loader leave it off";
	fill(tables);
	point();
	if (!invalidate_all())
		return "the SMMU takes no commands; reset the board";
	on = CR0_CMDQEN | CR0_EVENTQEN | checks();
	if (!control(on) || !control(on | CR0_SMMUEN))
		return "the SMMU does not start; reset the board";
	return NULL;
}

/* The root in `view` is all it needs. */
static enum hal_status create(struct iommu_view *view, struct hal_arena *arena)
{
	return HAL_OK;
}

/* The pages of registers that `open` and `close` use, and the two tables. */
static enum hal_status map(struct hal_space *space, const struct iommu_view *view)
{
	enum hal_status status = hal_space_map_same(space, smmu.registers, BH_PAGE_BYTES, HAL_MEMORY_DEVICE);

	if (status == HAL_OK)
		status = hal_space_map_same(space, smmu.registers + SMMU_PAGE_1, BH_PAGE_BYTES, HAL_MEMORY_DEVICE);
	if (status != HAL_OK)
		return status;
	return hal_space_map_same(space, (uintptr_t)smmu.streams, SMMU_STREAM_BYTES + SMMU_COMMAND_BYTES, HAL_MEMORY_RAM);
}

const struct iommu_boot smmuv3_boot = {
	.resident = &smmuv3,
	.format = &pt_stage2,
	.kind = BH_IOMMU_SMMUV3,
	.probe = probe,
	.block = block,
	.create = create,
	.map = map,
};
