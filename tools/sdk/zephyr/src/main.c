/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zephyr in a sandbox answers another one: what comes by the ring `ask` goes back by the ring `answer`, with a line on the console. Another
 * life of the other sandbox is no end: what was under way is lost, and it goes on with what comes then.
 */
#include <stdbool.h>

#include <zephyr/kernel.h>
#include <zephyr/sys/printk.h>

#include "channel.h"

enum { MOST_BYTES = 256 };

static struct bh_end ask, answer;
static uint8_t text[MOST_BYTES];

static bool open_one(struct bh_end *end, const char *name)
{
	const int error = channel_open(end, name);

	if (error)
		printk("%s: cannot be opened: %d\n", name, error);
	return error == 0;
}

/* Each end is told of a new life by itself: there is nothing to repeat but this one message, whose asker lives. */
static enum bh_end_result send_back(uint32_t length)
{
	enum bh_end_result result;

	do
		result = channel_send(&answer, text, length, CHANNEL_FOREVER);
	while (result == BH_END_NEW);
	return result;
}

/* Returns whether to go on. */
static bool answer_one(void)
{
	struct bh_message message;
	enum bh_end_result result = channel_receive(&ask, text, sizeof(text), &message, CHANNEL_FOREVER);

	switch (result) {
	case BH_END_OK:
		printk("ask %u: %u bytes\n", (unsigned)message.number, (unsigned)message.length);
		result = send_back(message.length);
		break;
	case BH_END_NEW:
		printk("ask: a new connection\n");
		return true;
	case BH_END_CHECK:
	case BH_END_SIZE:
		printk("ask: one that is damaged or too long\n");
		return true;
	default:
		break;
	}
	if (result != BH_END_OK)
		printk("the other end is gone, or not what it should be: %d\n", (int)result);
	return result == BH_END_OK;
}

int main(void)
{
	if (!open_one(&ask, "ask") || !open_one(&answer, "answer"))
		return 0;
	printk("ask and I answer\n");
	while (answer_one())
		;
	return 0;
}
