// SPDX-License-Identifier: Apache-2.0
/* From the rings of a terminal to a file, and from a file to them (carry.h). */
#include "carry.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_MS = 1000, ROOM = 1 << 16 };

void complain(const char *what, const char *name, int error)
{
	fprintf(stderr, "bulkhead-console: %s%s%s: %s\n", what, *name ? " " : "", name, bulkhead_error_text(error));
}

static int put_all(int file, const char *text, size_t length)
{
	while (length) {
		ssize_t count = write(file, text, length);

		if (count < 0 && errno != EINTR)
			return -errno;
		if (count > 0) {
			text += count;
			length -= (size_t)count;
		}
	}
	return 0;
}

/*
 * What came is shown, as many messages as there are slots: a sandbox that says more and more keeps nobody from leaving. -ECONNRESET: the
 * sandbox began again, which it says itself. Returns 0 or -errno.
 */
static int show(struct bulkhead_channel *says, int out)
{
	static char text[ROOM];

	for (uint32_t n = 0; n < says->info.slots; n++) {
		int count = bulkhead_receive(says, text, sizeof(text), 0);

		if (count == -ETIMEDOUT)
			return 0;
		if (count == -ECONNRESET || count == -EBADMSG)
			continue;
		if (count < 0)
			return count;
		count = put_all(out, text, (size_t)count);
		if (count < 0)
			return count;
	}
	return 0;
}

int send_typed(struct bulkhead_channel *hears, const char *text, size_t length)
{
	while (length) {
		size_t part = length < hears->info.slot_bytes ? length : hears->info.slot_bytes;
		int result = bulkhead_send(hears, text, part, LIMIT_MS);

		if (result == -ECONNRESET)
			continue;
		if (result < 0 && result != -ETIMEDOUT)
			return result;
		text += part;
		length -= part;
	}
	return 0;
}

int carry(struct bulkhead_channel *says, struct bulkhead_channel *hears, int in, int out, int leave, int keeps)
{
	struct pollfd both[] = { { .fd = says->file, .events = POLLIN }, { .fd = in, .events = POLLIN } };
	char typed[256];

	for (;;) {
		ssize_t count;
		int result;

		if (poll(both, 2, -1) < 0 && errno != EINTR)
			return REFUSED;
		result = show(says, out);
		if (result == -EPIPE)
			return GONE;
		if (result < 0 && !(keeps && (result == -EIO || result == -EAGAIN))) {
			complain("the console cannot be shown", "", result);
			return REFUSED;
		}
		if (!both[1].revents)
			continue;
		count = read(in, typed, sizeof(typed));
		if (count < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (count <= 0 && !keeps)
			return ENDED;
		if (count <= 0) {
			usleep(LIMIT_MS * 100); /* nobody has the other side of the pseudoterminal open */
			continue;
		}
		for (ssize_t n = 0; n < count; n++)
			if (leave && typed[n] == leave)
				return ENDED;
		result = send_typed(hears, typed, (size_t)count);
		if (result == -EPIPE)
			return GONE;
		if (result < 0) {
			complain("what was typed cannot be sent", "", result);
			return REFUSED;
		}
	}
}
