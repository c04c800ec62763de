# SPDX-License-Identifier: Apache-2.0
"""What exits cost, and exits by reason: a native sandbox that takes interrupts, Linux while it boots, and Linux under load."""

import re
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from re import Pattern

from bhtool import paths
from bhtool.bench.costs import cost_rows
from bhtool.bench.result import Result, Row
from bhtool.bench.stage import Guest, out_of_time, sandbox_lines, set_up, write_native
from bhtool.errors import BulkheadError
from bhtool.families.table import FAMILIES
from bhtool.image.payloads import Report
from bhtool.machine.dialogue import Dialogue
from bhtool.machine.launch import Timing
from bhtool.machine.memory import Exits, subtract
from bhtool.platforms import Platform

TICKS = INTERRUPTS = 10_000
COMMAND = f"ticks={TICKS} uart-irqs={INTERRUPTS}"
DONE = re.compile(rf": uart-irqs {INTERRUPTS}$")
IPIS = 1000
ALL_ARRIVED = re.compile(rf": ipis {IPIS} of {IPIS} to core 1$")

DEMO = paths.PARTITIONS / "mixed.dts"
LINUX = "linux"
BOOT_TARGET = 200  # besides CPUID
FIRST_MEASURED = {"svm": 177, "vmx": 163, "stage2-gicv3": 108, "stage2-gicv2": 63, "stage2-armv7": 58}
IDENTIFIES = {"svm": ("identify",), "vmx": ("identify",)}  # CPUID always exits
BOOT_LIMIT = 240.0
LOAD_SECONDS = 60
LOAD_LIMIT = 5.0 * LOAD_SECONDS

# Programs by their paths, so that each is a process that executes a file; then the console, and sleep until a timer
# interrupt. For $1 seconds of the guest's own time. Lines hold no apostrophe and are short: a console takes no long ones.
LOAD = """\
end=$(($(cut -d. -f1 /proc/uptime) + $1))
while [ $(/bin/cut -d. -f1 /proc/uptime) -lt $end ]; do
/bin/cksum /bin/busybox > /dev/null
/bin/dd if=/dev/zero of=/tmp/block bs=64k count=64 2> /dev/null
echo load $((turn = turn + 1))
/bin/usleep 1000
done
"""
FACTS = {
    "native": f"{TICKS:,} timer and {INTERRUPTS:,} device interrupts; on ARM once more where somebody may kick it",
    "load": f"Linux starts processes, prints and sleeps for {LOAD_SECONDS} s of its own time",
}
WORK = {
    "processes started": "grep ^processes /proc/stat",
    "context switches": "grep ^ctxt /proc/stat",
    "interrupts taken": "grep ^intr /proc/stat | cut -d' ' -f2",
}


def by_reason(what: str, exits: Exits, inevitable: Collection[str], limit: int | None, reference: int | None = None) -> list[Row]:
    """A total of what could be avoided, with its target if it has one, and a row for every reason that occurred."""
    avoidable = sum(count for reason, count in exits.items() if reason not in inevitable)
    total = Row.of(f"{what}: avoidable", "exits", [avoidable], reference)
    return [
        total if limit is None else total.at_most(limit),
        *(Row.of(f"{what}: {reason}", "exits", [count]) for reason, count in exits.items() if count),
    ]


def native(platform: Platform, report: Report, guest: Guest, done: Pattern[str] = DONE) -> tuple[Exits, ...]:
    """What each core of a native sandbox exits from ready until it has done what it was told."""
    with tempfile.TemporaryDirectory() as folder:
        stage = set_up(platform, write_native(Path(folder), guest), report)
    report(f"counting on {platform.name}: {guest.arguments} in a native sandbox")
    with stage.session(Timing(platform.emulator.icount_shift)) as session:
        for line in sandbox_lines(session, "measured", BOOT_LIMIT):
            if done.search(line):
                session.poll()
                return session.watches["measured"].core_exits_steady()
    raise out_of_time("the native sandbox", BOOT_LIMIT)


def native_rows(platform: Platform, report: Report) -> list[Row]:
    [exits] = native(platform, report, Guest(COMMAND))
    rows = by_reason("native", exits, (), 0)
    if FAMILIES[platform.arch].monitor.exits_to_sleep:
        [exits] = native(platform, report, Guest(COMMAND, kickable=True))
        rows += by_reason("may be kicked", exits, ("idle",), 0)
        [exits] = native(platform, report, Guest(COMMAND, kickable=True, trusted_idle=True))
        rows += by_reason("trusted-idle", exits, (), 0)
    return rows


def ipi_rows(platform: Platform, report: Report) -> list[Row]:
    """What it costs one core to interrupt another, and what the other."""
    sender, receiver = native(platform, report, Guest(f"ipi=1,{IPIS}", cores=(1, 2)), ALL_ARRIVED)
    return [
        Row.of(f"{IPIS:,} IPIs: sender", "exits", [sum(sender.values())]).at_most(IPIS),
        Row.of(f"{IPIS:,} IPIs: receiver", "exits", [sum(receiver.values())]).at_most(0),
    ]


@dataclass(frozen=True)
class Shell:
    """Linux beside the demo's two native sandboxes."""

    dialogue: Dialogue

    def exits(self) -> Exits:
        self.dialogue.session.poll()
        stats = self.dialogue.session.watches[LINUX].stats
        assert stats is not None, "it has booted"
        return stats.exits

    def work(self) -> dict[str, int]:
        return {what: self.dialogue.number(command) for what, command in WORK.items()}

    def write_load(self) -> None:
        for line in LOAD.splitlines():
            self.dialogue.ask(f"echo '{line}' >> /tmp/load")


def boot_rows(platform: Platform, exits: Exits) -> list[Row]:
    """A second opinion is judged by no count: on another processor Linux looks for other things."""
    besides = IDENTIFIES.get(platform.backend, ())
    limit = None if platform.second_opinion_on else BOOT_TARGET
    return by_reason("Linux boots", exits, besides, limit, FIRST_MEASURED.get(platform.backend))


def load_rows(platform: Platform, shell: Shell) -> list[Row]:
    shell.write_load()
    work, exits = shell.work(), shell.exits()
    shell.dialogue.ask(f"sh /tmp/load {LOAD_SECONDS}", LOAD_LIMIT)
    more = subtract(shell.exits(), exits)
    done = {what: count - work[what] for what, count in shell.work().items()}
    inevitable = IDENTIFIES.get(platform.backend, ())
    return by_reason("load", more, inevitable, 0) + [Row.of("load", what, [count]) for what, count in done.items()]


def linux_rows(platform: Platform, report: Report) -> list[Row]:
    """In the time of the host: a shell is waited for, and counts of exits do not depend on it."""
    stage = set_up(platform, DEMO, report)
    report(f"counting on {platform.name}: Linux boots")
    with stage.session(Timing()) as session:
        shell = Shell(Dialogue(session, LINUX))
        shell.dialogue.wait_until_ready(BOOT_LIMIT)
        if not session.watches[LINUX].ready:
            raise BulkheadError(f"Linux did not get ready on {platform.name}: it is {session.watches[LINUX].state}")
        rows = boot_rows(platform, session.watches[LINUX].exits_boot())
        report(f"counting on {platform.name}: Linux under load for {LOAD_SECONDS} s")
        return rows + load_rows(platform, shell)


def run(platform: Platform, report: Report) -> Result:
    costs = cost_rows(platform, report) if platform.emulator.kind == "qemu" else []
    rows = costs + native_rows(platform, report) + ipi_rows(platform, report) + linux_rows(platform, report)
    inevitable = IDENTIFIES.get(platform.backend, ())
    return Result("exits", platform.name, rows, FACTS | {"inevitable": " and ".join(inevitable) or "none"})
