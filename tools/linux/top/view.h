/* SPDX-License-Identifier: Apache-2.0 */
/* A screen of bulkhead-top as text: lines, cut where the terminal ends. */
#ifndef BULKHEAD_TOP_VIEW_H
#define BULKHEAD_TOP_VIEW_H
#include <stddef.h>

#include "telemetry.h"

enum { SCREEN_BYTES = 1 << 16, SCREEN_MOST_COLUMNS = 512 };

struct screen {
	unsigned columns; /* of a line, at most; 0: as long as it is */
	unsigned lines;
	size_t bytes;
	char text[SCREEN_BYTES]; /* lines, each with its end; then a NUL. What finds no room is left out */
};

/* One that is shown. */
struct sandbox {
	char name[BH_NAME_BYTES + 1]; /* as the partition file calls it */
	const char *trouble;          /* why nothing new comes; NULL: it does */
	int is_known;                 /* a value has been taken: */
	double came;                  /* when, in seconds of the own clock */
	struct bh_telemetry newest;
	int is_shown; /* on the last screen: */
	struct bh_telemetry shown;
};

void screen_clear(struct screen *screen, unsigned columns);
void screen_line(struct screen *screen, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds a sandbox, as it is at `now`, with what it did since it was last shown. The newest value is the shown one then. */
void screen_sandbox(struct screen *screen, struct sandbox *sandbox, double now);

#endif
