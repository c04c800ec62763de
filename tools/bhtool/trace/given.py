# SPDX-License-Identifier: Apache-2.0
"""What VCPUs of sandbox kernels were promised and had (abi/trace.h), traced or not. It is the sandbox's to write: what cannot be is left out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from bhtool.config.plan import Plan
from bhtool.machine.memory import Memory
from bhtool.machine.session import Session
from bhtool.report.lateness import FOLLOWED, tells_turns
from bhtool.terminal.screen import table_of
from bhtool.trace.rings import NS, Read, Vcpu, ffi, header, lib, vcpus_of
from bhtool.trace.tell import reader

MOST_TICKS = 1 << 62


@dataclass(frozen=True)
class Run:
    """What its program tells of itself."""

    rounds: int
    missed: int  # periods in which none began
    late_ns: int  # from when a period began until a round did, at most
    done_ns: int  # and until it was done; 0: it does not say


@dataclass(frozen=True)
class Given:
    """Of one VCPU, in nanoseconds."""

    sandbox: str
    core: int  # of the machine
    name: str
    budget: int
    period: int
    elapsed: int  # since it was made, as far as its core has charged
    foreground: int  # that it ran with budget, and interrupts that it was charged for
    background: int  # and without
    run: Run | None

    def share(self, had: int) -> float:
        return had / self.elapsed if self.elapsed else 0.0


def _words(read: Read, at: int, kind: str) -> Any | None:
    data = read(at, int(ffi.sizeof(kind))) if at else None
    return ffi.from_buffer(f"{kind} *", data) if data is not None else None


def _word(read: Read, at: int) -> int | None:
    data = read(at, 8) if at else None
    return int.from_bytes(data, "little") if data is not None else None


def _run(read: Read, at: int, hz: int) -> Run | None:
    found = _words(read, at, "struct bh_trace_run")
    return Run(int(found.rounds), int(found.missed), int(found.late) * NS // hz, int(found.done) * NS // hz) if found else None


def _given(read: Read, state: Any, row: Any, vcpu: Vcpu, sandbox: str, cores: list[int]) -> Given | None:
    """None: that cannot be."""
    had, hz = _words(read, int(row.had), "struct bh_trace_had"), int(state.clock_hz)
    charged = _word(read, int(state.core[row.slot].charged)) if row.slot < min(len(cores), lib.BH_MAX_SANDBOX_CORES) else None
    if had is None or charged is None or not row.made <= charged < MOST_TICKS:
        return None
    ticks = (vcpu.budget, vcpu.period, charged - int(row.made), int(had.foreground), int(had.background))
    budget, period, elapsed, foreground, background = (one * NS // hz for one in ticks)
    run = _run(read, int(row.run), hz)
    return Given(sandbox, cores[row.slot], vcpu.name, budget, period, elapsed, foreground, background, run)


def read_given(read: Read, address: int, sandbox: str, cores: list[int]) -> list[Given]:
    state = header(read, address)
    if state is None:
        return []
    found = [_given(read, state, state.vcpu[n], vcpu, sandbox, cores) for n, vcpu in vcpus_of(read, state).items()]
    return sorted((one for one in found if one), key=lambda one: (one.core, one.period))


def given(memory: Memory, plan: Plan, at: Mapping[str, int]) -> list[Given]:
    """Of all sandboxes that have such VCPUs; `at`: traced_at."""
    return [
        one
        for sandbox in plan.sandboxes
        if sandbox.name in at
        for one in read_given(reader(memory, sandbox), at[sandbox.name], sandbox.name, sandbox.cores)
    ]


# ---- For people and for scripts ----------------------------------------------------------------------------------------------------


def _us(ns: int) -> str:
    return f"{ns / 1000:,.0f}"


def _most(ns: int) -> str:
    return _us(ns) if ns else "-"


def _kept(run: Run | None) -> tuple[str, str, str]:
    """Of a program that has periods: it has missed one, begun a round late, or says when one was done."""
    return (f"{run.missed:,}", _most(run.late_ns), _most(run.done_ns)) if run and (run.missed or run.late_ns or run.done_ns) else ("-",) * 3


def given_table(found: list[Given], note: str = "") -> Table:
    table = table_of(
        "VCPUs",
        "sandbox",
        "core",
        "VCPU",
        "promised\nus",
        "of the\ncore",
        "had",
        "without\nbudget",
        "rounds",
        "missed",
        "latest\nus",
        "done\nus",
    )
    for column in table.columns[3:]:
        column.justify = "right"
    for one in found:
        shares = (f"{100 * share:.1f}%" for share in (one.budget / one.period, one.share(one.foreground), one.share(one.background)))
        ran = (f"{one.run.rounds:,}" if one.run else "-", *_kept(one.run))
        table.add_row(one.sandbox, str(one.core), one.name, f"{_us(one.budget)} of\n{_us(one.period)}", *shares, *ran)
    table.caption = (
        "promised: what it has at the end; had: the share of the core's time that was charged to the VCPU since it was made; a program that sleeps uses less than was promised\n"
        "latest, done: from when a period began until a round of it did, and until that was done, at most"
        f"{note and chr(10)}{note}"
    )
    return table


def missed_caption(session: Session, found: list[Given]) -> str:
    """Of VCPUs that missed periods, or were done after them, what else than the scheduler may be the reason; empty: nothing that is known."""
    if not any(one.run and (one.run.missed or one.run.done_ns > one.period) for one in found):
        return ""
    if not session.machine.is_counted:
        return f"{FOLLOWED} missed"
    if tells_turns(session):
        return "cores take turns here: other cores' turns are charged to the VCPU that runs, and may be why it missed periods"
    return ""


def given_json(found: list[Given]) -> dict[str, list[dict[str, Any]]]:
    """By sandbox."""
    return {name: [_one_json(one) for one in found if one.sandbox == name] for name in {one.sandbox for one in found}}


def _one_json(one: Given) -> dict[str, Any]:
    run = one.run and {"rounds": one.run.rounds, "missed": one.run.missed, "latest_ns": one.run.late_ns, "done_ns": one.run.done_ns}
    return {
        "core": one.core,
        "name": one.name,
        "budget_ns": one.budget,
        "period_ns": one.period,
        "elapsed_ns": one.elapsed,
        "foreground_ns": one.foreground,
        "background_ns": one.background,
        "program": run,
    }
