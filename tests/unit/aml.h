/* SPDX-License-Identifier: Apache-2.0 */
/* A DSDT put together by hand: ACPI 6.3, 20.2 "AML Grammar Definition". */
#pragma once
#include <stdint.h>
#include <string.h>

#include "check.h"

enum { AML_ROOM = 4096, AML_HEADER = 36, AML_UUID = 16 };
struct aml {
	size_t length;
	uint8_t bytes[AML_ROOM];
};

static inline void aml_put(struct aml *aml, const void *bytes, size_t count)
{
	CHECK(count <= AML_ROOM - aml->length);
	memcpy(aml->bytes + aml->length, bytes, count);
	aml->length += count;
}

static inline void aml_byte(struct aml *aml, uint8_t byte)
{
	aml_put(aml, &byte, 1);
}

/* What has a length: of two bytes here, which 20.2.4 leaves to who writes. Returns what aml_end wants. */
static inline size_t aml_begin(struct aml *aml, const char *op)
{
	aml_put(aml, op, strlen(op));
	aml_put(aml, "\0", 2);
	return aml->length - 2;
}

static inline void aml_end(struct aml *aml, size_t start)
{
	const size_t length = aml->length - start;

	aml->bytes[start] = (uint8_t)(0x40 | (length & 0xf));
	aml->bytes[start + 1] = (uint8_t)(length >> 4);
}

static inline void aml_number(struct aml *aml, uint64_t number)
{
	if (number <= 1) {
		aml_byte(aml, (uint8_t)number);
	} else {
		const unsigned bytes = number <= UINT8_MAX ? 1 : number <= UINT16_MAX ? 2 : number <= UINT32_MAX ? 4 : 8;

		aml_byte(aml, bytes == 1 ? 0x0a : bytes == 2 ? 0x0b : bytes == 4 ? 0x0c : 0x0e);
		aml_put(aml, &number, bytes);
	}
}

static inline void aml_text(struct aml *aml, const char *text)
{
	aml_byte(aml, 0x0d);
	aml_put(aml, text, strlen(text) + 1);
}

static inline void aml_name(struct aml *aml, const char *segment)
{
	aml_byte(aml, 0x08);
	aml_put(aml, segment, strlen(segment));
}

static inline size_t aml_list(struct aml *aml, uint8_t elements)
{
	const size_t start = aml_begin(aml, "\x12");

	aml_byte(aml, elements);
	return start;
}

static inline void aml_text_of(struct aml *aml, const char *key, const char *text)
{
	const size_t pair = aml_list(aml, 2);

	aml_text(aml, key);
	aml_text(aml, text);
	aml_end(aml, pair);
}

static inline void aml_number_of(struct aml *aml, const char *key, uint64_t number)
{
	const size_t pair = aml_list(aml, 2);

	aml_text(aml, key);
	aml_number(aml, number);
	aml_end(aml, pair);
}

static inline void aml_buffer(struct aml *aml, const void *bytes, uint8_t count)
{
	const size_t start = aml_begin(aml, "\x11");

	aml_number(aml, count);
	aml_put(aml, bytes, count);
	aml_end(aml, start);
}

/* 6.4.3.5.1 "QWord Address Space Descriptor", behind an interrupt (6.4.3.6), and 6.4.2.9 "End Tag". */
static inline void aml_memory(struct aml *aml, uint64_t first, uint64_t bytes)
{
	uint8_t resources[9 + 46 + 2] = { 0x89, 6, 0, 3, 1, 40, [9] = 0x8a, 43, 0, 0, 0x0c, 3, [55] = 0x79 };
	const uint64_t last = first + bytes - 1;

	memcpy(resources + 9 + 14, &first, sizeof(first));
	memcpy(resources + 9 + 22, &last, sizeof(last));
	memcpy(resources + 9 + 38, &bytes, sizeof(bytes));
	aml_buffer(aml, resources, sizeof(resources));
}

/* A channel as tools/bhtool/config/dsdt.asl.j2 writes it. */
struct aml_channel {
	const char *hid, *compatible, *label, *peer;
	uint64_t first, bytes, end, page_offset;
};

static inline void aml_put_channel(struct aml *aml, const struct aml_channel *channel)
{
	static const uint8_t uuid[AML_UUID] = { 0x14, 0xd8, 0xff, 0xda, 0xba, 0x6e, 0x8c, 0x4d,
						0x8a, 0x91, 0xbc, 0x9b, 0xbf, 0x4a, 0xa3, 0x01 };
	const size_t device = aml_begin(aml, "\x5b\x82");
	size_t data, list;

	aml_put(aml, "CH01", 4);
	aml_name(aml, "_HID");
	aml_text(aml, channel->hid);
	aml_name(aml, "_UID");
	aml_number(aml, 1);
	aml_name(aml, "_CRS");
	aml_memory(aml, channel->first, channel->bytes);
	aml_name(aml, "_DSD");
	data = aml_list(aml, 2);
	aml_buffer(aml, uuid, sizeof(uuid));
	list = aml_list(aml, 6);
	aml_text_of(aml, "compatible", channel->compatible);
	aml_text_of(aml, "label", channel->label);
	aml_text_of(aml, "bulkhead,peer", channel->peer);
	aml_number_of(aml, "bulkhead,end", channel->end);
	aml_number_of(aml, "bulkhead,page-offset", channel->page_offset);
	aml_number_of(aml, "bulkhead,terminal", 1);
	aml_end(aml, list);
	aml_end(aml, data);
	aml_end(aml, device);
}

/* What comes before the channels; returns what aml_close wants. */
static inline size_t aml_open(struct aml *aml)
{
	size_t scope, list, device;

	memset(aml, 0, sizeof(*aml));
	aml->length = AML_HEADER;
	memcpy(aml->bytes, "DSDT", 4);
	memcpy(aml->bytes + 10, "BLKHD SANDBOX ", 14);
	aml_name(aml, "_S5_");
	list = aml_list(aml, 4);
	for (unsigned n = 0; n < 4; n++)
		aml_number(aml, n ? 0 : 5);
	aml_end(aml, list);
	scope = aml_begin(aml, "\x10");
	aml_put(aml, "\\_SB_", 5);
	device = aml_begin(aml, "\x5b\x82"); /* a UART */
	aml_put(aml, "COM1", 4);
	aml_name(aml, "_HID");
	aml_number(aml, 0x0105d041);
	aml_end(aml, device);
	return scope;
}

static inline void aml_close(struct aml *aml, size_t scope)
{
	aml_end(aml, scope);
	memcpy(aml->bytes + 4, &aml->length, 4);
}
