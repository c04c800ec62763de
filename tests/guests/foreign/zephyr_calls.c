/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the SDK's sample for Zephyr calls of Zephyr, by the SDK's own library: so the sample runs in a sandbox without Zephyr. A sleep keeps
 * the core busy, and memory is mapped where it lies, as the library enters its program.
 */
#include <bulkhead.h>
#include <stdarg.h>
#include <stddef.h>

#include <zephyr/kernel.h>
#include <zephyr/sys/device_mmio.h>
#include <zephyr/sys/printk.h>

enum { MS_A_SECOND = 1000, DIGITS = 11 };

int zephyr_main(void);

static struct bh_log *log;
static uint64_t ticks_a_ms;

int32_t k_sleep(k_timeout_t timeout)
{
	const uint64_t until = bulkhead_clock() + (uint64_t)timeout.ticks * ticks_a_ms;

	while ((int64_t)(bulkhead_clock() - until) < 0)
		;
	return 0;
}

void device_map(mm_reg_t *mapped, uintptr_t address, size_t bytes, uint32_t flags)
{
	(void)bytes;
	(void)flags;
	*mapped = address;
}

int strncmp(const char *one, const char *other, size_t bytes)
{
	size_t n = 0;

	while (n < bytes && one[n] && one[n] == other[n])
		n++;
	return n == bytes ? 0 : (int)(uint8_t)one[n] - (int)(uint8_t)other[n];
}

static void print_number(long number)
{
	char text[DIGITS + 1] = "";
	unsigned at = DIGITS;
	unsigned long rest = number < 0 ? 0 - (unsigned long)number : (unsigned long)number;

	do
		text[--at] = (char)('0' + rest % 10);
	while ((rest /= 10) && at > 1);
	if (number < 0)
		text[--at] = '-';
	bulkhead_print(log, text + at);
}

/* %s, %d and %u. */
void printk(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	for (; *format; format++) {
		const char text[] = { *format, '\0' };

		if (*format != '%')
			bulkhead_print(log, text);
		else if (*++format == 's')
			bulkhead_print(log, va_arg(arguments, const char *));
		else
			print_number(va_arg(arguments, int));
	}
	va_end(arguments);
}

void bulkhead_main(const struct bh_info *info)
{
	log = bulkhead_log_open(info);
	ticks_a_ms = bulkhead_clock_hz(info) / MS_A_SECOND;
	bulkhead_call(BH_CALL_READY, 0);
	zephyr_main();
}
