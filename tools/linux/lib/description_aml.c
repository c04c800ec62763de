// SPDX-License-Identifier: Apache-2.0
/*
 * Channels in a DSDT as the host tool writes it (tools/bhtool/config/dsdt.asl.j2): devices `PRP0001` with names and constants alone. That
 * is all of AML that is understood here: ACPI 6.3, 20.2 "AML Grammar Definition". Each length is held against what it lies in.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "description.h"

#define OURS "BLKHD SANDBOX " /* OEMID, OEM Table ID: 5.2.6 "System Description Table Header" */
enum { HEADER_BYTES = 36, OEM_AT = 10, SEGMENT = 4, UUID_BYTES = 16 };
enum { NAME_OP = 0x08, SCOPE_OP = 0x10, BUFFER_OP = 0x11, PACKAGE_OP = 0x12, EXTENDED_OP = 0x5b, DEVICE_OP = 0x82 };
enum { ZERO = 0x00, ONE = 0x01, BYTE = 0x0a, WORD = 0x0b, DWORD = 0x0c, STRING = 0x0d, QWORD = 0x0e, ONES = 0xff };
enum { DUAL_NAME = 0x2e, MULTI_NAME = 0x2f };

/* 6.4.3.5.1 "QWord Address Space Descriptor" */
enum { QWORD_SPACE = 0x8a, QWORD_SPACE_BYTES = 46, LARGE = 0x80, LARGE_HEADER = 3, SMALL_LENGTH = 7, MEMORY = 0 };
enum { SPACE_TYPE = 3, SPACE_FIRST = 14, SPACE_LENGTH = 38 };

/* 6.2.5 "_DSD (Device Specific Data)": daffd814-6eba-4d8c-8a91-bc9bbf4aa301, properties */
static const uint8_t properties_uuid[UUID_BYTES] = { 0x14, 0xd8, 0xff, 0xda, 0xba, 0x6e, 0x8c, 0x4d,
						     0x8a, 0x91, 0xbc, 0x9b, 0xbf, 0x4a, 0xa3, 0x01 };

struct span {
	const uint8_t *at, *end;
};

struct value {
	enum { NUMBER, TEXT, BYTES, LIST } kind;
	uint64_t number;
	struct span inside; /* TEXT: without its 0; LIST: its elements */
};

static size_t left(const struct span *span)
{
	return (size_t)(span->end - span->at);
}

/* Takes `bytes` off the beginning, `*taken`. */
static bool take(struct span *span, uint64_t bytes, struct span *taken)
{
	if (bytes > left(span))
		return false;
	*taken = (struct span){ span->at, span->at + bytes };
	span->at += bytes;
	return true;
}

static bool take_byte(struct span *span, uint8_t *byte)
{
	if (!left(span))
		return false;
	*byte = *span->at++;
	return true;
}

static uint64_t number_at(const uint8_t *bytes, unsigned count)
{
	uint64_t number = 0;

	while (count--)
		number = number << 8 | bytes[count];
	return number;
}

static bool take_number(struct span *span, unsigned bytes, uint64_t *number)
{
	struct span taken;

	if (!take(span, bytes, &taken))
		return false;
	*number = number_at(taken.at, bytes);
	return true;
}

/* 20.2.4 "Package Length Encoding": it counts itself. */
static bool take_package(struct span *span, struct span *inside)
{
	const uint8_t *start = span->at;
	uint64_t length, more = 0;
	unsigned bytes;
	uint8_t lead;

	if (!take_byte(span, &lead))
		return false;
	bytes = lead >> 6;
	if (!take_number(span, bytes, &more))
		return false;
	length = bytes ? (lead & 0xf) | more << 4 : lead & 0x3f;
	return length >= (size_t)(span->at - start) && take(span, length - (size_t)(span->at - start), inside);
}

/* 20.2.2 "Name Objects Encoding". `*last`: its last segment; empty: none. */
static bool take_name(struct span *span, struct span *last)
{
	uint8_t segments = 1;

	while (left(span) && (*span->at == '\\' || *span->at == '^'))
		span->at++;
	if (!left(span))
		return false;
	if (*span->at == ZERO || *span->at == DUAL_NAME || *span->at == MULTI_NAME) {
		const uint8_t form = *span->at++;

		segments = form == DUAL_NAME ? 2 : 0;
		if (form == MULTI_NAME && !take_byte(span, &segments))
			return false;
	}
	if (!segments)
		return take(span, 0, last);
	return take(span, (uint64_t)(segments - 1) * SEGMENT, last) && take(span, SEGMENT, last);
}

static bool take_value(struct span *span, struct value *value)
{
	struct value size;
	uint8_t op;

	if (!take_byte(span, &op))
		return false;
	*value = (struct value){ .kind = NUMBER };
	switch (op) {
	case ZERO:
	case ONE:
		value->number = op;
		return true;
	case ONES:
		value->number = UINT64_MAX;
		return true;
	case BYTE:
		return take_number(span, 1, &value->number);
	case WORD:
		return take_number(span, 2, &value->number);
	case DWORD:
		return take_number(span, 4, &value->number);
	case QWORD:
		return take_number(span, 8, &value->number);
	case STRING: {
		const uint8_t *zero = memchr(span->at, 0, left(span));

		value->kind = TEXT;
		return zero && take(span, (size_t)(zero - span->at), &value->inside) && take_byte(span, &op);
	}
	case BUFFER_OP:
		value->kind = BYTES;
		return take_package(span, &value->inside) && left(&value->inside) && *value->inside.at != BUFFER_OP &&
		       *value->inside.at != PACKAGE_OP && take_value(&value->inside, &size);
	case PACKAGE_OP:
		value->kind = LIST;
		return take_package(span, &value->inside) && take_byte(&value->inside, &op);
	default:
		return false;
	}
}

static bool is_text(const struct value *value, const char *text)
{
	return value->kind == TEXT && left(&value->inside) == strlen(text) && memcmp(value->inside.at, text, strlen(text)) == 0;
}

static bool is_segment(const struct span *name, const char *text)
{
	return left(name) == SEGMENT && memcmp(name->at, text, SEGMENT) == 0;
}

static bool copy_name(const struct value *value, char *name)
{
	if (value->kind != TEXT || left(&value->inside) >= BULKHEAD_NAME_BYTES)
		return false;
	memcpy(name, value->inside.at, left(&value->inside));
	name[left(&value->inside)] = '\0';
	return true;
}

static bool copy_number(const struct value *value, uint32_t *number)
{
	if (value->kind != NUMBER || value->number > UINT32_MAX)
		return false;
	*number = (uint32_t)value->number;
	return true;
}

/* ---- A device ------------------------------------------------------------------------------------------------------------------------ */

/* Of _CRS: the first one that is memory. 6.4 "Resource Data Types for ACPI" */
static bool find_memory(struct span resources, struct bulkhead_description *found)
{
	struct span one;

	while (left(&resources)) {
		const uint8_t tag = *resources.at;

		if (tag & LARGE && left(&resources) < LARGE_HEADER)
			return false;
		if (!take(&resources, tag & LARGE ? LARGE_HEADER + number_at(resources.at + 1, 2) : 1U + (tag & SMALL_LENGTH), &one))
			return false;
		if (tag != QWORD_SPACE || left(&one) < QWORD_SPACE_BYTES || one.at[SPACE_TYPE] != MEMORY)
			continue;
		found->address = number_at(one.at + SPACE_FIRST, 8);
		found->bytes = number_at(one.at + SPACE_LENGTH, 8);
		return true;
	}
	return false;
}

enum { HAS_COMPATIBLE = 1, HAS_LABEL = 2, HAS_PEER = 4, HAS_END = 8, HAS_PAGE = 16, HAS_MEMORY = 32, IS_PRP = 64, IS_CHANNEL = 127 };

static bool is_end(const struct value *compatible, struct bulkhead_description *found)
{
	found->on_request = is_text(compatible, BULKHEAD_END_ON_REQUEST);
	return found->on_request || is_text(compatible, BULKHEAD_END);
}

/* Returns false if it is not as it must be. */
static bool read_property(struct span pair, struct bulkhead_description *found, unsigned *has)
{
	struct value key, value;

	if (!take_value(&pair, &key) || !take_value(&pair, &value))
		return false;
	if (is_text(&key, "compatible"))
		*has |= is_end(&value, found) ? HAS_COMPATIBLE : 0;
	else if (is_text(&key, "label"))
		*has |= copy_name(&value, found->name) ? HAS_LABEL : 0;
	else if (is_text(&key, "bulkhead,peer"))
		*has |= copy_name(&value, found->peer) ? HAS_PEER : 0;
	else if (is_text(&key, "bulkhead,end"))
		*has |= copy_number(&value, &found->end) ? HAS_END : 0;
	else if (is_text(&key, "bulkhead,page-offset"))
		*has |= copy_number(&value, &found->page_offset) ? HAS_PAGE : 0;
	else if (is_text(&key, "bulkhead,terminal"))
		found->features |= BULKHEAD_IS_TERMINAL;
	else if (is_text(&key, "bulkhead,telemetry"))
		found->features |= BULKHEAD_IS_TELEMETRY;
	return true;
}

static bool read_properties(struct value data, struct bulkhead_description *found, unsigned *has)
{
	struct value uuid, list, pair;

	if (data.kind != LIST || !take_value(&data.inside, &uuid) || !take_value(&data.inside, &list))
		return false;
	if (uuid.kind != BYTES || left(&uuid.inside) != UUID_BYTES || memcmp(uuid.inside.at, properties_uuid, UUID_BYTES) != 0)
		return false;
	while (list.kind == LIST && left(&list.inside))
		if (!take_value(&list.inside, &pair) || pair.kind != LIST || !read_property(pair.inside, found, has))
			return false;
	return list.kind == LIST;
}

/* Whether it is a channel's, as far as it can be read. */
static bool read_device(struct span device, struct bulkhead_description *found)
{
	struct span name;
	struct value value;
	unsigned has = 0;
	uint8_t op;

	memset(found, 0, sizeof(*found));
	if (!take_name(&device, &name))
		return false;
	while (left(&device)) {
		if (!take_byte(&device, &op) || op != NAME_OP || !take_name(&device, &name) || !take_value(&device, &value))
			return false;
		if (is_segment(&name, "_HID"))
			has |= is_text(&value, "PRP0001") ? IS_PRP : 0;
		else if (is_segment(&name, "_CRS"))
			has |= value.kind == BYTES && find_memory(value.inside, found) ? HAS_MEMORY : 0;
		else if (is_segment(&name, "_DSD") && !read_properties(value, found, &has))
			return false;
	}
	return has == IS_CHANNEL;
}

int bulkhead_describe_aml(struct bulkhead_description *found, const char *name, const uint8_t *table, size_t bytes)
{
	struct span terms, inside, segment;
	struct value value;
	uint8_t op;

	if (bytes < HEADER_BYTES || number_at(table + SEGMENT, 4) != bytes)
		return -EINVAL;
	if (memcmp(table + OEM_AT, OURS, sizeof(OURS) - 1) != 0) /* of a machine that is no sandbox */
		return -ENOENT;
	terms = (struct span){ table + HEADER_BYTES, table + bytes };
	while (take_byte(&terms, &op)) {
		if (op == NAME_OP) {
			if (!take_name(&terms, &segment) || !take_value(&terms, &value))
				return -EINVAL;
		} else if (op == SCOPE_OP) { /* what is in it follows */
			if (!take_package(&terms, &inside) || !take_name(&inside, &segment))
				return -EINVAL;
			terms.at = inside.at;
		} else if (op == EXTENDED_OP) {
			if (!take_byte(&terms, &op) || op != DEVICE_OP || !take_package(&terms, &inside))
				return -EINVAL;
			if (read_device(inside, found) && strcmp(found->name, name) == 0)
				return 0;
		} else {
			return -EINVAL;
		}
	}
	return -ENOENT;
}
