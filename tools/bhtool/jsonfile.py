# SPDX-License-Identifier: Apache-2.0
"""The frame of every JSON file the tool writes."""

import json
import platform as host
from pathlib import Path
from typing import Any

from bhtool import VERSION
from bhtool.provision.needs import dotted, program_version


def write_json(path: Path, schema: str, content: dict[str, Any], programs: tuple[str, ...] = ()) -> None:
    """`programs`: what else the result depends on, by the name of its executable."""
    versions = {"bulkhead": VERSION, "python": host.python_version()}
    versions |= {program: dotted(program_version(program)) for program in programs}
    document = {"schema": f"bulkhead/{schema}-v1", "versions": versions, **content}
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
