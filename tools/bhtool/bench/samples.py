# SPDX-License-Identifier: Apache-2.0
"""A sample a millisecond from a sensor through `control` to a program in Linux, for minutes of guest time, while `control` crashes every ten seconds.

dts/partitions/channels.dts. What each of the three says it has sent, taken and missed; nothing is lost, doubled or damaged but at a restart, and there no more
than was on its way.
"""

import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import jinja2

from bhtool.bench.result import Result, Row
from bhtool.bench.stage import Stage, out_of_time, set_up
from bhtool.config.plan import ChannelPlan
from bhtool.errors import BulkheadError
from bhtool.image.payloads import Report
from bhtool.machine.emulated import Machine, timing_for
from bhtool.machine.session import CrashEvent, EndEvent, Event, LineEvent, Session
from bhtool.paths import PARTITIONS
from bhtool.platforms import Platform

TEMPLATE = Path(__file__).with_name("samples.dts.j2")
SENSOR, CONTROL, LINUX = "sensor", "control", "linux"
SECONDS, SECONDS_ON_BOCHS = 600, 180  # of guest time, in which Linux boots, too
LIFE_SECONDS = 10
HOST_SECONDS = 10.0  # at most for one of the machine's
BOOT_SECONDS = 600.0  # of the host
REPORTED = re.compile(r": samples: (\D+) (\d+)$")
REPORTED_LAST, LAST_REPORTED = "connections", "ns from sent to taken, at most"  # of the sensor, and of control
SINK = "bulkhead-sink samples-on"
SUNK = re.compile(r"(\w+) (\d+)(?:, |$)")
TAKEN_SINCE = 4  # by a life after it has said how many, until it crashes


@dataclass
class Heard:
    """Of each sandbox, by the words in which it says it."""

    sensor: dict[str, int] = field(default_factory=dict)
    lives: list[dict[str, int]] = field(default_factory=lambda: [{}])
    linux: dict[str, int] = field(default_factory=dict)
    restarts: int = 0

    def hear(self, event: LineEvent) -> None:
        if event.sandbox == LINUX and event.text.startswith("epochs "):
            self.linux = {name: int(count) for name, count in SUNK.findall(event.text)}
        if match := REPORTED.search(event.text):
            if event.sandbox == SENSOR:
                self.sensor[match[1]] = int(match[2])
            if event.sandbox == CONTROL:
                self.lives[-1][match[1]] = int(match[2])

    def crashed(self) -> None:
        self.lives.append({})
        self.restarts += 1

    def of_lives(self, what: str) -> list[int]:
        """Of each that has said how many it has taken; one that crashes while it starts has not."""
        told = [life for life in self.lives if "taken" in life]
        if not told or any(what not in life for life in told):
            raise BulkheadError(f"a life of {CONTROL} has not said `{what}`: {self.lives}")
        return [life[what] for life in told]


def begun(session: Session) -> bool:
    """Whether somebody takes samples in Linux from now on."""
    watch = session.watches[LINUX]
    return watch.ready and watch.console.write(f"{SINK}\n".encode())


def refuse(session: Session, event: Event) -> None:
    """All but control's crashes ends the measurement."""
    if isinstance(event, EndEvent) or (isinstance(event, CrashEvent) and event.sandbox != CONTROL):
        raise BulkheadError(f"{session.platform.name} ended while it was measured: {event}")


def heard(stage: Stage, seconds: int) -> tuple[Heard, int]:
    """Until the sensor has stopped, and the life of control that took its last sample has said so; and the exits of the sensor meanwhile."""
    found, sinking, limit = Heard(), False, BOOT_SECONDS + seconds * HOST_SECONDS
    machine = Machine(stage.platform, stage.image, timing_for(stage.platform, stage.plan, exact=True))
    with Session(stage.platform, stage.plan, machine) as session:
        for event in session.events(limit):
            sinking = sinking or begun(session)
            if event is not None:
                refuse(session, event)
            if isinstance(event, LineEvent):
                found.hear(event)
            if isinstance(event, CrashEvent):
                found.crashed()
                if REPORTED_LAST in found.sensor:
                    if not session.watches[SENSOR].ready:
                        raise BulkheadError(f"{SENSOR} has not said that it is ready, so its exits were not counted")
                    return found, sum(session.watches[SENSOR].exits_steady().values())
    raise out_of_time(f"{seconds} s of the machine's time", limit)


def rows(found: Heard, exits: int, channel: ChannelPlan) -> list[Row]:
    """`channel`: from the sensor to control."""

    def of(name: str, *values: int, unit: str = "samples") -> Row:
        return Row.of(name, unit, values)

    if not found.linux:
        raise BulkheadError("Linux has not come as far as to take samples; try it with more --seconds")
    assert channel.delay.bound_ns is not None, "two native ends, of which all is known"
    taken = found.of_lives("taken")
    missing = found.sensor["sent"] - sum(taken)
    if missing < 0:
        raise BulkheadError(f"{CONTROL} has taken {sum(taken):,} samples, and {found.sensor['sent']:,} were sent")
    return [
        of("restarts of control", found.restarts, unit="restarts"),
        of("sent by the sensor", found.sensor["sent"]),
        of("kept back, as the channel was full", found.sensor["kept back, as the channel was full,"]),
        of("taken by control", sum(taken)),
        of("of them not as sent", *found.of_lives("not as a source sends them")).at_most(0),
        of("damaged", *found.of_lives("damaged")).at_most(0),
        of("connections of a life", *found.of_lives("connections"), unit="connections").at_most(1),
        of("sent, and lost at restarts", missing).at_most(found.restarts * (channel.slots + TAKEN_SINCE)),
        of("from sent to taken", *found.of_lives(LAST_REPORTED), unit="ns").at_most(channel.delay.bound_ns),
        of("exits of the sensor", exits, unit="exits").at_most(0),
        of("taken by Linux", found.linux["taken"]).at_least(1),
        *(of(f"{what} there within an epoch", found.linux[what]).at_most(0) for what in ("lost", "doubled", "damaged", "wrong")),
        of("epochs that Linux has seen", found.linux["epochs"], unit="epochs"),
    ]


def write_partition(folder: Path, seconds: int) -> Path:
    template = jinja2.Template(TEMPLATE.read_text(encoding="utf-8"), trim_blocks=True, undefined=jinja2.StrictUndefined)
    file = folder / "samples.dts"
    file.write_text(template.render(partition=PARTITIONS / "channels.dts", seconds=seconds, life_seconds=LIFE_SECONDS), encoding="utf-8")
    return file


def run(platform: Platform, report: Report, seconds: int = 0) -> Result:
    seconds = seconds or (SECONDS_ON_BOCHS if platform.emulator.kind == "bochs" else SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        stage = set_up(platform, write_partition(Path(folder), seconds), report)
    report(f"{seconds} s of {platform.name}'s time")
    found, exits = heard(stage, seconds)
    (channel,) = (one for one in stage.plan.channels if one.name == "samples")
    return Result("samples", platform.name, rows(found, exits, channel))
