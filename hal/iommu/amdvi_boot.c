/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up: BH-I1.dma. Probes and fills AMD-Vi. Whether the IOMMU obeys its registers do not tell: in QEMU they are the same with `pt=on`,
 * which lets everything pass. hal_machine_try_dma asks.
 */
#include "hal/iommu/amdvi.h"

#include "arch/arch.h"
#include "arch/words.h"
#include "board.h"
#include "hal/pci/config.h"

/* IOMMU, 3.1 "PCI Resources", 3.2 "Capability Block Registers". */
enum { VENDOR_AMD = 0x1022, ID_IOMMU = 0x0f, TYPE_IOMMU = 3, CAPABILITY_BASE = 4, CAPABILITY_MISC = 16 };
#define CAPABILITY_EXTENDED (UINT32_C(1) << 27) /* EFRSup */
#define BASE_ENABLE         UINT32_C(1)
#define BASE_ADDRESS        UINT64_C(0xffffffffffffc000)

/* IOMMU, 3.4 "MMIO Registers". */
enum {
	DEVICE_TABLE = 0x00,
	COMMANDS = 0x08,
	EVENTS = 0x10,
	CONTROL = 0x18,
	EXCLUSION = 0x20,
	FEATURES = 0x30,
	COMMAND_HEAD = 0x2000,
	STATUS = 0x2020,
	REGISTER_BYTES = 0x4000,
};
#define TABLE_2_MIB    UINT64_C(0x1ff)
#define RING_256       (UINT64_C(8) << 56)
#define INVALIDATE_ALL (UINT64_C(1) << 6)                              /* IASup */
#define CONTROL_ON     (UINT64_C(1) << 0 | 1 << 2 | 1 << 10 | 1 << 12) /* IommuEn, EventLogEn, Coherent, CmdBufEn */
#define STATUS_RUNNING (UINT64_C(1) << 4 | 1 << 3)                     /* CmdBufRun, EventLogRun */

/* Of interrupts, by vector, from the first that APICs accept. SDM vol. 3A, 11.5.2 "Valid Interrupt Vectors". */
enum { FIRST_VECTOR = 16, VECTORS = 256 };
/*
 * Frames of a table of interrupts. The entry of a stream says that it has VECTORS entries; QEMU's model does not look, and takes data of a
 * message for an index of eleven bits: what lies there is an entry, too, so it is the table's own, and zero.
 */
enum { INTERRUPT_FRAMES = 2 };

static uint64_t read(uint32_t offset)
{
	return arch_mmio_read64(board.iommu.registers + offset);
}

static void write(uint32_t offset, uint64_t value)
{
	arch_mmio_write64(board.iommu.registers + offset, value);
}

static uint32_t place_of(uint32_t offset)
{
	return board.iommu.function << PCI_REGISTER_BITS | offset;
}

static uint64_t base(uint32_t capability)
{
	return (uint64_t)pci_config_read(place_of(capability + CAPABILITY_BASE + 4)) << 32 |
	       (pci_config_read(place_of(capability + CAPABILITY_BASE)) & (uint32_t)BASE_ADDRESS);
}

static const char *amdvi_probe(void)
{
	uint32_t capability;

	if (board.pci.ecam)
		pci_ecam = board.pci.ecam;
	if ((pci_config_read(place_of(PCI_IDENTITY)) & PCI_VENDOR) != VENDOR_AMD)
		return "no IOMMU is where the board names one; give the machine its AMD-Vi (in QEMU -device amd-iommu,intremap=on,pt=off) "
		       "or "
		       "correct board.h";
	capability = pci_capability(board.iommu.function, ID_IOMMU);
	if (!capability || (pci_config_read(place_of(capability)) >> 16 & 7) != TYPE_IOMMU)
		return "the function that the board names is no IOMMU; correct iommu.function in its board.h";
	if (base(capability) != board.iommu.registers)
		return "the IOMMU's registers are not where the board has them; correct iommu.registers in its board.h";
	if (!(pci_config_read(place_of(capability)) & CAPABILITY_EXTENDED) || !(read(FEATURES) & INVALIDATE_ALL))
		return "the IOMMU cannot invalidate everything at once (EFR.IASup); use a newer machine";
	if (board.core_id_greatest > 0xff)
		return "AMD-Vi's interrupt entries hold core numbers below 256; correct core_id_greatest in board.h";
	if (board.pci.functions > AMDVI_STREAMS_SHOWN)
		return "the board has PCI functions beyond bus 0, whose entries no monitor maps; correct pci.functions in its board.h";
	return NULL;
}

/* 65,536 entries, which are most of what start-up writes. */
static void close_all(struct amdvi_tables *tables)
{
	static const uint64_t closed[AMDVI_ENTRY_WORDS] = {
		[AMDVI_TRANSLATION] = AMDVI_CLOSED,
		[AMDVI_DOMAIN] = AMDVI_ONE_EVENT,
		[AMDVI_INTERRUPTS] = AMDVI_NO_INTERRUPT,
	};

	static_assert((int)AMDVI_ENTRY_WORDS == (int)ARCH_PATTERN_WORDS, "an entry is a pattern");
	words_repeat(tables->devices[0], sizeof(tables->devices) / WORD_BYTES, closed);
}

/* What firmware has left on reads no commands and writes no events any more: where they lie must not change meanwhile. 3.4.1 to 3.4.6. */
static bool stops(void)
{
	write(CONTROL, 0);
	for (uint32_t turns = AMDVI_TURNS; turns && read(STATUS) & STATUS_RUNNING; turns--)
		arch_relax();
	return !(read(STATUS) & STATUS_RUNNING);
}

/* By commands, and with no interrupt of its own: nobody has one to give it. */
static bool starts(struct amdvi_tables *tables)
{
	write(DEVICE_TABLE, (uintptr_t)tables->devices | TABLE_2_MIB);
	write(COMMANDS, (uintptr_t)tables->commands | RING_256);
	write(EVENTS, (uintptr_t)tables->events | RING_256);
	write(EXCLUSION, 0); /* no range passes */
	write(COMMAND_HEAD, 0);
	write(AMDVI_TAIL, 0);
	write(AMDVI_EVENT_HEAD, 0);
	write(AMDVI_EVENT_TAIL, 0);
	write(CONTROL, CONTROL_ON);
	return amdvi_carry_out(amdvi_put(0, AMDVI_INVALIDATE_ALL, 0));
}

/* The barrier: tables before the registers that lead to them. */
static const char *amdvi_block(uint64_t at)
{
	uint32_t low = place_of(pci_capability(board.iommu.function, ID_IOMMU) + CAPABILITY_BASE);

	amdvi = (struct amdvi_tables *)(uintptr_t)at;
	close_all(amdvi);
	words_fill(amdvi->commands[0], (sizeof(*amdvi) - sizeof(amdvi->devices)) / WORD_BYTES, 0);
	pci_config_write(low, pci_config_read(low) | BASE_ENABLE);
	arch_barrier();
	if (!stops() || !starts(amdvi))
		return "the IOMMU does not carry out commands; switch it off and on again, or do without it";
	return NULL;
}

/* IOMMU, 2.2.5.2 "Interrupt Remapping Table Entry": RemapEn, destination 15:8, vector 23:16; fixed, physical, edge. */
static void admit_interrupts(uint32_t *table, uint32_t core)
{
	for (uint32_t vector = FIRST_VECTOR; vector < VECTORS; vector++)
		table[vector] = vector << 16 | core << 8 | 1;
}

/* Its output addresses: PAsize. */
static enum hal_status amdvi_create(struct iommu_view *view, struct hal_arena *arena)
{
	uint32_t misc = pci_config_read(place_of(pci_capability(board.iommu.function, ID_IOMMU) + CAPABILITY_MISC));
	uint32_t *interrupts = hal_arena_take(arena, INTERRUPT_FRAMES);
	uint8_t bits = misc >> 8 & 0x7f;

	if (!interrupts)
		return HAL_E_NOMEM;
	if (bits < view->pt.oa_bits)
		view->pt.oa_bits = bits;
	admit_interrupts(interrupts, view->core);
	view->open[AMDVI_TRANSLATION] = view->pt.format->control | (uintptr_t)view->pt.root;
	view->open[AMDVI_DOMAIN] = AMDVI_ONE_EVENT | view->domain;
	view->open[AMDVI_INTERRUPTS] = AMDVI_REMAP | AMDVI_NO_INTERRUPT | (uintptr_t)interrupts;
	return HAL_OK;
}

/* Entries of bus 0, commands and what tells their end, and the page of registers that has the tail. */
static enum hal_status amdvi_map(struct hal_space *space, const struct iommu_view *view)
{
	enum hal_status status = hal_space_map_same(space, (uintptr_t)amdvi->devices, sizeof(amdvi->devices[0]) * AMDVI_STREAMS_SHOWN,
						    HAL_MEMORY_RAM);

	if (status == HAL_OK)
		status = hal_space_map_same(space, (uintptr_t)amdvi->commands, UINT64_C(2) * BH_PAGE_BYTES, HAL_MEMORY_RAM);
	if (status == HAL_OK)
		status = hal_space_map_same(space, board.iommu.registers + COMMAND_HEAD, BH_PAGE_BYTES, HAL_MEMORY_DEVICE);
	return status;
}

extern const char __amdvi_text_start[], __amdvi_text_end[], __amdvi_rodata_start[], __amdvi_rodata_end[];

const struct iommu_boot amdvi_boot = {
	.resident = &amdvi_resident,
	.parts = {
		{ __amdvi_text_start, __amdvi_text_end },
		{ __amdvi_rodata_start, __amdvi_rodata_end },
	},
	.format = &pt_amdvi,
	.kind = BH_IOMMU_AMDVI,
	.probe = amdvi_probe,
	.block = amdvi_block,
	.create = amdvi_create,
	.map = amdvi_map,
};
