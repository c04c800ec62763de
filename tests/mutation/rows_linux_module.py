# SPDX-License-Identifier: Apache-2.0
"""Seeded mistakes in Linux's module for channels, for test_linux_module.py. `caught_by` is what the program linux_channels.c is called with, or a
command of the shell; `good` the line that it then says, which the mistake has to change.
"""

from dataclasses import dataclass

from tests.mutation.mutation import Mutation

END, FILE, RING, WATCH = (f"tools/linux/module/{name}.c" for name in ("end", "file", "ring", "watch"))
MAP, OF_SENDER, TWICE, READERS, SMALL, PLACE, FIRST = (
    "map samples",
    "map commands",
    "twice samples",
    "readers stream 3",
    "small samples",
    "place samples 1 1000",
    "receive samples 1 1000",
)
RUNG = "bulkhead-console control"  # who of both is rung meanwhile
LATER = "timeout 4 cat /dev/bulkhead/samples"  # a message that is sent while it waits


@dataclass(frozen=True)
class ModuleMutation(Mutation):
    good: str


def maps(what: str, old: str, new: str, good: str) -> ModuleMutation:
    return ModuleMutation(what, FILE, old, new, MAP, good)


MODULE_ROWS = (
    maps("what is another's is mapped for writing", "VM_EXEC : VM_EXEC | VM_WRITE)", "VM_EXEC : VM_EXEC)", "page EACCES"),
    maps("the whole is mapped for writing", "VM_EXEC : VM_EXEC | VM_WRITE)", "VM_EXEC : VM_EXEC)", "writable EACCES"),
    maps(
        "a mapping for reading becomes one for writing",
        "VM_MAYEXEC : VM_MAYEXEC | VM_MAYWRITE",
        "VM_MAYEXEC : VM_MAYEXEC",
        "changed EACCES",
    ),
    maps("a mapping is executable", "own ? VM_EXEC : VM_EXEC | VM_WRITE", "own ? 0 : VM_WRITE", "executable EACCES"),
    maps("a mapping is longer than the channel", "length > channel->bytes - offset", "false", "longer EINVAL"),
    maps("a mapping ends behind the channel", "length > channel->bytes - offset", "false", "last EINVAL"),
    maps("a mapping begins far behind the channel", "|| area->vm_pgoff > channel->bytes >> PAGE_SHIFT", "", "far EINVAL"),
    maps("a mapping is private", "!(area->vm_flags & VM_MAYSHARE) ||", "", "private EINVAL"),
    ModuleMutation(
        "what begins in the own part is the own part",
        FILE,
        "&& offset + length <= channel->own_offset + channel->own_bytes",
        "",
        OF_SENDER,
        "writable EACCES",
    ),
    ModuleMutation("an end has two owners", FILE, "if (!test_and_set_bit(n, &channel->opened))", "if (true)", TWICE, "EBUSY"),
    ModuleMutation(
        "an end is never free again", FILE, "one->buffer = NULL; clear_bit_unlock(one - channel->files, &channel->opened);", "", TWICE, "OK"
    ),
    ModuleMutation(
        "no program knows which reader it is", FILE, "info->reader = file - channel->files;", "", READERS, "2 in place: 0, 48 bytes"
    ),
    ModuleMutation("all readers are the first", END, "if (reader)", "if (false)", READERS, "1 says what it reads"),
    ModuleMutation(
        "a message is longer than the buffer",
        END,
        "if (result == BH_END_OK && message->length > room) return -EMSGSIZE;",
        "",
        SMALL,
        "EMSGSIZE 7",
    ),
    ModuleMutation("module and program use one end", FILE, "if (READ_ONCE(one->mapped)) return -EBUSY;", "", PLACE, "EBUSY"),
    ModuleMutation("a mapping is not noticed", FILE, "WRITE_ONCE(one->mapped, true);", ";", PLACE, "EBUSY"),
    ModuleMutation("the first connection is a loss", END, "file->fresh = true;", "", FIRST, "message"),
    ModuleMutation("the timer looks once", WATCH, "goes_on = waitqueue_active(&channel->waiters);", "goes_on = false;", LATER, "message"),
    ModuleMutation("nobody is rung", RING, "!channel->gap_us || !bh_end_is_wanted(&channel->first)", "true", RUNG, "control is rung"),
    ModuleMutation(
        "another is rung",
        RING,
        "call_doorbell(channel->number) == BH_E_LATER",
        "call_doorbell(channel->number + 1) == 0",
        RUNG,
        "control is rung",
    ),
    ModuleMutation("who waits does not say so", WATCH, "want_ring(channel, true);", "", RUNG, "Linux is rung"),
    ModuleMutation("the timer wakes nobody", WATCH, "if (changed) wake_up_interruptible(&channel->waiters);", "", LATER, "message"),
)
