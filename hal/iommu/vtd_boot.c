/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up: BH-I1.dma. Probes and fills VT-d. Memory that firmware lets devices use for ever (RMRR) stands in an ACPI table that nobody
 * here reads: no such memory is mapped, so a device that goes on using it is blocked (BH-D156).
 */
#include "hal/iommu/vtd.h"

#include "arch/arch.h"
#include "arch/words.h"
#include "board.h"

/* VT-d, 11.4 "Register Descriptions". */
enum {
	CAPABILITY = 0x08,
	EXTENDED_CAPABILITY = 0x10,
	COMMAND = 0x18,
	STATUS = 0x1c,
	ROOT_TABLE = 0x20,
	FAULT_CONTROL = 0x38,
	PROTECTED_MEMORY = 0x64,
	QUEUE = 0x90,
	QUEUE_CONTROL = 0xa0,
	INTERRUPT_TABLE = 0xb8,
};

/* Of COMMAND and STATUS. Those of ONE_SHOT are not kept: a command is the status without them, one bit changed. 11.4.4.1. */
#define TRANSLATES UINT32_C(0x80000000)
#define ROOT_SET   UINT32_C(0x40000000)
#define QUEUES     UINT32_C(0x04000000)
#define REMAPS     UINT32_C(0x02000000)
#define TABLE_SET  UINT32_C(0x01000000) /* of interrupts */
#define COMPATIBLE UINT32_C(0x00800000) /* interrupts in compatibility format pass */
#define ONE_SHOT   UINT32_C(0x69000000)

#define MASKED          UINT32_C(0x80000000) /* of FAULT_CONTROL and QUEUE_CONTROL: no interrupts, as nobody has one to give */
#define PROTECTS        UINT32_C(0x80000000) /* of PROTECTED_MEMORY, ... */
#define PROTECTS_STATUS UINT32_C(1)
#define CAN_PROTECT     UINT64_C(0x60)
#define EXTENDED_IDS    UINT64_C(0x800) /* of INTERRUPT_TABLE: destinations of 32 bits, as x2APICs have them */
#define BLOCKS_SHIFT    14              /* 2^(this + 1) entries in VTD_BLOCKS blocks */
static_assert(VTD_BLOCKS * VTD_BLOCK == 1 << (BLOCKS_SHIFT + 1), "as the register says");

/* VT-d, 9.10 "Interrupt Remapping Table Entry (IRTE) for Remapped Interrupts": fixed, physical; by a source whose 16 bits are all compared.
 */
#define ENTRY_LEVEL  UINT64_C(0x10)
#define ENTRY_SOURCE UINT64_C(0x40000)
enum { ENTRY_VECTOR_SHIFT = 16, ENTRY_CORE_SHIFT = 32, FIRST_VECTOR = 16, FIRST_LINE_VECTOR = 32 };

/* VT-d, 5.1.2.2 "Interrupt Requests in Remappable Format": handle in bits 19:5, format 4, SHV 3: the index is handle + data. */
#define MESSAGE_ADDRESS UINT32_C(0xfee00018)
enum { MESSAGE_HANDLE_SHIFT = 5 };

/* The high word of an entry of the I/O APIC: index in bits 31:17, format 16. 5.1.5.1 "I/OxAPIC Programming". */
#define LINE_FORMAT UINT32_C(0x10000)

static uint32_t read(uint32_t offset)
{
	return arch_mmio_read32(board.iommu.registers + offset);
}

static uint64_t read64(uint32_t offset)
{
	return arch_mmio_read64(board.iommu.registers + offset);
}

static void write(uint32_t offset, uint32_t value)
{
	arch_mmio_write32(board.iommu.registers + offset, value);
}

static void write64(uint32_t offset, uint64_t value)
{
	arch_mmio_write64(board.iommu.registers + offset, value);
}

/*
 * What is asked of CAP and ECAP: bits that are to be 1, and 0. Domains are below 0x100: ND. A buffer of writes that is to be flushed (RWBF)
 * is that of chipsets from before 2010; CM is shown to guests of another hypervisor, and would have what is absent invalidated as well.
 */
static const struct {
	uint32_t at;
	uint8_t shift;
	uint8_t mask, least, most; /* of the field there */
	const char *missing;
} needed[] = {
	{ EXTENDED_CAPABILITY, 1, 1, 1, 1, "the IOMMU has no queue of commands (ECAP.QI); use a newer machine" },
	{ EXTENDED_CAPABILITY, 3, 1, 1, 1,
	  "the IOMMU remaps no interrupts (ECAP.IR); use a newer machine, or in QEMU -device intel-iommu,intremap=on" },
	{ EXTENDED_CAPABILITY, 4, 1, 1, 1,
	  "the IOMMU sends no interrupts to x2APICs (ECAP.EIM); enable x2APIC in the firmware, or in QEMU use -device intel-iommu,eim=on" },
	{ CAPABILITY, 10, 1, 1, 1, "the IOMMU has no tables of four levels (CAP.SAGAW); in QEMU use -device intel-iommu,aw-bits=48" },
	{ CAPABILITY, 0, 7, 2, 7, "the IOMMU has fewer than 256 domains (CAP.ND); use a newer machine" },
	{ CAPABILITY, 4, 1, 0, 0, "the IOMMU's writes have to be flushed out of the chipset (CAP.RWBF); use a newer machine" },
	{ CAPABILITY, 7, 1, 0, 0,
	  "the IOMMU caches what is absent (CAP.CM), as another hypervisor's does; start the monitor without one, or in QEMU without "
	  "caching-mode=on" },
	{ CAPABILITY, 39, 1, 1, 1, "the IOMMU cannot invalidate single pages (CAP.PSI); use a newer machine" },
	{ CAPABILITY, 48, 0x3f, 9, 0x3f, "the IOMMU cannot invalidate 2 MiB at once (CAP.MAMV); use a newer machine" },
	{ CAPABILITY, 54, 3, 3, 3, "the IOMMU does not wait for what functions have asked of memory (CAP.DRD, DWD); use a newer machine" },
};

/* VT-d, 11.4.7.7 "Fault Recording Registers": where they begin and how many there are more than one, of CAPABILITY; F, in the last word. */
enum { RECORDS_SHIFT = 24, RECORDS_MASK = 0x3ff, RECORD_BYTES = 16, MORE_SHIFT = 40, MORE_MASK = 0xff, RECORD_END = 12 };
#define RECORDED   UINT32_C(0x80000000)
#define OVERFLOWED UINT32_C(1) /* of the fault status, PFO: nothing is recorded any more */

static const char *vtd_probe(void)
{
	uint64_t capability = read64(CAPABILITY);

	if (!capability || capability == UINT64_MAX)
		return "no IOMMU is where the board names one; give the machine its VT-d (in QEMU -device intel-iommu,intremap=on,eim=on) "
		       "or "
		       "correct iommu.registers in its board.h";
	for (size_t n = 0; n < sizeof(needed) / sizeof(needed[0]); n++) {
		uint64_t field = read64(needed[n].at) >> needed[n].shift & needed[n].mask;

		if (field < needed[n].least || field > needed[n].most)
			return needed[n].missing;
	}
	return board.pci.functions > VTD_STREAMS
		       ? "the board has PCI functions beyond bus 0, and contexts are made for bus 0 alone; correct "
			 "pci.functions in its board.h"
		       : NULL;
}

/* Waits until the bits of a register have this value. Returns whether they do within a bound. */
static bool comes(uint32_t offset, uint32_t bits, uint32_t value)
{
	for (uint32_t turns = VTD_TURNS; turns && (read(offset) & bits) != value; turns--)
		arch_relax();
	return (read(offset) & bits) == value;
}

static bool turn_on(uint32_t bit)
{
	write(COMMAND, (read(STATUS) & ~ONE_SHOT) | bit);
	return comes(STATUS, bit, bit);
}

static bool turn_off(uint32_t bit)
{
	if (!(read(STATUS) & bit))
		return true;
	write(COMMAND, read(STATUS) & ~ONE_SHOT & ~bit);
	return comes(STATUS, bit, 0);
}

/* What firmware has left on reads no commands and no tables any more: where they lie must not change while they are read. */
static bool stops(void)
{
	return turn_off(REMAPS) && turn_off(COMPATIBLE) && turn_off(TRANSLATES) && turn_off(QUEUES);
}

/* By commands, 6.5.2; errors of before are cleared. */
static bool starts_queue(void)
{
	write(FAULT_CONTROL, MASKED);
	write(QUEUE_CONTROL, MASKED);
	write(VTD_FAULT_STATUS, UINT32_MAX);
	write64(VTD_TAIL, 0);
	write64(QUEUE, (uintptr_t)vtd->commands);
	return turn_on(QUEUES);
}

static bool starts_translation(void)
{
	write64(ROOT_TABLE, (uintptr_t)vtd->root);
	return turn_on(ROOT_SET) && vtd_carry_out(vtd_put(0, VTD_INVALIDATE_CONTEXTS, 0)) &&
	       vtd_carry_out(vtd_put((uint32_t)read64(VTD_TAIL), VTD_INVALIDATE_PAGES, 0)) && turn_on(TRANSLATES);
}

/* Of interrupts' entries. */
static bool invalidates_interrupts(void)
{
	return vtd_carry_out(vtd_put((uint32_t)read64(VTD_TAIL), VTD_INVALIDATE_INTERRUPTS, 0));
}

/* Interrupts in compatibility format are blocked: COMPATIBLE is off, and with EXTENDED_IDS it counts as off. 5.1.4. */
static bool starts_remapping(void)
{
	write64(INTERRUPT_TABLE, (uintptr_t)vtd->interrupts | EXTENDED_IDS | BLOCKS_SHIFT);
	return turn_on(TABLE_SET) && invalidates_interrupts() && turn_on(REMAPS);
}

/* Memory that firmware keeps from all functions until an IOMMU does: some is now granted. VT-d, "Protected Memory Enable Register". */
static bool opens_protected_memory(void)
{
	if (!(read64(CAPABILITY) & CAN_PROTECT))
		return true;
	write(PROTECTED_MEMORY, read(PROTECTED_MEMORY) & ~PROTECTS);
	return comes(PROTECTED_MEMORY, PROTECTS_STATUS, 0);
}

/* The flush: tables before the registers that lead to them. Bus 0 has entries, of which none is present; other buses have none. */
static const char *vtd_block(uint64_t at)
{
	vtd = (struct vtd_tables *)(uintptr_t)at;
	words_fill(vtd->root[0], sizeof(*vtd) / WORD_BYTES, 0);
	vtd->root[0][0] = VTD_PRESENT | (uintptr_t)vtd->contexts;
	arch_cache_flush_all();
	if (!stops() || !starts_queue() || !starts_translation() || !starts_remapping() || !opens_protected_memory())
		return "the IOMMU does not do what its command register says; switch the machine off and on again";
	return NULL;
}

/* MGAW: no wider addresses, whatever the format holds; SLLPS: pages of 2 MiB and 1 GiB. */
static enum hal_status vtd_create(struct iommu_view *view, struct hal_arena *arena)
{
	uint64_t capability = read64(CAPABILITY);
	uint8_t bits = (capability >> 16 & 0x3f) + 1;

	if (bits < view->pt.oa_bits)
		view->pt.oa_bits = bits;
	view->pt.leaf_levels &= PT_LEAF_4K | (capability >> 34 & 3) << 1;
	view->open[0] = VTD_PRESENT | (uintptr_t)view->pt.root;
	return HAL_OK;
}

/* An entry a vector. It is written once, and absent entries are cached by nobody. */
static void admit(uint32_t block, uint32_t first, uint64_t kind, uint32_t core, uint32_t source)
{
	for (uint32_t vector = first; vector < VTD_BLOCK; vector++) {
		uint64_t *entry = vtd->interrupts[block][vector];

		entry[1] = ENTRY_SOURCE | source;
		entry[0] = VTD_PRESENT | kind | vector << ENTRY_VECTOR_SHIFT | (uint64_t)core << ENTRY_CORE_SHIFT;
	}
}

/* The domain, too: it is constant, present or not. */
static uint32_t vtd_admit(const struct iommu_view *view, uint32_t stream)
{
	uint32_t block = VTD_FUNCTIONS;

	while (vtd->interrupts[block][FIRST_VECTOR][0])
		block++;
	vtd->contexts[stream][1] = view->pt.format->control | (uint64_t)view->domain << VTD_DOMAIN_SHIFT;
	admit(block, FIRST_VECTOR, 0, view->core, stream);
	return MESSAGE_ADDRESS | block * VTD_BLOCK << MESSAGE_HANDLE_SHIFT;
}

static uint32_t vtd_admit_lines(uint32_t core, uint32_t apic_id)
{
	admit(2 * core, FIRST_LINE_VECTOR, 0, apic_id, board.pc.ioapic_source);
	admit(2 * core + 1, FIRST_LINE_VECTOR, ENTRY_LEVEL, apic_id, board.pc.ioapic_source);
	return LINE_FORMAT | 2 * core * VTD_BLOCK << VTD_LINE_INDEX_SHIFT;
}

/* Entries of bus 0, commands and what tells their end, and the registers, which are one page. */
static enum hal_status vtd_map(struct hal_space *space, const struct iommu_view *view)
{
	enum hal_status status = hal_space_map_same(space, (uintptr_t)vtd->contexts, UINT64_C(3) * BH_PAGE_BYTES, HAL_MEMORY_RAM);

	return status == HAL_OK ? hal_space_map_same(space, board.iommu.registers, BH_PAGE_BYTES, HAL_MEMORY_DEVICE) : status;
}

/* A record keeps others out until F is written, and so does an overflow. */
static void vtd_clear_faults(void)
{
	uint64_t capability = read64(CAPABILITY);
	uint32_t at = (uint32_t)(capability >> RECORDS_SHIFT & RECORDS_MASK) * RECORD_BYTES;

	for (uint32_t left = 1 + (capability >> MORE_SHIFT & MORE_MASK); left; left--, at += RECORD_BYTES)
		write(at + RECORD_END, RECORDED);
	write(VTD_FAULT_STATUS, OVERFLOWED);
}

extern const char __vtd_text_start[], __vtd_text_end[], __vtd_rodata_start[], __vtd_rodata_end[];

const struct iommu_boot vtd_boot = {
	.resident = &vtd_resident,
	.parts = {
		{ __vtd_text_start, __vtd_text_end },
		{ __vtd_rodata_start, __vtd_rodata_end },
	},
	.format = &pt_vtd,
	.kind = BH_IOMMU_VTD,
	.probe = vtd_probe,
	.block = vtd_block,
	.create = vtd_create,
	.map = vtd_map,
	.publish = arch_cache_flush_all,
	.admit = vtd_admit,
	.admit_lines = vtd_admit_lines,
	.clear_faults = vtd_clear_faults,
};
