# SPDX-License-Identifier: Apache-2.0
"""What `run --json` writes. Each key is written out here: scripts rely on them (docs/versions.md)."""

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from bhtool.machine.dma_faults import Queue
from bhtool.machine.memory import Crash, Heartbeat
from bhtool.machine.session import Session, Watch
from bhtool.machine.signs import Panic
from bhtool.report.lateness import real_gaps, tells_turns
from bhtool.report.places import Place, places_of
from bhtool.report.summary import explanation, register_name
from bhtool.report.wrong_call import wrong_call


def place_json(place: Place) -> dict[str, Any]:
    return {"address": place.address, "function": place.function, "file": place.file, "line": place.line}


def crash_json(session: Session, watch: Watch, crash: Crash) -> dict[str, Any]:
    places = places_of(session, watch, crash)
    where = explanation(session.plan, watch.plan.index, crash, session.platform.arch, places)
    return {
        "reason": crash.reason,
        "core": crash.core,
        "access": crash.access,
        "address": crash.address,
        "virtual": crash.virtual,
        "pc": crash.pc,
        "value": crash.value,
        "width": crash.width,
        "raw": crash.raw,
        "clock": crash.clock,
        "registers": {register_name(session.platform.arch, n): value for n, value in enumerate(crash.registers)},
        "explanation": where or wrong_call(session.memory, watch.plan, crash, session.platform.backend),
        "place": place_json(places.at) if places.at else None,
        "callers": [place_json(place) for place in places.callers],
    }


def heartbeat_json(beat: Heartbeat, tells: bool) -> dict[str, Any]:
    """`gaps`: all beats that were late by a period or more. `gaps_real`: without an emulator's turns, where they can be told."""
    return {
        "beats": beat.beats,
        "period_ns": beat.period_ns,
        "gaps": beat.gaps,
        "gaps_real": real_gaps(beat, tells),
        "late_max_ns": beat.late_max_ns,
        "awake_late_max_ns": beat.awake_late_max_ns,
    }


def dma_faults_json(queue: Queue) -> dict[str, Any]:
    """`first`: the first ones that were seen. `at_least`: how many that were; a full queue loses what comes."""
    first = [
        {
            "sandbox": one.sandbox,
            "function": one.function,
            "at": one.where,
            "access": one.record.access,
            "address": one.record.address,
            "reason": one.record.why.name,
            "code": one.record.code,
        }
        for one in queue.first
    ]
    return {"first": first, "at_least": queue.count}


def panic_json(panic: Panic) -> dict[str, Any]:
    return {"text": panic.text, "lines": panic.lines}


def cores_json(watch: Watch) -> list[dict[str, Any]]:
    """What each core counted, boot core first."""
    kicks = watch.stats.core_kicks if watch.stats else ()
    rows = zip_longest(watch.plan.cores, watch.core_exits_boot(), watch.core_exits_steady(), kicks)
    return [
        {"core": core, "exits_boot": boot or {}, "exits_steady": steady or {}, "kicks": kicked or 0} for core, boot, steady, kicked in rows
    ]


def sandbox_json(session: Session, watch: Watch, vcpus: list[dict[str, Any]]) -> dict[str, Any]:
    steady = max(0.0, session.guest_seconds() - watch.ready_at) if watch.ready else 0.0
    return {
        "name": watch.plan.name,
        "cpus": watch.plan.cores,
        "ready": watch.ready,
        "exits_boot": watch.exits_boot(),
        "exits_steady": watch.exits_steady(),
        "steady_seconds": round(steady, 3),
        "state": watch.state,
        "kicks": watch.stats.kicks if watch.stats else 0,
        "restarts": watch.restarts,
        "longest_restart_ticks": watch.stats.longest_restart_ticks if watch.stats else 0,
        "cores": cores_json(watch),
        "heartbeat": heartbeat_json(watch.heartbeat, tells_turns(session)) if watch.heartbeat else None,
        "vcpus": vcpus,
        "panic": panic_json(watch.panic) if watch.panic else None,
        "crash": crash_json(session, watch, watch.crash) if watch.crash else None,
    }


def run_json(session: Session, vcpus: Mapping[str, list[dict[str, Any]]], channels: list[dict[str, Any]]) -> dict[str, Any]:
    """`vcpus`: what those of a sandbox had, by its name. `channels`: what they carried."""
    return {
        "platform": session.platform.name,
        "backend": session.platform.backend,
        "partition": str(session.plan.file),
        "guest_seconds": round(session.guest_seconds(), 3),
        "tells_turns": tells_turns(session),
        "dma_faults": dma_faults_json(session.dma_faults),
        "sandboxes": [sandbox_json(session, watch, vcpus.get(name, [])) for name, watch in session.watches.items()],
        "channels": channels,
    }
