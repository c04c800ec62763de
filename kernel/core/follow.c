/* SPDX-License-Identifier: Apache-2.0 */
/* The other log's owner may write anything there at any time: all that is taken from it is text, one byte after the other. */
#include "kernel/core/follow.h"

#include <stddef.h>
#include <stdint.h>

#include "abi/guest.h"
#include "kernel/core/console.h"
#include "kernel/core/idle.h"
#include "kernel/core/info.h"

enum { LINE_BYTES = 120 };

static const struct bh_log *followed;
static uint64_t tail; /* bytes read of all that were ever written there */
static char line[LINE_BYTES];
static size_t length;

/* A log whose owner began it anew is read from its new end. */
static bool has_news(void)
{
	uint64_t head = __atomic_load_n(&followed->head, __ATOMIC_ACQUIRE);

	if (head < tail)
		tail = head;
	return followed->magic == BH_LOG_MAGIC && head != tail;
}

/* The next byte that has not been overwritten. */
static char take(void)
{
	uint64_t head = __atomic_load_n(&followed->head, __ATOMIC_ACQUIRE);

	if (head - tail > BH_LOG_TEXT_BYTES)
		tail = head - BH_LOG_TEXT_BYTES;
	return (char)followed->text[tail++ % BH_LOG_TEXT_BYTES];
}

/* Says a line when it ends, or when there is no room for more of it. */
static void add(char c)
{
	if (c != '\n')
		line[length++] = c;
	if (c != '\n' && length < sizeof(line) - 1)
		return;
	line[length] = '\0';
	length = 0;
	console_say("%s", line);
}

bool follow_log(const char *name)
{
	const struct bh_grant *grant = info_find(BH_GRANT_FOREIGN_LOG, name);

	if (!grant)
		return false;
	followed = (const struct bh_log *)(uintptr_t)grant->gpa;
	for (;;) {
		idle_until(has_news);
		add(take());
	}
}
