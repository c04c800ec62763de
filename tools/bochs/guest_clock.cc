// SPDX-License-Identifier: Apache-2.0
// Linked into our Bochs: what its clock says, for the tool. The file that BULKHEAD_CLOCK names by its descriptor begins with the machine's time
// since it was switched on, in microseconds, as of the last event of its timers (a quarter of a millisecond ago at most: the keyboard's).

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

using Clock = std::atomic<std::uint64_t>;
static_assert(sizeof(Clock) == 8 && Clock::is_always_lock_free, "the tool reads eight bytes at once");

static Clock *map_clock()
{
	const char *descriptor = std::getenv("BULKHEAD_CLOCK");
	if (descriptor == nullptr)
		return nullptr;
	void *map = mmap(nullptr, sizeof(Clock), PROT_READ | PROT_WRITE, MAP_SHARED, std::atoi(descriptor), 0);
	return map == MAP_FAILED ? nullptr : static_cast<Clock *>(map);
}

void guest_clock_tell(unsigned long microseconds)
{
	static Clock *const clock = map_clock();
	if (clock != nullptr)
		clock->store(microseconds, std::memory_order_relaxed);
}
