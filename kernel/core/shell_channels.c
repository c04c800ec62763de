/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that show channels and try them (shell_channels.h). */
#include "kernel/core/shell_channels.h"

#include "arch/arch.h"
#include "kernel/core/channels.h"
#include "kernel/core/clock.h"
#include "kernel/core/console.h"
#include "kernel/core/cpu.h"
#include "kernel/core/doorbells.h"
#include "kernel/core/info.h"
#include "kernel/core/text.h"

enum { SHOWN_BYTES = 64 };

#define NOT_THERE "not connected yet"

static const char *name_of(enum bh_end_result result)
{
	static const char *const names[] = {
		[BH_END_OK] = "done",
		[BH_END_NEW] = "a new connection",
		[BH_END_GONE] = "the other end is gone",
		[BH_END_BROKEN] = "the other end broke the protocol",
		[BH_END_SIZE] = "too long",
		[BH_END_CHECK] = "damaged",
		[BH_END_INVALID] = "not at this end of such a channel",
	};

	return names[result];
}

static const char *name_of_sent(const struct bh_end *end, enum bh_end_result result)
{
	if (result != BH_END_AGAIN)
		return name_of(result);
	if (!end->connected)
		return NOT_THERE;
	return end->role == BH_END_MAILBOX ? "the other end has not taken the last message, or what it sent was not read here" : "no room";
}

static const char *name_of_received(const struct bh_end *end, enum bh_end_result result)
{
	if (result != BH_END_AGAIN)
		return name_of(result);
	return end->connected ? "nothing to read" : NOT_THERE;
}

/* Why the main program has no such end to use, or may not open or close it. */
static const char *why_not(const char *name, bool turns)
{
	const struct bh_grant *grant = info_find(BH_GRANT_CHANNEL, name);
	const bool on_request = grant && grant->flags & BH_CHANNEL_ON_REQUEST;

	if (!grant)
		return "no such channel";
	if (turns && !on_request)
		return "it is always open";
	if (!turns && !channel_of(grant))
		return on_request ? "it is closed" : "it is of another version";
	return "a program has it";
}

/* Of the main program, on the first core. NULL: has said so. */
static struct bh_end *end_of(const char *command, const char *name)
{
	struct bh_end *end = cpu_slot() ? NULL : channel_untaken(name);

	if (!end)
		console_say("%s %s: %s", command, name, cpu_slot() ? "on the first core alone" : why_not(name, false));
	return end;
}

void run_channels(const struct command_line *line)
{
	static const char *const roles[] = {
		[BH_END_DETACHED] = "unknown",
		[BH_END_MAILBOX] = "mailbox with",
		[BH_END_RING_SENDER] = "ring to",
		[BH_END_RING_READER] = "ring from",
		[BH_END_LATEST_WRITER] = "latest value to",
		[BH_END_LATEST_READER] = "latest value from",
	};

	if (!info_find(BH_GRANT_CHANNEL, NULL))
		console_say("no channels");
	for (uint32_t n = 0; n < info->grant_count && n < BH_MAX_GRANTS; n++) {
		const struct bh_grant *grant = &info->grants[n];
		const struct bh_end *one = channel_of(grant);

		if (grant->kind == BH_GRANT_CHANNEL && !one && grant->flags & BH_CHANNEL_ON_REQUEST)
			console_say("channel %s: with %s, closed", (const char *)grant->name, (const char *)grant->compatible);
		if (one)
			console_say("channel %s: %s %s, %ju bytes a slot; epoch %ju here, %ju there, %s; sent %ju, taken %ju",
				    (const char *)grant->name, roles[one->role], (const char *)grant->compatible, (uint64_t)one->slot_bytes,
				    (uint64_t)one->epoch, (uint64_t)one->peer_epoch, one->connected ? "connected" : "not connected",
				    (uint64_t)one->sent, (uint64_t)one->taken);
	}
}

/* What follows the name, which is cut there. */
static const char *split(const char *text, char *name)
{
	size_t n = 0;

	for (; *text && *text != ','; text++)
		if (n < COMMAND_WORD_BYTES - 1)
			name[n++] = *text;
	name[n] = '\0';
	return *text ? text + 1 : text;
}

static enum bh_end_result send_in_ring(struct bh_end *end, const char *text, uint32_t length)
{
	void *data;
	enum bh_end_result result = bh_ring_reserve(end, &data);

	if (result != BH_END_OK)
		return result;
	if (length > end->slot_bytes)
		return BH_END_SIZE;
	bh_copy_to_slot((uint8_t *)data, text, length);
	return bh_ring_send(end, length, BH_CHANNEL_START | BH_CHANNEL_END);
}

static enum bh_end_result send(struct bh_end *end, const char *text, uint32_t length)
{
	switch (end->role) {
	case BH_END_RING_SENDER:
		return send_in_ring(end, text, length);
	case BH_END_LATEST_WRITER:
		return bh_latest_write(end, text, length);
	default:
		return bh_mailbox_send(end, text, length, BH_CHANNEL_START | BH_CHANNEL_END);
	}
}

void run_send(const struct command_line *line)
{
	char name[COMMAND_WORD_BYTES];
	const char *text = split(line->text, name);
	struct bh_end *end = end_of("send", name);
	enum bh_end_result result;
	uint32_t length = 0;

	if (!end)
		return;
	while (text[length])
		length++;
	result = send(end, text, length);
	if (result == BH_END_NEW) /* which is told of once */
		result = send(end, text, length);
	console_say("send %s: %s", name, name_of_sent(end, result));
}

static const char *name_of_turn(const char *name, int64_t result)
{
	switch (result) {
	case BH_OK:
		return "done";
	case BH_E_DENIED:
		return why_not(name, true);
	default:
		return "there is no monitor, or no channel that this kernel knows";
	}
}

void run_open(const struct command_line *line)
{
	console_say("open %s: %s", line->text, name_of_turn(line->text, channel_set_open(line->text, true)));
}

void run_close(const struct command_line *line)
{
	console_say("close %s: %s", line->text, name_of_turn(line->text, channel_set_open(line->text, false)));
}

/* In ticks of the arch counter: the longest of each. */
void run_reopen(const struct command_line *line)
{
	char name[COMMAND_WORD_BYTES];
	const char *rest = split(line->text, name);
	uint64_t times = 0, opening = 0, closing = 0, done = 0;
	int64_t result = BH_OK;

	if (!text_parse_number(&rest, &times)) {
		console_say("reopen %s: how often?", name);
		return;
	}
	for (; done < times && result == BH_OK; done++) {
		uint64_t start = arch_counter(), between;

		result = channel_set_open(name, true);
		between = arch_counter();
		if (result == BH_OK)
			result = channel_set_open(name, false);
		if (between - start > opening)
			opening = between - start;
		if (arch_counter() - between > closing)
			closing = arch_counter() - between;
	}
	console_say("reopen %s: %s, %ju times, %ju and %ju ns at most", name, name_of_turn(name, result), done, clock_to_ns(opening),
		    clock_to_ns(closing));
}

void run_ring(const struct command_line *line)
{
	const struct doorbell *doorbell = doorbell_find(line->text);
	int64_t result = doorbell ? doorbell_ring(doorbell) : BH_E_DENIED;
	const char *said = "not granted";

	if (result == BH_OK)
		said = "done";
	else if (result == BH_E_LATER)
		said = "too soon after the last one";
	console_say("ring %s: %s", line->text, said);
}

void run_rung(const struct command_line *line)
{
	const struct doorbell *doorbell = doorbell_find(line->text);

	if (doorbell)
		console_say("rung %s: %ju times", line->text, doorbell_count(doorbell));
	else
		console_say("rung %s: it has no doorbell", line->text);
}

/* What is damaged goes, too. */
static enum bh_end_result receive_from_ring(struct bh_end *end, char *buffer, struct bh_message *message)
{
	enum bh_end_result result = bh_ring_peek(end, message);

	if (result == BH_END_CHECK)
		bh_ring_release(end);
	if (result != BH_END_OK)
		return result;
	message->length = message->length < SHOWN_BYTES ? message->length : SHOWN_BYTES;
	bh_copy_from_slot(buffer, (const uint8_t *)message->data, message->length);
	return bh_ring_release(end);
}

/* Of one that is longer the beginning, as of a ring: what stayed there would keep the other end from sending for ever. */
static enum bh_end_result receive_from_mailbox(struct bh_end *end, char *buffer, struct bh_message *message)
{
	enum bh_end_result result = bh_mailbox_receive(end, buffer, SHOWN_BYTES, message);

	if (result != BH_END_SIZE)
		return result;
	message->length = SHOWN_BYTES;
	bh_copy_from_slot(buffer, (const uint8_t *)(bh_peer_slot(end, 0) + 1), SHOWN_BYTES);
	bh_end_take(end);
	return BH_END_OK;
}

static enum bh_end_result receive(struct bh_end *end, char *buffer, struct bh_message *message)
{
	switch (end->role) {
	case BH_END_RING_READER:
		return receive_from_ring(end, buffer, message);
	case BH_END_LATEST_READER:
		return bh_latest_read(end, buffer, SHOWN_BYTES, message);
	default:
		return receive_from_mailbox(end, buffer, message);
	}
}

/* Anybody's bytes: what is no printable ASCII is shown as a dot. */
static void make_printable(char *text, uint32_t length)
{
	for (uint32_t n = 0; n < length; n++)
		if (text[n] < ' ' || text[n] > '~')
			text[n] = '.';
	text[length] = '\0';
}

void run_receive(const struct command_line *line)
{
	char text[SHOWN_BYTES + 1];
	struct bh_end *end = end_of("receive", line->text);
	struct bh_message message;
	enum bh_end_result result;

	if (!end)
		return;
	result = receive(end, text, &message);
	if (result == BH_END_NEW) {
		console_say("receive %s: %s", line->text, name_of(result));
		result = receive(end, text, &message);
	}
	if (result == BH_END_OK) {
		make_printable(text, message.length);
		console_say("receive %s %ju: %s", line->text, (uint64_t)message.number, text);
	} else {
		console_say("receive %s: %s", line->text, name_of_received(end, result));
	}
}
