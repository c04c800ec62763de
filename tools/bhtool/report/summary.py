# SPDX-License-Identifier: Apache-2.0
"""A run in words and figures: crash records and the summary table."""

from itertools import zip_longest

from rich.table import Table

from bhtool.codes.reasons import BY_NAME
from bhtool.config.explain import ExplainKind, explain
from bhtool.config.plan import Plan
from bhtool.families.table import FAMILIES
from bhtool.machine.memory import Crash, Exits, Heartbeat
from bhtool.machine.session import Session, Watch
from bhtool.report.lateness import caption, gaps_text, latest_text, tells_turns
from bhtool.report.own_exception import own_exception
from bhtool.report.places import NOWHERE, Places
from bhtool.report.stack_end import left_its_ram
from bhtool.terminal.screen import table_of
from bhtool.text import counted

EXPLAINED: dict[str, ExplainKind] = {"memory": "memory", "device": "memory", "port": "port", "register": "register"}
REGISTERS_A_LINE, REGISTER_CELLS = 4, 25


def register_name(arch: str, number: int) -> str:
    names = FAMILIES[arch].registers.names
    return names[number] if number < len(names) else f"[{number}]"


def what_it_did(crash: Crash) -> str:
    """One line: what was done, and where."""
    if crash.reason in EXPLAINED:
        width = f" of {counted(crash.width, 'byte')}" if crash.width else ""
        value = f", value {crash.value:#x}" if crash.access == "write" else ""
        return f"{crash.access}{width} at {crash.reason} {crash.address:#x}{value}"
    known = BY_NAME.get(crash.reason)
    return known.did if known and known.did else crash.reason


def explanation(plan: Plan, sandbox: int, crash: Crash, arch: str, places: Places) -> str:
    """Whose it is and which grant was missing, or what else led there; "": the reason says it all."""
    if crash.reason not in EXPLAINED:
        return ""
    whose = explain(plan, sandbox, EXPLAINED[crash.reason], crash.address)
    if own := own_exception(arch, crash):
        said = own.text(places.raised if places.raised and places.raised.function else None, places.raised is not None)
        return said if own.is_likely else f"{whose}; a jump through a null pointer, or {said}"
    return left_its_ram(plan.sandboxes[sandbox], crash, arch) or whose


def crash_prose(plan: Plan, sandbox: int, crash: Crash, arch: str, places: Places = NOWHERE, hint: str = "") -> list[str]:
    """A crash record for people: what, where, whose it is and which grant was missing, a `hint`."""
    lines = [
        f"{'fault' if plan.sandboxes[sandbox].restarts else 'parked'}: {what_it_did(crash)}" + (f", in {places.at}" if places.at else ""),
        f"  core {crash.core}, pc {crash.pc:#x}" + (f", virtual address {crash.virtual:#x}" if crash.virtual else ""),  # PCs do not tell it
    ]
    lines += [f"  called from {place}" for place in places.callers]
    return lines + [f"  {text}" for text in (explanation(plan, sandbox, crash, arch, places), hint) if text]


def crash_lines(plan: Plan, sandbox: int, crash: Crash, arch: str, width: int, places: Places = NOWHERE, hint: str = "") -> list[str]:
    """The whole of it. Of registers so many beside one another as fit."""
    lines = crash_prose(plan, sandbox, crash, arch, places, hint)
    lines.append(f"  machine's words: {crash.raw[0]:#x} {crash.raw[1]:#x}, clock {crash.clock}")
    count = min(max(1, (width - 1) // REGISTER_CELLS), REGISTERS_A_LINE)
    for first in range(0, len(crash.registers), count):
        row = enumerate(crash.registers[first : first + count], first)
        lines.append("  " + " ".join(f"{register_name(arch, number):<7} {value:016x}" for number, value in row))
    return lines


def exits_text(exits: Exits) -> str:
    """By reason, the most frequent first, a line each."""
    frequent = sorted(((count, reason) for reason, count in exits.items() if count), reverse=True)
    return "\n".join(f"{count:,} {reason}" for count, reason in frequent) or "0"


def heartbeat_text(beat: Heartbeat | None, tells_turns: bool) -> tuple[str, str, str]:
    """Beats, those that came late by a period or more, the latest."""
    return (f"{beat.beats:,}", gaps_text(beat, tells_turns), latest_text(beat, tells_turns)) if beat else ("-", "-", "-")


def summary(session: Session) -> Table:
    title = f"{session.platform.name}, guest time {session.guest_seconds():.1f} s"
    table = table_of(title, "sandbox", "cores", "state", "beats", "gaps", "latest", "exits\nwhen ready", "exits\nwhile booting")
    for column in table.columns[3:6]:
        column.justify = "right"
    table.caption = caption(session) or None
    for name, watch in session.watches.items():
        cores = " ".join(map(str, watch.plan.cores))
        steady = exits_text(watch.exits_steady()) if watch.ready else "-"
        state = f"{watch.state}\n{counted(watch.restarts, 'restart')}" if watch.restarts else watch.state
        table.add_row(name, cores, state, *heartbeat_text(watch.heartbeat, tells_turns(session)), steady, exits_text(watch.exits_boot()))
        for row in core_rows(watch) if len(watch.plan.cores) > 1 else ():
            table.add_row(*row)
    return table


def core_rows(watch: Watch) -> list[tuple[str, ...]]:
    """One for every core of a sandbox that has several."""
    found = zip_longest(
        watch.plan.cores, map(exits_text, watch.core_exits_boot()), map(exits_text, watch.core_exits_steady()), fillvalue="-"
    )
    return [("", str(core), "", "", "", "", since, booting) for core, booting, since in found]
