// SPDX-License-Identifier: Apache-2.0
/* Where Linux shows what its kernel was told of channels: a device tree unfolded into files, or ACPI's DSDT as it is. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "description.h"

#define TREE "/sys/firmware/devicetree/base"
#define DSDT "/sys/firmware/acpi/tables/DSDT"
enum { MOST_TABLE_BYTES = 1 << 20, PAGE_BYTES = 4096 };

/* ---- Files --------------------------------------------------------------------------------------------------------------------------- */

/* Returns how many bytes there are, at most `room`, or -errno. */
static ssize_t read_file(const char *path, void *data, size_t room)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	size_t filled = 0;
	ssize_t count = 1;

	if (file < 0)
		return -errno;
	while (count > 0 && filled < room) {
		count = read(file, (char *)data + filled, room - filled);
		filled += count > 0 ? (size_t)count : 0;
	}
	if (count < 0)
		count = -errno;
	close(file);
	return count < 0 ? count : (ssize_t)filled;
}

static ssize_t read_property(const char *folder, const char *name, void *data, size_t room)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return read_file(path, data, room);
}

/* ---- A device tree: numbers are big-endian ------------------------------------------------------------------------------------------- */

static uint64_t big_endian(const uint8_t *bytes, unsigned count)
{
	uint64_t number = 0;

	while (count--)
		number = number << 8 | *bytes++;
	return number;
}

static int read_name(const char *folder, const char *property, char *name)
{
	const ssize_t bytes = read_property(folder, property, name, BULKHEAD_NAME_BYTES);

	return bytes > 0 && name[bytes - 1] == '\0';
}

static int read_cell(const char *folder, const char *property, uint32_t *number)
{
	uint8_t bytes[4];

	if (read_property(folder, property, bytes, sizeof(bytes)) != sizeof(bytes))
		return 0;
	*number = (uint32_t)big_endian(bytes, sizeof(bytes));
	return 1;
}

static int has_property(const char *folder, const char *property)
{
	char none;

	return read_property(folder, property, &none, sizeof(none)) >= 0;
}

int bulkhead_describe_node(struct bulkhead_description *found, const char *folder)
{
	char is[sizeof(BULKHEAD_END_ON_REQUEST)];
	uint8_t reg[16];
	ssize_t bytes;

	memset(found, 0, sizeof(*found));
	bytes = read_property(folder, "compatible", is, sizeof(is));
	if (bytes <= 0 || is[bytes - 1] != '\0')
		return -ENOENT;
	found->on_request = strcmp(is, BULKHEAD_END_ON_REQUEST) == 0;
	if (!found->on_request && strcmp(is, BULKHEAD_END) != 0)
		return -ENOENT;
	if (read_property(folder, "reg", reg, sizeof(reg)) != sizeof(reg) || !read_name(folder, "label", found->name) ||
	    !read_name(folder, "bulkhead,peer", found->peer) || !read_cell(folder, "bulkhead,end", &found->end) ||
	    !read_cell(folder, "bulkhead,page-offset", &found->page_offset))
		return -EINVAL;
	found->address = big_endian(reg, 8);
	found->bytes = big_endian(reg + 8, 8);
	found->features = (has_property(folder, "bulkhead,terminal") ? BULKHEAD_IS_TERMINAL : 0) |
			  (has_property(folder, "bulkhead,telemetry") ? BULKHEAD_IS_TELEMETRY : 0);
	return 0;
}

static int describe_in_tree(struct bulkhead_description *found, const char *name, const char *root)
{
	char path[PATH_MAX], node[PATH_MAX];
	struct dirent *entry;
	int result = -ENOENT;
	DIR *folder;

	snprintf(path, sizeof(path), "%s" TREE, root);
	folder = opendir(path);
	if (!folder)
		return -errno;
	while (result == -ENOENT && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, "channel@", strlen("channel@")) != 0)
			continue;
		if (snprintf(node, sizeof(node), "%s/%s", path, entry->d_name) >= (int)sizeof(node))
			continue;
		if (bulkhead_describe_node(found, node) == 0 && strcmp(found->name, name) == 0)
			result = 0;
	}
	closedir(folder);
	return result;
}

/* ---- ACPI ---------------------------------------------------------------------------------------------------------------------------- */

static int describe_in_dsdt(struct bulkhead_description *found, const char *name, const char *root)
{
	char path[PATH_MAX];
	uint8_t *table = malloc(MOST_TABLE_BYTES);
	ssize_t bytes;
	int result;

	if (!table)
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s" DSDT, root);
	bytes = read_file(path, table, MOST_TABLE_BYTES);
	result = bytes < 0 ? (int)bytes : bulkhead_describe_aml(found, name, table, (size_t)bytes);
	free(table);
	return result;
}

int bulkhead_describe(struct bulkhead_description *found, const char *name, const char *root)
{
	int result = describe_in_tree(found, name, root);

	if (result == -ENOENT)
		result = describe_in_dsdt(found, name, root);
	if (result < 0)
		return result;
	if (found->end > 1 || found->bytes == 0 || found->bytes > INT64_MAX || found->address > INT64_MAX - found->bytes)
		return -EINVAL;
	return (found->address | found->bytes | found->page_offset) % PAGE_BYTES ? -EINVAL : 0;
}
