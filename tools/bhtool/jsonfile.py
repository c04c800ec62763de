# SPDX-License-Identifier: Apache-2.0
"""The frame of every JSON file the tool writes."""

import json
import platform as host
from pathlib import Path
from typing import Any

from bhtool import VERSION


def document(schema: str, content: dict[str, Any], depends: dict[str, str] | None = None) -> dict[str, Any]:
    """`depends`: versions of what else the result depends on."""
    versions = {"bulkhead": VERSION, "python": host.python_version(), **(depends or {})}
    return {"schema": f"bulkhead/{schema}-v1", "versions": versions, **content}


def write(path: Path, whole: dict[str, Any] | list[dict[str, Any]]) -> None:
    path.write_text(json.dumps(whole, indent=2) + "\n", encoding="utf-8")


def write_json(path: Path, schema: str, content: dict[str, Any], depends: dict[str, str] | None = None) -> None:
    """One document as a file; see `document`."""
    write(path, document(schema, content, depends))
