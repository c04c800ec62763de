/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BH-F6.linux. How a program of a Linux without the module finds a channel in what the kernel was told, by ACPI or by a device tree, and
 * what it takes for none. tools/linux/lib/description.c, description_aml.c
 */
#include <errno.h>
#include <sys/mman.h>

#include "description.h"
#include "linux_root.h"

static void test_acpi(void)
{
	const struct aml_channel good = { "PRP0001", "bulkhead,channel-end-v1", "speed", "control", 0x3fd103000, 0x5000, 1, 0x2000 };
	struct aml_channel other = good;
	struct bulkhead_description found;
	struct aml aml;
	const size_t scope = aml_open(&aml);

	other.label = "orders";
	other.end = 0;
	tell(&other, &good);
	CHECK_EQ(bulkhead_describe(&found, "speed", root), 0);
	CHECK_EQ(found.address, 0x3fd103000);
	CHECK_EQ(found.bytes, 0x5000);
	CHECK_EQ(found.end, 1);
	CHECK_EQ(found.page_offset, 0x2000);
	CHECK_EQ(found.features, BULKHEAD_IS_TERMINAL);
	CHECK(strcmp(found.name, "speed") == 0 && strcmp(found.peer, "control") == 0);
	CHECK_EQ(bulkhead_describe(&found, "orders", root), 0);
	CHECK_EQ(found.end, 0);
	CHECK_EQ(bulkhead_describe(&found, "spee", root), -ENOENT);
	CHECK_EQ(bulkhead_describe(&found, "", root), -ENOENT);
	CHECK_EQ(bulkhead_describe(&found, "COM1", root), -ENOENT);
	CHECK(!found.on_request);
	/* On request. */
	tell(&(struct aml_channel){ "PRP0001", "bulkhead,channel-end-on-request-v1", "speed", "control", 0x3fd103000, 0x5000, 1, 0x2000 },
	     NULL);
	CHECK_EQ(bulkhead_describe(&found, "speed", root), 0);
	CHECK(found.on_request);
	/* A machine's own. */
	aml_put_channel(&aml, &good);
	aml_close(&aml, scope);
	CHECK_EQ(bulkhead_describe_aml(&found, "speed", aml.bytes, aml.length), 0);
	aml.bytes[15] = 'S';
	CHECK_EQ(bulkhead_describe_aml(&found, "speed", aml.bytes, aml.length), -ENOENT);
	aml.bytes[15] = ' ';
	aml.bytes[23] = '2';
	CHECK_EQ(bulkhead_describe_aml(&found, "speed", aml.bytes, aml.length), -ENOENT);
}

/* Each by itself is no channel, or one that cannot be. */
static void test_what_acpi_may_not_say(void)
{
	static const struct aml_channel good = { "PRP0001", "bulkhead,channel-end-v1", "speed", "control", 0x3fd103000, 0x5000, 1, 0x2000 };
	static const struct {
		struct aml_channel is;
		int error;
	} rows[] = {
		{ { "PRP0002", good.compatible, "speed", "control", 0x103000, 0x5000, 1, 0x2000 }, -ENOENT },
		{ { "PRP0001", "bulkhead,channel-end-v2", "speed", "control", 0x103000, 0x5000, 1, 0x2000 }, -ENOENT },
		{ { "PRP0001", good.compatible, "speed", "12345678901234567890123456789012", 0x103000, 0x5000, 1, 0x2000 }, -ENOENT },
		{ { "PRP0001", good.compatible, "speed", "control", 0x103000, 0x5000, UINT64_C(1) << 32, 0x2000 }, -ENOENT },
		{ { "PRP0001", good.compatible, "speed", "control", 0x103000, 0x5000, 1, UINT64_C(1) << 32 }, -ENOENT },
		{ { "PRP0001", good.compatible, "speed", "control", 0x103000, 0x5000, 2, 0x2000 }, -EINVAL },
		{ { "PRP0001", good.compatible, "speed", "control", 0x103800, 0x5000, 1, 0x2000 }, -EINVAL },
		{ { "PRP0001", good.compatible, "speed", "control", 0x103000, 0x5800, 1, 0x2000 }, -EINVAL },
		{ { "PRP0001", good.compatible, "speed", "control", 0x103000, 0x5000, 1, 0x2800 }, -EINVAL },
		{ { "PRP0001", good.compatible, "speed", "control", 0x103000, 0, 1, 0x2000 }, -EINVAL },
		{ { "PRP0001", good.compatible, "speed", "control", UINT64_C(0x7ffffffffffff000), 0x5000, 1, 0x2000 }, -EINVAL },
		{ { "PRP0001", good.compatible, "speed", "control", 0x103000, UINT64_C(0x8000000000000000), 1, 0x2000 }, -EINVAL },
	};
	struct bulkhead_description found;

	check_context.subject = "what ACPI may not say";
	for (unsigned n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		check_context.round = n;
		tell(&rows[n].is, NULL);
		CHECK_EQ(bulkhead_describe(&found, "speed", root), rows[n].error);
	}
	check_context.round = 0;
}

/* No table makes it read beyond, or takes without end: the sanitizers look. */
static void test_a_damaged_table(void)
{
	const struct aml_channel good = { "PRP0001", "bulkhead,channel-end-v1", "speed", "control", 0x103000, 0x5000, 1, 0x2000 };
	struct bulkhead_description found;
	struct aml aml;
	const size_t scope = aml_open(&aml);

	aml_put_channel(&aml, &good);
	aml_close(&aml, scope);
	for (size_t length = 0; length < aml.length; length++) {
		uint8_t *part = malloc(length + 1);

		memcpy(part, aml.bytes, length);
		CHECK_EQ(bulkhead_describe_aml(&found, "speed", part, length), -EINVAL);
		if (length >= AML_HEADER) {
			memcpy(part + 4, &length, 4); /* it says so itself */
			CHECK(bulkhead_describe_aml(&found, "speed", part, length) < 0);
		}
		free(part);
	}
	for (size_t at = 0; at < aml.length; at++)
		for (unsigned value = 0; value <= UINT8_MAX; value++) {
			uint8_t *whole = malloc(aml.length);

			memcpy(whole, aml.bytes, aml.length);
			whole[at] = (uint8_t)value;
			(void)bulkhead_describe_aml(&found, "speed", whole, aml.length);
			free(whole);
		}
}

/* What it finds in a table behind which nothing is mapped: whoever reads on is ended. */
static int describe_copy(const struct aml *aml)
{
	struct bulkhead_description found;
	uint8_t *room = mmap(NULL, 2 * AML_ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *whole;
	int error;

	CHECK(room != MAP_FAILED && mprotect(room + AML_ROOM, AML_ROOM, PROT_NONE) == 0);
	whole = room + AML_ROOM - aml->length;
	memcpy(whole, aml->bytes, aml->length);
	error = bulkhead_describe_aml(&found, "speed", whole, aml->length);
	munmap(room, (size_t)2 * AML_ROOM);
	return error;
}

/* A device whose resources are the last of the table. `buffer`: what stands where they should. */
static int describe_resources(const uint8_t *buffer, size_t bytes)
{
	struct aml aml;
	const size_t scope = aml_open(&aml), device = aml_begin(&aml, "\x5b\x82");

	aml_put(&aml, "CH01", 4);
	aml_name(&aml, "_CRS");
	aml_put(&aml, buffer, bytes);
	aml_end(&aml, device);
	aml_close(&aml, scope);
	return describe_copy(&aml);
}

static void test_resources_that_end_too_soon(void)
{
	static const uint8_t no_size[] = { 0x11, 0x01 }, large[] = { 0x11, 0x04, 0x0a, 1, 0x8a },
			     short_space[] = { 0x11, 0x06, 0x0a, 3, 0x8a, 0, 0 };
	static const uint8_t half_space[] = { 0x11, 0x10, 0x0a, 13, 0x8a, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

	check_context.subject = "resources that end too soon";
	CHECK_EQ(describe_resources(no_size, sizeof(no_size)), -ENOENT);
	CHECK_EQ(describe_resources(large, sizeof(large)), -ENOENT);
	CHECK_EQ(describe_resources(short_space, sizeof(short_space)), -ENOENT);
	CHECK_EQ(describe_resources(half_space, sizeof(half_space)), -ENOENT);
}

/* Where these bytes stand in the table. */
static uint8_t *place_of(struct aml *aml, const void *bytes, size_t count)
{
	uint8_t *place = memmem(aml->bytes, aml->length, bytes, count);

	CHECK(place);
	return place;
}

/* Each byte of it says what it is. */
static void test_what_only_looks_like_a_channel(void)
{
	static const struct aml_channel good = { "PRP0001", "bulkhead,channel-end-v1", "speed", "control", 0x103000, 0x5000, 1, 0x2000 };
	static const uint8_t space[] = { 0x8a, 43, 0 }, uuid[] = { 0x14, 0xd8, 0xff, 0xda };
	struct aml aml;
	const size_t scope = aml_open(&aml);
	uint8_t *place;

	aml_put_channel(&aml, &good);
	aml_close(&aml, scope);
	CHECK_EQ(describe_copy(&aml), 0);
	check_context.subject = "resources that are ports";
	place = place_of(&aml, space, sizeof(space)) + 3;
	*place = 1;
	CHECK_EQ(describe_copy(&aml), -ENOENT);
	*place = 0;
	check_context.subject = "properties of another kind";
	place = place_of(&aml, uuid, sizeof(uuid));
	*place ^= 1;
	CHECK_EQ(describe_copy(&aml), -ENOENT);
	*place ^= 1;
}

static void test_a_device_tree(void)
{
	static const struct {
		const char *name, *bytes;
		size_t count;
	} good[] = {
		{ "compatible", "bulkhead,channel-end-v1", 24 },
		{ "reg", "\0\0\0\3\xfd\x10\x30\0\0\0\0\0\0\0\x50\0", 16 },
		{ "label", "speed", 6 },
		{ "bulkhead,peer", "control", 8 },
		{ "bulkhead,end", "\0\0\0\1", 4 },
		{ "bulkhead,page-offset", "\0\0\x20\0", 4 },
	};
	struct bulkhead_description found;
	char name[ROOM], folder[ROOM];

	check_context.subject = "a device tree";
	snprintf(folder, sizeof(folder), "%s/sys/firmware/devicetree/base/channel@3fd103000/", root);
	make_folders(folder);
	for (unsigned missing = 0; missing <= 6; missing++) {
		check_context.round = missing;
		for (unsigned n = 0; n < 6; n++) {
			snprintf(name, sizeof(name), "/sys/firmware/devicetree/base/channel@3fd103000/%s", good[n].name);
			write_file(name, good[n].bytes, n == missing ? good[n].count - 1 : good[n].count);
		}
		CHECK_EQ(bulkhead_describe_node(&found, folder), missing == 0 ? -ENOENT : missing < 6 ? -EINVAL : 0);
	}
	CHECK_EQ(found.features, 0);
	write_file("/sys/firmware/devicetree/base/channel@3fd103000/bulkhead,telemetry", "", 0);
	CHECK_EQ(bulkhead_describe(&found, "speed", root), 0);
	CHECK_EQ(found.address, 0x3fd103000);
	CHECK_EQ(found.bytes, 0x5000);
	CHECK_EQ(found.end, 1);
	CHECK_EQ(found.page_offset, 0x2000);
	CHECK_EQ(found.features, BULKHEAD_IS_TELEMETRY);
	CHECK(strcmp(found.name, "speed") == 0 && strcmp(found.peer, "control") == 0);
	unlink(path_of("/sys/firmware/acpi/tables/DSDT"));
	CHECK_EQ(bulkhead_describe(&found, "spee", root), -ENOENT);
	write_file("/sys/firmware/devicetree/base/channel@3fd103000/compatible", "bulkhead,channel-end-v2", 24);
	CHECK_EQ(bulkhead_describe(&found, "speed", root), -ENOENT);
	write_file("/sys/firmware/devicetree/base/channel@3fd103000/compatible", "bulkhead,channel-end-v1", 24);
	CHECK_EQ(bulkhead_describe(&found, "speed", root), 0);
	CHECK(!found.on_request);
	write_file("/sys/firmware/devicetree/base/channel@3fd103000/compatible", "bulkhead,channel-end-on-request-v1", 35);
	CHECK_EQ(bulkhead_describe(&found, "speed", root), 0);
	CHECK(found.on_request);
	/* The nodes of others are not asked. */
	CHECK(rename(folder, path_of("/sys/firmware/devicetree/base/cpus@3fd103000")) == 0);
	CHECK_EQ(bulkhead_describe(&found, "speed", root), -ENOENT);
	check_context.round = 0;
}

int main(void)
{
	begin_root();
	test_acpi();
	test_what_acpi_may_not_say();
	test_a_damaged_table();
	test_resources_that_end_too_soon();
	test_what_only_looks_like_a_channel();
	test_a_device_tree();
	return end_root();
}
