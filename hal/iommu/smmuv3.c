/* SPDX-License-Identifier: Apache-2.0 */
/* SMMUv3, resident: entries of the stream table are opened and closed, and what the SMMU cached of them is invalidated. Arm IHI 0070. */
#include "hal/iommu/smmuv3.h"

struct smmu smmu;

/*
 * Words 1 and 2 of an entry that translates, 5.2 "Stream Table Entry". The tables are pt_stage2's, on every processor, so that word 2 says
 * what its VTCR_EL2 does: 39 bits from level 1, 4 KiB, write-back, inner shareable, 40 bits out.
 */
#define STE_SHCFG_INCOMING (UINT64_C(1) << 44)
#define STE_S2T0SZ         (UINT64_C(25) << 32) /* 64 - 39 */
#define STE_S2SL0          (UINT64_C(1) << 38)
#define STE_S2IR0          (UINT64_C(1) << 40)
#define STE_S2OR0          (UINT64_C(1) << 42)
#define STE_S2SH0          (UINT64_C(3) << 44)
#define STE_S2PS           (UINT64_C(2) << 48)
#define STE_S2AA64         (UINT64_C(1) << 51)
#define STE_S2R            (UINT64_C(1) << 58) /* faults are events; none stalls */
#define STE_STAGE2         (STE_S2T0SZ | STE_S2SL0 | STE_S2IR0 | STE_S2OR0 | STE_S2SH0 | STE_S2PS | STE_S2AA64 | STE_S2R)
#define CFGI_STE_LEAF      1

uint32_t smmu_put(uint32_t at, uint64_t first, uint64_t second)
{
	uint64_t *command = smmu.commands[at & SMMU_COMMAND_INDEX >> 1];

	command[0] = first;
	command[1] = second;
	return (at + 1) & SMMU_COMMAND_INDEX;
}

/* 7.1 "Command queue errors": the queue stands at the command in error, which is replaced by one that does no harm, and goes on. */
static void clear_error(uint32_t at)
{
	(void)smmu_put(at, SMMU_CMD_SYNC, 0);
	arch_barrier();
	smmu_write(SMMU_GERRORN, smmu_read(SMMU_GERRORN) ^ SMMU_GERROR_CMDQ);
}

/* A CMD_SYNC is consumed when all before it is complete: 4.7 "Synchronization". */
bool smmu_begin(uint32_t *at)
{
	bool good = true;

	for (unsigned turns = SMMU_PATIENCE; turns; turns--) {
		uint32_t consumed = smmu_read(SMMU_CMDQ_CONS);

		*at = smmu_read(SMMU_CMDQ_PROD);
		if (!((consumed ^ *at) & SMMU_COMMAND_INDEX))
			return good;
		if ((smmu_read(SMMU_GERROR) ^ smmu_read(SMMU_GERRORN)) & SMMU_GERROR_CMDQ) {
			good = false;
			clear_error(consumed);
		}
	}
	return false;
}

bool smmu_send(uint32_t at)
{
	at = smmu_put(at, SMMU_CMD_SYNC, 0);
	arch_barrier(); /* commands, and entries that they are about, before the SMMU is told to look */
	smmu_write(SMMU_CMDQ_PROD, at);
	return smmu_begin(&at);
}

/*
 * The entry aborts while its other words are written. The SMMU may read the words in any order (3.21.3), so it may have an old one beside a
 * new: the stream's functions are silent, and CFGI_STE follows before they are not.
 */
static void write_entry(uint64_t *entry, const struct iommu_view *view, uint64_t word)
{
	if (word != SMMU_STE_ABORT) {
		entry[1] = STE_SHCFG_INCOMING;
		entry[2] = STE_STAGE2 | view->domain;
		entry[3] = (uintptr_t)view->pt.root;
		arch_barrier();
	}
	__atomic_store_n(entry, word, __ATOMIC_RELAXED);
}

/* 4.3 "Configuration structure invalidation", 4.4 "TLB invalidation": of the VMID of its old entries, as a sandbox has but one. */
static bool invalidate(const struct iommu_view *view)
{
	uint32_t at;

	if (!smmu_begin(&at))
		return false;
	for (uint32_t n = 0; n < view->count; n++)
		at = smmu_put(at, SMMU_CMD_CFGI_STE | (uint64_t)view->streams[n] << 32, CFGI_STE_LEAF);
	at = smmu_put(at, SMMU_CMD_SYNC, 0); /* entries before pages, which would otherwise come back by an old one */
	at = smmu_put(at, SMMU_CMD_TLBI_S12_VMALL | (uint64_t)view->domain << 32, 0);
	return smmu_send(at);
}

/*
 * 7.4 "Event queue overflow". Nobody takes events out. What is recorded stays in memory until others go over it, and a queue that is full,
 * as a hostile function can make it at any time, goes on here. An overflow is acknowledged by the same write.
 */
static void go_round(void)
{
	smmu_write(SMMU_EVENTQ_CONS, smmu_read(SMMU_EVENTQ_PROD));
}

static bool change(const struct iommu_view *view, uint32_t self, uint64_t word)
{
	bool done;

	hal_lock_take(view->lock, self);
	for (uint32_t n = 0; n < view->count; n++)
		write_entry(smmu.streams[view->streams[n]], view, word);
	done = invalidate(view);
	go_round();
	arch_barrier(); /* the next holder finds the queue as this one left it */
	hal_lock_give(view->lock, self);
	return done;
}

static bool smmu_open(const struct iommu_view *view, uint32_t self)
{
	return change(view, self, SMMU_STE_TRANSLATE);
}

static bool smmu_close(const struct iommu_view *view, uint32_t self)
{
	return change(view, self, SMMU_STE_ABORT);
}

const struct iommu smmuv3 = { smmu_open, smmu_close };
