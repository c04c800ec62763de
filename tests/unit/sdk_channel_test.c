/* SPDX-License-Identifier: Apache-2.0 */
/* BH-F2.foreign. Guests of the SDK find their channels by name, open what is on request, and are told why one cannot be used.
 * tools/sdk/channel.c */
#include <string.h>
#include <sys/mman.h>

#include "abi/channel_inline.h"
#include "check.h"
#include "tools/sdk/bulkhead.h"

enum { CHANNELS_AT = 0x0c100000, CHANNEL_BYTES = 0x3000, PAGE_AT = 0x1000 };

static struct {
	unsigned calls;
	enum bh_call function;
	uint64_t argument;
	int64_t answer;
} monitor;

int64_t bulkhead_call(enum bh_call function, uint64_t argument)
{
	monitor.calls++;
	monitor.function = function;
	monitor.argument = argument;
	return monitor.answer;
}

static struct bh_info info = { .grant_count = 5 };
static struct bh_end end;

static struct bh_channel *page_of(unsigned number)
{
	return (struct bh_channel *)(uintptr_t)(CHANNELS_AT + number * CHANNEL_BYTES + PAGE_AT);
}

static void make_channel(unsigned row, unsigned number, const char *name, uint32_t side, uint32_t flags)
{
	struct bh_grant *grant = &info.grants[row];

	*grant = (struct bh_grant){ .kind = BH_GRANT_CHANNEL, .line = PAGE_AT, .vector = side, .flags = flags };
	grant->gpa = CHANNELS_AT + number * CHANNEL_BYTES;
	grant->size = CHANNEL_BYTES;
	strcpy((char *)grant->name, name);
	*page_of(number) = (struct bh_channel){ .magic = BH_CHANNEL_MAGIC, .version = BH_CHANNEL_VERSION, .kind = BH_CHANNEL_RING };
	page_of(number)->slots = 4;
	page_of(number)->slot_bytes = 64;
	page_of(number)->slot_stride = 128;
	page_of(number)->area_bytes[0] = page_of(number)->area_bytes[1] = 0x1000;
}

/* A row of another kind may have a channel's name, as its doorbell has, and one may begin with the name of another. */
static void make_grants(void)
{
	make_channel(0, 0, "numbers-on", 0, 0);
	info.grants[1] = (struct bh_grant){ .kind = BH_GRANT_DOORBELL, .name = "numbers" };
	make_channel(2, 1, "numbers", 1, 0);
	make_channel(3, 2, "service", 0, BH_CHANNEL_ON_REQUEST);
	info.grants[4] = (struct bh_grant){ .kind = BH_GRANT_CHANNEL, .name = "high", .gpa = 1ULL << 39, .size = CHANNEL_BYTES };
}

static void it_is_found_by_its_name(void)
{
	CHECK_EQ(bulkhead_channel_open(&info, "numbers", &end), BULKHEAD_OK);
	CHECK_EQ(end.role, BH_END_RING_READER);
	CHECK(end.own_life == &page_of(1)->end[1]);
	CHECK_EQ(bulkhead_channel_open(&info, "numbers-on", &end), BULKHEAD_OK);
	CHECK_EQ(end.role, BH_END_RING_SENDER);
	CHECK_EQ(monitor.calls, 0);
}

/* Its number is that among channels. */
static void one_on_request_is_opened(void)
{
	CHECK_EQ(bulkhead_channel_open(&info, "service", &end), BULKHEAD_OK);
	CHECK_EQ(monitor.calls, 1);
	CHECK_EQ(monitor.function, BH_CALL_OPEN);
	CHECK_EQ(monitor.argument, 2);
}

static void it_says_why_not(void)
{
	const struct bh_end before = end;

	monitor.answer = BH_E_DENIED;
	CHECK_EQ(bulkhead_channel_open(&info, "service", &end), BULKHEAD_E_DENIED);
	CHECK_EQ(bulkhead_channel_open(&info, "number", &end), BULKHEAD_E_ABSENT);
	CHECK_EQ(bulkhead_channel_open(&info, "high", &end), BULKHEAD_E_RANGE);
	CHECK(memcmp(&before, &end, sizeof(end)) == 0);
	page_of(1)->version++;
	CHECK_EQ(bulkhead_channel_open(&info, "numbers", &end), BULKHEAD_E_INVALID);
	CHECK_EQ(end.role, BH_END_DETACHED);
}

int main(void)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;

	CHECK(mmap((void *)CHANNELS_AT, (size_t)3 * CHANNEL_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0) == (void *)CHANNELS_AT);
	make_grants();
	it_is_found_by_its_name();
	one_on_request_is_opened();
	it_says_why_not();
	return 0;
}
