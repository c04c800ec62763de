# SPDX-License-Identifier: Apache-2.0
"""Seeded mistakes in Linux's module for channels, for test_linux_module.py and, of what is opened on request, test_linux_module_requests.py. `caught_by`
is what the program linux_channels.c is called with, or a command of the shell; `good` the line that it then says, which the mistake has to change.
"""

from dataclasses import dataclass

from tests.mutation.mutation import Mutation

END, FILE, MAIN, REACH, RING, WATCH = (f"tools/linux/module/{name}.c" for name in ("end", "file", "main", "reach", "ring", "watch"))
TRY = "tools/linux/include/channel_try.h"
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
        TRY,
        "if (result == BH_END_OK && message->length > room) return BH_END_SIZE;",
        "",
        SMALL,
        "EMSGSIZE 7",
    ),
    ModuleMutation("module and program use one end", FILE, "if (READ_ONCE(one->mapped)) return -EBUSY;", "", PLACE, "EBUSY"),
    ModuleMutation("a mapping is not noticed", FILE, "WRITE_ONCE(one->mapped, true);", ";", PLACE, "EBUSY"),
    ModuleMutation("the first connection is a loss", END, "{ .fresh = true }", "{}", FIRST, "message"),
    ModuleMutation("the timer looks once", WATCH, "goes_on = waitqueue_active(&channel->waiters);", "goes_on = false;", LATER, "message"),
    ModuleMutation("nobody is rung", RING, "!channel->gap_us || !bh_end_is_wanted(&channel->first)", "true", RUNG, "control is rung"),
    ModuleMutation(
        "another is rung",
        RING,
        "&& channel_call(BH_CALL_DOORBELL, channel->number) == BH_E_LATER)",
        "&& channel_call(BH_CALL_DOORBELL, channel->number + 1) == 0)",
        RUNG,
        "control is rung",
    ),
    ModuleMutation("who waits does not say so", WATCH, "want_ring(channel, true);", "", RUNG, "Linux is rung"),
    ModuleMutation("the timer wakes nobody", WATCH, "if (changed) wake_up_interruptible_all(&channel->waiters);", "", LATER, "message"),
)

# ---- On request: commands of the shell. A mistake may end this life of Linux, and so may, where that is what is good, what is closed ------------

ENDS = "this life ends"
CLOSED = "cat /sys/class/misc/bulkhead-aside/epoch"
AGAIN = "channels twice aside"
COUNTS = "timeout 2 channels count stream 5"  # which looks itself when a second is over
PERIOD = "> /sys/module/bulkhead/parameters/period_us"
GIVES_UP = (
    f"echo 300000 {PERIOD}; timeout 0.2 cat /dev/bulkhead/stream > /dev/null; echo 1000 {PERIOD}"  # before the timer would look again
)
BESIDE = "(exec 3< /dev/bulkhead/stream; : < /dev/bulkhead/stream; dd bs=64 count=1 <&3 2> /dev/null | wc -c)"
AREAS = "$(grep -c memremap /proc/vmallocinfo)"
LEAVES = f"before={AREAS}; {AGAIN}; [ $before = {AREAS} ] && echo no more"
TOUCHES = f"{AGAIN}; devmem {{aside}}"
ASKS = "channel->on_request && channel_call(BH_CALL_OPEN, channel->number) != BH_OK"
CLOSES = "if (channel->on_request) (void)channel_call(BH_CALL_CLOSE, channel->number);"
STOPS = "channel_watch_end(channel); channel->first = (struct bh_end){};"
REFUSED = ModuleMutation("it asks for none of its own", REACH, ASKS, ASKS.replace("channel->number", "99"), AGAIN, "OK")


def reaches(what: str, old: str, new: str, caught_by: str, good: str) -> ModuleMutation:
    return ModuleMutation(what, REACH, old, new, caught_by, good)


REQUEST_ROWS = (
    REFUSED,
    reaches("nobody asks the monitor", ASKS, "false", AGAIN, "OK"),
    reaches("nobody hears its answer", ASKS, "channel->on_request && (channel_call(BH_CALL_OPEN, 99), false)", AGAIN, "OK"),
    reaches("another is opened", ASKS, ASKS.replace("channel->number", "channel->number + 1"), AGAIN, "OK"),
    reaches("it stays open", CLOSES, "", TOUCHES, ENDS),
    reaches("it stays mapped", "if (channel->memory) memunmap(channel->memory);", "", LEAVES, "no more"),
    reaches("it is closed before nobody looks any more", STOPS, f"{CLOSES} {STOPS}", AGAIN, "OK"),
    reaches("whoever goes first closes it for all", "if (!--channel->holders)", "channel->holders = 0;", BESIDE, "48"),
    ModuleMutation(
        "it is open while it has a device", MAIN, "channel->on_request ? 0 : hold_always(channel)", "hold_always(channel)", CLOSED, "0"
    ),
    ModuleMutation("attributes look at what is closed", FILE, "if (!channel->memory) return;", "", CLOSED, "0"),
    ModuleMutation(
        "the timer looks at what is closed",
        WATCH,
        "hrtimer_cancel(&channel->timer); channel->watching",
        "channel->watching",
        f"{GIVES_UP}; sleep 0.5; echo up",
        "up",
    ),
    ModuleMutation(
        "who waits after somebody gave up waits for ever",
        WATCH,
        "channel->watching = false; /* nobody is left who takes the lock */",
        "",
        f"{GIVES_UP}; {COUNTS}",
        "5 came, 5 in order",
    ),
)
