# SPDX-License-Identifier: Apache-2.0
"""BH-F2.foreign. A guest that is built outside of this tree, as the SDK's example is: compiled, linked, booted, heard."""

import os
import subprocess
from pathlib import Path

import pytest
from bhtool.delivery.sdk import write_sdk
from bhtool.image.stages import make_image, make_plan
from bhtool.machine.emulated import Machine
from bhtool.machine.session import LineEvent, Session
from bhtool.platforms import Platform, load

BEATS = 100
LIMIT = 120.0
PLATFORMS = ("qemu-aarch64", *(pytest.param(name, marks=pytest.mark.slow) for name in ("qemu-armv7", "qemu-svm")))


def say_nothing(_: str) -> None:
    pass


@pytest.fixture(scope="module")
def sdk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdk")
    write_sdk(folder, say_nothing)
    return folder


def made(sdk: Path, arch: str, folder: Path) -> Path:
    """The example, built in a folder of its own with nothing but make; its partition file."""
    for name in ("hello.c", "Makefile", "hello.dts"):
        (folder / name).write_bytes((sdk / "example" / name).read_bytes())
    environment = {"PATH": os.environ["PATH"], "PKG_CONFIG_PATH": str(sdk / "lib" / "pkgconfig")}
    subprocess.run(["make", f"ARCH={arch}"], cwd=folder, env=environment, check=True, capture_output=True, timeout=LIMIT)
    return folder / "hello.dts"


@pytest.mark.xdist_group("sdk")
@pytest.mark.parametrize("name", PLATFORMS)
def test_a_guest_that_is_built_elsewhere_runs(name: str, sdk: Path, tmp_path: Path) -> None:
    platform: Platform = load(name)
    plan = make_plan(platform, made(sdk, platform.arch, tmp_path), say_nothing)
    assert (plan.errors, plan.warnings) == ([], [])
    lines: list[str] = []
    with Session(platform, plan, Machine(platform, make_image(platform, plan))) as session:
        watch = session.watches["hello"]
        for event in session.events(LIMIT):
            if isinstance(event, LineEvent):
                lines.append(event.text)
            elif watch.state == "off":
                break
    assert watch.state == "off", lines
    assert lines[0] == "hello from hello"
    assert lines[-1] == "that was all"
    assert watch.heartbeat is not None
    assert (watch.heartbeat.beats, watch.ready) == (BEATS, True)
