/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the kernel's own address space and its frames at start-up, from what was granted (memory.h). */
#include "kernel/core/memory.h"

#include "kernel/core/fault.h"
#include "kernel/core/frames.h"
#include "kernel/core/info.h"
#include "kernel/core/lock.h"
#include "kernel/core/space.h"

/* kernel.lds */
extern const char text_start[], text_end[], rodata_end[], image_end[];

/* ---- Frames ------------------------------------------------------------------------------------------------------- */

/* The RAM grant that holds the image, from there on. */
static void make_frames(void)
{
	const uint64_t start = (uintptr_t)image_end;

	for (uint32_t i = 0; i < info->grant_count && i < BH_MAX_GRANTS; i++) {
		const struct bh_grant *grant = &info->grants[i];

		if (grant->kind == BH_GRANT_RAM && start > grant->gpa && start - grant->gpa <= grant->size &&
		    frames_init(start, grant->gpa + grant->size))
			return;
	}
	fault_stop("no RAM grant holds the kernel, or it has no room for the notes of its frames");
}

/* ---- The kernel's part of every space ----------------------------------------------------------------------------- */

/* Maps the pages that hold [address, address + size), but for those that are mapped already: they stay as they are. */
static void map_holes(uint64_t address, uint64_t size, enum space_kind kind)
{
	uint64_t at = address & -(uint64_t)FRAME_BYTES, end = (address + size + FRAME_BYTES - 1) & -(uint64_t)FRAME_BYTES;

	if (size > space_format.grants_end || address > space_format.grants_end - size)
		fault_stop("a grant lies too high");
	while (at < end) {
		uint64_t hole = at;

		for (struct space_view view = space_query(&kernel_space, at); at < end && !view.mapped;
		     view = space_query(&kernel_space, at))
			at = view.bytes < end - at ? at + view.bytes : end;
		if (at > hole && space_map(&kernel_space, hole, hole, at - hole, kind) != SPACE_OK)
			fault_stop("the grants need more page tables than there are frames for");
		for (struct space_view view = space_query(&kernel_space, at); at < end && view.mapped;
		     view = space_query(&kernel_space, at))
			at += view.bytes;
	}
}

static void map_image(void)
{
	map_holes((uintptr_t)text_start, (uint64_t)(text_end - text_start), SPACE_TEXT);
	map_holes((uintptr_t)text_end, (uint64_t)(rodata_end - text_end), SPACE_RODATA);
	map_holes((uintptr_t)rodata_end, (uint64_t)(image_end - rodata_end), SPACE_DATA);
}

/* Its own area alone is an end's to write, and the page between both areas nobody's: abi/channel.h. */
static void map_channel(const struct bh_grant *grant)
{
	const uint64_t first = grant->vector ? grant->line + BH_PAGE_BYTES : grant->line;

	map_holes(grant->gpa, first, grant->vector ? SPACE_RODATA : SPACE_DATA);
	map_holes(grant->gpa + first, grant->size - first, grant->vector ? SPACE_DATA : SPACE_RODATA);
}

static void map_grant(const struct bh_grant *grant)
{
	switch (grant->kind) {
	case BH_GRANT_RAM:
	case BH_GRANT_LOG:
		map_holes(grant->gpa, grant->size, SPACE_DATA);
		break;
	case BH_GRANT_FOREIGN_LOG:
	case BH_GRANT_STATS:
	case BH_GRANT_DMA_FAULTS:
		map_holes(grant->gpa, grant->size, SPACE_RODATA);
		break;
	case BH_GRANT_DEVICE:
	case BH_GRANT_IRQCHIP:
	case BH_GRANT_PCI_FUNCTION: /* of size 0 where configuration registers are not memory */
		map_holes(grant->gpa, grant->size, SPACE_DEVICE);
		break;
	case BH_GRANT_CHANNEL:
		map_channel(grant);
		break;
	default:
		break;
	}
}

void memory_init(void)
{
	uint64_t end;

	make_frames();
	if (space_init() != SPACE_OK)
		fault_stop("no frame for the first page table");
	map_image();
	memory_map_own();
	map_holes((uintptr_t)info, sizeof(*info), SPACE_RODATA);
	for (uint32_t i = 0; i < info->grant_count && i < BH_MAX_GRANTS; i++)
		map_grant(&info->grants[i]);
	memory_start(kernel_space.root, frames_rest(&end));
	lock_begin();
	space_expect_core(0);
}
