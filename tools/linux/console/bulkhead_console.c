// SPDX-License-Identifier: Apache-2.0
/*
 * bulkhead-console: shows the console of a native sandbox in a Linux one, and types at it. `terminal` of the sandbox's node in the
 * partition file names the two rings that it takes.
 *
 *   bulkhead-console            lists sandboxes that have a terminal here
 *   bulkhead-console NAME       here, until Ctrl-\
 *   bulkhead-console --pty NAME makes a pseudoterminal, says which, and serves it until it is ended: for screen, minicom, a log
 *
 * Ends with 0; 1 if the sandbox is gone for good; 2 if it was called wrongly or there is no such terminal; 3 if the system refuses
 * something.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "carry.h"

#define CLASS  "/sys/class/misc/"
#define PREFIX "bulkhead-"
enum { LEAVES = 0x1c /* Ctrl-\, as Ctrl-] leaves `tools/bulkhead run --attach` */ };

/* ---- Which channels ------------------------------------------------------------------------------------------------------------------ */

/* A line of a channel's attribute in sysfs, without its end. Returns whether there is one. */
static int read_attribute(const char *device, const char *attribute, char *text, size_t room)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), CLASS "%s/%s", device, attribute);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (!fgets(text, (int)room, file))
		text[0] = '\0';
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
	return 1;
}

struct terminal {
	char says[NAME_MAX + 1]; /* names of channels */
	char hears[NAME_MAX + 1];
};

/* Calls visit for each channel that is a part of a terminal. */
static void each_part(void (*visit)(const char *channel, const char *peer, int end, void *context), void *context)
{
	DIR *folder = opendir(CLASS);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		char terminal[8], peer[BULKHEAD_NAME_BYTES + 1], end[8];

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		if (!read_attribute(entry->d_name, "terminal", terminal, sizeof(terminal)) || strcmp(terminal, "1") != 0)
			continue;
		if (read_attribute(entry->d_name, "peer", peer, sizeof(peer)) && read_attribute(entry->d_name, "end", end, sizeof(end)))
			visit(entry->d_name + strlen(PREFIX), peer, atoi(end), context);
	}
	if (folder)
		closedir(folder);
}

/* Each terminal has one ring that leads here. */
static void list_one(const char *channel, const char *peer, int end, void *context)
{
	if (end == 1) {
		printf("%s\n", peer);
		++*(int *)context;
	}
}

struct search {
	const char *peer;
	struct terminal found;
};

static void note_one(const char *channel, const char *peer, int end, void *context)
{
	struct search *search = context;

	if (strcmp(peer, search->peer) == 0)
		snprintf(end ? search->found.says : search->found.hears, NAME_MAX + 1, "%s", channel);
}

/* ---- Here, or on a pseudoterminal ---------------------------------------------------------------------------------------------------- */

static int carry_here(struct bulkhead_channel *says, struct bulkhead_channel *hears, const char *name)
{
	struct termios before, raw;
	int is_terminal = tcgetattr(STDIN_FILENO, &before) == 0, status;

	if (is_terminal) {
		raw = before;
		cfmakeraw(&raw);
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
		fprintf(stderr, "%s: Ctrl-\\ leaves\r\n", name);
		send_typed(hears, "\r", 1); /* for its prompt */
	}
	status = carry(says, hears, STDIN_FILENO, STDOUT_FILENO, is_terminal ? LEAVES : 0, 0);
	if (is_terminal) {
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
		fputs("\n", stderr);
	}
	return status;
}

static int carry_on_pty(struct bulkhead_channel *says, struct bulkhead_channel *hears)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	struct termios raw;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 || tcgetattr(master, &raw) < 0) {
		complain("no pseudoterminal", "", -errno);
		return REFUSED;
	}
	cfmakeraw(&raw);
	tcsetattr(master, TCSANOW, &raw);
	fcntl(master, F_SETFL, O_NONBLOCK);
	printf("%s\n", ptsname(master));
	fflush(stdout);
	return carry(says, hears, master, master, 0, 1);
}

static int open_part(struct bulkhead_channel *channel, const char *name)
{
	int result = bulkhead_open(channel, name);

	if (result < 0)
		complain("channel", name, result);
	return result < 0 ? REFUSED : ENDED;
}

static int serve(const char *name, int on_pty)
{
	struct search search = { .peer = name };
	struct bulkhead_channel says, hears;
	int status;

	each_part(note_one, &search);
	if (!*search.found.says || !*search.found.hears) {
		fprintf(stderr, "bulkhead-console: `%s` has no terminal here; without arguments it lists those that have\n", name);
		return WRONG;
	}
	status = open_part(&says, search.found.says);
	if (status)
		return status;
	status = open_part(&hears, search.found.hears);
	if (!status) {
		status = on_pty ? carry_on_pty(&says, &hears) : carry_here(&says, &hears, name);
		bulkhead_close(&hears);
	}
	bulkhead_close(&says);
	if (status == GONE)
		fprintf(stderr, "bulkhead-console: `%s` has ended\n", name);
	return status;
}

int main(int argc, char **argv)
{
	int on_pty = argc == 3 && strcmp(argv[1], "--pty") == 0, count = 0;

	if (argc == 1) {
		each_part(list_one, &count);
		if (!count)
			fprintf(stderr, "bulkhead-console: no sandbox has a terminal here, or the module `bulkhead` is not loaded\n");
		return count ? ENDED : WRONG;
	}
	if ((argc != 2 && !on_pty) || argv[argc - 1][0] == '-') {
		fprintf(stderr, "usage: bulkhead-console [[--pty] NAME]\n");
		return WRONG;
	}
	return serve(argv[argc - 1], on_pty);
}
