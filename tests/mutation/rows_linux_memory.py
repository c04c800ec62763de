# SPDX-License-Identifier: Apache-2.0
"""Seeded mistakes in the library of a Linux without the module for channels: what it makes of ACPI and of a device tree, and how it uses /dev/mem."""

from tests.mutation.mutation import Mutation

MEMORY, TREE, AML = (f"tools/linux/lib/{name}.c" for name in ("memory", "description", "description_aml"))
CONSOLE = "tools/linux/console/carry.c"
TRY = "tools/linux/include/channel_try.h"  # what the module has, too
LINUX_MEMORY_PROGRAMS = {
    name: f"tests/unit/{name}.c" for name in ("linux_memory_test", "linux_description_test", "linux_try_test", "linux_console_test")
}
LINUX_MEMORY_PARTS = {
    "linux_memory_test": [MEMORY, TREE, AML],
    "linux_description_test": [TREE, AML],
    "linux_try_test": [],
    "linux_console_test": [CONSOLE],
}


def used(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"without the module: {what}", MEMORY, old, new, "linux_memory_test")


def tried(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"without the module: {what}", TRY, old, new, "linux_memory_test")


def shown(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"bulkhead-console: {what}", CONSOLE, old, new, "linux_console_test")


def told(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"without the module: {what}", TREE, old, new, "linux_description_test")


def read(what: str, old: str, new: str = "") -> Mutation:
    return Mutation(f"AML of channels: {what}", AML, old, new, "linux_description_test")


LINUX_MEMORY_ROWS = (
    shown("who says on and on keeps everybody", "n < says->info.slots", "1"),
    shown("what came damaged ends it", "count == -ECONNRESET || count == -EBADMSG", "count == -ECONNRESET"),
    shown("a life that begins anew ends it", "count == -ECONNRESET || count == -EBADMSG", "count == -EBADMSG"),
    shown("nobody leaves", "if (leave && typed[n] == leave) return ENDED;", ";"),
    shown("a message longer than a slot", "length < hears->info.slot_bytes ? length : hears->info.slot_bytes", "length"),
    shown("who is gone is shown still", "if (result == -EPIPE) return GONE; if (result < 0 && !(keeps", "if (result < 0 && !(keeps"),
    used("what is another's can be made writable", "open(path, O_RDONLY | O_CLOEXEC)", "open(path, O_RDWR | O_CLOEXEC)"),
    used("a program that is started has the file", "open(path, O_RDWR | O_CLOEXEC)", "open(path, O_RDWR)"),
    used("what a driver has is forbidden", "return errno == EPERM ? -EBUSY : -errno;", "return -errno;"),
    used("a file is left open", "if (memory->file >= 0) close(memory->file);"),
    used("a file that was read is left open", "close(file); if (!error)", "if (!error)"),
    tried("who waits for a value waits for nobody", "return bh_end_peer_gone(end) ? BH_END_GONE : BH_END_AGAIN;", "return BH_END_AGAIN;"),
    tried("a value for nobody", "return result == BH_END_OK && bh_end_peer_gone(end) ? BH_END_GONE : result;", "return result;"),
    tried("a letter for nobody", "if (result == BH_END_OK && bh_end_peer_gone(end)) return BH_END_GONE;"),
    used("all of it is writable", "memory->about.bytes, PROT_READ, file", "memory->about.bytes, PROT_READ | PROT_WRITE, file"),
    used("the page is in the own area", "about->page_offset + BH_PAGE_BYTES : 0;", "about->page_offset : 0;"),
    used("the own area is the other's", "memory->own_offset = about->end ?", "memory->own_offset = !about->end ?"),
    used(
        "the page is in end 0's area",
        "about->bytes - memory->own_offset : about->page_offset;",
        "about->bytes - memory->own_offset : about->page_offset + BH_PAGE_BYTES;",
    ),
    used("any channel is the one", "strncmp((const char *)page->name, about->name, sizeof(page->name)) == 0", "true"),
    used("whatever lies there is a channel", "!= BH_END_OK) return -ENXIO;", "!= BH_END_OK) return 0;"),
    used("an end has two owners", "if (fcntl(memory->file, F_OFD_SETLK, &lock) == 0)", "if (true)"),
    used("what is closed is a child's", "if (memory->file >= 0 && is_owner) give_lock(memory);"),
    used("a child gives the lock back", "memory->file >= 0 && is_owner) give_lock", "memory->file >= 0) give_lock"),
    used("a child unmaps what is there", "if (memory->whole && is_owner)", "if (memory->whole)"),
    used("a name begins with it", "about->name, sizeof(page->name))", "about->name, strlen(about->name))"),
    used("on request is as always", "memory->about.on_request || "),
    told("on request is no other", "found->on_request = strcmp(is, BULKHEAD_END_ON_REQUEST) == 0;"),
    read("on request is no other", "found->on_request = is_text(compatible, BULKHEAD_END_ON_REQUEST);"),
    used("one program owns it twice", "if (fcntl(memory->file, F_OFD_SETLK,", "if (fcntl(memory->file, F_SETLK,"),
    used("a latest value has one reader", "memory->end.readers : 1;", "1 : 1;"),
    used(
        "a writer is several",
        "memory->end.role == BH_END_LATEST_READER ? memory->end.readers : 1",
        "memory->end.readers ? memory->end.readers : 1",
    ),
    used(
        "readers have one lock",
        "F_WRLCK, .l_start = (off_t)(memory->about.address + memory->reader)",
        "F_WRLCK, .l_start = (off_t)memory->about.address",
    ),
    used("all readers are the first", "if (!error && memory->reader)", "if (false)"),
    used(
        "it lies where memory begins",
        "protection, MAP_SHARED | (place ? MAP_FIXED : 0), file, (off_t)address)",
        "protection, MAP_SHARED | (place ? MAP_FIXED : 0), file, 0)",
    ),
    used("what is written stays here", "MAP_SHARED | (place ? MAP_FIXED : 0)", "MAP_PRIVATE | (place ? MAP_FIXED : 0)"),
    used("a child goes on with a copy", "if (!error && madvise(memory->whole, about->bytes, MADV_DONTFORK))", "if (false)"),
    used("the first connection is a loss", "memory->news.fresh = true;"),
    tried("no new life is told of", "if (!news->fresh) return -ECONNRESET;"),
    tried("a new life is told of for ever", "news->reset = false; return -ECONNRESET;", "return -ECONNRESET;"),
    used(
        "who receives is not told of a new life",
        "try_tell_reset(&memory->end, &memory->news); if (error) return error; error = receive_one",
        "0; if (error) return error; error = receive_one",
    ),
    used("who sends is not told of a new life", "error = try_tell_reset(end, &memory->news);", "error = 0;"),
    used("who opens it takes no part", "bulkhead_memory_ready(memory); /*", "/*"),
    tried("a message is longer than the buffer", "if (result == BH_END_OK && message->length > room) return BH_END_SIZE;"),
    used("a message stays", "return bh_ring_release(end);", "return BH_END_OK;"),
    tried("a damaged message stays", "if (result == BH_END_CHECK) (void)bh_ring_release(end);"),
    tried(
        "a latest value is new each time",
        "return result == BH_END_OK && started && end->taken == known && !again ? BH_END_AGAIN : result;",
        "return result;",
    ),
    used("a buffer is written for nothing", "again ? BH_END_OK : try_may_receive(end)", "BH_END_OK"),
    used("a latest value cannot be had again", "message->options & BULKHEAD_AGAIN, &came", "false, &came"),
    used("nobody knows how long it is", "if (!error || error == -EMSGSIZE) {", "if (!error) {"),
    tried("unknown flags are sent", "if (!bh_flags_valid(flags)) return BH_END_INVALID;"),
    tried("a message is longer than a slot", "return length > end->slot_bytes ? BH_END_SIZE : BH_END_OK;", "return BH_END_OK;"),
    used(
        "receives beside the program",
        "if (memory->in_place) return -EBUSY; error = try_tell_reset(&memory->end, &memory->news); if (error) return error; error = receive_one",
        "error = try_tell_reset(&memory->end, &memory->news); if (error) return error; error = receive_one",
    ),
    used("who is in place is told of everything", "memory->polled = now;"),
    used("who is in place is told of nothing", "return changed ? POLLIN | POLLOUT : 0;", "return 0;"),
    tried(
        "a full mailbox is ready", "end->peer_taken != end->sent || end->peer_sent != end->taken) ? BH_END_AGAIN", "false) ? BH_END_AGAIN"
    ),
    tried("who is gone is not seen", "return open | TRY_POLLHUP;", "return open;"),
    tried("a reset is not seen", "if (!try_was_reset(end, news)) {", "if (true) {"),
    Mutation(
        "without the module: a poll takes a new life's news for itself",
        TRY,
        "if (receives != BH_END_NEW && sends != BH_END_NEW)",
        "if (true)",
        "linux_try_test",
    ),
    Mutation(
        "without the module: who asks after a poll is not told",
        TRY,
        "news->reset = true; } return TRY_POLLERR",
        "} return TRY_POLLERR",
        "linux_try_test",
    ),
    tried("a value that is being written is ready again", "sent != end->taken && sent + 1 != end->taken", "sent != end->taken"),
    used("reader 0 is told", ".reader = memory->reader,"),
    told("any node is a channel's", "if (!found->on_request && strcmp(is, BULKHEAD_END) != 0) return -ENOENT;"),
    told("numbers are little-endian", "number = number << 8 | *bytes++;", "number = number << 8 | bytes[count];"),
    told("a name has no end", "return bytes > 0 && name[bytes - 1] == '\\0';", "return bytes > 0;"),
    told(
        "any channel is the one of that name",
        "bulkhead_describe_node(found, node) == 0 && strcmp(found->name, name) == 0",
        "bulkhead_describe_node(found, node) == 0",
    ),
    told("other nodes are asked", 'if (strncmp(entry->d_name, "channel@", strlen("channel@")) != 0) continue;'),
    told("an end is a third one", "found->end > 1 || found->bytes == 0", "found->bytes == 0"),
    told("it may have no bytes", "|| found->bytes == 0"),
    told("it wraps", "|| found->address > INT64_MAX - found->bytes"),
    told(
        "it begins within a page",
        "(found->address | found->bytes | found->page_offset) % PAGE_BYTES",
        "(found->bytes | found->page_offset) % PAGE_BYTES",
    ),
    told(
        "it ends within a page",
        "(found->address | found->bytes | found->page_offset) % PAGE_BYTES",
        "(found->address | found->page_offset) % PAGE_BYTES",
    ),
    told(
        "the page lies across two",
        "(found->address | found->bytes | found->page_offset) % PAGE_BYTES",
        "(found->address | found->bytes) % PAGE_BYTES",
    ),
    read("a length is longer than what it lies in", "if (bytes > left(span)) return false;"),
    read("a byte behind the end", "if (!left(span)) return false; *byte = *span->at++;", "*byte = *span->at++;"),
    read(
        "a long name is cut nowhere",
        "if (value->kind != TEXT || left(&value->inside) >= BULKHEAD_NAME_BYTES) return false;",
        "if (value->kind != TEXT) return false;",
    ),
    read(
        "a number is cut",
        "if (value->kind != NUMBER || value->number > UINT32_MAX) return false;",
        "if (value->kind != NUMBER) return false;",
    ),
    read("another device's properties", 'has |= is_text(&value, "PRP0001") ? IS_PRP : 0;', "has |= IS_PRP;"),
    read("another binding", "is_end(&value, found) ? HAS_COMPATIBLE : 0", "is_end(&value, found) ? HAS_COMPATIBLE : HAS_COMPATIBLE"),
    read(
        "any other resource is memory",
        "if (tag != QWORD_SPACE || left(&one) < QWORD_SPACE_BYTES || one.at[SPACE_TYPE] != MEMORY) continue;",
        "if (left(&one) < 9) continue;",
    ),
    read("a large resource has a header", "if (tag & LARGE && left(&resources) < LARGE_HEADER) return false;"),
    read("a memory resource is long enough", "left(&one) < QWORD_SPACE_BYTES || ", ""),
    read("ports are memory", " || one.at[SPACE_TYPE] != MEMORY", ""),
    read("a buffer has a size", "left(&value->inside) && *value->inside.at != BUFFER_OP", "*value->inside.at != BUFFER_OP"),
    read("any UUID", " || memcmp(uuid.inside.at, properties_uuid, UUID_BYTES) != 0", ""),
    read("any machine's table", "memcmp(table + OEM_AT, OURS, sizeof(OURS) - 1) != 0", "false"),
    read("a table that says another length", "|| number_at(table + SEGMENT, 4) != bytes"),
    read("the first channel is the one", "read_device(inside, found) && strcmp(found->name, name) == 0", "read_device(inside, found)"),
)
