# SPDX-License-Identifier: Apache-2.0
"""A folder to begin with: a partition file, for `guest` a program in C and the SDK, and what an editor needs to complete and judge partition files.

The editor's part is for the Devicetree language server (npm: devicetree-language-server; Visual Studio Code: "Devicetree LSP"), which knows schemas
as the Linux kernel writes them. It is given the bindings in dts/bindings, and a file that names the board, as BOARD_DTSI does.
"""

import json
from collections.abc import Callable
from pathlib import Path

from bhtool import paths
from bhtool.delivery.sdk import SOURCES, refuse_links, write_sdk
from bhtool.errors import BulkheadError, Status
from bhtool.image.payloads import Report
from bhtool.platforms import Platform

PARTITION = "partition.dts"
BINDINGS = paths.ROOT / "dts" / "bindings"
Files = dict[str, str]


def copied(*places: tuple[Path, str]) -> Callable[[], Files]:
    return lambda: {name: path.read_text(encoding="utf-8") for path, name in places}


EXAMPLE = SOURCES / "example"
TEMPLATE_FILES = paths.ROOT / "dts" / "templates"  # that are nobody's example besides
TEMPLATES: dict[str, tuple[str, Callable[[], Files]]] = {
    "native": ("real-time sandboxes alone", copied((paths.PARTITIONS / "native.dts", PARTITION))),
    "linux": ("two real-time sandboxes beside Debian Linux", copied((paths.PARTITIONS / "mixed.dts", PARTITION))),
    "channels": (
        "channels between real-time sandboxes and Debian Linux, one of each kind",
        copied((TEMPLATE_FILES / "channels.dts", PARTITION)),
    ),
    "guest": (
        "a program of your own in C, and the SDK it is built with",
        copied((EXAMPLE / "hello.dts", PARTITION), (EXAMPLE / "hello.c", "hello.c"), (EXAMPLE / "Makefile", "Makefile")),
    ),
}


def editor_files(folder: Path, platform: Platform) -> Files:
    """Settings of the language server, and the file it begins with."""
    context = f".bulkhead/{platform.name}.dts"
    board = f'/* The board, for the editor: `tools/bulkhead` names it itself. */\n#define BOARD_DTSI "{platform.board}"\n#include "../{PARTITION}"\n'
    settings = {
        "devicetree.defaultBindingType": "DevicetreeOrg",
        "devicetree.defaultDeviceOrgTreeBindings": [str(BINDINGS)],
        "devicetree.contexts": [
            {"ctxName": platform.name, "dtsFile": str(folder.resolve() / context), "includePaths": [str(platform.board.parent)]}
            | {"bindingType": "DevicetreeOrg", "deviceOrgTreeBindings": [str(BINDINGS)]}
        ],
    }
    return {context: board, ".vscode/settings.json": json.dumps(settings, indent=2) + "\n"}


def files_of(folder: Path, template: str, platform: Platform) -> Files:
    """What is to be written. Raises if some of it is there already, a dangling link too, or would land elsewhere."""
    files = TEMPLATES[template][1]() | editor_files(folder, platform)
    if there := [name for name in files if (folder / name).exists()]:
        raise BulkheadError(f"{folder / there[0]} is there already; name another folder", Status.USAGE)
    refuse_links(folder, [*files, "sdk"] if template == "guest" else files)
    return files


def write_new(folder: Path, template: str, platform: Platform, report: Report) -> list[str]:
    """The names of what was written, of the SDK its folder's. Raises if one of them is there already: nothing is written over."""
    files = files_of(folder, template, platform)
    if template == "guest":
        write_sdk(folder / "sdk", report)
        files["Makefile"] = files["Makefile"].replace("$(abspath ../lib/pkgconfig)", "$(abspath sdk/lib/pkgconfig)")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return [*files, *(["sdk/"] if template == "guest" else [])]
