# SPDX-License-Identifier: Apache-2.0
"""BH-F1.handed, BH-F6.linux. How Linux is told of its channels, by a device tree or by ACPI; and the module for them, which is built for its kernel."""

import json
import re
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool.config.compile import compile_partition
from bhtool.config.payload import NotYet
from bhtool.config.plan import Plan, SandboxPlan
from bhtool.config.rootfs.cpio import Archive
from bhtool.config.rootfs.modules import LIST, modules_archive
from bhtool.config.tree import read_blob
from bhtool.image import linux_module, names
from bhtool.image.names import Resolver
from bhtool.platforms import load

from tests.config.software import Files

Compile = Callable[[Path, str], Plan]
GOOD = Path(__file__).parent / "broken" / "good.dtsi"
ARM, PCS = ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7"), ("qemu-svm", "bochs-vtx")
DSDT, ACPI_END = 0x1D000, 0x20000
FIRST = {**dict.fromkeys(ARM, 0x0C100000), **dict.fromkeys(PCS, 0xFD100000)}
SPEED = 'speed { compatible = "bulkhead,channel-v1"; from = <&two>; to = <&linux>; kind = "latest"; slot-bytes = <64>; };'
ORDERS = 'orders { compatible = "bulkhead,channel-v1"; from = <&linux>; to = <&one>; };'
OTHERS = 'others { compatible = "bulkhead,channel-v1"; from = <&one>; to = <&two>; };'
ASIDE = 'aside { compatible = "bulkhead,channel-v1"; from = <&one>; to = <&linux>; kind = "latest"; slot-bytes = <64>; readers = <3>; on-request; };'
SHAPE = {"bulkhead,number": 1, "bulkhead,kind": 2, "bulkhead,slots": 8, "bulkhead,slot-bytes": 64}  # of this one, as its page will say it
TOLD = [("speed", "two", 1, 0, 0x1000, 0x3000), ("orders", "one", 0, 0x3000, 0x2000, 0x5000)]  # name, peer, end, offset, page, bytes


def written(folder: Path, *channels: str, more: str = "") -> Path:
    file = folder / "f.dts"
    file.write_text(f'#include "{GOOD}"\n&domains {{ {" ".join(channels)} }};\n{more}\n')
    return file


def linux_of(plan: Plan) -> SandboxPlan:
    return next(one for one in plan.sandboxes if one.os == "linux")


def memory_at(plan: Plan, gpa: int) -> bytes:
    one = linux_of(plan)
    hpa = gpa - one.ram_gpa + one.ram_hpa
    return next(piece.data[hpa - piece.hpa :] for piece in plan.segments if piece.hpa <= hpa < piece.hpa + len(piece.data))


def disassembled(plan: Plan, folder: Path) -> str:
    table = memory_at(plan, DSDT)
    assert DSDT + len(table) <= ACPI_END
    (folder / "dsdt.aml").write_bytes(table)
    subprocess.run(["iasl", "-d", "dsdt.aml"], cwd=folder, check=True, capture_output=True, timeout=60)
    return (folder / "dsdt.dsl").read_text()


@pytest.mark.parametrize("platform", ARM)
def test_the_tree_has_a_node_for_each_of_its_own(compile_on: Compile, platform: str, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, SPEED, ORDERS, OTHERS), platform)
    tree = read_blob(memory_at(plan, linux_of(plan).arg))
    nodes = [node for node in tree.children.values() if "bulkhead,channel-end-v1" in node.compatible]
    assert [
        (node.text("label"), node.text("bulkhead,peer"), node.number("bulkhead,end", 9), node.number("bulkhead,page-offset", 9), node.reg())
        for node in nodes
    ] == [(name, peer, end, page, [(FIRST[platform] + offset, size)]) for name, peer, end, offset, page, size in TOLD]
    assert [node.name for node in nodes] == [f"channel@{FIRST[platform]:x}", f"channel@{FIRST[platform] + 0x3000:x}"]
    ram = [pair for node in tree.children.values() if node.name.startswith("memory") for pair in node.reg()]
    assert not any(start <= FIRST[platform] + offset < start + size for start, size in ram for _, _, _, offset, _, _ in TOLD)


@pytest.mark.parametrize("platform", PCS)
def test_acpi_has_a_device_for_each_of_its_own(compile_on: Compile, platform: str, tmp_path: Path) -> None:
    """ACPI 6.3, 6.2.5 "_DSD (Device Specific Data)"; PRP0001: Linux, Documentation/firmware-guide/acpi/enumeration.rst."""
    text = disassembled(compile_on(written(tmp_path, SPEED, ORDERS, OTHERS), platform), tmp_path)
    devices = text.split("Device (CH")[1:]
    assert len(devices) == len(TOLD)
    for device, (name, peer, end, offset, page, size) in zip(devices, TOLD, strict=True):
        first = FIRST[platform] + offset
        assert 'Name (_HID, "PRP0001")' in device
        assert "daffd814-6eba-4d8c-8a91-bc9bbf4aa301" in device
        addresses = [int(one, 16) for one in re.findall(r"0x([0-9A-F]{16}), //", device)]
        assert addresses == [0, first, first + size - 1, 0, size]
        flat = re.sub(r"\s+", "", device)
        said = {"compatible": '"bulkhead,channel-end-v1"', "label": f'"{name}"', "bulkhead,peer": f'"{peer}"'}
        for key, value in said.items():
            assert f'"{key}",{value}}}' in flat
        numbers = {key: re.search(f'"{key}",(\\w+)}}', flat) for key in ("bulkhead,end", "bulkhead,page-offset")}
        assert {key: number_of(found[1]) if found else None for key, found in numbers.items()} == {
            "bulkhead,end": end,
            "bulkhead,page-offset": page,
        }


@pytest.mark.parametrize("platform", ARM)
def test_one_on_request_is_another_node_and_says_what_it_is(compile_on: Compile, platform: str, tmp_path: Path) -> None:
    """A module of before would take it for one that is there, touch it, and end the sandbox."""
    plan = compile_on(written(tmp_path, SPEED, ASIDE), platform)
    tree = read_blob(memory_at(plan, linux_of(plan).arg))
    always, aside = (node for node in tree.children.values() if node.name.startswith("channel@"))
    assert (always.compatible, aside.compatible) == (["bulkhead,channel-end-v1"], ["bulkhead,channel-end-on-request-v1"])
    assert {name: aside.number(name, 99) for name in SHAPE} == SHAPE
    assert not set(always.properties) & set(SHAPE)


@pytest.mark.parametrize("platform", PCS)
def test_one_on_request_is_another_device_and_says_what_it_is(compile_on: Compile, platform: str, tmp_path: Path) -> None:
    text = disassembled(compile_on(written(tmp_path, SPEED, ASIDE), platform), tmp_path)
    always, aside = (re.sub(r"\s+", "", one) for one in text.split("Device (CH")[1:])
    assert '"compatible","bulkhead,channel-end-v1"}' in always
    assert '"compatible","bulkhead,channel-end-on-request-v1"}' in aside
    found: list[tuple[str, str]] = re.findall(r'"(bulkhead,[a-z-]+)",(\w+)}', aside)
    assert {name: number_of(value) for name, value in found if name in SHAPE} == SHAPE
    assert not any(name in always for name in SHAPE)


def number_of(text: str) -> int:
    """As the disassembler writes constants."""
    constants = {"Zero": 0, "One": 1}
    return constants[text] if text in constants else int(text, 16)


def test_the_most_channels_with_the_longest_names_fit(compile_on: Compile, tmp_path: Path) -> None:
    """And of those on request, of which most is said, as many as there is room for."""
    rung = ASIDE.replace("on-request;", "on-request; doorbell-max-hz = <100>;")
    for on_request in (0, 8):
        kinds = [(rung, "aside")] * on_request + [(SPEED, "speed")] * (16 - on_request)
        many = [one.replace(f"{name} {{", f"{chr(ord('a') + n)}{'x' * 30} {{") for n, (one, name) in enumerate(kinds)]
        plan = compile_on(written(tmp_path, *many), PCS[0])
        assert plan.errors == []
        assert disassembled(plan, tmp_path).count("PRP0001") == 16


@pytest.mark.parametrize("platform", [ARM[0], PCS[0]])
def test_without_channels_nothing_is_said(compile_on: Compile, platform: str, tmp_path: Path) -> None:
    plan = compile_on(written(tmp_path, OTHERS), platform)
    said = memory_at(plan, DSDT) if platform in PCS else memory_at(plan, linux_of(plan).arg)
    assert b"channel-end" not in said


# ---- The module -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("package", ["", "linux-image-rt-arm64"])
def test_the_module_is_the_one_for_the_kernel(files: Callable[[str], Files], tmp_path: Path, package: str) -> None:
    asked: list[str] = []
    stand_ins = files("aarch64")

    def resolve(name: str) -> Path:
        asked.append(name)
        return stand_ins(name)

    chosen = f'kernel-package = "{package}";' if package else ""
    file = written(tmp_path, SPEED, more=f'&linux {{ {chosen} modules = "nvme", "bulkhead"; }};')
    plan = compile_partition(file, load(ARM[0]), resolve)
    assert plan.errors == []
    folder = f"{package}/" if package else ""
    assert {f"{folder}vmlinuz.modules", f"{folder}vmlinuz.bulkhead.ko"} <= set(asked)


def test_who_does_not_name_it_does_not_have_it_built(files: Callable[[str], Files], tmp_path: Path) -> None:
    plan = compile_partition(written(tmp_path, SPEED, more='&linux { modules = "nvme"; };'), load(ARM[0]), files("aarch64"))
    assert plan.errors == []


def test_one_that_could_be_built_is_not_judged_yet(files: Callable[[str], Files], tmp_path: Path) -> None:
    stand_ins = files("aarch64")

    def resolve(name: str) -> Path:
        if name.endswith(".bulkhead.ko"):
            raise NotYet(name)
        return stand_ins(name)

    plan = compile_partition(written(tmp_path, SPEED, more='&linux { modules = "bulkhead"; };'), load(ARM[0]), resolve)
    assert (plan.errors, [one.rule for one in plan.warnings]) == ([], ["BH-W060"])


def store(folder: Path) -> Path:
    file = folder / "store.zip"
    with zipfile.ZipFile(file, "w") as archive:
        modules = {"nvme": {"path": "kernel/nvme.ko", "needs": [], "aliases": []}}
        archive.writestr("index.json", json.dumps({"version": "6.1.0-9", "modules": modules, "built_in": []}))
        archive.writestr("kernel/nvme.ko", b"nvme")
    return file


def test_it_lies_where_modules_lie_that_did_not_come_with_the_kernel(tmp_path: Path) -> None:
    archive = modules_archive(store(tmp_path), ["bulkhead", "nvme"], set(), b"own")
    assert contents(archive) == {
        "lib/modules/6.1.0-9/updates/bulkhead.ko": b"own",
        "lib/modules/6.1.0-9/kernel/nvme.ko": b"nvme",
        "lib/modules/6.1.0-9/modules.dep": b"updates/bulkhead.ko:\nkernel/nvme.ko:\n",
        LIST: b"bulkhead\nnvme\n",
    }


def contents(archive: Archive) -> dict[str, bytes]:
    """Of a cpio archive of the `newc` form: cpio(5)."""
    data, found, at = archive.plain(), dict[str, bytes](), 0
    while True:
        size, name_size = (int(data[at + offset : at + offset + 8], 16) for offset in (54, 94))
        name = data[at + 110 : at + 110 + name_size - 1].decode()
        start = at + 110 + name_size + 3 & ~3
        if name == "TRAILER!!!":
            return found
        if size:
            found[name] = data[start : start + size]
        at = start + size + 3 & ~3


def test_names_of_it_lead_to_the_builder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[str, str]] = []

    def module(platform: object, report: object, package: str = "") -> Path:
        asked.append(("built", package))
        return tmp_path

    monkeypatch.setattr(linux_module, "module", module)
    monkeypatch.setitem(names.DEBIAN, names.OWN_MODULE, module)
    resolver = Resolver(load(ARM[0]), tmp_path / "mine.dts", lambda _: None)
    for name in ("vmlinuz.bulkhead.ko", "linux-image-rt-arm64/vmlinuz.bulkhead.ko"):
        resolver(name)
    assert asked == [("built", ""), ("built", "linux-image-rt-arm64")]


def test_its_sources_need_no_other_folder(tmp_path: Path) -> None:
    """What they include by name is there: DKMS takes the folder alone."""
    sources = linux_module.source_files()
    known = {path.rpartition("/")[2] for path in sources}
    for path, content in sources.items():
        for name in re.findall(rb'#include [<"](\w+\.h)[>"]', content):
            assert name.decode() in known, path
    assert b"@" not in sources["dkms.conf"]
