/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IOMMU goes round in its queue and nobody takes records out, so what is new is what differs from the last look. A record that others
 * went over in between is not seen.
 */
#include "kernel/core/dma_faults.h"

#include <stddef.h>

#include "kernel/core/console.h"
#include "kernel/core/info.h"

enum { QUEUE_WORDS = BH_FAULTS_BYTES / sizeof(uint64_t), SAID = 8 };

/* NULL: nobody here knows this form. */
static const struct dma_fault_form *form_of(enum bh_fault_form number)
{
	for (const struct dma_fault_form *const *form = dma_fault_forms; *form; form++)
		if ((*form)->number == number)
			return *form;
	return NULL;
}

/* The grant that names the function, or NULL. */
static const struct bh_grant *grant_of(uint32_t function)
{
	for (uint32_t n = 0; n < info->grant_count && n < BH_MAX_GRANTS; n++)
		if (info->grants[n].kind == BH_GRANT_DMA_FAULTS && info->grants[n].flags >> 16 == function)
			return &info->grants[n];
	return NULL;
}

static void say(const struct dma_fault *fault)
{
	static const char *const did[] = { "access", "read from", "write to" };
	const struct bh_grant *known = grant_of(fault->function);

	console_say("dma fault: %s (function 0x%jx) of %s: %s 0x%jx blocked, code 0x%jx", known ? (const char *)known->compatible : "one",
		    (uint64_t)fault->function, known ? (const char *)known->name : "nobody", did[fault->access], fault->address,
		    (uint64_t)fault->code);
}

/* Copies a record. Returns whether it is another than before. */
static bool take(uint64_t *last, const uint64_t *record, uint32_t words)
{
	bool differs = false;

	for (uint32_t n = 0; n < words; n++) {
		uint64_t word = __atomic_load_n(&record[n], __ATOMIC_RELAXED);

		differs = differs || word != last[n];
		last[n] = word;
	}
	return differs;
}

void run_dma_faults(const struct command_line *line)
{
	static uint64_t last[QUEUE_WORDS];
	const struct bh_grant *queue = info_find(BH_GRANT_DMA_FAULTS, NULL);
	const struct dma_fault_form *form = queue ? form_of(queue->vector) : NULL;
	uint32_t count = 0;
	struct dma_fault fault;

	if (!form) {
		console_say("dma-faults: they were not granted");
		return;
	}
	for (uint32_t at = 0; at < QUEUE_WORDS; at += form->words)
		if (take(&last[at], (const uint64_t *)(uintptr_t)queue->gpa + at, form->words) && form->decode(&last[at], &fault) &&
		    count++ < SAID)
			say(&fault);
	console_say("dma faults: %ju", (uint64_t)count);
}
