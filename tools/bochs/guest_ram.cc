// SPDX-License-Identifier: Apache-2.0
// Linked into our Bochs: the machine's RAM becomes the file that BULKHEAD_RAM names by its descriptor, so that the tool sees it
// while the machine runs and afterwards. Bochs takes RAM from operator new[], once and before anything else of that size; a
// program may replace that operator: C++17, 20.5.4.6 "Replacement functions".

#include <cstdlib>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr std::size_t LEAST_RAM = std::size_t{64} << 20;
void *ram;

// The file grows by what Bochs keeps after the RAM: its ROMs.
void *map_ram(const char *descriptor, std::size_t bytes)
{
	const int file = std::atoi(descriptor);
	if (ftruncate(file, static_cast<off_t>(bytes)) != 0)
		throw std::bad_alloc();
	void *map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (map == MAP_FAILED)
		throw std::bad_alloc();
	return map;
}

} // namespace

void *operator new[](std::size_t bytes)
{
	const char *descriptor = bytes >= LEAST_RAM && ram == nullptr ? std::getenv("BULKHEAD_RAM") : nullptr;
	if (descriptor != nullptr)
		return ram = map_ram(descriptor, bytes);
	return operator new(bytes);
}

// RAM stays until the process ends.
void operator delete[](void *memory) noexcept
{
	if (memory != ram)
		operator delete(memory);
}

void operator delete[](void *memory, std::size_t) noexcept
{
	operator delete[](memory);
}
