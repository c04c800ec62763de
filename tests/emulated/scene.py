# SPDX-License-Identifier: Apache-2.0
"""From a case to a bootable image: its partition file, compiled as `bulkhead run` compiles one."""

import functools
from dataclasses import dataclass
from pathlib import Path

import jinja2
import pytest
from bhtool.build import build_platform
from bhtool.config import compile_partition
from bhtool.config.plan import Plan
from bhtool.errors import BulkheadError
from bhtool.image_formats import bootable
from bhtool.images import Resolver
from bhtool.machine import require_emulator
from bhtool.platforms import Platform, load

from tests.emulated.case import Case
from tests.emulated.places import Places

TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent), trim_blocks=True, undefined=jinja2.StrictUndefined, autoescape=False
)


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


def compile_file(platform: Platform, file: Path) -> Plan:
    monitor(platform)
    plan = compile_partition(file, platform, Resolver(platform, file, silent))
    assert plan.valid, "\n".join(str(error) for error in plan.errors)
    return plan


def stage_file(platform: Platform, file: Path) -> Scene:
    plan = compile_file(platform, file)
    return Scene(plan, Places.of(plan, platform.arch), bootable(platform, monitor(platform), plan))


def write(case: Case, arguments: dict[str, str], file: Path) -> Path:
    file.write_text(TEMPLATES.get_template("partition.dts.j2").render(case=case, arguments=arguments))
    return file


def stage(platform: Platform, case: Case, directory: Path) -> Scene:
    """Compiled twice where arguments name places: the second time they are known, and arguments move nothing."""
    arguments = {one.name: one.arguments for one in case.sandboxes}
    file = directory / f"{case.name}.dts"
    if any("{" in text for text in arguments.values()):
        plan = compile_file(platform, write(case, dict.fromkeys(arguments, ""), file))
        places = Places.of(plan, platform.arch)
        arguments = {name: places.fill(text) for name, text in arguments.items()}
    return stage_file(platform, write(case, arguments, file))
