# SPDX-License-Identifier: Apache-2.0
"""BH-F2.foreign. Guests that are built outside of this tree, as the SDK's examples are: compiled, linked, booted, heard."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from bhtool.delivery.sdk import write_sdk
from bhtool.image.stages import make_image, make_plan
from bhtool.machine.emulated import Machine
from bhtool.machine.session import LineEvent, Session, Watch
from bhtool.paths import ROOT
from bhtool.platforms import Platform, load

from tests.emulated.case import ARMV7, GICV2, GICV3

BEATS = 100
MESSAGES = 10
SLEEPS = 20
LIMIT = 120.0
GUESTS = ROOT / "tests" / "guests"
NOBODYS = 0x10000000
WRAPPED = "-Wl,--wrap=bulkhead_sleep"


def say_nothing(_: str) -> None:
    pass


@pytest.fixture(scope="module")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdk")
    write_sdk(folder, say_nothing)
    return folder


def make(sdk: Path, arch: str, folder: Path, *sources: Path, flags: str = "-O2") -> None:
    """Builds programs in a folder of its own with nothing but make."""
    for file in (*sources, sdk / "example" / "Makefile"):
        (folder / file.name).write_bytes(file.read_bytes())
    environment = {"PATH": os.environ["PATH"], "PKG_CONFIG_PATH": str(sdk / "lib" / "pkgconfig")}
    programs = [file.stem + ".elf" for file in sources if file.suffix == ".c"]
    command = ["make", f"ARCH={arch}", f"CFLAGS={flags}", *programs]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, text=True, timeout=LIMIT)
    assert done.returncode == 0, done.stderr


@dataclass
class Heard:
    said: dict[str, list[str]]
    watches: dict[str, Watch]

    def is_off(self, *names: str) -> bool:
        return all(self.watches[name].state == "off" for name in names)


def heard(platform: Platform, file: Path) -> Heard:
    """What all said until each had ended."""
    plan = make_plan(platform, file, say_nothing)
    assert (plan.errors, plan.warnings) == ([], [])
    said: dict[str, list[str]] = {one.name: [] for one in plan.sandboxes}
    with Session(platform, plan, Machine(platform, make_image(platform, plan))) as session:
        for event in session.events(LIMIT):
            if isinstance(event, LineEvent):
                said[event.sandbox].append(event.text)
            elif event is None and all(one.state in ("off", "parked") for one in session.watches.values()):
                break
        return Heard(said, session.watches)


def since_ready(watch: Watch) -> dict[str, int]:
    """Why it entered its monitor, and how often."""
    return {reason: count for reason, count in watch.exits_steady().items() if count}


def others(mark: pytest.MarkDecorator, *names: str) -> tuple[object, ...]:
    """One platform in every run, the others where there is time."""
    return (GICV3, *(pytest.param(name, marks=mark) for name in names))


@pytest.mark.xdist_group("sdk")
@pytest.mark.parametrize("name", others(pytest.mark.slow, ARMV7, "qemu-svm"))
def test_a_guest_that_is_built_elsewhere_runs(name: str, sdk: Path, tmp_path: Path) -> None:
    platform = load(name)
    make(sdk, platform.arch, tmp_path, sdk / "example" / "hello.c", sdk / "example" / "hello.dts")
    run = heard(platform, tmp_path / "hello.dts")
    watch = run.watches["hello"]
    assert run.is_off("hello"), run.said
    assert run.said["hello"][0] == "hello from hello"
    assert run.said["hello"][-1] == "that was all"
    assert watch.heartbeat is not None
    assert (watch.heartbeat.beats, watch.ready) == (BEATS, True)


@pytest.mark.xdist_group("sdk")
@pytest.mark.parametrize("name", others(pytest.mark.long, ARMV7, "qemu-svm"))
def test_messages_arrive_by_a_channel(name: str, sdk: Path, tmp_path: Path) -> None:
    """Each, in order, and nobody ends before the other has read all; the monitors hear of ends alone."""
    platform = load(name)
    make(sdk, platform.arch, tmp_path, sdk / "example" / "channel.c", sdk / "example" / "channel.dts")
    run = heard(platform, tmp_path / "channel.dts")
    assert run.is_off("talk", "listen"), run.said
    assert run.said["listen"] == [*(f"message {n:#x}: {n * n:#x}" for n in range(MESSAGES)), "that was all"]
    assert run.said["talk"] == ["that was all"]
    for watch in run.watches.values():
        assert since_ready(watch) == {"call": 1}


def partition(**sandboxes: tuple[str, str]) -> str:
    """Each with a program and its arguments, on a core of its own from the second on."""
    cores = " ".join(f"<&cpu{n}>" for n in range(4) if not 0 < n <= len(sandboxes)).replace(" ", ", ")
    memory = "".join(f"{name}_ram: {name} {{ size = <0x0 0x400000>; }};\n" for name in sandboxes)
    nodes = "".join(
        f'{name} {{ compatible = "bulkhead,sandbox-v1"; cores = <&cpu{n}>; memory-region = <&{name}_ram>; '
        f'image = "{image}.elf"; bootargs = "{arguments}"; console = "log"; }};\n'
        for n, (name, (image, arguments)) in enumerate(sandboxes.items(), start=1)
    )
    return f"""/dts-v1/;
#include BOARD_DTSI
/ {{
reserved-memory {{ #address-cells = <2>; #size-cells = <2>; ranges; {memory} }};
domains {{ compatible = "bulkhead,partitions-v1"; idle-cores = {cores}; {nodes} }};
}};
"""


def wrong_with_sleep(said: list[str]) -> list[str]:
    """A core that slept was woken once for each sleep, on a PC once more where its timer's clock was not known well; not at all for one that began late."""
    found = dict(line.split(": ") for line in said)
    wrong = [] if int(found["early"], 16) == 0 else [f"early: {found['early']}"]
    return wrong if SLEEPS / 2 <= int(found["woken"], 16) <= 2 * SLEEPS else [*wrong, f"woken: {found['woken']}"]


@pytest.mark.xdist_group("sdk")
@pytest.mark.parametrize("name", others(pytest.mark.long, GICV2, ARMV7))
def test_memory_that_is_on_holds_what_was_granted(name: str, sdk: Path, tmp_path: Path) -> None:
    """And nothing else: what is not granted is a fault of the guest's own. Where it is off, the monitor's map is what an access meets."""
    platform = load(name)
    make(sdk, platform.arch, tmp_path, GUESTS / "sdk" / "memory.c", flags=f"-O2 -I{GUESTS / platform.arch}")
    file = tmp_path / "memory.dts"
    file.write_text(partition(on=("memory", "on"), off=("memory", "off")))
    run = heard(platform, file)
    assert run.is_off("on"), run.said
    assert run.said["on"] == [
        "status: 0x0",
        "again: 0x0",
        "control: 0x1005",
        "read of nobody's: 0x4",
        "write of the information page: 0xc",
        "write of statistics: 0xc",
        "write of the log: 0x0",
    ]
    assert since_ready(run.watches["on"]) == {"call": 1}
    assert run.said["off"][0] == "control: 0x0"
    crash = run.watches["off"].crash
    assert crash is not None
    assert (run.watches["off"].state, crash.address) == ("parked", NOBODYS)


@pytest.mark.xdist_group("sdk")
@pytest.mark.parametrize("name", others(pytest.mark.long, GICV2, ARMV7, "qemu-svm"))
def test_who_sleeps_leaves_the_core_alone(name: str, sdk: Path, tmp_path: Path) -> None:
    platform = load(name)
    make(sdk, platform.arch, tmp_path, GUESTS / "sdk" / "sleep.c", flags=f"-O2 {WRAPPED}")
    file = tmp_path / "sleep.dts"
    file.write_text(partition(sleeper=("sleep", "")))
    run = heard(platform, file)
    assert run.is_off("sleeper"), run.said
    assert wrong_with_sleep(run.said["sleeper"]) == []
