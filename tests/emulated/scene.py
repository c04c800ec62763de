# SPDX-License-Identifier: Apache-2.0
"""From a case to a bootable image: its partition file, compiled as `bulkhead run` compiles one."""

import functools
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import jinja2
import pytest
from bhtool import abi
from bhtool.config.compile import compile_partition
from bhtool.config.plan import Plan
from bhtool.errors import BulkheadError
from bhtool.image.build import build_platform
from bhtool.image.formats import bootable
from bhtool.image.names import Resolver
from bhtool.machine.emulated import require_emulator
from bhtool.platforms import Platform, load

from tests.emulated.case import Case
from tests.emulated.places import Places

TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent), trim_blocks=True, undefined=jinja2.StrictUndefined, autoescape=False
)
SHAPES = 64  # of which the plans are kept


@dataclass(frozen=True)
class Scene:
    plan: Plan
    places: Places
    image: bytes


def platform_or_skip(name: str) -> Platform:
    """A platform whose emulator is missing is skipped by name."""
    found = load(name)
    try:
        require_emulator(found)
    except BulkheadError as missing:
        pytest.skip(str(missing))
    return found


def silent(_: str) -> None:
    """Tests report nothing while they prepare."""


@functools.cache
def monitor(platform: Platform) -> bytes:
    """The monitor's ELF file; it and the guests are built once a test run."""
    return build_platform(platform, silent).read_bytes()


def compiled(platform: Platform, file: Path) -> Plan:
    monitor(platform)
    plan = compile_partition(file, platform, Resolver(platform, file, silent))
    assert plan.valid, "\n".join(str(error) for error in plan.errors)
    return plan


@functools.cache
def compile_file(platform: Platform, file: Path) -> Plan:
    """Once for a file: nobody changes one while tests run."""
    return compiled(platform, file)


def scene_of(platform: Platform, plan: Plan) -> Scene:
    return Scene(plan, Places.of(plan), bootable(platform, monitor(platform), plan))


@functools.cache
def stage_file(platform: Platform, file: Path) -> Scene:
    return scene_of(platform, compile_file(platform, file))


def partition_text(case: Case, arguments: dict[str, str]) -> str:
    return TEMPLATES.get_template("partition.dts.j2").render(case=case, arguments=arguments)


@functools.lru_cache(maxsize=SHAPES)
def compile_shape(platform: Platform, text: str) -> Plan:
    """Several cases differ in nothing but what native sandboxes are told to do."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "case.dts"
        file.write_text(text)
        return compiled(platform, file)


def with_arguments(plan: Plan, arguments: dict[str, str]) -> Plan:
    """As if the partition file gave native sandboxes these: they stand in information pages and move nothing."""
    sandboxes = [replace(one, bootargs=arguments.get(one.name, one.bootargs)) for one in plan.sandboxes]
    pages = {one.pool_hpa + int(abi.lib.BH_POOL_INFO): one.bootargs for one in sandboxes if one.name in arguments}
    segments = [replace(one, data=told(one.data, pages[one.hpa])) if one.hpa in pages else one for one in plan.segments]
    return replace(plan, sandboxes=sandboxes, segments=segments)


def told(page: bytes, arguments: str) -> bytes:
    """An information page with these arguments."""
    copy, room = abi.new("bh_info"), abi.sizeof_field("bh_info", "arguments")
    assert len(arguments.encode()) < room, "BH-R013"
    abi.ffi.memmove(copy, page, len(page))
    abi.ffi.memmove(copy.arguments, bytes(room), room)
    abi.put_text(copy.arguments, arguments)
    return abi.bytes_of(copy)


def stage(platform: Platform, case: Case) -> Scene:
    """Arguments that name places get them from the same sandboxes without arguments."""
    natives = {one.name: one.arguments for one in case.sandboxes if one.os == "native"}
    shape = compile_shape(platform, partition_text(case, {one.name: one.arguments for one in case.sandboxes} | dict.fromkeys(natives, "")))
    places = Places.of(shape)
    return scene_of(platform, with_arguments(shape, {name: places.fill(text) for name, text in natives.items()}))
