// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * Waiting. Nobody says that the other end has sent something, unless there is a doorbell: so while somebody waits, and only then, a timer
 * looks at the words that the other end or a monitor writes. With a doorbell it looks seldom, as rings tell of messages and not of lives,
 * and while it does, the end says that it wants to be rung (channel_wait.h).
 *
 *   a waiter       copies the words, tries, is told -EAGAIN, queues, starts the timer (channel_watch), compares, sleeps
 *   the timer      compares with what it saw last, wakes all waiters if a word is another one; stops if the queue is empty
 *
 * No change is missed: one before the waiter compares is seen by the waiter, and one after it by the timer, because the timer's own copy
 * is not newer than that comparison, or a change woke the queue in between.
 */
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "device.h"

static unsigned int period_us = 1000;
module_param(period_us, uint, 0644);
MODULE_PARM_DESC(period_us, "how often the other end is looked at while somebody waits, in microseconds (100 to 1000000; 1000)");

enum { RUNG_PERIOD_US = 100000 }; /* as threads of the sandbox kernel look */

static ktime_t period(const struct channel *channel)
{
	const u32 us = clamp(READ_ONCE(period_us), 100U, 1000000U);

	return ns_to_ktime((u64)(channel->doorbell > 0 ? max_t(u32, us, RUNG_PERIOD_US) : us) * NSEC_PER_USEC);
}

/* With the watch's lock held. */
static void want_ring(struct channel *channel, bool wants)
{
	if (channel->doorbell > 0)
		bh_end_wants_ring(&channel->first, wants);
}

void channel_look(const struct channel *channel, struct channel_words *words)
{
	const u32 *watched[CHANNEL_WORDS];
	unsigned int n;

	try_find_words(&channel->first, watched);
	for (n = 0; n < CHANNEL_WORDS; n++)
		words->word[n] = READ_ONCE(*watched[n]);
}

static bool has_changed(const struct channel *channel, const struct channel_words *before)
{
	struct channel_words now;

	channel_look(channel, &now);
	return memcmp(&now, before, sizeof(now)) != 0;
}

static enum hrtimer_restart look_again(struct hrtimer *timer)
{
	struct channel *channel = container_of(timer, struct channel, timer);
	bool changed, goes_on;

	spin_lock(&channel->watch_lock);
	changed = has_changed(channel, &channel->seen);
	if (changed)
		channel_look(channel, &channel->seen);
	goes_on = waitqueue_active(&channel->waiters);
	channel->watching = goes_on;
	if (!goes_on)
		want_ring(channel, false);
	spin_unlock(&channel->watch_lock);
	if (changed)
		wake_up_interruptible_all(&channel->waiters);
	if (!goes_on)
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, period(channel));
	return HRTIMER_RESTART;
}

void channel_watch(struct channel *channel)
{
	/* The timer's function takes the same lock: it finds the waiter in the queue, or has said before that it stops. */
	spin_lock_bh(&channel->watch_lock);
	if (!channel->watching) {
		channel->watching = true;
		want_ring(channel, true); /* before the caller looks */
		channel_look(channel, &channel->seen);
		hrtimer_start(&channel->timer, period(channel), HRTIMER_MODE_REL_SOFT);
	}
	spin_unlock_bh(&channel->watch_lock);
}

int channel_wait(struct channel *channel, const struct channel_words *before)
{
	return wait_event_interruptible(channel->waiters, (channel_watch(channel), has_changed(channel, before)));
}

void channel_wake(struct channel *channel)
{
	if (wq_has_sleeper(&channel->waiters))
		wake_up_interruptible_all(&channel->waiters);
}

/* It tells of any change: each waiter looks itself, and of a latest value several read. */
static irqreturn_t rung(int line, void *data)
{
	struct channel *channel = data;

	wake_up_interruptible_all(&channel->waiters);
	return IRQ_HANDLED;
}

/* Returns 0 also where there is no line: the timer looks then. */
int channel_watch_doorbell(struct channel *channel, struct platform_device *device)
{
	int line = platform_get_irq_optional(device, 0), error;

	if (line == -ENXIO)
		return 0;
	if (line < 0)
		return dev_err_probe(&device->dev, line, "its interrupt is not there\n");
	error = devm_request_irq(&device->dev, line, rung, 0, channel->misc.name, channel);
	if (error)
		return dev_err_probe(&device->dev, error, "it cannot have interrupt %d\n", line);
	channel->doorbell = line;
	return 0;
}

void channel_watch_init(struct channel *channel)
{
	init_waitqueue_head(&channel->waiters);
	spin_lock_init(&channel->watch_lock);
	hrtimer_init(&channel->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	channel->timer.function = look_again;
}

void channel_watch_end(struct channel *channel)
{
	hrtimer_cancel(&channel->timer);
	channel->watching = false; /* nobody is left who takes the lock */
	want_ring(channel, false);
	/* Several readers have one word, which the last of them takes back. */
	if (channel->doorbell > 0 && channel->first.role == BH_END_LATEST_READER)
		WRITE_ONCE(channel->first.own->waits, 0);
}
