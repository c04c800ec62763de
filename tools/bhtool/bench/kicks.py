# SPDX-License-Identifier: Apache-2.0
"""How long a core does not hear of a kick: from the moment another monitor has sent it until the core's own monitor looks for it.

In instructions that the kicked core executes meanwhile, told from the emulator's log. The monitors of both run one function at these two moments,
monitor_take_kicks: the kicker's while it waits for the answer, the victim's after every exit. Only on qemu-svm: a PC alone intercepts a long
instruction, and on ARM QEMU invalidates another core's translations, which is the kick there, when that core's turn is over.
"""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import jinja2

from bhtool.bench.result import Result, Row
from bhtool.bench.stage import Stage, out_of_time, set_up
from bhtool.bench.trace import LINE, Span, chunks, logged, span
from bhtool.config.native import read_elf
from bhtool.errors import BulkheadError
from bhtool.image.build import MONITOR, PROBE
from bhtool.image.payloads import Report
from bhtool.machine.launch import Timing
from bhtool.platforms import Platform
from bhtool.symbols import read_symbols

TEMPLATE = Path(__file__).with_name("kicks.dts.j2")
VICTIM, KICKER = "victim", "kicker"
WARM_UP, SAMPLES, INTERVAL_US = 10, 30, 3
LIMIT = 240.0
SLOW = Timing(icount_shift=10)  # QEMU lets a core that spins run for 100 ms before the others: so for 100,000 instructions, not 100 million
LONG = "long"  # the reason of WBINVD's exits
VICTIMS = ("spin", "storm=cpuid", "storm=wbinvd", "storm=copy")
# The one difference is a bit of SVM's control word, where start-up has it: hal/x86/svm/controls_boot.c, tests/golden/svm_controls_test.c.
INTERCEPT_4, WITHOUT_WBINVD = (word.to_bytes(4, "little") for word in (0x5E7F, 0x5C7F))


@dataclass(frozen=True)
class Places:
    """What is told apart in the log."""

    taking: int  # where monitor_take_kicks begins
    resident: Span
    guest: Span
    victim: int  # cores
    kicker: int


def places(stage: Stage) -> Places:
    elf, guest = stage.platform.build / MONITOR, stage.platform.build / PROBE
    at = read_symbols(elf)
    cores = {sandbox.name: sandbox.cores[0] for sandbox in stage.plan.sandboxes}
    resident = at["__resident_text_start"], span(read_elf(elf.read_bytes(), elf.name))[1]
    return Places(at["monitor_take_kicks"], resident, span(read_elf(guest.read_bytes(), PROBE)), cores[VICTIM], cores[KICKER])


def latencies(log: Iterable[bytes], at: Places) -> Iterator[int]:
    """One for every kick: instructions of the victim's core in between."""
    sending, counted = False, None
    for lines in log:
        for core, address, stopped in LINE.findall(lines):
            if stopped:
                counted = counted - 1 if counted else counted  # the last one was not executed after all
                continue
            pc = int(address, 16)
            if int(core) == at.kicker and at.guest[0] <= pc < at.guest[1]:
                sending = True
            elif int(core) == at.kicker and pc == at.taking and sending:
                sending, counted = False, 0
            elif int(core) == at.victim and counted is not None:
                if pc == at.taking:
                    yield counted
                counted = None if pc == at.taking else counted + 1


def sendings(log: Iterable[bytes], at: Places) -> Iterator[int]:
    """One for every exit of the kicker: instructions that its own core executes in the monitor."""
    counted, last = 0, False
    for lines in log:
        for core, address, stopped in LINE.findall(lines):
            if stopped:
                counted -= last  # it was not executed after all
                continue
            own, pc = int(core) == at.kicker, int(address, 16)
            last = own and at.resident[0] <= pc < at.resident[1]
            counted += last
            if counted and own and at.guest[0] <= pc < at.guest[1]:
                yield counted
                counted = 0


def not_intercepting(stage: Stage) -> Stage:
    if stage.image.count(INTERCEPT_4) != 1:
        raise BulkheadError("the image does not hold SVM's control word as it is known here: adapt bench/kicks.py")
    return replace(stage, image=stage.image.replace(INTERCEPT_4, WITHOUT_WBINVD))


WATCH = f"watch=0,{INTERVAL_US},{WARM_UP + SAMPLES}"


def prepare(platform: Platform, victim: str, report: Report, kicker: str = WATCH) -> Stage:
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), undefined=jinja2.StrictUndefined)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kicks.dts"
        file.write_text(template.render(victim=victim, kicker=kicker), encoding="utf-8")
        return set_up(platform, file, report)


def measure(stage: Stage, name: str, report: Report) -> list[Row]:
    report(f"measuring on {stage.platform.name}: kicks, {name}")
    at, samples = places(stage), []
    with logged(stage, SLOW, at.resident, at.guest) as (session, pipe):
        for latency in latencies(chunks(pipe, LIMIT), at):
            samples.append(latency)
            if len(samples) == WARM_UP + SAMPLES:
                session.poll()
                stats = session.watches[VICTIM].stats
                exits = stats.exits[LONG] if stats else 0
                long = [Row.of(f"{name}: long", "exits", [exits])] if "wbinvd" in name else []
                return [Row.of(name, "instructions", samples[WARM_UP:]), *long]
    raise out_of_time(f"kicking, {name},", LIMIT)


def run(platform: Platform, report: Report) -> Result:
    rows = []
    for victim in VICTIMS:
        stage = prepare(platform, victim, report)
        rows += measure(stage, victim, report)
        if "wbinvd" in victim:
            rows += measure(not_intercepting(stage), f"{victim}, not intercepted", report)
    return Result("kicks", platform.name, rows)
