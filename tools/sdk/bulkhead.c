/* SPDX-License-Identifier: Apache-2.0 */
/* What is the same on every processor. */
#include "bulkhead.h"

#include <stdbool.h>
#include <stddef.h>

enum { HEX_DIGITS = 16 };

/*
 * Which contract the program was built for: the host tool refuses an image that asks for another than it has. An ELF note,
 * System V ABI "Note Section".
 */
struct contract_note {
	uint32_t name_bytes, descriptor_bytes, type;
	char name[12];
	uint32_t version;
};
__attribute__((section(".note.bulkhead"), used)) static const struct contract_note contract_note = {
	.name_bytes = sizeof("Bulkhead"),
	.descriptor_bytes = sizeof(uint32_t),
	.type = BH_NOTE_CONTRACT,
	.name = "Bulkhead",
	.version = BH_INFO_VERSION,
};

static bool is_same(const uint8_t *name, const char *wanted)
{
	uint32_t n = 0;

	while (n < BH_NAME_BYTES - 1 && name[n] && name[n] == (uint8_t)wanted[n])
		n++;
	return name[n] == (uint8_t)wanted[n];
}

const struct bh_grant *bulkhead_grant(const struct bh_info *info, enum bh_grant_kind kind, const char *name)
{
	for (uint32_t n = 0; n < info->grant_count; n++)
		if (info->grants[n].kind == (uint32_t)kind && (!name || is_same(info->grants[n].name, name)))
			return &info->grants[n];
	return NULL;
}

struct bh_log *bulkhead_log_open(const struct bh_info *info)
{
	const struct bh_grant *grant = bulkhead_grant(info, BH_GRANT_LOG, NULL);
	struct bh_log *log = grant ? (struct bh_log *)(uintptr_t)grant->gpa : NULL;

	if (log && log->magic != BH_LOG_MAGIC) {
		log->text_bytes = BH_LOG_TEXT_BYTES;
		log->head = 0;
		__atomic_store_n(&log->magic, BH_LOG_MAGIC, __ATOMIC_RELEASE);
	}
	return log;
}

static void put(struct bh_log *log, char byte)
{
	log->text[(uint32_t)(log->head % BH_LOG_TEXT_BYTES)] = (uint8_t)byte;
	__atomic_store_n(&log->head, log->head + 1, __ATOMIC_RELEASE);
}

void bulkhead_print(struct bh_log *log, const char *text)
{
	if (log)
		for (; *text; text++)
			put(log, *text);
}

void bulkhead_print_hex(struct bh_log *log, uint64_t value)
{
	uint32_t digits = HEX_DIGITS;

	bulkhead_print(log, "0x");
	while (digits > 1 && !(value >> (digits - 1) * 4))
		digits--;
	while (log && digits--)
		put(log, "0123456789abcdef"[value >> digits * 4 & 0xf]);
}

void bulkhead_beat(struct bh_log *log, uint64_t period_ns)
{
	if (!log)
		return;
	log->beat_period_ns = period_ns;
	__atomic_store_n(&log->beats, log->beats + 1, __ATOMIC_RELEASE);
}
