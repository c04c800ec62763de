/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both halves of the SMMUv3 backend know: registers, entries of the stream table, commands. Arm IHI 0070 (SMMUv3 architecture), of
 * which the section titles are cited. Registers are accessed as 32 bits, which every processor can: chapter 6 "Memory map and registers".
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "abi/table.h"
#include "arch/arch.h"
#include "hal/iommu/iommu.h"

/* 6.3 "Register formats". */
enum {
	SMMU_IDR0 = 0x00,
	SMMU_IDR1 = 0x04,
	SMMU_IDR5 = 0x14,
	SMMU_CR0 = 0x20,
	SMMU_CR0ACK = 0x24,
	SMMU_CR1 = 0x28,
	SMMU_CR2 = 0x2c,
	SMMU_GBPA = 0x44,
	SMMU_IRQ_CTRL = 0x50,
	SMMU_IRQ_CTRLACK = 0x54,
	SMMU_GERROR = 0x60,
	SMMU_GERRORN = 0x64,
	SMMU_STRTAB_BASE = 0x80,
	SMMU_STRTAB_BASE_CFG = 0x88,
	SMMU_CMDQ_BASE = 0x90,
	SMMU_CMDQ_PROD = 0x98,
	SMMU_CMDQ_CONS = 0x9c,
	SMMU_EVENTQ_BASE = 0xa0,
	SMMU_PAGE_1 = 0x10000,
	SMMU_EVENTQ_PROD = 0x100a8, /* page 1 */
	SMMU_EVENTQ_CONS = 0x100ac,
};
enum { SMMU_GERROR_CMDQ = 1 << 0 };

/*
 * What lies in the tables' frames: a stream table without levels (5.2 "Stream Table Entry"), the queue of commands and that of events
 * (3.5 "Command and Event queues"). A stream that is not in the table aborts: C_BAD_STREAMID.
 */
enum {
	SMMU_STREAM_BITS = 8,
	SMMU_COMMAND_BITS = 8,
	SMMU_EVENT_BITS = 7,
	SMMU_STREAMS = 1 << SMMU_STREAM_BITS,
	SMMU_STREAM_WORDS = 8,
	SMMU_COMMAND_WORDS = 2,
	SMMU_EVENT_WORDS = 4,
	SMMU_STREAM_BYTES = SMMU_STREAMS * SMMU_STREAM_WORDS * 8,
	SMMU_COMMAND_BYTES = (1 << SMMU_COMMAND_BITS) * SMMU_COMMAND_WORDS * 8,
	SMMU_EVENT_BYTES = (1 << SMMU_EVENT_BITS) * SMMU_EVENT_WORDS * 8,
};
_Static_assert(SMMU_STREAM_BYTES + SMMU_COMMAND_BYTES + SMMU_EVENT_BYTES <= BH_SMMUV3_BYTES, "the table's frames hold all of it");
_Static_assert(SMMU_STREAM_BYTES + SMMU_COMMAND_BYTES == BH_SMMUV3_EVENTS && SMMU_EVENT_BYTES == BH_FAULTS_BYTES, "as others read it");
_Static_assert(BH_MAX_PCI_FUNCTIONS + 3 < 1 << SMMU_COMMAND_BITS, "a sandbox's commands fit the empty queue");
/* An index, and the bit that tells a full queue from an empty one: 3.5.1 "SMMU circular queues". */
enum { SMMU_COMMAND_INDEX = (2 << SMMU_COMMAND_BITS) - 1 };

/* Word 0 of an entry. With SMMU_STE_ABORT nothing else of the entry means anything. */
#define SMMU_STE_VALID     UINT64_C(1)
#define SMMU_STE_ABORT     SMMU_STE_VALID
#define SMMU_STE_TRANSLATE (SMMU_STE_VALID | 6 << 1) /* stage 1 bypasses, stage 2 translates */

/* 4 "Commands". */
enum smmu_opcode {
	SMMU_CMD_CFGI_STE = 0x03,
	SMMU_CMD_CFGI_ALL = 0x04,
	SMMU_CMD_TLBI_S12_VMALL = 0x28,
	SMMU_CMD_TLBI_S2_IPA = 0x2a,
	SMMU_CMD_TLBI_NSNH_ALL = 0x30,
	SMMU_CMD_SYNC = 0x46,
};

/*
 * Turns of a wait. One costs two accesses to a register or more, 100 ns and more on silicon: so a wait ends after a tenth of a second or
 * little more. The longest is that for a CMD_SYNC, which completes when transactions under way have.
 */
enum { SMMU_PATIENCE = 1 << 18 };

/* Where it is. Start-up writes it before any private monitor is copied. */
struct smmu {
	uint64_t registers;
	uint64_t (*streams)[SMMU_STREAM_WORDS];
	uint64_t (*commands)[SMMU_COMMAND_WORDS];
};
extern struct smmu smmu;
extern const struct iommu smmuv3;
extern const struct iommu_boot smmuv3_boot;

static inline uint32_t smmu_read(uint32_t offset)
{
	return arch_mmio_read32(smmu.registers + offset);
}

static inline void smmu_write(uint32_t offset, uint32_t value)
{
	arch_mmio_write32(smmu.registers + offset, value);
}

/*
 * Commands are put into the empty queue, one after the other, and then sent; the SMMU sees none before. All require the lock, or start-up.
 *
 *   if (!smmu_begin(&at)) fail; at = smmu_put(at, ..); at = smmu_put(at, ..); if (!smmu_send(at)) fail;
 */

/* Waits until the queue is empty. Returns whether it is within a bound, and without an error; *at is then where the first command goes. */
bool smmu_begin(uint32_t *at);
/* Puts a command at `at`. Returns where the next one goes. */
uint32_t smmu_put(uint32_t at, uint64_t first, uint64_t second);
/*
 * Adds a CMD_SYNC, hands over what was put, and waits until all of it is complete. Returns whether it is, within a bound. If not, an error
 * has been cleared from the queue (7.1 "Command queue errors"), or the queue goes on by itself.
 */
bool smmu_send(uint32_t at);
