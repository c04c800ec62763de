/* SPDX-License-Identifier: Apache-2.0 */
/* Each attempt begins with a card that was reset, so that none is another's doing. */
#include "probe/transfer.h"

#include <stdbool.h>
#include <stddef.h>

#include "arch/arch.h"
#include "kernel/core/clock.h"
#include "kernel/core/info.h"
#include "kernel/drivers/i82574.h"

enum { PATIENCE = 64, WORDS = TRANSFER_FRAME_BYTES / sizeof(uint64_t), ALL_BUT_ONE = I82574_DESCRIPTORS - 1 };

static _Alignas(I82574_RING_BYTES) struct i82574_descriptor to_send[I82574_DESCRIPTORS], to_receive[I82574_DESCRIPTORS];
_Static_assert((int)TRANSFER_FRAME_BYTES == (int)I82574_FRAME_BYTES, "what is looked for is what the card sends");
static _Alignas(2048) uint64_t frame[WORDS];
static _Alignas(2048) uint8_t buffer[2048];

struct stretch {
	uint8_t *start;
	size_t bytes;
};

static const char *card_name(void)
{
	return info_find(BH_GRANT_DEVICE, "nic0") ? "nic0" : "nic1";
}

static uint64_t card(void)
{
	static uint64_t found;

	if (!found)
		found = i82574_take(card_name());
	return found;
}

/* `word`: inverted, as it stands in memory but for frames. */
static void fill(uint64_t *words, uint64_t word, uint64_t number)
{
	for (size_t n = 0; n < WORDS; n += 2) {
		words[n] = ~word;
		words[n + 1] = number;
	}
}

static struct stretch stretch_of(const struct campaign_request *request, uint8_t *start)
{
	return (struct stretch){ start + (request->value >> TRANSFER_FIRST_SHIFT & TRANSFER_MASK),
				 request->value >> TRANSFER_COUNT_SHIFT & TRANSFER_MASK };
}

static uint8_t *own(const struct campaign_request *request)
{
	return (uint8_t *)(uintptr_t)request->target;
}

static void set(struct stretch stretch, const uint8_t *from)
{
	for (size_t n = 0; n < stretch.bytes; n++)
		stretch.start[n] = from ? from[n] : 0;
}

static bool holds_anything(struct stretch stretch)
{
	uint8_t any = 0;

	for (size_t n = 0; n < stretch.bytes; n++)
		any |= stretch.start[n];
	return any;
}

static enum campaign_outcome judge(bool something)
{
	return something ? CAMPAIGN_RETURNED : CAMPAIGN_RETURNED_ZERO;
}

static bool is_own(const struct campaign_request *request)
{
	return request->value & TRANSFER_OWN;
}

static bool pass(uint64_t source, uint64_t sink)
{
	to_send[0] = i82574_frame(source);
	to_receive[0] = (struct i82574_descriptor){ sink, 0, 0 };
	i82574_reset(card(), (uintptr_t)to_send, (uintptr_t)to_receive);
	i82574_receive(card(), 1);
	i82574_send(card(), 1);
	return i82574_is_done(&to_receive[0], PATIENCE);
}

static enum campaign_outcome write(const struct campaign_request *request)
{
	struct stretch mine = stretch_of(request, own(request));

	set(mine, NULL);
	if (!pass((uintptr_t)frame, request->target))
		return CAMPAIGN_REFUSED;
	return is_own(request) ? judge(holds_anything(mine)) : CAMPAIGN_RETURNED;
}

static enum campaign_outcome read(const struct campaign_request *request)
{
	if (is_own(request))
		set(stretch_of(request, own(request)), (const uint8_t *)frame);
	return pass(request->target, (uintptr_t)buffer) ? judge(holds_anything(stretch_of(request, buffer))) : CAMPAIGN_REFUSED;
}

/* Frames of its own come in by the ring, one by each descriptor. What it finds there as addresses, it follows. */
static enum campaign_outcome receive_by(const struct campaign_request *request)
{
	struct stretch mine = stretch_of(request, own(request));

	set(mine, NULL);
	for (size_t n = 0; n < I82574_DESCRIPTORS; n++)
		to_send[n] = i82574_frame((uintptr_t)frame);
	i82574_reset(card(), (uintptr_t)to_send, request->target);
	i82574_receive(card(), ALL_BUT_ONE);
	i82574_send(card(), ALL_BUT_ONE);
	if (!i82574_is_done(&to_send[ALL_BUT_ONE - 1], PATIENCE))
		return CAMPAIGN_REFUSED;
	return is_own(request) ? judge(holds_anything(mine)) : CAMPAIGN_RETURNED;
}

/* Whatever the ring has it send comes in. */
static enum campaign_outcome send_by(const struct campaign_request *request)
{
	set(stretch_of(request, own(request)), NULL);
	if (is_own(request))
		*(struct i82574_descriptor *)own(request) = i82574_frame((uintptr_t)frame);
	for (size_t n = 0; n < I82574_DESCRIPTORS; n++)
		to_receive[n] = (struct i82574_descriptor){ (uintptr_t)buffer, 0, 0 };
	i82574_reset(card(), request->target, (uintptr_t)to_receive);
	i82574_receive(card(), ALL_BUT_ONE);
	i82574_send(card(), ALL_BUT_ONE);
	return judge(i82574_is_done(&to_receive[0], PATIENCE));
}

/* ---- Armed: what comes from the neighbour's card meets a sandbox that begins again, or has ended ----------------------- */

enum { ARMED_MOST = 200, FEW = 40, SOON = 100000 };

/* The last page of the spare ones: a restart scrubs it last. */
static struct i82574_descriptor *armed_ring(const struct campaign_queue *queue)
{
	return (struct i82574_descriptor *)(uintptr_t)(queue->spare + queue->spare_bytes - BH_PAGE_BYTES);
}

/* The first frame comes while the sandbox runs. */
static enum campaign_outcome arm(const struct campaign_queue *queue, uint32_t number)
{
	static uint32_t armed;
	const struct campaign_request *request = &queue->request[number];
	struct i82574_descriptor *ring = armed_ring(queue);

	ring[armed++] = (struct i82574_descriptor){ request->target, 0, 0 };
	if (armed < ARMED_MOST && number + 1 < queue->count)
		return CAMPAIGN_RETURNED;
	i82574_reset(card(), (uintptr_t)to_send, (uintptr_t)ring);
	i82574_connect(card(), BH_PAGE_BYTES);
	i82574_receive(card(), armed);
	if (!i82574_is_done(ring, SOON)) {
		armed = 0;
		return CAMPAIGN_REFUSED;
	}
	(void)info_call_monitor(request->value & TRANSFER_END ? BH_CALL_PARK : BH_CALL_RESTART, 0, 0);
	return CAMPAIGN_REFUSED;
}

/* Frames come all the while: a card that was silenced has taken those few that came before. */
static bool went_on(void)
{
	struct i82574_received seen = i82574_received(card_name());

	return seen.handed > 2 * FEW && seen.taken > FEW;
}

bool transfer_outlived(const struct campaign_queue *queue)
{
	return went_on() || holds_anything((struct stretch){ (uint8_t *)(uintptr_t)queue->spare, queue->spare_bytes });
}

_Noreturn void transfer_flood(uint64_t word, uint64_t page)
{
	enum { PERIOD_NS = 20000 };
	uint64_t next = arch_counter();

	fill((uint64_t *)(uintptr_t)page, word, TRANSFER_NEIGHBOURS);
	for (;;) {
		to_send[0] = i82574_frame(page);
		i82574_reset(card(), (uintptr_t)to_send, (uintptr_t)to_receive);
		i82574_connect(card(), I82574_RING_BYTES);
		i82574_send(card(), 1);
		next += clock_from_ns(PERIOD_NS);
		while (arch_counter() < next)
			arch_relax();
	}
}

enum campaign_outcome transfer_attempt(const struct campaign_queue *queue, uint32_t number)
{
	const struct campaign_request *request = &queue->request[number];

	if (!card())
		return CAMPAIGN_UNTRIED;
	fill(frame, queue->word, number);
	switch ((enum transfer_way)(request->value & TRANSFER_MASK)) {
	case TRANSFER_WRITE:
		return write(request);
	case TRANSFER_READ:
		return read(request);
	case TRANSFER_RECEIVE_RING:
		return receive_by(request);
	case TRANSFER_SEND_RING:
		return send_by(request);
	case TRANSFER_ARM:
		return arm(queue, number);
	default:
		return CAMPAIGN_UNTRIED;
	}
}
