/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest guest: proves that any program that keeps to abi/guest.h can be a sandbox. It shares no code with kernel/,
 * needs no assembly (the contract leaves a stack and the argument where C expects them) and leaves the MMU as it is.
 */
#include <stddef.h>

#include "abi/guest.h"
#include "tiny_cpu.h"

_Noreturn void _start(const struct bh_info *info);

static struct bh_log *find_log(const struct bh_info *info)
{
	for (uint32_t i = 0; i < info->grant_count; i++)
		if (info->grants[i].kind == BH_GRANT_LOG)
			return (struct bh_log *)info->grants[i].gpa;
	return NULL;
}

static void print(struct bh_log *log, const char *text)
{
	static uint32_t at; /* log->head % BH_LOG_TEXT_BYTES, without a division */

	for (; *text; text++) {
		log->text[at++] = (uint8_t)*text;
		if (at == BH_LOG_TEXT_BYTES)
			at = 0;
		__atomic_store_n(&log->head, log->head + 1, __ATOMIC_RELEASE);
	}
}

static void greet(const struct bh_info *info, struct bh_log *log)
{
	log->text_bytes = BH_LOG_TEXT_BYTES;
	log->head = 0;
	__atomic_store_n(&log->magic, BH_LOG_MAGIC, __ATOMIC_RELEASE);
	print(log, (const char *)info->name);
	print(log, info->magic == BH_INFO_MAGIC && info->version == BH_INFO_VERSION ? ": tiny ready\n" : ": not my contract\n");
}

_Noreturn void _start(const struct bh_info *info)
{
	struct bh_log *log = find_log(info);

	if (log)
		greet(info, log);
	tiny_call_monitor(BH_CALL_READY);
	for (;;)
		tiny_sleep();
}
