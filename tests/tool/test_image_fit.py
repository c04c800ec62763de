# SPDX-License-Identifier: Apache-2.0
"""Disks for U-Boot: where the FIT may lie while its parts are copied out of it, and what the disk holds."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from bhtool.config.plan import Plan, Segment
from bhtool.config.span import Span
from bhtool.errors import BulkheadError
from bhtool.image.fit import FIT, MIB, U_BOOT_BYTES, disk, loader_place, quotable
from bhtool.platforms import Platform

RAM, RAM_BYTES = 0x40000000, 0x80000000
END = RAM + RAM_BYTES - U_BOOT_BYTES


@pytest.mark.parametrize(
    ("taken", "size", "place"),
    [
        ([Span(RAM, 3 * MIB)], MIB, RAM + 4 * MIB),
        ([Span(RAM, 3 * MIB), Span(RAM + 5 * MIB, 4096)], 2 * MIB, RAM + 6 * MIB),
        ([Span(RAM, 3 * MIB), Span(RAM + 6 * MIB, MIB)], 2 * MIB, RAM + 4 * MIB),
        ([Span(RAM, END - RAM - 4 * MIB)], 4 * MIB, END - 4 * MIB),
    ],
)
def test_the_fit_is_read_to_free_memory(platform: Platform, taken: list[Span], size: int, place: int) -> None:
    assert loader_place(platform, taken, size) == place


@pytest.mark.parametrize(
    ("taken", "complaint"),
    [
        ([Span(RAM, END - RAM - 2 * MIB)], "no 4 MiB of RAM are free"),
        ([Span(END - 4096, 8192)], "lies where U-Boot runs"),
    ],
)
def test_payload_in_the_way_is_refused(platform: Platform, taken: list[Span], complaint: str) -> None:
    with pytest.raises(BulkheadError, match=complaint):
        loader_place(platform, taken, 4 * MIB)


def test_the_disk_holds_monitor_and_payload_at_their_places(platform: Platform, plan: Plan, monitor: bytes, tmp_path: Path) -> None:
    payload = Segment("beating: payload", plan.sandboxes[0].ram_hpa, b"PAYL" * 1024)
    (tmp_path / "disk").write_bytes(disk(platform, monitor, replace(plan, segments=[payload])))
    subprocess.run(["mcopy", "-i", "disk", f"::{FIT}", "."], cwd=tmp_path, check=True)
    listing = subprocess.run(["mkimage", "-l", FIT], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    addresses = [line.split(":")[1].strip() for line in listing.splitlines() if "Load Address" in line]
    assert addresses == ["0x40010000", "0x40000000"]
    assert "beating: payload" in listing
    assert f"{plan.file.name} for {platform.name}" in listing
    assert payload.data in (tmp_path / FIT).read_bytes()
    assert plan.table in (tmp_path / FIT).read_bytes()


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('x"; data = /incbin/("/etc/passwd"); y = "', "x; data = /incbin/(/etc/passwd); y = "),
        ("a\\", "a"),
        ("a\x1b[31m\nb", "a[31mb"),
        ("é", ""),
        ("a" * 500, "a" * 156 + " ..."),
    ],
    ids=["quote", "backslash", "control", "not ASCII", "long"],
)
def test_a_name_cannot_end_its_string(text: str, quoted: str) -> None:
    """A partition file's name, or a sandbox's, would include any file that the user can read."""
    assert quotable(text) == quoted
