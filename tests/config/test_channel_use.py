# SPDX-License-Identifier: Apache-2.0
"""BH-I7.tool. Whom the checker warns of that a channel will not be there for him, and whom it says nothing of, as it cannot know."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.config.check_channel_use import COMMANDS, OWN_ROOTS, WANTS
from bhtool.config.plan import Plan
from bhtool.config.vcpus import PROVIDED_KERNELS
from bhtool.delivery.new import PARTITION, TEMPLATES, write_new
from bhtool.image.build import PROBE, PROGRAMS
from bhtool.image.names import DEBIAN
from bhtool.paths import PARTITIONS, ROOT
from bhtool.platforms import load, names

Compile = Callable[[Path, str], Plan]
GOOD = Path(__file__).parent / "broken" / "good.dtsi"
ANY = "qemu-aarch64"
TO_LINUX = '&domains { it { compatible = "bulkhead,channel-v1"; from = <&one>; to = <&linux>; }; };'
RING = '&domains {{ {name} {{ compatible = "bulkhead,channel-v1"; from = <&{sender}>; to = <&{receiver}>; kind = "{kind}"; }}; }};\n'


def rules(plan: Plan) -> list[str]:
    return [one.rule for one in (*plan.errors, *plan.warnings)]


def warned(compile_on: Compile, folder: Path, text: str) -> list[str]:
    file = folder / "f.dts"
    file.write_text(f'#include "{GOOD}"\n{text}\n')
    return rules(compile_on(file, ANY))


def test_what_is_provided_is_known() -> None:
    assert set(OWN_ROOTS) == {name for name in DEBIAN if name.startswith("rootfs")}
    assert set(PROVIDED_KERNELS) == {Path(name).name for name in (*PROGRAMS, PROBE) if name.endswith(".elf")}


def test_commands_are_those_of_the_kernel() -> None:
    """Each that takes a channel's name, by the functions of shell_channels.c, which looks for a comma in two of them."""
    table = (ROOT / "kernel" / "core" / "commands.c").read_text()
    source = (ROOT / "kernel" / "core" / "shell_channels.c").read_text()
    bodies = dict(re.findall(r"^void run_(\w+)\(const struct command_line \*line\)\n\{\n(.*?)^\}", source, re.MULTILINE | re.DOTALL))
    named = {name: "split(line->text" in body for name, body in bodies.items() if "line->text" in body}
    assert named == COMMANDS
    for name in named:
        assert f'{{ "{name}", 0, run_{name} }}' in table


def test_programs_are_those_of_the_kernel() -> None:
    source = (ROOT / "kernel" / "core" / "channel_programs.c").read_text()
    assert set(re.findall(r"^void channel_(\w+)\(", source, re.MULTILINE)) == WANTS.keys()
    assert 'further[] = "-on";' in source


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", ["BH-W170"]),
        ('modules = "e1000e";', ["BH-W170"]),
        ('modules = "bulkhead";', []),
        ('modules = "e1000e", "bulkhead";', []),
        ('initrd = "rootfs-can.cpio.gz";', ["BH-W170"]),
        ('initrd = "root";', []),  # a root file system of one's own, which may bring it
        ('bootargs = "quiet root=/dev/vda";', []),
        ('bootargs = "quiet rootwait";', ["BH-W170"]),
        ("/delete-property/ initrd;", []),
    ],
)
def test_linux_without_the_module(words: str, expected: list[str], compile_on: Compile, tmp_path: Path) -> None:
    assert warned(compile_on, tmp_path, f"&linux {{ {words} }};\n{TO_LINUX}") == expected


def test_linux_without_channels_needs_none(compile_on: Compile, tmp_path: Path) -> None:
    assert warned(compile_on, tmp_path, "") == []


@pytest.mark.parametrize(("name", "expected"), [("vmlinuz", []), ("rootfs.cpio.gz", []), ("other", ["BH-W170"])])
def test_what_lies_beside_the_file_is_anothers(name: str, expected: list[str], compile_on: Compile, tmp_path: Path) -> None:
    (tmp_path / "good.dtsi").write_text(GOOD.read_text())
    (tmp_path / name).touch()
    file = tmp_path / "f.dts"
    file.write_text(f'#include "good.dtsi"\n{TO_LINUX}\n')
    assert rules(compile_on(file, ANY)) == expected


def test_a_kernel_package_goes_before_a_file(compile_on: Compile, tmp_path: Path) -> None:
    (tmp_path / "good.dtsi").write_text(GOOD.read_text())
    (tmp_path / "vmlinuz").touch()
    file = tmp_path / "f.dts"
    file.write_text(f'#include "good.dtsi"\n&linux {{ kernel-package = "linux-image-arm64"; }};\n{TO_LINUX}\n')
    assert rules(compile_on(file, ANY)) == ["BH-W170"]


@pytest.mark.parametrize(
    ("program", "sender", "receiver", "kind", "is_good"),
    [
        ("source", "two", "one", "ring", True),
        ("source", "two", "one", "latest", True),
        ("source", "two", "one", "mailbox", False),
        ("source", "one", "two", "ring", False),
        ("sink", "one", "two", "ring", True),
        ("sink", "one", "two", "latest", True),
        ("sink", "one", "two", "mailbox", False),
        ("sink", "two", "one", "ring", False),
        ("relay", "one", "two", "ring", True),
        ("relay", "one", "two", "latest", False),
        ("relay", "two", "one", "ring", False),
        ("loop", "two", "one", "mailbox", True),
    ],
)
def test_what_each_program_needs(
    program: str, sender: str, receiver: str, kind: str, is_good: bool, compile_on: Compile, tmp_path: Path
) -> None:
    """As channel_programs.c takes ends."""
    vcpu = f'&two {{ it {{ program = "{program}"; budget-us = <100>; period-us = <10000>; }}; }};\n'
    channels = RING.format(name="it", sender=sender, receiver=receiver, kind=kind)
    channels += RING.format(name="it-on", sender="two", receiver="one", kind="ring")
    assert warned(compile_on, tmp_path, vcpu + channels) == ([] if is_good else ["BH-W171"])


@pytest.mark.parametrize("kind", ["ring", "latest"])
def test_a_relay_sends_on_in_a_ring(kind: str, compile_on: Compile, tmp_path: Path) -> None:
    vcpu = '&two { it { program = "relay"; budget-us = <100>; period-us = <10000>; }; };\n'
    channels = RING.format(name="it", sender="one", receiver="two", kind="ring")
    on = RING.format(name="it-on", sender="two", receiver="one", kind=kind)
    assert warned(compile_on, tmp_path, vcpu + channels + on) == ([] if kind == "ring" else ["BH-W171"])


@pytest.mark.parametrize("command", ["send=it,a", "receive=it", "open=it", "close=it", "reopen=it,3", "ring=it", "rung=it"])
def test_each_command_is_looked_at(command: str, compile_on: Compile, tmp_path: Path) -> None:
    channel = RING.format(name="it", sender="one", receiver="two", kind="ring")
    for name, expected in (("it", []), ("is", ["BH-W172"])):
        said = command.replace("=it", f"={name}")
        for words in (said, f"wait=5  core=1,{said}"):
            assert warned(compile_on, tmp_path, f'&two {{ bootargs = "{words}"; }};\n{channel}') == expected, words


@pytest.mark.parametrize("platform", names())
def test_what_new_writes_is_good(platform: str, compile_as_shipped: Compile, tmp_path: Path) -> None:
    """BH-I7.tool. Each template that has a partition file of its own, on every platform that `new` knows; the one with channels has each kind of them."""
    for template in (one for one in TEMPLATES if one != "guest"):
        write_new(tmp_path / template, template, load(platform), lambda _: None)
        plan = compile_as_shipped(tmp_path / template / PARTITION, platform)
        assert (plan.errors, plan.warnings) == ([], []), template
        if template == "channels":
            samples, speed, orders, archive = plan.channels
            assert (samples.kind, speed.kind, orders.kind, archive.kind) == ("ring", "latest", "mailbox", "ring")
            assert samples.delay.bound_ns
            assert 0 < samples.delay.bound_ns <= samples.delay.deadline_us * 1000
            assert (speed.readers, orders.gap_us, archive.on_request) == (2, (10_000, 0), True)


def test_the_examples_have_none_of_it(compile_on: Compile) -> None:
    for file in sorted(PARTITIONS.glob("*.dts")):
        assert [rule for rule in rules(compile_on(file, "qemu-svm-vtd")) if rule in ("BH-W152", "BH-W170", "BH-W171", "BH-W172")] == []
