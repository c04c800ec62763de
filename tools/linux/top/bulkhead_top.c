// SPDX-License-Identifier: Apache-2.0
/*
 * bulkhead-top: shows what native sandboxes do, those whose `telemetry` in the partition file leads to this one, in the manner of top.
 *
 *   bulkhead-top              until q or Ctrl-C
 *   bulkhead-top -b -n 2      as plain lines, twice; -n: how often, -d: seconds in between, 0.1 or more
 *
 * What each says comes ten times in a second, by a latest value (telemetry.h). It is taken as it comes, so how old it is does not hang on
 * what anybody says. Ends with 0; 2 if it was called wrongly or nobody tells anything here; 3 if the system refuses something.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "bulkhead_channel.h"
#include "value.h"
#include "view.h"

#define CLASS  "/sys/class/misc/"
#define PREFIX "bulkhead-"
enum { ENDED, WRONG = 2, REFUSED };
enum { MOST_SANDBOXES = 32, TICK_MS = 50, FIRST_MS = 3000, ROWS = 24, COLUMNS = 80 };

static struct source {
	struct bulkhead_channel channel;
	int is_open;
	struct sandbox sandbox;
} sources[MOST_SANDBOXES];
static unsigned source_count;
static volatile sig_atomic_t ends;

static double now_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* ---- Which sandboxes --------------------------------------------------------------------------------------------------------------------
 */

static int is_telemetry(const char *device)
{
	char path[PATH_MAX], first = '0';
	FILE *file;

	snprintf(path, sizeof(path), CLASS "%s/telemetry", device);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fread(&first, 1, 1, file) != 1)
		first = '0';
	fclose(file);
	return first == '1';
}

static const char *why_not_open(int result)
{
	return result == -EBUSY ? "somebody else shows it" : bulkhead_error_text(result);
}

static void add(const char *channel)
{
	struct source *source = &sources[source_count++];
	int result = bulkhead_open(&source->channel, channel);

	source->is_open = result >= 0;
	if (!source->is_open)
		source->sandbox.trouble = why_not_open(result);
	snprintf(source->sandbox.name, sizeof(source->sandbox.name), "%.*s", BULKHEAD_NAME_BYTES,
		 source->is_open ? source->channel.info.peer : channel);
}

static int by_name(const void *one, const void *other)
{
	return strcmp(((const struct source *)one)->sandbox.name, ((const struct source *)other)->sandbox.name);
}

static void find_all(void)
{
	DIR *folder = opendir(CLASS);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)) && source_count < MOST_SANDBOXES)
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) == 0 && is_telemetry(entry->d_name))
			add(entry->d_name + strlen(PREFIX));
	if (folder)
		closedir(folder);
	qsort(sources, source_count, sizeof(sources[0]), by_name);
}

/* ---- What they say ----------------------------------------------------------------------------------------------------------------------
 */

/* What was taken before stays, and grows old, until something better comes. */
static void look_at(struct source *source)
{
	static char bytes[1 << 20]; /* as long as any message */
	struct sandbox *sandbox = &source->sandbox;
	struct bh_telemetry found;
	int length = bulkhead_receive(&source->channel, bytes, sizeof(bytes), 0);

	if (length == -ETIMEDOUT || length == -ECONNRESET) /* nothing new; another life begins */
		return;
	if (length == -EPIPE)
		sandbox->trouble = "it has ended";
	else if (length < 0)
		sandbox->trouble = length == -EPROTO || length == -EBADMSG ? "the channel is broken" : strerror(-length);
	else
		sandbox->trouble = value_take(&found, bytes, (size_t)length);
	if (length < 0 || sandbox->trouble)
		return;
	sandbox->newest = found;
	sandbox->is_known = 1;
	sandbox->came = now_seconds();
}

static int all_are_known(void)
{
	for (unsigned n = 0; n < source_count; n++)
		if (!sources[n].sandbox.is_known && !sources[n].sandbox.trouble)
			return 0;
	return 1;
}

/* Takes what comes until `until`, or `is_over` says so, or the program is to end. */
static void take(double until, int (*is_over)(int wait_ms))
{
	do {
		for (unsigned n = 0; n < source_count; n++)
			if (sources[n].is_open)
				look_at(&sources[n]);
	} while (!ends && !is_over(TICK_MS) && now_seconds() < until);
}

static void make_screen(struct screen *screen, unsigned columns)
{
	char time_of_day[16] = "";
	time_t seconds = time(NULL);
	struct tm parts;

	if (localtime_r(&seconds, &parts))
		strftime(time_of_day, sizeof(time_of_day), "%H:%M:%S ", &parts);
	screen_clear(screen, columns);
	screen_line(screen, "bulkhead-top %ssandboxes: %u", time_of_day, source_count);
	for (unsigned n = 0; n < source_count; n++) {
		screen_line(screen, "%s", "");
		screen_sandbox(screen, &sources[n].sandbox, now_seconds());
	}
}

/* ---- Plain lines ------------------------------------------------------------------------------------------------------------------------
 */

static int wait_a_while(int wait_ms)
{
	usleep((useconds_t)wait_ms * 1000);
	return 0;
}

static int wait_for_the_first(int wait_ms)
{
	return all_are_known() || wait_a_while(wait_ms);
}

/* times: 0: without an end. */
static int show_lines(double delay, unsigned long times)
{
	static struct screen screen;

	take(now_seconds() + FIRST_MS / 1e3, wait_for_the_first);
	for (unsigned long n = 0; !ends; n++) {
		make_screen(&screen, 0);
		if (printf("%s%s", n ? "\n" : "", screen.text) < 0 || fflush(stdout) != 0)
			return REFUSED;
		if (times && n + 1 == times)
			break;
		take(now_seconds() + delay, wait_a_while);
	}
	return ENDED;
}

/* ---- A terminal -------------------------------------------------------------------------------------------------------------------------
 */

static struct termios before;

static void end(int signal)
{
	ends = 1;
}

/* A key that ends it, or another size: SIGWINCH ends poll. */
static int is_typed(int wait_ms)
{
	struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };
	int result = poll(&keys, 1, wait_ms);
	char c = 'q'; /* its input has ended */

	if (result < 0)
		return 1;
	if (result > 0 && read(STDIN_FILENO, &c, 1) <= 0)
		c = 'q';
	if (result > 0 && (c == 'q' || c == 'Q'))
		ends = 1;
	return result > 0;
}

static int wait_for_the_first_key(int wait_ms)
{
	return all_are_known() || is_typed(wait_ms);
}

static void size_of_terminal(unsigned *rows, unsigned *columns)
{
	struct winsize size;
	int is_told = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;

	*rows = is_told && size.ws_row ? size.ws_row : ROWS;
	*columns = is_told && size.ws_col ? size.ws_col : COLUMNS;
}

/* As many lines as it has; the last says how many more there are. Each is cleared behind what it has. */
static void draw(const struct screen *screen, unsigned rows)
{
	const unsigned shown = screen->lines <= rows ? screen->lines : rows - 1;
	const char *at = screen->text;

	fputs("\033[H", stdout);
	for (unsigned n = 0; n < shown; n++) {
		size_t length = strcspn(at, "\n");

		printf("%s%.*s\033[K", n ? "\r\n" : "", (int)length, at);
		at += length + 1;
	}
	if (shown < screen->lines)
		printf("%s(%u more)\033[K", shown ? "\r\n" : "", screen->lines - shown);
	fputs("\033[J", stdout);
	fflush(stdout);
}

static void show_screens(double delay, unsigned long times)
{
	static struct screen screen;
	unsigned rows, columns;

	take(now_seconds() + FIRST_MS / 1e3, wait_for_the_first_key);
	for (unsigned long n = 0; !ends; n++) {
		size_of_terminal(&rows, &columns);
		make_screen(&screen, columns);
		draw(&screen, rows);
		if (times && n + 1 == times)
			break;
		take(now_seconds() + delay, is_typed);
	}
}

static void resized(int signal) {}

static int show_on_terminal(double delay, unsigned long times)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction on_end = { .sa_handler = end }, on_size = { .sa_handler = resized };
	struct termios own;

	if (tcgetattr(STDIN_FILENO, &before) < 0 || !isatty(STDOUT_FILENO)) {
		fprintf(stderr, "bulkhead-top: this is no terminal; -b shows plain lines\n");
		return WRONG;
	}
	for (unsigned n = 0; n < sizeof(ending) / sizeof(ending[0]); n++)
		sigaction(ending[n], &on_end, NULL);
	sigaction(SIGWINCH, &on_size, NULL);
	own = before;
	own.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	own.c_cc[VSUSP] = _POSIX_VDISABLE; /* whoever stopped it would have its terminal */
	own.c_cc[VMIN] = 1;
	own.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &own) < 0)
		return REFUSED;
	fputs("\033[?25l\033[H\033[J", stdout);
	show_screens(delay, times);
	fputs("\033[?25h\r\n", stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	return ENDED;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------------------------------
 */

static int is_wrong(void)
{
	fprintf(stderr, "usage: bulkhead-top [-b] [-n TIMES] [-d SECONDS]\n");
	return WRONG;
}

int main(int argc, char **argv)
{
	unsigned long times = 0;
	double delay = 1;
	int in_lines = 0, option;

	while ((option = getopt(argc, argv, "bn:d:")) != -1) {
		char *rest = "";

		if (option == 'b')
			in_lines = 1;
		else if (option == 'n')
			times = strtoul(optarg, &rest, 10);
		else if (option == 'd')
			delay = strtod(optarg, &rest);
		else
			return is_wrong();
		if (*rest || (option == 'n' && (!times || *optarg == '-')) || !(delay >= 0.1 && delay <= 3600))
			return is_wrong();
	}
	if (optind != argc)
		return is_wrong();
	find_all();
	if (!source_count) {
		fprintf(stderr, "bulkhead-top: no sandbox tells anything here, or the module `bulkhead` is not loaded\n");
		return WRONG;
	}
	return in_lines ? show_lines(delay, times) : show_on_terminal(delay, times);
}
