# SPDX-License-Identifier: Apache-2.0
"""What protections cost: with all of them, with each one off alone, and with none, as `unprotected` of a sandbox switches them.

A native sandbox runs two loops over memory, in the manner of STREAM and RandomAccess, counted in instructions of the machine; and Linux
boots beside two native sandboxes, in exits and in instructions of its core. What an exit costs is counted for each kind, as `bench exits` does. The emulators take no time for translations:
what those cost only silicon shows.
"""

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bhtool.bench.costs import cost_rows
from bhtool.bench.exits import DEMO, IDENTIFIES, LINUX
from bhtool.bench.instructions import Counter
from bhtool.bench.result import Result, Row
from bhtool.bench.stage import COUNTED, Guest, Stage, counting, out_of_time, sandbox_lines, set_up, write_native
from bhtool.families.table import FAMILIES
from bhtool.image.payloads import Report
from bhtool.machine.launch import Timing
from bhtool.machine.memory import Exits
from bhtool.machine.session import CrashEvent, EndEvent
from bhtool.platforms import Platform

PROTECTIONS = ("memory", "io", "msr", "ipi", "irq", "abort")
PASSES, UPDATES = 20, 100_000
COMMAND = f"heartbeat=0 stream={PASSES} random={UPDATES}"
WORKS = {"stream": PASSES, "random": UPDATES}
DONE = re.compile(r": (stream|random) \d+ in (\d+) ticks$")
NATIVE_LIMIT, BOOT_LIMIT = 120.0, 240.0
BOOTS = 3  # each way, for in host time Linux never does quite the same


def protections(platform: Platform) -> tuple[str, ...]:
    """Those there is something to open by: nobody measured owns a PCI function, so on ARM `io` has nothing."""
    return PROTECTIONS if FAMILIES[platform.arch].has_ports else tuple(one for one in PROTECTIONS if one != "io")


def ways(platform: Platform) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What to call it, and what is off. On GICv2 the distributor has the register that sends IPIs, so both go together."""
    names = protections(platform)
    together = {"irq": ("irq", "ipi")} if platform.backend in ("stage2-gicv2", "stage2-armv7") else {}
    yield "all on", ()
    for one in names:
        yield f"no {one}", together.get(one, (one,))
    yield "none on", names


def native_rows(platform: Platform, name: str, off: tuple[str, ...], report: Report) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        stage = set_up(platform, write_native(Path(folder), Guest(COMMAND, unprotected=off)), report)
    report(f"counting on {platform.name}: loops, {name}")
    left = set(WORKS)
    with stage.session(COUNTED) as session:
        for line in sandbox_lines(session, "measured", NATIVE_LIMIT):
            if found := DONE.search(line):
                left.remove(found[1])
                yield Row.of(f"{found[1]}, {name}", "instructions", [int(found[2])])
            if not left:
                session.poll()
                yield Row.of(f"loops, {name}", "exits", [sum(session.watches["measured"].exits_steady().values())])
                return
    raise out_of_time("the loops", NATIVE_LIMIT)


def write_linux(folder: Path, off: tuple[str, ...]) -> Path:
    """The demo, its Linux without these protections."""
    names = ", ".join(f'"{one}"' for one in off)
    change = f"&{LINUX} {{ unprotected = {names}; }};\n" if off else ""
    file = folder / "linux.dts"
    file.write_text(f'#include "{DEMO}"\n{change}')
    return file


@dataclass(frozen=True)
class Boot:
    exits: Exits  # until Linux is ready
    instructions: int  # of its core, from the machine's reset


def boot(stage: Stage, counter: Counter) -> Boot | None:
    """Nothing where Linux does not come so far."""
    with stage.session(Timing(), counter.options) as session:
        watch = session.watches[LINUX]
        for event in session.events(BOOT_LIMIT):
            if watch.ready or isinstance(event, EndEvent) or (isinstance(event, CrashEvent) and event.sandbox == LINUX):
                break
        if not watch.ready:
            return None
        exits = watch.exits_boot()
    return Boot(exits, counter.counts()[watch.plan.cores[0]])


def linux_rows(platform: Platform, name: str, off: tuple[str, ...], report: Report) -> Iterator[Row]:
    """None where it does not boot, which `run` then names."""
    with tempfile.TemporaryDirectory() as folder:
        stage, counter = set_up(platform, write_linux(Path(folder), off), report), Counter(Path(folder))
        report(f"counting on {platform.name}: Linux boots, {name}")
        boots = [boot(stage, counter) for _ in range(BOOTS)]
    done = [one for one in boots if one]
    if len(done) < BOOTS:
        return
    besides = IDENTIFIES.get(platform.backend, ())
    yield Row.of(f"Linux boots, {name}", "exits", [sum(n for why, n in one.exits.items() if why not in besides) for one in done])
    if besides:
        yield Row.of(f"Linux boots, {name}: identify", "exits", [sum(one.exits[why] for why in besides) for one in done])
    yield Row.of(f"Linux boots, {name}", "instructions", [one.instructions for one in done])


def run(platform: Platform, report: Report) -> Result:
    rows, failed = cost_rows(platform, report), []
    for name, off in ways(platform):
        rows += list(native_rows(counting(platform), name, off, report))
    for name, off in ways(platform):
        found = list(linux_rows(platform, name, off, report))
        rows += found
        if not found:
            failed.append(name)
    return Result("protections", platform.name, rows, {"Linux does not boot": ", ".join(failed)} if failed else {})
