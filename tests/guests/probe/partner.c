/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on all ends, with a buffer between guard words, within bounds of time (partner.h). */
#include "probe/partner.h"

#include <stddef.h>
#include <stdint.h>

#include "kernel/core/channels.h"
#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/doorbells.h"
#include "kernel/core/info.h"
#include "kernel/core/text.h"
#include "probe/marks.h"

enum { MOST = 16 /* BH_MAX_CHANNELS */, MOST_BYTES = 128, MOST_WORDS = MOST_BYTES / 8, GUARDS = 8 };
enum { OPERATION_NS = 20000000, SILENT_LOOKS = 2000, RINGS_AT_ONCE = 2 /* one comes late, and the next one in time */ };

enum wrong { GUARD, LENGTH, PLACE, RESULT, TIME, AREA, SLACK, CONTENT, CONNECTION, SILENT, RINGS, TURN, PAGE, SCRUB, WRONGS };
static const char *const names[WRONGS] = {
	[GUARD] = "an operation wrote beside the buffer",
	[LENGTH] = "a message is longer than a slot",
	[PLACE] = "a message lies outside the other end's slots",
	[RESULT] = "an operation returned what it does not return",
	[TIME] = "an operation took too long",
	[AREA] = "somebody else wrote to its control",
	[SLACK] = "somebody else wrote behind its slots",
	[CONTENT] = "a sentinel's message was lost, doubled or damaged",
	[CONNECTION] = "a sentinel's channel is broken, or not the first",
	[SILENT] = "a sentinel has sent nothing for long",
	[RINGS] = "it was rung oftener than granted",
	[TURN] = "it cannot be opened",
	[PAGE] = "another channel is where it was opened",
	[SCRUB] = "its area was not empty when it was opened for the first time",
};

static struct link {
	const struct bh_grant *grant;
	struct bh_end *end;
	const struct doorbell *bell; /* NULL: it is never rung */
	uint64_t gap, credit, asked; /* ticks: between two rings; of rings that may come at once; when it was looked at last */
	uint64_t rings;
	uint64_t sent, received; /* messages, of a latest value: the newest one's number + 1 */
	uint64_t refused;        /* in connections before it was closed */
	uint64_t next;           /* on request: the least number that may come from a sentinel */
	uint32_t silent;         /* looks since something came */
	uint32_t opened, looks;  /* on request: how often it was opened, and looks until it is opened or closed again */
	bool on_request;
	bool is_open;
	bool has_partner; /* the other end is a sentinel */
	bool said[WRONGS];
} links[MOST];
static unsigned link_count, next_slack;
static bool watching, resting;

static struct {
	uint64_t before[GUARDS];
	uint64_t words[MOST_WORDS];
	uint64_t after[GUARDS];
} buffer;

static void complain(struct link *link, enum wrong wrong)
{
	if (!watching || link->said[wrong])
		return;
	link->said[wrong] = true;
	console_report("wrong: channel %s: %s", (const char *)link->grant->name, names[wrong]);
}

/* ---- Buffers --------------------------------------------------------------------------------------------------------- */

static uint64_t guard(unsigned n)
{
	return (n + 1) * MARK_MIX;
}

static void set_guards(void)
{
	for (unsigned n = 0; n < GUARDS; n++)
		buffer.before[n] = buffer.after[n] = guard(n);
}

static void look_at_guards(struct link *link)
{
	for (unsigned n = 0; n < GUARDS; n++)
		if (buffer.before[n] != guard(n) || buffer.after[n] != guard(n)) {
			complain(link, GUARD);
			set_guards();
			return;
		}
}

static uint32_t length_of(const struct link *link, uint64_t number)
{
	const uint32_t words = link->end->slot_bytes < MOST_BYTES ? link->end->slot_bytes / 8 : MOST_WORDS;

	return (uint32_t)(1 + number % words) * 8;
}

static uint64_t word_of(uint64_t number, unsigned n)
{
	return n ? (number + n) * MARK_MIX : number;
}

/* Returns its length. */
static uint32_t make_message(const struct link *link, uint64_t *words)
{
	const uint32_t length = length_of(link, link->sent);

	for (unsigned n = 0; n < length / 8; n++)
		words[n] = word_of(link->sent, n);
	return length;
}

static bool is_message(const struct link *link, uint64_t number, uint32_t length)
{
	if (length != length_of(link, number))
		return false;
	for (unsigned n = 0; n < length / 8; n++)
		if (buffer.words[n] != word_of(number, n))
			return false;
	return true;
}

/* ---- What came ------------------------------------------------------------------------------------------------------- */

/*
 * What it has to be. With a connection what was under way is lost, so of a channel that is opened on request the message says it itself: a
 * sender counts on, and no number may come twice, or after a later one.
 */
static uint64_t number_of(const struct link *link, const struct bh_message *message)
{
	if (link->on_request)
		return buffer.words[0];
	return link->end->role == BH_END_LATEST_READER ? message->number : link->received;
}

/* In the buffer, as far as there is room. */
static void judge(struct link *link, const struct bh_message *message)
{
	const bool is_latest = link->end->role == BH_END_LATEST_READER;

	look_at_guards(link);
	if (message->length > link->end->slot_bytes)
		complain(link, LENGTH);
	if (!link->has_partner)
		return;
	if (!is_message(link, number_of(link, message), message->length))
		complain(link, CONTENT);
	if (link->on_request ? number_of(link, message) < link->next : is_latest && message->number + UINT64_C(1) < link->received)
		complain(link, CONTENT);
}

static void count(struct link *link, const struct bh_message *message)
{
	link->next = buffer.words[0] + 1;
	if (link->end->role != BH_END_LATEST_READER)
		link->received++;
	else if (message->number + UINT64_C(1) != link->received)
		link->received = message->number + UINT64_C(1);
	else
		return;
	link->silent = 0;
}

/* Of the other end's slots: where channel_end.h has them. */
static bool is_in_slots(const struct bh_end *end, const void *data)
{
	const uint64_t offset = (uintptr_t)data - (uintptr_t)end->peer_slots;

	return offset < (uint64_t)end->slots * end->stride && offset % end->stride == sizeof(struct bh_channel_slot);
}

static enum bh_end_result take_from_ring(struct link *link, struct bh_message *message)
{
	enum bh_end_result result = bh_ring_peek(link->end, message);
	uint32_t length;

	if (result != BH_END_OK && result != BH_END_CHECK)
		return result;
	if (!is_in_slots(link->end, message->data)) {
		complain(link, PLACE);
		return BH_END_BROKEN;
	}
	length = message->length < MOST_BYTES ? message->length : MOST_BYTES;
	bh_copy_from_slot(buffer.words, message->data, length);
	(void)bh_ring_release(link->end);
	return result;
}

static enum bh_end_result receive(struct link *link, struct bh_message *message)
{
	const uint32_t capacity = link->end->slot_bytes < MOST_BYTES ? link->end->slot_bytes : MOST_BYTES;

	switch (link->end->role) {
	case BH_END_RING_READER:
		return take_from_ring(link, message);
	case BH_END_MAILBOX:
		return bh_mailbox_receive(link->end, buffer.words, capacity, message);
	case BH_END_LATEST_READER:
		return bh_latest_read(link->end, buffer.words, capacity, message);
	default:
		return BH_END_AGAIN;
	}
}

/* ---- What goes --------------------------------------------------------------------------------------------------------- */

static enum bh_end_result send_by_ring(struct link *link)
{
	uint64_t words[MOST_WORDS] = { 0 };
	const uint32_t length = make_message(link, words);
	enum bh_end_result result;
	void *slot;

	result = bh_ring_reserve(link->end, &slot);
	if (result != BH_END_OK)
		return result;
	bh_copy_to_slot(slot, words, length);
	return bh_ring_send(link->end, length, BH_CHANNEL_START | BH_CHANNEL_END);
}

static enum bh_end_result send(struct link *link)
{
	uint64_t words[MOST_WORDS] = { 0 };

	switch (link->end->role) {
	case BH_END_RING_SENDER:
		return send_by_ring(link);
	case BH_END_MAILBOX:
		return bh_mailbox_send(link->end, words, make_message(link, words), BH_CHANNEL_START | BH_CHANNEL_END);
	case BH_END_LATEST_WRITER:
		return bh_latest_write(link->end, words, make_message(link, words));
	default:
		return BH_END_AGAIN;
	}
}

/* ---- Every operation, and what may come of it -------------------------------------------------------------------------- */

static void judge_result(struct link *link, enum bh_end_result result)
{
	if ((unsigned)result > BH_END_CHECK)
		complain(link, RESULT);
	/* A buffer has room for a slot: what does not fit is longer than that. */
	if (result == BH_END_SIZE)
		complain(link, LENGTH);
	if (!link->has_partner)
		return;
	if (result == BH_END_BROKEN || result == BH_END_GONE || (link->end->connections > 1 && !link->on_request))
		complain(link, CONNECTION);
	if (result == BH_END_CHECK)
		complain(link, CONTENT);
}

static enum bh_end_result in_time(struct link *link, enum bh_end_result (*operate)(struct link *link))
{
	const uint64_t start = arch_counter();
	const enum bh_end_result result = operate(link);

	if (arch_counter() - start > clock_from_ns(OPERATION_NS))
		complain(link, TIME);
	judge_result(link, result);
	return result;
}

static enum bh_end_result receive_one(struct link *link)
{
	struct bh_message message;
	const enum bh_end_result result = receive(link, &message);

	look_at_guards(link);
	if (result == BH_END_OK) {
		judge(link, &message);
		count(link, &message);
	}
	return result;
}

static enum bh_end_result send_one(struct link *link)
{
	const enum bh_end_result result = send(link);

	if (result == BH_END_OK)
		link->sent++;
	return result;
}

/* ---- Its own area: nobody else writes there ---------------------------------------------------------------------------- */

static uint32_t pads(const struct bh_channel_control *control)
{
	uint32_t found = control->waits;

	for (unsigned n = 0; n < sizeof(control->pad0) / sizeof(control->pad0[0]); n++)
		found |= control->pad0[n];
	for (unsigned n = 0; n < sizeof(control->pad1) / sizeof(control->pad1[0]); n++)
		found |= control->pad1[n] | control->pad2[n];
	for (unsigned n = 2; n < sizeof(control->slot) / sizeof(control->slot[0]); n++)
		found |= control->slot[n]; /* there is one reader */
	for (unsigned n = 1; n < sizeof(control->reading) / sizeof(control->reading[0]); n++)
		found |= control->reading[n];
	return found;
}

/* As the operations have left it: what they keep privately (channel_end.h). */
static void look_at_control(struct link *link)
{
	const struct bh_end *end = link->end;
	const struct bh_channel_control *control = end->own;
	const bool is_latest = end->role == BH_END_LATEST_READER;

	if (link->on_request && !end->epoch)
		return; /* it takes part in no connection yet: a life before it has left this */
	if (control->epoch != end->epoch || control->peer != end->peer_epoch || control->sent != end->sent ||
	    control->taken != (is_latest ? 0 : end->taken) || control->slot[0] != end->slot[0] || control->slot[1] != end->slot[1] ||
	    control->latest > 1 || control->reading[0] > 1 || pads(control))
		complain(link, AREA);
}

static uint64_t *slack_start(const struct bh_end *end)
{
	const bool has_slots = end->role != BH_END_RING_READER && end->role != BH_END_LATEST_READER;

	return (uint64_t *)(end->own_slots + (has_slots ? (size_t)end->slots * end->stride : 0));
}

static const uint64_t *slack_end(const struct link *link)
{
	const uint64_t bytes = link->grant->vector ? link->grant->size - link->grant->line - BH_PAGE_BYTES : link->grant->line;

	return (const uint64_t *)((uintptr_t)link->end->own + bytes);
}

static void fill_slack(struct link *link)
{
	for (uint64_t *word = slack_start(link->end); word < slack_end(link); word++)
		*word = (uintptr_t)word * MARK_MIX;
}

static void look_at_slack(struct link *link)
{
	for (const uint64_t *word = slack_start(link->end); word < slack_end(link); word++)
		if (*word != (uintptr_t)word * MARK_MIX) {
			complain(link, SLACK);
			fill_slack(link);
			return;
		}
}

/* ---- Rings ------------------------------------------------------------------------------------------------------------- */

/* In any stretch of time as many as gaps have passed, and RINGS_AT_ONCE. What has not been used is kept up to that. */
static void count_rings(struct link *link)
{
	const uint64_t now = arch_counter(), most = RINGS_AT_ONCE * link->gap;
	uint64_t rings, cost, allowed;

	if (!link->bell)
		return;
	rings = doorbell_count(link->bell);
	cost = (rings - link->rings) * link->gap;
	allowed = link->credit + (now - link->asked);
	if (cost > allowed)
		complain(link, RINGS);
	allowed -= cost < allowed ? cost : allowed;
	link->credit = allowed < most ? allowed : most;
	link->rings = rings;
	link->asked = now;
}

/* ---- On request -------------------------------------------------------------------------------------------------------- */

enum { OPEN_LOOKS = 24, CLOSED_LOOKS = 6 };

static void close_end(struct link *link)
{
	link->is_open = false;
	link->refused += link->end->refused;
	channel_give(link->end);
}

/* Its frames come as zeros, and nobody else writes to its area from then on. */
static void look_at_first(struct link *link)
{
	for (const uint64_t *word = (const uint64_t *)link->end->own; word < slack_end(link); word++)
		if (*word) {
			complain(link, SCRUB);
			break;
		}
	fill_slack(link);
}

static void open_end(struct link *link)
{
	const char *name = (const char *)link->grant->name;
	const struct bh_channel *page;

	link->end = channel_take(name);
	link->is_open = link->end;
	if (!link->is_open) {
		complain(link, TURN);
		return;
	}
	page = (const struct bh_channel *)(uintptr_t)(link->grant->gpa + link->grant->line);
	if (!text_equal((const char *)page->name, name))
		complain(link, PAGE);
	bh_end_set_checked(link->end, link->has_partner);
	if (watching && !link->opened++)
		look_at_first(link);
}

/* Open and closed for other numbers of looks each time, so that each end meets the other one in every state. */
static void turn(struct link *link)
{
	const uint64_t start = arch_counter();

	if (resting || link->looks--)
		return;
	if (link->is_open)
		close_end(link);
	else
		open_end(link);
	if (arch_counter() - start > clock_from_ns(OPERATION_NS))
		complain(link, TIME);
	link->looks = (uint32_t)((link->opened + link->grant->gpa) * MARK_MIX >> 32) % (link->is_open ? OPEN_LOOKS : CLOSED_LOOKS);
}

static bool is_there(const struct link *link)
{
	return !link->on_request || link->is_open;
}

/* ---- All of it --------------------------------------------------------------------------------------------------------- */

/* SENTINELS of tools/bhtool/attack/stage.py. */
static bool is_sentinel(const char *name)
{
	return text_equal(name, "watch0") || text_equal(name, "watch1");
}

static void take(const struct bh_grant *grant)
{
	const char *name = (const char *)grant->name;
	const struct bh_grant *rung = info_find(BH_GRANT_DOORBELL, name);
	const bool on_request = grant->flags & BH_CHANNEL_ON_REQUEST;
	struct link *link = &links[link_count];

	*link = (struct link){ .grant = grant, .end = on_request ? NULL : channel_take(name), .on_request = on_request };
	if (!link->end && !on_request)
		return;
	link_count++;
	link->has_partner = watching && is_sentinel((const char *)grant->compatible);
	if (rung && rung->line != BH_LINE_NONE) {
		link->bell = doorbell_find(name);
		link->gap = clock_from_ns(rung->size);
		link->credit = RINGS_AT_ONCE * link->gap;
		link->asked = arch_counter();
	}
	if (on_request)
		return;
	bh_end_set_checked(link->end, link->has_partner);
	if (watching)
		fill_slack(link);
}

void partner_begin(bool watches)
{
	watching = watches;
	set_guards();
	for (uint32_t n = 0; n < info->grant_count && n < BH_MAX_GRANTS && link_count < MOST; n++)
		if (info->grants[n].kind == BH_GRANT_CHANNEL)
			take(&info->grants[n]);
}

/* As many as fit on the way. */
static void operate(struct link *link)
{
	unsigned most = link->end->role == BH_END_RING_READER || link->end->role == BH_END_RING_SENDER ? link->end->slots : 1;

	for (unsigned n = 0; n < most && in_time(link, receive_one) == BH_END_OK; n++)
		;
	most = link->has_partner ? 1 : most; /* a message with each look: more would be too much for a machine that is counted */
	for (unsigned n = 0; n < most && in_time(link, send_one) == BH_END_OK; n++)
		;
}

static bool is_receiver(const struct bh_end *end)
{
	return end->role == BH_END_MAILBOX || end->role == BH_END_RING_READER || end->role == BH_END_LATEST_READER;
}

static void watch(struct link *link)
{
	look_at_control(link);
	count_rings(link);
	if (link->has_partner && is_receiver(link->end) && link->silent++ == SILENT_LOOKS)
		complain(link, SILENT);
}

void partner_take_part(void)
{
	for (struct link *link = links; link < links + link_count; link++) {
		if (watching && link->on_request)
			turn(link);
		if (!is_there(link))
			continue;
		if (watching)
			watch(link);
		operate(link);
	}
	if (!watching || !link_count)
		return;
	next_slack = (next_slack + 1) % link_count;
	if (is_there(&links[next_slack]))
		look_at_slack(&links[next_slack]);
}

/* What this kernel takes for open or closed may be neither: it is opened before it is closed. */
void partner_set_open(bool open)
{
	resting = watching && !open;
	for (struct link *link = links; link < links + link_count; link++) {
		if (!link->on_request)
			continue;
		if (!link->is_open)
			open_end(link);
		if (link->is_open)
			close_end(link);
		if (open)
			open_end(link);
	}
}

bool partner_is_connected(bool on_request)
{
	for (const struct link *link = links; link < links + link_count; link++)
		if (is_there(link) && (link->on_request || !on_request) && !link->end->connected)
			return false;
	return true;
}

void partner_report(void)
{
	uint64_t sent = 0, received = 0, others = 0, rings = 0, refused = 0, opened = 0;

	if (!link_count)
		return;
	for (const struct link *link = links; link < links + link_count; link++) {
		sent += link->has_partner ? link->sent : 0;
		received += link->has_partner ? link->received : 0;
		others += link->has_partner ? 0 : link->received;
		rings += link->rings;
		refused += link->refused + (is_there(link) ? link->end->refused : 0);
		opened += link->opened;
	}
	console_report("channels: %ju sent to its partner, %ju received, %ju of others, %ju refused, %ju rings, %ju opened", sent, received,
		       others, refused, rings, opened);
}
