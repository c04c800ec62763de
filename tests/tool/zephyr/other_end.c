/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SDK's sample for Zephyr on the host, against the other ends of its channels: whenever it sleeps, these have their turn. The last
 * thing they do is to go for good, upon which its main function returns.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>

#include <zephyr/kernel.h>
#include <zephyr/sys/device_mmio.h>
#include <zephyr/sys/printk.h>

#include "channel.h"
#include "channel_scene.h"
#include "sandbox.h"

int zephyr_main(void);

enum { SLOTS = 4, SLOT_BYTES = 512, TOO_LONG = 300, ASK, ANSWER, MOST_SLEEPS = 10000, SAID_BYTES = 4096 };
#define GPA(n) (0x50000000U + 0x100000U * (n))

static struct scene ask, answer;
static struct bh_end asks, hears; /* the other sandbox's */
static struct bh_info info;
static char said[SAID_BYTES];
static unsigned sleeps;
static size_t step;
static bool alone; /* nobody takes part at the other ends */

/* ---- Zephyr ----------------------------------------------------------------------------------------------------------------------- */

static void turn(void);

int32_t k_sleep(k_timeout_t timeout)
{
	CHECK_EQ(timeout.ticks, 1);
	CHECK(++sleeps < MOST_SLEEPS);
	if (!alone)
		turn();
	return 0;
}

void printk(const char *format, ...)
{
	const size_t used = strlen(said);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(said + used, sizeof(said) - used, format, arguments);
	va_end(arguments);
}

/* A device's memory would not be shared with other cores' caches. */
void device_map(mm_reg_t *mapped, uintptr_t address, size_t bytes, uint32_t flags)
{
	CHECK_EQ(flags, K_MEM_CACHE_WB);
	if (address == BH_INFO) {
		CHECK_EQ(bytes, BH_PAGE_BYTES);
		*mapped = (uintptr_t)&info;
		return;
	}
	CHECK(address == GPA(ASK) || address == GPA(ANSWER));
	CHECK_EQ(bytes, address == GPA(ASK) ? ask.bytes : answer.bytes);
	*mapped = (uintptr_t)(address == GPA(ASK) ? ask.view[1] : answer.view[0]);
}

/* ---- The other sandbox: what returns false is done again after the next sleep ---------------------------------------------------------
 */

/* Zephyr looks at the other one when it has something to send. */
static bool take_part(void)
{
	return bh_end_look(&asks) == BH_END_OK;
}

static void ask_for(uint8_t first, uint32_t bytes)
{
	void *data;

	CHECK_EQ(bh_ring_reserve(&asks, &data), BH_END_OK);
	memset(data, first, bytes);
	CHECK_EQ(bh_ring_send(&asks, bytes, BH_CHANNEL_START | BH_CHANNEL_END), BH_END_OK);
}

static bool hear(uint8_t first, uint32_t bytes, uint32_t number)
{
	struct bh_message message;

	if (bh_ring_peek(&hears, &message) != BH_END_OK)
		return false;
	CHECK_EQ(message.number, number);
	CHECK_EQ(message.length, bytes);
	for (uint32_t n = 0; n < bytes; n++)
		CHECK_EQ(((const uint8_t *)message.data)[n], first);
	CHECK_EQ(bh_ring_release(&hears), BH_END_OK);
	return true;
}

static bool asks_once(void)
{
	ask_for('a', 64);
	return true;
}

static bool hears_once(void)
{
	return hear('a', 64, 0);
}

/* As many as fit, and takes no answer before all were taken there. */
static bool asks_much(void)
{
	for (uint8_t n = 0; n < SLOTS; n++)
		ask_for((uint8_t)('b' + n), 1U + n);
	return true;
}

static bool asks_more(void)
{
	if (bh_end_read_taken(&asks) != BH_END_OK || asks.peer_taken != asks.sent)
		return false;
	ask_for('z', 256);
	return true;
}

static bool waits(void)
{
	static unsigned turns;

	CHECK_EQ(ask.control[1]->taken, 2 + SLOTS);
	CHECK_EQ(answer.control[0]->sent, 1 + SLOTS); /* for the last one there is no room */
	return ++turns == 10;
}

static bool hears_all(void)
{
	for (uint8_t n = 0; n < SLOTS; n++)
		CHECK(hear((uint8_t)('b' + n), 1U + n, 1U + n));
	return true;
}

static bool hears_last(void)
{
	return hear('z', 256, 1 + SLOTS);
}

/* With something under way both ways. */
static bool begins_again(void)
{
	ask_for('l', 8);
	scene_new_life(&ask, 0);
	scene_new_life(&answer, 1);
	scene_attach(&ask, 0, &asks);
	scene_attach(&answer, 1, &hears);
	return true;
}

static bool asks_again(void)
{
	ask_for('n', 16);
	return true;
}

static bool hears_again(void)
{
	return hear('n', 16, 0);
}

static bool asks_wrongly(void)
{
	ask_for('t', TOO_LONG);
	bh_end_set_checked(&asks, true);
	ask_for('d', 32);
	((uint8_t *)(scene_slot(&ask, 0, 2) + 1))[5] ^= 1;
	ask_for('c', 32);
	return true;
}

static bool hears_the_right_one(void)
{
	return hear('c', 32, 1);
}

static bool goes(void)
{
	ask_for('e', 1);
	scene_set_state(&ask, 0, BH_CHANNEL_GONE);
	return true;
}

static bool (*const steps[])(void) = { take_part,  asks_once,   hears_once,   asks_much,           asks_more,
				       waits,      hears_all,   hears_last,   begins_again,        take_part,
				       asks_again, hears_again, asks_wrongly, hears_the_right_one, goes };

static void turn(void)
{
	if (step < sizeof(steps) / sizeof(steps[0]) && steps[step]())
		step++;
}

/* ---- What is to come of it -------------------------------------------------------------------------------------------------------- */

static void grant(unsigned row, const char *name, const struct scene *scene, unsigned side)
{
	struct bh_grant *one = &info.grants[row];

	*one = (struct bh_grant){
		.kind = BH_GRANT_CHANNEL, .line = scene->page_offset, .vector = side, .gpa = GPA(side ? ASK : ANSWER), .size = scene->bytes
	};
	memcpy(one->name, name, strlen(name) + 1);
	info.grant_count = row + 1;
}

static void refusals(void)
{
	struct bh_end end;

	CHECK_EQ(channel_open(&end, "ask"), -ENOENT);
	grant(0, "ask", &ask, 1);
	info.grants[0].kind = BH_GRANT_DEVICE;
	CHECK_EQ(channel_open(&end, "ask"), -ENOENT);
	info.grants[0].kind = BH_GRANT_CHANNEL;
	CHECK_EQ(channel_open(&end, "as"), -ENOENT);
	CHECK_EQ(channel_open(&end, "asks"), -ENOENT);
	CHECK_EQ(channel_open(&end, "ask"), 0);
	info.magic++;
	CHECK_EQ(channel_open(&end, "ask"), -ENODEV);
	info.magic--;
	info.version = BH_INFO_VERSION + 1;
	CHECK_EQ(channel_open(&end, "ask"), -ENODEV);
	info.version = BH_INFO_VERSION;
	ask.page->magic++;
	CHECK_EQ(channel_open(&end, "ask"), -EINVAL);
	ask.page->magic--;
	info.grants[0].flags = BH_CHANNEL_ON_REQUEST;
	CHECK_EQ(channel_open(&end, "ask"), -ENOTSUP);
	info.grants[0].flags = 0;
}

/* Nobody is there. */
static void limits(void)
{
	struct bh_message message;
	struct bh_end end;
	uint8_t text[SLOT_BYTES + 1];

	alone = true;
	grant(1, "answer", &answer, 0);
	CHECK_EQ(channel_open(&end, "ask"), 0);
	CHECK_EQ(channel_receive(&end, text, sizeof(text), &message, 3), BH_END_NEW);
	CHECK_EQ(sleeps, 0);
	CHECK_EQ(channel_receive(&end, text, sizeof(text), &message, 3), BH_END_AGAIN);
	CHECK_EQ(sleeps, 3);
	CHECK_EQ(channel_send(&end, text, 1, 3), BH_END_INVALID); /* it receives */
	CHECK_EQ(channel_open(&end, "answer"), 0);
	CHECK_EQ(channel_send(&end, text, sizeof(text), 3), BH_END_SIZE);
	CHECK_EQ(channel_send(&end, text, 1, 3), BH_END_NEW);
	CHECK_EQ(channel_send(&end, text, 1, 0), BH_END_AGAIN);
	CHECK_EQ(sleeps, 3);
	CHECK_EQ(channel_send(&end, text, 1, 2), BH_END_AGAIN);
	CHECK_EQ(sleeps, 5);
	alone = false;
}

int main(void)
{
	scene_open(&ask, BH_CHANNEL_RING, SLOTS, SLOT_BYTES);
	scene_open(&answer, BH_CHANNEL_RING, SLOTS, SLOT_BYTES);
	info = (struct bh_info){ .magic = BH_INFO_MAGIC, .version = BH_INFO_VERSION };
	refusals();
	limits();
	scene_attach(&ask, 0, &asks);
	scene_attach(&answer, 1, &hears);
	CHECK_EQ(zephyr_main(), 0);
	CHECK_EQ(step, sizeof(steps) / sizeof(steps[0]));
	CHECK(hear('e', 1, 2));
	fputs(said, stdout);
	scene_close(&ask);
	scene_close(&answer);
	return 0;
}
