/* SPDX-License-Identifier: Apache-2.0 */
/* A folder in which files lie as Linux has them below /, for what the library reads of them: bulkhead_describe, bulkhead_memory_open. */
#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aml.h"

enum { ROOM = 256 };
static char root[] = "/tmp/linux_root.XXXXXX";

static inline const char *path_of(const char *name)
{
	static char path[ROOM];

	snprintf(path, sizeof(path), "%s%s", root, name);
	return path;
}

static inline void write_file(const char *name, const void *bytes, size_t count)
{
	const int file = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(file >= 0);
	CHECK(write(file, bytes, count) == (ssize_t)count);
	close(file);
}

static inline void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

/* DSDT: one channel, or two. */
static inline void tell(const struct aml_channel *first, const struct aml_channel *second)
{
	struct aml aml;
	const size_t scope = aml_open(&aml);

	aml_put_channel(&aml, first);
	if (second)
		aml_put_channel(&aml, second);
	aml_close(&aml, scope);
	write_file("/sys/firmware/acpi/tables/DSDT", aml.bytes, aml.length);
}

static inline void begin_root(void)
{
	static const char *const folders[] = { "/sys/firmware/acpi/tables/", "/dev/" };

	CHECK(mkdtemp(root) != NULL);
	for (unsigned n = 0; n < sizeof(folders) / sizeof(folders[0]); n++) {
		char folder[ROOM];

		snprintf(folder, sizeof(folder), "%s%s", root, folders[n]);
		make_folders(folder);
	}
}

/* Returns only if it cannot be removed. */
static inline int end_root(void)
{
	return execlp("rm", "rm", "-r", root, NULL);
}
