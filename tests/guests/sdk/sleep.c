/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeps, and says how late it woke at most and how often the core was woken for it. The linker wraps bulkhead_sleep:
 * -Wl,--wrap=bulkhead_sleep. */
#include <bulkhead.h>

enum { SLEEPS = 20, SLEEP_US = 5000, US_A_SECOND = 1000000 };

void __wrap_bulkhead_sleep(void);
void __real_bulkhead_sleep(void);

static uint32_t woken;

void __wrap_bulkhead_sleep(void)
{
	woken++;
	__real_bulkhead_sleep();
}

static void say(struct bh_log *log, const char *what, uint64_t value)
{
	bulkhead_print(log, what);
	bulkhead_print_hex(log, value);
	bulkhead_print(log, "\n");
}

void bulkhead_main(const struct bh_info *info)
{
	struct bh_log *log = bulkhead_log_open(info);
	const uint64_t ticks_a_us = bulkhead_clock_hz(info) / US_A_SECOND;
	uint64_t latest = 0, early = 0;

	bulkhead_sleep_until(info, 0);
	bulkhead_call(BH_CALL_READY, 0);
	woken = 0;
	for (uint32_t n = 0; n < SLEEPS; n++) {
		const uint64_t due = bulkhead_clock() + SLEEP_US * ticks_a_us;
		uint64_t now;

		bulkhead_sleep_until(info, due);
		now = bulkhead_clock();
		early += now < due;
		latest = now - due > latest ? now - due : latest;
	}
	say(log, "early: ", early);
	say(log, "woken: ", woken);
	say(log, "latest, us: ", latest / ticks_a_us);
}
