/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a channel by /dev/mem, in a kernel without the module: mapped, and used by channel_inline.h in the program itself. It rings
 * nobody and is rung by nobody, as both take the kernel. Calls try once, and return as the library's do (bulkhead_channel.h), or -EAGAIN.
 */
#pragma once
#include <stddef.h>

#include "bulkhead.h"

struct bulkhead_memory;

/*
 * `root`: before the paths of Linux' files; "": none. Returns -ENOENT if there is no such channel, -EOPNOTSUPP if this kernel would map it
 * other than as the other end has it, or if it is opened on request, -EBUSY if a program has this end or, by CONFIG_IO_STRICT_DEVMEM, the
 * module.
 */
int bulkhead_memory_open(struct bulkhead_memory **opened, const char *name, const char *root);
void bulkhead_memory_close(struct bulkhead_memory *memory);

int bulkhead_memory_send(struct bulkhead_memory *memory, const struct bulkhead_message *message);
/* message->data and ->length are where it goes, and become what came; with -EMSGSIZE they say how long it is. */
int bulkhead_memory_receive(struct bulkhead_memory *memory, struct bulkhead_message *message);
/* Events of poll(2), as they are now. */
short bulkhead_memory_ready(struct bulkhead_memory *memory);
void bulkhead_memory_ask(const struct bulkhead_memory *memory, struct bulkhead_info *info);
void bulkhead_memory_set_checked(struct bulkhead_memory *memory, int checked);
/* From now on the end is the program's. Returns all of the channel, its own part for writing. */
void *bulkhead_memory_give(struct bulkhead_memory *memory);
