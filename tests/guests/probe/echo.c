/* SPDX-License-Identifier: Apache-2.0 */
/* Sends back what comes (echo.h). It sleeps until it is rung, where the channel has a doorbell, and looks every ten milliseconds elsewhere.
 */
#include "probe/echo.h"

#include <stddef.h>

#include "kernel/core/console.h"
#include "kernel/core/heartbeat.h"
#include "kernel/core/timer.h"
#include "probe/turns.h"

#define BUDGET_NS 49999000ULL
#define PERIOD_NS 50000000ULL
#define POLL_NS   10000000ULL

static const char behind[] = "-back";
static char there_name[BH_NAME_BYTES], back_name[BH_NAME_BYTES];

/* A new connection is told of once, and the same slot is there then. */
static enum bh_end_result reserve(struct channel *back, void **data)
{
	enum bh_end_result result;

	do
		result = channel_reserve(back, data, TIMER_NEVER);
	while (result == BH_END_NEW);
	return result;
}

/* Requires: slots of both are of one size. */
static enum bh_end_result send_back(struct channel *there, struct channel *back)
{
	struct bh_message found;
	void *data;
	enum bh_end_result result = channel_peek(there, &found, TIMER_NEVER);

	if (result == BH_END_OK)
		result = reserve(back, &data);
	if (result != BH_END_OK)
		return result;
	bh_copy_to_slot((uint8_t *)data, found.data, found.length);
	result = channel_commit(back, found.length);
	return result == BH_END_OK ? channel_release(there) : result;
}

static void echo(void)
{
	static struct channel there, back;
	enum bh_end_result result;

	if (!turns_open(&there, there_name, POLL_NS) || !turns_open(&back, back_name, POLL_NS))
		return;
	console_say("echo: %s", there_name);
	do
		result = send_back(&there, &back);
	while (result == BH_END_OK || result == BH_END_NEW);
	console_say("echo: %s ended with %ju", there_name, (uint64_t)result);
}

void run_echo(const struct command_line *line)
{
	size_t n = 0;

	for (; line->text[n] && n + sizeof(behind) < BH_NAME_BYTES; n++)
		there_name[n] = back_name[n] = line->text[n];
	for (size_t more = 0; more < sizeof(behind); more++)
		back_name[n + more] = behind[more];
	heartbeat_start(0);
	turns_run(BUDGET_NS, PERIOD_NS, echo);
}
