# SPDX-License-Identifier: Apache-2.0
"""BH-F6.messages, docs/guides. The SDK's sample for Zephyr in a sandbox, with the SDK's library in place of Zephyr: another sandbox asks, begins again, and asks again."""

import os
import subprocess
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.delivery.sdk import write_sdk
from bhtool.families.table import FAMILIES
from bhtool.machine.emulated import Machine, timing_for
from bhtool.machine.session import ReadyEvent, Session
from bhtool.overlay.facts import facts_of
from bhtool.overlay.forms import FORMS
from bhtool.platforms import Platform
from bhtool.terminal.screen import Screen

from tests.emulated.scene import compiled, platform_or_skip, scene_of, silent
from tests.emulated.shell import LIMIT, Shell

PARTITION = Path(__file__).with_name("zephyr_channels.dts")
CALLS, STUBS = paths.ROOT / "tests/guests/foreign/zephyr_calls.c", paths.ROOT / "tests/tool/zephyr"
PLATFORMS = [
    pytest.param(name, marks=[pytest.mark.platform(name), pytest.mark.xdist_group("sdk")])
    for name in ("qemu-aarch64", "qemu-armv7", "qemu-svm")
]
TRIES = 200


def build(platform: Platform, file: Path) -> None:
    """As its guide has it, with another library below."""
    folder = file.parent
    write_sdk(folder / "sdk", silent)
    (folder / "sandbox.h").write_text(FORMS["c"].write(facts_of(file, platform, "rtos", Screen()))[0])
    package, environment = f"bulkhead-{platform.arch}", os.environ | {"PKG_CONFIG_PATH": str(folder / "sdk/lib/pkgconfig")}

    def told(what: str) -> list[str]:
        command = ["pkg-config", what, package]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=LIMIT).stdout.split()

    includes = [f"-I{one}" for one in (folder, STUBS / "include", STUBS / "libc", folder / "sdk/include")]
    sources = [*sorted((folder / "sdk/zephyr/src").glob("*.c")), CALLS]
    objects: list[str] = []
    for source in sources:
        renamed = ["-Dmain=zephyr_main"] if source.name == "main.c" else []
        objects.append(str(folder / f"{source.stem}.o"))
        words = ["clang-19", "-O2", "-Wall", "-Wextra", "-Werror", "-std=gnu17", *renamed, *told("--cflags"), *includes]
        subprocess.run([*words, "-c", "-o", objects[-1], str(source)], check=True, timeout=LIMIT)
    target = FAMILIES[platform.arch].programs.sdk.split()
    subprocess.run(["clang-19", *target, *objects, *told("--libs"), "-o", str(folder / "zephyr.elf")], check=True, timeout=LIMIT)


def sent(asker: Shell, text: str) -> bool:
    return asker.ask(f"send=ask,{text}")[-1] == "send ask: done"


def heard(asker: Shell) -> str:
    return asker.ask("receive=answer")[-1].removeprefix("receive answer").removeprefix(": ").strip()


def until(asker: Shell, text: str, answer: str) -> None:
    """Asked once, whenever it could be; answered by this and nothing else."""
    assert any(sent(asker, text) for _ in range(TRIES))
    for _ in range(TRIES):
        found = heard(asker)
        if found == answer:
            return
        assert not found.endswith(f": {text}"), found
    raise AssertionError(f"nobody answers {text}")


@pytest.mark.slow
@pytest.mark.parametrize("name", PLATFORMS)
def test_it_answers_a_sandbox_that_begins_again(name: str, tmp_path: Path) -> None:
    platform = platform_or_skip(name)
    file = tmp_path / "zephyr_channels.dts"
    file.write_text(PARTITION.read_text())
    build(platform, file)
    scene = scene_of(platform, compiled(platform, file))
    with Session(platform, scene.plan, Machine(platform, scene.image, timing_for(platform, scene.plan))) as session:
        assert any(isinstance(event, ReadyEvent) and event.sandbox == "asker" for event in session.events(LIMIT) if event)
        asker = Shell(session, "asker")
        until(asker, "one", "0: one")
        until(asker, "two", "1: two")
        asker.type("reboot\r")
        assert any(line == "alive" for line in asker.said())
        until(asker, "three", "0: three")
        assert session.watches["rtos"].state == "ready", session.watches["rtos"].crash
