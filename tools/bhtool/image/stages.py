# SPDX-License-Identifier: Apache-2.0
"""From a partition file to a plan and a bootable image: what `run`, `check`, `size` and the emulated tests share."""

from pathlib import Path
from typing import Any

from bhtool import paths
from bhtool.config.annotated import shown
from bhtool.config.compile import compile_partition
from bhtool.config.plan import Diagnostic, Plan
from bhtool.config.rules import BY_ID
from bhtool.errors import BulkheadError, Status
from bhtool.image.build import build_platform
from bhtool.image.formats import bootable, pack
from bhtool.image.names import Resolver
from bhtool.image.payloads import Report
from bhtool.platforms import Platform
from bhtool.terminal.screen import Screen
from bhtool.text import close_to


def require_file(partition: Path) -> None:
    """Refuses a partition file that does not exist, and tells of the one that was meant."""
    if partition.is_file():
        return
    meant = _meant(partition)
    hint = f" (did you mean {shown(str(meant))}?)" if meant else ""
    raise BulkheadError(f"there is no partition file {partition}{hint}", Status.USAGE)


def _meant(partition: Path) -> Path | None:
    """One with nearly its name beside it, else the only one in a folder that was named, else one with nearly its name that comes with the tool."""
    beside = {file.stem: file for file in partition.parent.glob("*.dts")}
    ours = {file.stem: file for file in paths.PARTITIONS.glob("*.dts")}
    if near := close_to(partition.stem, beside):
        return beside[near]
    if partition.parent != Path() and len(beside) == 1:
        return next(iter(beside.values()))
    return ours.get(close_to(partition.stem, ours))


def make_plan(platform: Platform, partition: Path, report: Report, provides: bool = True) -> Plan:
    """The plan, valid or not. With `provides` guests are built and payloads fetched so that it can be judged whole and run."""
    require_file(partition)
    if provides:
        build_platform(platform, report)
    report(f"compiling {partition.name} for {platform.name}")
    return compile_partition(partition, platform, Resolver(platform, partition, report, provides))


def judged_plan(platform: Platform, partition: Path, screen: Screen, strict: bool = False, provides: bool = True) -> Plan:
    """make_plan for a file of the user's: whatever it warns of is shown, whichever verb asked; with `strict` warnings are errors."""
    plan = make_plan(platform, partition, screen.report, provides)
    show_warnings(plan, screen, strict)
    return plan


def show_warnings(plan: Plan, screen: Screen, strict: bool) -> None:
    """With `strict` those about the file become errors, for require_valid to show."""
    if strict:
        plan.errors[:0] = [one for one in plan.warnings if BY_ID[one.rule].of_file]
        plan.warnings = [one for one in plan.warnings if not BY_ID[one.rule].of_file]
    for warning in plan.warnings:
        screen.diagnose(warning)


def diagnostic_json(found: Diagnostic) -> dict[str, Any]:
    return {"file": found.file, "line": found.line, "rule": found.rule, "text": found.text}


def warnings_json(plan: Plan) -> dict[str, Any]:
    """The key that every document about a partition file has."""
    return {"warnings": [diagnostic_json(warning) for warning in plan.warnings]}


def require_valid(plan: Plan) -> None:
    """Raises, with every complaint of the checker on a line of its own, if the plan was refused."""
    if not plan.valid:
        raise BulkheadError("the partition file was refused:\n" + "\n".join(str(error) for error in plan.errors))


def make_image(platform: Platform, plan: Plan, form: str | None = None) -> bytes:
    """In a format of formats.py, or as the platform's emulator takes it. Raises if the plan was refused."""
    require_valid(plan)
    monitor = (platform.build / "bulkhead.elf").read_bytes()
    return pack(form, platform, monitor, plan) if form else bootable(platform, monitor, plan)
