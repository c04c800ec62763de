/* SPDX-License-Identifier: Apache-2.0 */
/* The sandbox that attacks: goes through its queue of requests; notes that it begins one, which may be its end, and what came of it. */
#include "probe/campaign.h"

#include <stdbool.h>
#include <stddef.h>

#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/fault.h"
#include "kernel/core/frames.h"
#include "kernel/core/idle.h"
#include "kernel/core/info.h"
#include "kernel/core/memory.h"
#include "kernel/core/smp.h"
#include "probe/mapping.h"
#include "probe/partner.h"
#include "probe/rival.h"
#include "probe/transfer.h"

enum { SETTLE_NS = 40000000, LOOK_NS = 500000, CONNECT_LOOKS = 8 };

static _Alignas(BH_PAGE_BYTES) uint8_t code[BH_PAGE_BYTES];

/* Nothing of the kernel is writable and executable: the code runs where it is mapped once more. */
static uint64_t place_code(const struct campaign_request *request)
{
	static uint64_t alias;

	if (!alias)
		alias = mapping_reach((uintptr_t)code, sizeof(code));
	for (size_t n = 0; n < CAMPAIGN_CODE_BYTES; n++)
		code[n] = request->code[n];
	memory_publish_code(code, CAMPAIGN_CODE_BYTES);
	return alias;
}

static struct rival_task task_of(const struct campaign_request *request, uint64_t run, uint64_t first)
{
	uint64_t *word = &((uint64_t *)(uintptr_t)code)[1], other = request->value;

	if (request->rival == CAMPAIGN_TOUCH)
		return (struct rival_task){ .word = (uint64_t *)(uintptr_t)first, .is = other, .other = ~other };
	if (request->rival != CAMPAIGN_REWRITE) {
		word = mapping_entry(request->rival == CAMPAIGN_REAIM ? first : run);
		other = mapping_entry_to(other);
	}
	return (struct rival_task){ .word = word, .is = *word, .other = other };
}

static uint64_t first_argument(const struct campaign_request *request)
{
	if (request->flags & CAMPAIGN_GRAFT) {
		uint64_t translated = mapping_graft(request->target);

		memory_forget();
		return translated;
	}
	if (request->flags & CAMPAIGN_ALIAS)
		return mapping_alias(request->target);
	return request->flags & CAMPAIGN_AIM ? mapping_aim(request->target) : request->target;
}

static enum campaign_outcome judge(uint64_t value)
{
	if (!value)
		return CAMPAIGN_RETURNED_ZERO;
	return value == 0xff || value == 0xffff || value == 0xffffffff || value == ~0ULL ? CAMPAIGN_RETURNED_ONES : CAMPAIGN_RETURNED;
}

static enum campaign_outcome attempt(const struct campaign_request *request)
{
	uint64_t run = place_code(request), first = first_argument(request), value = 0;
	const struct rival_task task = request->rival ? task_of(request, run, first) : (struct rival_task){ 0 };
	campaign_function *function = (campaign_function *)(uintptr_t)run;
	bool returned;

	if (request->flags & (CAMPAIGN_PROTECTED | CAMPAIGN_REAL))
		function = campaign_in_mode(request);
	if (request->rival)
		rival_begin(&task);
	returned = cpu_attempt(function, first, request->value, &value);
	cpu_interrupts_enable(); /* whatever the attempt did to them */
	if (request->rival)
		rival_end();
	return returned ? judge(value) : CAMPAIGN_REFUSED;
}

/* ---- Channels ------------------------------------------------------------------------------------------------------ */

static uint64_t settled_at;

static bool has_settled(void)
{
	return arch_counter() >= settled_at;
}

static void settle(uint64_t ns)
{
	settled_at = arch_counter() + clock_from_ns(ns);
	idle_until(has_settled);
}

/* Without sleep: an earlier attempt may have stopped what wakes this core. */
static void wait(uint64_t ns)
{
	settled_at = arch_counter() + clock_from_ns(ns);
	while (!has_settled())
		arch_relax();
}

/*
 * The other ends listen to who is connected with them. They are waited for once in a life, as one that was found out does not answer; but
 * with what is opened on request a life begins in which nobody was.
 */
static void take_part(void)
{
	static bool waited;

	partner_set_open(true);
	partner_take_part();
	for (unsigned n = 0; n < CONNECT_LOOKS && !partner_is_connected(waited); n++) {
		wait(LOOK_NS);
		partner_take_part();
	}
	waited = true;
	partner_take_part();
}

/* ---- A life -------------------------------------------------------------------------------------------------------- */

static enum campaign_outcome carry_out(const struct campaign_queue *queue, uint32_t n)
{
	const struct campaign_request *request = &queue->request[n];

	if (request->flags & CAMPAIGN_PARTNER)
		take_part();
	if (request->flags & CAMPAIGN_CLOSED)
		partner_set_open(false);
	if (request->flags & CAMPAIGN_DMA)
		partner_set_open(n % 2 == 0); /* a card has to get nowhere by either */
	return request->flags & CAMPAIGN_DMA ? transfer_attempt(queue, n) : attempt(request);
}

/* A life finds closed what the one before it had open. */
static _Noreturn void begin_again(void)
{
	partner_set_open(true);
	info_call_monitor(BH_CALL_RESTART, 0, 0);
	fault_stop("a monitor has not begun it again");
}

/* The ring goes on from life to life. Here it begins anew with each, so that what is said never reaches the notes. */
static struct campaign_notes *take_notes(const struct campaign_queue *queue)
{
	struct campaign_notes *notes = (struct campaign_notes *)&console_log()->text[CAMPAIGN_NOTES];

	if (notes->identity != queue->identity) {
		notes->begun = queue->first;
		notes->lives = 0;
		notes->done = false;
		notes->identity = queue->identity;
	}
	notes->lives++;
	console_log()->head = 0;
	return notes;
}

void campaign_run(uint64_t address)
{
	const struct campaign_queue *queue = (const struct campaign_queue *)(uintptr_t)address;
	struct campaign_notes *notes;

	if (!console_log() || queue->magic != CAMPAIGN_MAGIC || queue->count > sizeof(notes->outcome)) {
		console_say("no campaign is there");
		return;
	}
	if (!frames_claim(address, sizeof(*queue) + queue->count * sizeof(queue->request[0]), FRAME_PROGRAM) ||
	    (queue->spare_bytes && !frames_claim(queue->spare, queue->spare_bytes, FRAME_PROGRAM)))
		fault_stop("the kernel has taken the campaign's frames");
	notes = take_notes(queue);
	smp_run(1, "rival");
	partner_begin(false);
	if (notes->lives == 1)
		settle(SETTLE_NS); /* the others are starting, too, and are to be there when it begins */
	else if (queue->spare_bytes && transfer_outlived(queue))
		notes->outcome[notes->begun - 1] = CAMPAIGN_OUTLIVED;
	for (bool is_first = true; notes->begun < queue->count; is_first = false) {
		uint32_t n = notes->begun;

		if ((queue->request[n].flags & CAMPAIGN_FRESH) && !is_first)
			begin_again();
		notes->outcome[n] = CAMPAIGN_TRYING;
		__atomic_store_n(&notes->begun, n + 1, __ATOMIC_RELEASE);
		notes->outcome[n] = (uint8_t)carry_out(queue, n);
	}
	__atomic_store_n(&notes->done, true, __ATOMIC_RELEASE);
}
