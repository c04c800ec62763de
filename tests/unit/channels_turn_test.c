/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.request. Channels that are opened on request, at their monitor: what the other end sees, and when the sandbox reaches them. A new
 * life finds them closed. monitor/channels.c
 */
#include "check.h"
#include "monitor/monitor.h"

enum { ENDS = 3, ALWAYS = 0, FIRST = 1, SECOND = 2, OPEN_WORD = 0x77 };

struct monitor monitor;
static struct bh_stats stats;
static struct bh_channel_end seen[ENDS];
static uint32_t peers[ENDS];
static uint64_t entries[ENDS];
static unsigned turns;
static struct hal_core *const self = (struct hal_core *)&stats; /* nobody looks into it */

/* Mapped before it is told, and told before it counts for anybody: the page still says what it did. */
void hal_gate_turn(struct hal_core *core, const struct hal_gate *gate, bool open)
{
	unsigned n = (unsigned)(gate->entry - entries);

	CHECK(core == self);
	if (open)
		CHECK(seen[n].state == BH_CHANNEL_CLOSED || seen[n].state == BH_CHANNEL_LIVES);
	*gate->entry = open ? gate->open : 0;
	turns++;
}

static void prepare(void)
{
	monitor = (struct monitor){ .stats = &stats };
	for (unsigned n = 0; n < ENDS; n++) {
		seen[n] = (struct bh_channel_end){ .state = n ? BH_CHANNEL_CLOSED : BH_CHANNEL_COMING };
		peers[n] = 5;
		entries[n] = 0;
		monitor.ends[n] = (struct channel_end){ .seen = &seen[n], .peer = &peers[n] };
		if (n)
			monitor.ends[n].gate = (struct hal_gate){ &entries[n], OPEN_WORD };
	}
	monitor.end_count = ENDS;
	turns = 0;
}

static void check_end(unsigned n, enum bh_channel_state state, uint32_t epoch, bool open)
{
	check_context.round = n;
	CHECK(seen[n].state == state && seen[n].epoch == epoch);
	CHECK_EQ(entries[n], open ? OPEN_WORD : 0);
}

static void test_turns(void)
{
	check_context.subject = "opens and closes";
	prepare();
	channels_tell(self, BH_CHANNEL_LIVES);
	check_end(ALWAYS, BH_CHANNEL_LIVES, 1, false);
	check_end(FIRST, BH_CHANNEL_CLOSED, 0, false);
	CHECK_EQ(channels_turn(self, FIRST, true), BH_OK);
	check_end(FIRST, BH_CHANNEL_LIVES, 1, true);
	CHECK_EQ(peers[FIRST], 0);
	check_end(SECOND, BH_CHANNEL_CLOSED, 0, false); /* another */
	peers[FIRST] = 9;
	CHECK_EQ(channels_turn(self, FIRST, false), BH_OK);
	check_end(FIRST, BH_CHANNEL_CLOSED, 1, false); /* of the same life: what it has sent can be read */
	CHECK_EQ(peers[FIRST], 9);
	CHECK_EQ(channels_turn(self, FIRST, true), BH_OK);
	check_end(FIRST, BH_CHANNEL_LIVES, 2, true);
	CHECK_EQ(peers[FIRST], 0); /* what the life before has left speaks for none */
	CHECK_EQ(channels_turn(self, FIRST, true), BH_OK);
	check_end(FIRST, BH_CHANNEL_LIVES, 3, true); /* anew */
}

static void test_denied(void)
{
	static const uint64_t none[] = { ALWAYS, ENDS, BH_MAX_CHANNELS - 1, BH_MAX_CHANNELS, UINT32_MAX, UINT64_C(1) << 59, UINT64_MAX };

	check_context.subject = "denied";
	prepare();
	for (unsigned n = 0; n < sizeof(none) / sizeof(none[0]); n++) {
		CHECK_EQ(channels_turn(self, none[n], true), BH_E_DENIED);
		CHECK_EQ(channels_turn(self, none[n], false), BH_E_DENIED);
	}
	CHECK_EQ(turns, 0);
	check_end(ALWAYS, BH_CHANNEL_COMING, 0, false);
}

static void test_lives(void)
{
	check_context.subject = "lives";
	prepare();
	channels_tell(self, BH_CHANNEL_LIVES);
	CHECK_EQ(channels_turn(self, FIRST, true), BH_OK);
	channels_tell(self, BH_CHANNEL_LIVES); /* the next one */
	check_end(ALWAYS, BH_CHANNEL_LIVES, 2, false);
	check_end(FIRST, BH_CHANNEL_CLOSED, 1, false);
	CHECK_EQ(channels_turn(self, FIRST, true), BH_OK);
	check_end(FIRST, BH_CHANNEL_LIVES, 2, true);
	channels_tell(self, BH_CHANNEL_GONE);
	check_end(ALWAYS, BH_CHANNEL_GONE, 2, false);
	check_end(FIRST, BH_CHANNEL_GONE, 2, false);
	check_end(SECOND, BH_CHANNEL_GONE, 0, false);
}

int main(void)
{
	test_turns();
	test_denied();
	test_lives();
	return 0;
}
