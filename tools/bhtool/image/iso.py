# SPDX-License-Identifier: Apache-2.0
"""A disc that boots on PCs through GRUB, with BIOS and with UEFI firmware: the monitor, and all payload as its boot module."""

import tempfile
from pathlib import Path

from bhtool.config.plan import Plan
from bhtool.image import loadable
from bhtool.image.module import with_module
from bhtool.image.tools import put, run_tool

MONITOR, MODULE = "/boot/bulkhead.elf", "/boot/payload.bin"
CONFIGURATION = f"""\
set timeout=0
menuentry "Bulkhead" {{
	multiboot2 {MONITOR}
	module2 {MODULE}
}}
"""


def iso(monitor: bytes, plan: Plan) -> bytes:
    """The disc for a valid plan."""
    bare, module = with_module(plan)
    return make_disc({MONITOR: loadable.compose(monitor, bare), MODULE: module})


def make_disc(files: dict[str, bytes], configuration: str = CONFIGURATION) -> bytes:
    """A bootable disc with these files beside GRUB's own."""
    with tempfile.TemporaryDirectory(prefix="bulkhead-") as name:
        folder = Path(name)
        put(folder, "tree/boot/grub/grub.cfg", configuration)
        for path, content in files.items():
            put(folder, f"tree{path}", content)
        run_tool("grub-mkrescue", "-o", "disc.iso", "tree", folder=folder)
        return (folder / "disc.iso").read_bytes()
