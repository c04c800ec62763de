/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both ends of a channel, `numbers` (channel.dts). The sandbox at end 0 sends squares, one every ten milliseconds, and ends; the one at end
 * 1 prints them, and ends when the other has ended and all are read. Who has nothing to do sleeps, so its core is free.
 */
#include <bulkhead.h>

#include <abi/channel_inline.h>

enum { MESSAGES = 10, SEND_US = 10000, LOOK_US = 1000, US_A_SECOND = 1000000 };

static void sleep_us(const struct bh_info *info, uint64_t us)
{
	bulkhead_sleep_until(info, bulkhead_clock() + us * bulkhead_clock_hz(info) / US_A_SECOND);
}

static void talk(const struct bh_info *info, struct bh_end *end)
{
	uint32_t number = 0;

	while (number < MESSAGES) {
		void *slot;
		const enum bh_end_result result = bh_ring_reserve(end, &slot);

		if (result == BH_END_OK) { /* in place; seen by the other end once it is sent */
			*(uint32_t *)slot = number * number;
			number++;
			if (bh_ring_send(end, sizeof(uint32_t), BH_CHANNEL_START | BH_CHANNEL_END) != BH_END_OK)
				return;
			sleep_us(info, SEND_US);
		} else if (result == BH_END_AGAIN) { /* no room, or the other end is not there yet */
			sleep_us(info, LOOK_US);
		} else if (result == BH_END_NEW) { /* one of the two lives anew: what was under way is lost */
			number = 0;
		} else {
			return; /* BH_END_GONE, BH_END_BROKEN */
		}
	}
}

static void print_message(struct bh_log *log, const struct bh_message *message)
{
	uint32_t value = 0;

	/* The other end may change a slot at any time: what is used is a copy. */
	if (message->length == sizeof(value))
		bh_copy_from_slot((uint8_t *)&value, message->data, sizeof(value));
	bulkhead_print(log, "message ");
	bulkhead_print_hex(log, message->number);
	bulkhead_print(log, ": ");
	bulkhead_print_hex(log, value);
	bulkhead_print(log, "\n");
}

static void listen(const struct bh_info *info, struct bh_log *log, struct bh_end *end)
{
	for (;;) {
		struct bh_message message;
		const enum bh_end_result result = bh_ring_peek(end, &message);

		if (result == BH_END_OK) {
			print_message(log, &message);
			if (bh_ring_release(end) != BH_END_OK)
				return;
		} else if (result == BH_END_AGAIN) {
			sleep_us(info, LOOK_US);
		} else if (result != BH_END_NEW) {
			return; /* BH_END_GONE: all is read; BH_END_BROKEN */
		}
	}
}

void bulkhead_main(const struct bh_info *info)
{
	struct bh_log *log = bulkhead_log_open(info);
	struct bh_end end;

	/* Memory that others write is coherent where caches are on. */
	if (bulkhead_memory_on(info) != BULKHEAD_OK || bulkhead_channel_open(info, "numbers", &end) != BULKHEAD_OK) {
		bulkhead_print(log, "no channel `numbers`\n");
		return;
	}
	bulkhead_sleep_until(info, 0); /* the first one sets the timer up, which takes exits: before it is ready */
	bulkhead_call(BH_CALL_READY, 0);
	if (end.role == BH_END_RING_SENDER)
		talk(info, &end);
	else
		listen(info, log, &end);
	bulkhead_print(log, "that was all\n");
}
