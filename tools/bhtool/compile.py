# SPDX-License-Identifier: Apache-2.0
"""From a partition file to a plan and a bootable image: what `run`, `check`, `size` and the emulated tests share."""

from pathlib import Path

from bhtool.build import build_platform
from bhtool.config import compile_partition
from bhtool.config.plan import Plan
from bhtool.errors import BulkheadError, Status
from bhtool.image_formats import bootable, pack
from bhtool.images import Resolver
from bhtool.payloads import Report
from bhtool.platforms import Platform


def make_plan(platform: Platform, partition: Path, report: Report) -> Plan:
    """The plan, valid or not; guests are built and payloads fetched so that it can be judged whole."""
    if not partition.is_file():
        raise BulkheadError(f"there is no partition file {partition}", Status.USAGE)
    build_platform(platform, report)
    report(f"compiling {partition.name} for {platform.name}")
    return compile_partition(partition, platform, Resolver(platform, partition, report))


def make_image(platform: Platform, plan: Plan, form: str | None = None) -> bytes:
    """In a format of image_formats, or as the platform's emulator takes it.

    Raises, with every complaint of the checker on a line of its own, if the plan was refused.
    """
    if not plan.valid:
        raise BulkheadError("the partition file was refused:\n" + "\n".join(str(error) for error in plan.errors))
    monitor = (platform.build / "bulkhead.elf").read_bytes()
    return pack(form, platform, monitor, plan) if form else bootable(platform, monitor, plan)
