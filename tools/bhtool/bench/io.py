# SPDX-License-Identifier: Apache-2.0
"""What a network and a disc give Linux in a sandbox, against the same Linux alone on the emulator: Quest-V's figures 10 to 12, and a disc.

One Linux has both ends of the cable: a card sends, and the other one, in a network namespace of its own, receives, over the emulator's hub, which takes no
time. So nobody at the other end lives in the host's time, and where instructions are counted a throughput in guest time repeats. The instructions
of Linux' core for each message, its sandbox's monitor's included, are counted everywhere.
"""

import re
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median_high

import jinja2

from bhtool.abi import COMPILER
from bhtool.bench import linux
from bhtool.bench.exits import IDENTIFIES
from bhtool.bench.instructions import Meter
from bhtool.bench.linux import Conditions, Shell
from bhtool.bench.result import Result, Row
from bhtool.bench.stage import set_up
from bhtool.errors import BulkheadError
from bhtool.families.table import FAMILIES
from bhtool.image.payloads import Report
from bhtool.machine.launch import Timing
from bhtool.machine.wiring import Network, Wiring
from bhtool.platforms import Platform

TEMPLATE, PROGRAM = (Path(__file__).with_name(name) for name in ("io.dts.j2", "io_load.c"))
MODULES = ("e1000e", "nvme")
LINUX_MIB, CARDS = 256, 2
BOOTARGS = "quiet cryptomgr.notests"
SAMPLES = 3
SHARE = 95  # per cent of what Linux has alone
SETTLE_SECONDS = 0.05  # of the host's, in which a shell goes to sleep after its last word
COMMAND_LIMIT = 120.0

ALONE, LINES, SANDBOX, NATIVES = "alone", "alone, interrupts by lines", "sandbox", "beside three natives"
THERE, NOBODY, SELF, DISC = "10.9.0.2", "10.9.0.9", "127.0.0.1", "/dev/nvme0n1"
WAIT = f"n=0; until ping -c 1 -W 1 {THERE} > /dev/null || [ $n -gt 30 ]; do n=$((n+1)); done"
CABLE = (
    "unshare -n sleep 1000000 & sleep 1; N=/proc/$!/ns/net",
    "io-load move $(cat /sys/class/net/eth1/ifindex) $N",
    "ip link set lo up; ip link set eth0 up; ip addr add 10.9.0.1/24 dev eth0",
    f"nsenter -n$N ip link set eth1 up; nsenter -n$N ip addr add {THERE}/24 dev eth1",
    f"{WAIT}; sleep 5",  # what a kernel does in its first seconds is done
    f"arp -s {NOBODY} 02:00:00:00:00:09",
    # Where nothing seeds it, as in a sandbox without RDRAND, each datagram's number takes 10,000 instructions until then.
    "head -c 1 /dev/random > /dev/null",
)
ANSWER = re.compile(r"io-load: ([0-9a-f]{16}) bytes in ([0-9a-f]{16}) ns$")


@dataclass(frozen=True)
class Case:
    """What io_load.c is told, and how often for each size."""

    name: str
    words: str
    counts: dict[int, int]
    where: str
    timed: bool = True  # it takes guest time that repeats

    def command(self, size: int, count: int) -> str:
        return f"io-load {self.words} {size} {count} {self.where}"


DATAGRAMS = {64: 800, 256: 800, 1024: 800, 1472: 800, 8192: 240, 65507: 32}
STREAM = {64: 4000, 256: 2000, 1024: 1000, 1472: 1000, 8192: 240, 65507: 32}
BLOCKS = {4096: 400, 65536: 120}
CASES = (
    Case("UDP send", "send", DATAGRAMS, NOBODY),
    Case("UDP send and receive", "udp", DATAGRAMS, f"{THERE} $N"),
    Case("UDP local", "udp", DATAGRAMS, SELF),
    Case("TCP send and receive", "tcp", STREAM, f"{THERE} $N"),
    Case("TCP local", "tcp", STREAM, SELF),
    Case("disc read", "read", BLOCKS, DISC, timed=False),
    Case("disc write", "write", BLOCKS, DISC, timed=False),
)


@dataclass(frozen=True)
class Sample:
    bytes: int
    ns: int  # of the guest's time
    instructions: int  # of its core; 0: not counted
    exits: int


Samples = dict[tuple[str, int], list[Sample]]  # by case and size


class Bench:
    """One boot, and what is measured in it."""

    def __init__(self, shell: Shell, meter: Meter | None, inevitable: Sequence[str]) -> None:
        self.shell, self.meter, self.inevitable = shell, meter, (*inevitable, "idle")

    def exits(self) -> int:
        return sum(count for reason, count in self.shell.exits().items() if reason not in self.inevitable)

    def instructions(self) -> int:
        time.sleep(SETTLE_SECONDS)
        return self.meter.counts()[0] if self.meter else 0

    def sample(self, command: str) -> Sample:
        exits, instructions = self.exits(), self.instructions()
        said = self.shell.ask(command, COMMAND_LIMIT)
        found = next((found for line in said if (found := ANSWER.search(line))), None)
        if found is None:
            raise BulkheadError(f"`{command}` said: {' '.join(said)}")
        return Sample(int(found[1], 16), int(found[2], 16), self.instructions() - instructions, self.exits() - exits)

    def case(self, case: Case) -> Iterator[tuple[int, list[Sample]]]:
        """Of each size. What the shell takes to start the program is taken off: so much does it execute with nothing to do."""
        idle = median_high(self.sample(case.command(64, 0)).instructions for _ in range(SAMPLES))
        for size, count in case.counts.items():
            self.sample(case.command(size, count // 4))  # whatever comes but once
            samples = [self.sample(case.command(size, count)) for _ in range(SAMPLES)]
            yield size, [replace(one, instructions=one.instructions - idle) for one in samples]

    def samples(self, cases: Sequence[Case]) -> Samples:
        for command in CABLE:
            self.shell.ask(command)
        return {(case.name, size): samples for case in cases for size, samples in self.case(case)}


def compiled(platform: Platform, folder: Path) -> bytes:
    program = folder / "io-load"
    flags = ("-std=c17", "-O2", "-ffreestanding", "-fno-stack-protector", "-fno-pic", "-nostdlib", "-static", "-fuse-ld=lld")
    subprocess.run([COMPILER, *FAMILIES[platform.arch].programs.sdk.split(), *flags, "-o", str(program), str(PROGRAM)], check=True)
    return program.read_bytes()


def write_partition(platform: Platform, folder: Path, natives: Sequence[int]) -> Path:
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), trim_blocks=True, undefined=jinja2.StrictUndefined)
    file = folder / "io.dts"
    idle = [core for core in (1, 2, 3) if core not in natives]
    kernel = linux.package_of(platform)
    text = template.render(mib=LINUX_MIB, natives=natives, idle=idle, kernel_package=kernel, bootargs=BOOTARGS)
    file.write_text(text, encoding="utf-8")
    return file


@dataclass(frozen=True)
class Boots:
    """The machines of one platform, and a folder for what is made of them."""

    platform: Platform
    folder: Path
    report: Report

    def prepare(self) -> None:
        programs = {"io-load": compiled(self.platform, self.folder)}
        (self.folder / "io.cpio.gz").write_bytes(linux.initial_files(self.platform, MODULES, programs, self.report))

    @property
    def timing(self) -> Timing:
        return Timing(self.platform.emulator.icount_shift) if self.platform.emulator.counts_linux else Timing()

    def meter(self, where: str) -> Meter | None:
        """None: QEMU, counting instructions for its clock, does not survive a plugin and a core that another one starts."""
        return None if where == NATIVES and self.timing.icount_shift is not None else Meter(self.folder)

    def machine(self, where: str, meter: Meter | None) -> AbstractContextManager[Shell]:
        wiring = Wiring({"nic0": Network("hub"), "nic1": Network("hub")})
        conditions = Conditions(self.timing, wiring, meter.options if meter else (), self.report)
        if where in (ALONE, LINES):
            bootargs = BOOTARGS + (" pci=nomsi" if where == LINES else "")
            return linux.alone(linux.machine_alone(self.platform, LINUX_MIB, CARDS), self.folder / "io.cpio.gz", bootargs, conditions)
        natives = (1, 2, 3) if where == NATIVES else ()
        return linux.sandboxed(set_up(self.platform, write_partition(self.platform, self.folder, natives), self.report), conditions)

    def measure(self, where: str, cases: Sequence[Case]) -> Samples:
        self.report(f"measuring on {self.platform.name}: Linux, {where}")
        meter = self.meter(where)
        with self.machine(where, meter) as shell:
            return Bench(shell, meter, IDENTIFIES.get(self.platform.backend, ())).samples(cases)


def speed(samples: Sequence[Sample]) -> list[int]:
    """In kilobytes a second."""
    return [one.bytes * 1_000_000 // one.ns for one in samples]


def at_least(row: Row, alone: Row) -> Row:
    met = 100 * row.median >= SHARE * alone.median
    return replace(row, reference=alone.median, target=f"median at least {SHARE} % of alone", met=met)


def no_more_than(row: Row, alone: Row) -> Row:
    met = SHARE * row.median <= 100 * alone.median
    return replace(row, reference=alone.median, target=f"median at most alone's / 0.{SHARE}", met=met)


def rows_of(case: Case, size: int, found: dict[str, Samples], is_counted: bool) -> Iterator[Row]:
    """Speed where it repeats, and instructions for each message or block."""
    name, count = f"{case.name}, {size:,}", case.counts[size]
    speeds = {where: Row.of(f"{name}: {where}", "kB/s", speed(samples[case.name, size])) for where, samples in found.items()}
    costs = {
        where: Row.of(f"{name}: {where}", "instructions", [max(0, one.instructions) // count for one in samples[case.name, size]])
        for where, samples in found.items()
    }
    for where in found:
        judged = where in (SANDBOX, NATIVES)
        if is_counted and case.timed:
            yield at_least(speeds[where], speeds[ALONE]) if judged else speeds[where]
        elif is_counted:
            yield speeds[where]
        if costs[where].max:
            yield no_more_than(costs[where], costs[ALONE]) if judged else costs[where]


def exit_rows(case: Case, found: dict[str, Samples]) -> Iterator[Row]:
    """Of all that was measured of a case."""
    for where in (SANDBOX, NATIVES):
        exits = sum(sample.exits for size in case.counts for sample in found[where][case.name, size])
        yield Row.of(f"{case.name}: {where}", "exits", [exits]).at_most(0)


def wheres(platform: Platform) -> tuple[str, ...]:
    """In a sandbox a PC's functions have messages, as alone; those of others have lines."""
    return (ALONE, SANDBOX, NATIVES) if FAMILIES[platform.arch].has_ports else (ALONE, LINES, SANDBOX, NATIVES)


def run(platform: Platform, report: Report, cases: Sequence[Case] = CASES) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        boots = Boots(platform, Path(folder), report)
        boots.prepare()
        found = {where: boots.measure(where, cases) for where in wheres(platform)}
    is_counted = platform.emulator.counts_linux
    rows = [row for case in cases for size in case.counts for row in rows_of(case, size, found, is_counted)]
    rows += [row for case in cases for row in exit_rows(case, found)]
    facts = {"time": "counted instructions" if is_counted else "the host's, so speeds are not given"}
    return Result("io", platform.name, rows, facts | {"samples": f"{SAMPLES}, medians are judged"})
