/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A channel as the sandbox's kernel was told of it, by a device tree or by ACPI (module/main.c has the properties): what the library needs
 * to use it without the module (memory.h).
 */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bulkhead.h"

/* `compatible` of an end, and of one that is opened on request. */
#define BULKHEAD_END            "bulkhead,channel-end-v1"
#define BULKHEAD_END_ON_REQUEST "bulkhead,channel-end-on-request-v1"

struct bulkhead_description {
	char name[BULKHEAD_NAME_BYTES];
	char peer[BULKHEAD_NAME_BYTES];
	uint64_t address; /* as the sandbox sees it; whole pages */
	uint64_t bytes;
	uint32_t end;
	uint32_t page_offset;
	uint32_t features; /* BULKHEAD_IS_TERMINAL, ... */
	bool on_request;   /* to touch it before the monitor was asked to open it is a fault */
};

/*
 * Finds the channel `name` in the files of Linux below the folder `root` ("": where they are; tests have another).
 * Returns 0; -ENOENT if there is no such channel; -EINVAL if the table is not as it must be; a node or
 * device that is not is passed over; -EACCES for who may not read it: root may.
 */
int bulkhead_describe(struct bulkhead_description *found, const char *name, const char *root);

/* The parts of it: a folder of a device tree, and a DSDT of `bytes`. Return as above. */
int bulkhead_describe_node(struct bulkhead_description *found, const char *folder);
int bulkhead_describe_aml(struct bulkhead_description *found, const char *name, const uint8_t *table, size_t bytes);
