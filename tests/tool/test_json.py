# SPDX-License-Identifier: Apache-2.0
"""The keys of `check --json` and `run --json`: scripts rely on them, so a change is seen here (docs/versions.md). What a real run writes: test_run_command."""

import json
from pathlib import Path
from typing import Any

import pytest
from bhtool.errors import Status
from bhtool.paths import PARTITIONS, ROOT

from tests.tool.conftest import Inside

DOCUMENT = {"schema", "versions", "platform", "valid", "errors", "warnings", "allocation", "schedulability", "channels", "assumptions"}
SANDBOX = {"name", "cpus", "numa", "ram", "rest", "unprotected", "devices", "withheld", "reaches", "memory", "restart"}
MEMORY = {"ram_bytes", "monitor_bytes", "table_bytes", "core_bytes", "log_bytes", "snapshot_bytes", "given_up_bytes"}
RESTART = {"max_restarts", "zeroed_bytes", "snapshot_bytes", "instructions_at_most"}
FOUND = {"file", "line", "rule", "text"}


def checked(inside: Inside, file: Path, folder: Path) -> dict[str, Any]:
    result = folder / "check.json"
    inside("check", str(file), "--json", str(result))
    found: dict[str, Any] = json.loads(result.read_text())
    return found


def test_what_check_writes_of_a_file(inside: Inside, tmp_path: Path) -> None:
    found = checked(inside, PARTITIONS / "restart.dts", tmp_path)
    assert found.keys() == DOCUMENT
    assert found["schema"] == "bulkhead/check-v1"
    allocation = found["allocation"]
    assert allocation.keys() == {"sandboxes", "holdings", "machine_memory"}
    for one in allocation["sandboxes"]:
        assert one.keys() == SANDBOX
        assert one["memory"].keys() == MEMORY
        assert all(ram.keys() == {"gpa", "hpa", "bytes"} for ram in one["ram"])
        assert all(device.keys() == {"dma", "source", "reason"} for device in one["devices"].values())
    assert all(reach.keys() == {"sandbox", "how"} for one in allocation["sandboxes"] for reach in one["reaches"])
    assert all(one["restart"].keys() == RESTART for one in allocation["sandboxes"] if one["restart"])
    assert any(one["restart"] for one in allocation["sandboxes"])
    assert all(held.keys() == {"kind", "start", "size", "what", "owner", "file", "line"} for held in allocation["holdings"])
    assert all(one.keys() == {"id", "not_isolated", "verify"} for one in found["assumptions"])
    assert {"BH-A06", "BH-A15"} <= {one["id"] for one in found["assumptions"]}
    assert all(part.keys() == {"kind", "bytes"} for part in allocation["machine_memory"])


@pytest.mark.parametrize(
    ("example", "said"),
    [("gateway", "recorder  read the log of powertrain"), ("hpc-node", "No sandbox may reach another.")],
)
def test_check_says_who_may_reach_whom(example: str, said: str, inside: Inside, capsys: pytest.CaptureFixture[str]) -> None:
    assert inside("check", str(ROOT / "examples" / f"{example}.dts")) == Status.GOOD
    assert said in capsys.readouterr().out.splitlines()


def test_what_check_writes_of_a_refusal(inside: Inside, tmp_path: Path) -> None:
    file = tmp_path / "wrong.dts"
    file.write_text("/dts-v1/;\n#include BOARD_DTSI\n")
    found = checked(inside, file, tmp_path)
    assert found.keys() == DOCUMENT
    assert not found["valid"]
    assert [one.keys() for one in found["errors"]] == [FOUND]


def test_a_parse_failure_is_no_file(inside: Inside, tmp_path: Path) -> None:
    """Status 2 leaves nothing behind that looks like a result."""
    assert inside("check", str(tmp_path / "none.dts"), "--json", str(tmp_path / "check.json")) == Status.USAGE
    assert not (tmp_path / "check.json").exists()
