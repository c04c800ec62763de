# SPDX-License-Identifier: Apache-2.0
"""States of a sandbox, hypercalls and their results (abi/guest.h), and exit statuses of the command."""

from __future__ import annotations

from bhtool.codes.entry import Entry
from bhtool.codes.header import enumerators
from bhtool.errors import Status

STATES = {
    "COLD": Entry(
        "sandbox state",
        "cold",
        "Its monitor has not entered it yet.",
        causes=("the machine is still starting", "the monitor refused the partition table: it says why on the first serial line"),
    ),
    "RUNNING": Entry(
        "sandbox state",
        "running",
        "It has been entered, and has not called READY. Linux stays so for its monitor; `run` takes it to be ready by what it prints.",
    ),
    "READY": Entry("sandbox state", "ready", "It has called READY: exits are counted as steady state from there."),
    "PARKED": Entry(
        "sandbox state",
        "parked",
        "Its monitor ended it, for good, and kept a crash record. Its cores wait in their monitors; the other sandboxes go on.",
        causes=("it did what it has no grant for", "it crashed or missed its heartbeat more often than `max-restarts` allows"),
        remedies=(
            "read the crash record that `run` printed: docs/guides/read-a-crash.md",
            'let it begin again: health { on-fault = "restart"; max-restarts = <3>; };',
        ),
    ),
    "OFF": Entry(
        "sandbox state",
        "off",
        "It ended itself: the hypercall PARK, or power-off or reset by its firmware. There is no crash record of that.",
        remedies=('to let a reset begin anew: health { on-fault = "restart"; max-restarts = <3>; };',),
    ),
}
RESULTS = {
    "BH_OK": Entry("result of a hypercall", "OK", "It was done."),
    "BH_E_UNKNOWN": Entry(
        "result of a hypercall",
        "UNKNOWN",
        "There is no such function; nothing was changed.",
        causes=(
            "a function number outside 0xc6000000-0xc6000007, or on ARMv7 outside 0x86000000-0x86000007",
            "a PSCI call that is not offered",
        ),
        remedies=("call VERSION first: it tells which contract the monitor keeps",),
    ),
    "BH_E_DENIED": Entry(
        "result of a hypercall",
        "DENIED",
        "The sandbox may not do this to that one; nothing was changed.",
        causes=(
            "KICK of a sandbox that its `may-kick` does not name",
            "KICK of a number that is no sandbox's: they count from 0 in the order of the file",
            "DOORBELL of a channel whose `doorbell-max-hz` is 0 for this end, or that has none",
            "DOORBELL of a number that is no channel's: they count from 0 in the order of its rows BH_GRANT_CHANNEL",
            "OPEN or CLOSE of a channel that has no `on-request`, or of a number that is no channel's",
        ),
        remedies=(
            "may-kick = <&other>; in the sandbox that kicks",
            "doorbell-max-hz = <1000>; or on-request; in the channel",
        ),
    ),
    "BH_E_TIMEOUT": Entry(
        "result of a hypercall",
        "TIMEOUT",
        "The other monitor did not answer within the bound. The kick is not lost: it is answered when that core gets there.",
        causes=("on an emulator that follows the host's time: the host let the other core's thread wait",),
        remedies=("call again", "with `run --time exact` nobody waits for the host"),
    ),
    "BH_E_LATER": Entry(
        "result of a hypercall",
        "LATER",
        "Less time than granted has passed since the last one; nothing was done, and nothing is remembered.",
        causes=("DOORBELL sooner after the last ring of that channel than its `doorbell-max-hz` allows this end",),
        remedies=(
            "call again later, or with the next message",
            "doorbell-max-hz = <10000>; in the channel, if whoever is rung can pay for it",
        ),
    ),
}
CALLS = {
    "VERSION": Entry("hypercall", "VERSION", "Returns the version of the entry contract and of struct bh_info."),
    "READY": Entry(
        "hypercall", "READY", "Start-up is over: exits are counted as steady state from here, and `run` shows the sandbox as ready."
    ),
    "PARK": Entry("hypercall", "PARK", "Ends the sandbox on all its cores. Never returns; the state is then OFF."),
    "KICK": Entry(
        "hypercall",
        "KICK",
        "Makes the monitor of the sandbox of that number acknowledge, and look at its heartbeat. Needs `may-kick`.",
        remedies=("it returns OK (0), DENIED (-2) or TIMEOUT (-3)",),
    ),
    "RESTART": Entry(
        "hypercall",
        "RESTART",
        'The sandbox begins again, where on-fault = "restart"; elsewhere it ends as by PARK. Never returns. Counts as no fault.',
    ),
    "DOORBELL": Entry(
        "hypercall",
        "DOORBELL",
        "Rings the other end of the channel of that number, no oftener than `doorbell-max-hz` says. Who is rung does not exit.",
        remedies=("it returns OK (0), DENIED (-2) or LATER (-4)",),
    ),
    "OPEN": Entry(
        "hypercall",
        "OPEN",
        "Opens the sandbox's end of the channel of that number, which has `on-request`: its cores reach it, and the other end sees a new life.",
        remedies=("it returns OK (0) or DENIED (-2)",),
    ),
    "CLOSE": Entry(
        "hypercall",
        "CLOSE",
        "Closes it: an access is a fault from then on. The other end keeps what it has, and sees that this one has closed.",
        remedies=("it returns OK (0) or DENIED (-2)",),
    ),
}
STATUSES = {
    Status.GOOD: "What was asked for was done.",
    Status.FAILED: "What was asked about failed, or was refused: a sandbox was parked, a test failed, a partition file breaks a rule.",
    Status.USAGE: "The command was not understood; nothing was done.",
    Status.MISSING: "A tool, package or emulator is missing or too old: `tools/bulkhead setup`.",
    Status.TIME_LIMIT: "It took longer than its limit on the host; `run --limit SECONDS` makes that longer.",
    Status.INTERRUPTED: "It was interrupted, by Ctrl-C.",
}
CALL_64 = 0x40000000  # BH_CALL_64, without which ARMv7 calls


SEEN = (  # by `run`; the monitor knows nothing of it, so it has no number
    Entry(
        "sandbox state",
        "panicked",
        "Its Linux kernel printed a panic, and no reboot followed. Its monitor still runs it.",
        causes=("no root file system, or no /init in it", "the text of the panic, which `run` printed, says what else"),
        remedies=("docs/guides/own-root-file-system.md",),
    ),
)


def entries() -> list[Entry]:
    return [*all_states(), *results(), *calls(), *statuses()]


def _numbered(one: Entry, number: int, *aliases: str) -> Entry:
    return Entry(one.kind, one.name, one.means, number, aliases, one.causes, one.remedies, one.example)


def all_states() -> list[Entry]:
    return [*states(), *SEEN]


def states() -> list[Entry]:
    """The monitor's."""
    numbers = enumerators("bh_state")
    return [_numbered(one, numbers[f"BH_STATE_{name}"], f"BH_STATE_{name}") for name, one in STATES.items()]


def results() -> list[Entry]:
    """Negative ones are also read as what they are without a sign, in a register of 32 or 64 bits."""
    numbers = enumerators("bh_result")
    return [_numbered(one, (n := numbers[name]), name, hex(n % (1 << 32)), hex(n % (1 << 64))) for name, one in RESULTS.items()]


def calls() -> list[Entry]:
    numbers = enumerators("bh_call")
    return [_numbered(one, (n := numbers[f"BH_CALL_{name}"]), f"BH_CALL_{name}", hex(n - CALL_64)) for name, one in CALLS.items()]


def statuses() -> list[Entry]:
    return [Entry("exit status of the command", f"status {int(one)}", means, int(one), (one.name,)) for one, means in STATUSES.items()]
