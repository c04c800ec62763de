# SPDX-License-Identifier: Apache-2.0
"""Machines that start once for several tests: how everybody stood when the last one was ready, and the snapshot taken then.

All tests of such a machine run in one worker (`grouped`), whichever file they are in.
"""

import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.machine.memory import Exits, Heartbeat
from bhtool.machine.session import Session
from bhtool.oracle.capture import freeze, has_started, is_settled, machine_to_look_at, wait_until
from bhtool.oracle.snapshot import Snapshot
from bhtool.platforms import Platform

from tests.emulated.boot_arguments import lean
from tests.emulated.scene import Scene, silent, stage_file

LIMIT_SECONDS = 300.0
FULL = 'bootargs = "quiet";'
STARTERS = ("native.dts", "mixed.dts")  # the partition files users start with


@dataclass(frozen=True)
class Seen:
    """One machine that has started, and then stood still."""

    snapshot: Snapshot
    is_counted: bool
    states: dict[str, str]
    beats: dict[str, Heartbeat]  # of who keeps a heartbeat
    pools: dict[str, int]  # bytes that each monitor has taken
    banner: str
    exits: dict[str, Exits]  # since it was ready
    logs: dict[str, list[str]]  # what is left of what was said


def grouped(platform: str, *values: object, slow: bool = False, long: bool = False) -> object:
    """All of a platform in one worker, so that its machines run once."""
    marks = [pytest.mark.xdist_group(f"snapshots-{platform}")]
    marks += [mark for mark, holds in ((pytest.mark.slow, slow), (pytest.mark.long, long)) if holds]
    return pytest.param(platform, *values, marks=marks)


@functools.cache
def scene_of(platform: Platform, partition: str) -> Scene:
    """Linux is told what to leave out, unless users start with the file."""
    file = paths.PARTITIONS / partition
    text = file.read_text()
    if partition in STARTERS or FULL not in text:
        return stage_file(platform, file)
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / file.name
        copy.write_text(text.replace(FULL, f'bootargs = "{lean(platform.name)}";'))
        return stage_file(platform, copy)


@functools.cache
def seen(platform: Platform, partition: str) -> Seen:
    """Linux in Bochs takes its time: there it gets ready in one machine, and in others it has begun."""
    scene = scene_of(platform, partition)
    enough = has_started if platform.emulator.kind == "bochs" and partition not in STARTERS else is_settled
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with Session(platform, scene.plan, machine_to_look_at(platform, scene.plan, scene.image, directory)) as session:
            wait_until(enough, session, LIMIT_SECONDS, silent)
            snapshot = freeze(session, directory)
            states = {name: watch.state for name, watch in session.watches.items()}
            beats = {name: watch.heartbeat for name, watch in session.watches.items() if watch.heartbeat}
            pools = {one.name: stats.pool_bytes for one in scene.plan.sandboxes if (stats := session.memory.stats(one.pool_hpa))}
            exits = {name: watch.exits_steady() for name, watch in session.watches.items()}
            logs = {one.name: session.memory.log_since(one.pool_hpa, 0)[0].decode().splitlines() for one in scene.plan.sandboxes}
            return Seen(snapshot, session.machine.is_counted, states, beats, pools, session.banner, exits, logs)
