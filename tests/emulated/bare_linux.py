# SPDX-License-Identifier: Apache-2.0
"""Debian's kernel on a bare emulator, without a monitor, and somebody who types at its console."""

import re
import select
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bhtool.config.rootfs.listing import names_in
from bhtool.config.rootfs.modules import modules_archive
from bhtool.config.rootfs.pack import compressed
from bhtool.image import payloads
from bhtool.machine.emulated import Machine
from bhtool.machine.wiring import Wiring
from bhtool.platforms import Fitted, Platform, load

from tests.emulated.scene import silent

KERNELS = {"qemu-svm": "linux-image-amd64"}  # where the platform's own has no driver for a card or a disc
WORDS = {
    "qemu-svm": "amd_iommu=off"
}  # QEMU's AMD-Vi does not remap what its I/O APIC sends: with it Linux' timer does not arrive, and it panics
CONSOLES = {"qemu-svm": "ttyS0"}
NICS = tuple(Fitted(f"nic{number}", "e1000e", f"{5 + number:#x}") for number in range(4))
DISCS = (Fitted("disk0", "nvme", "0x9"),)
COLOURS = re.compile(rb"\x1b\[[?0-9;]*[a-zA-Z]")


def fitted(name: str) -> Platform:
    """A platform with cards and a disc."""
    return replace(load(name), nics=NICS, discs=DISCS)


@dataclass
class Console:
    machine: Machine
    said: bytes = b""

    def until(self, words: bytes, limit: float) -> bytes:
        """What was said up to the words, of which nothing comes again."""
        line, end = self.machine.serials["uart0"], time.monotonic() + limit
        while words not in self.said:
            left = end - time.monotonic()
            assert left > 0, f"not within {limit:.0f} s: {words!r}; at last: {self.said[-500:]!r} {self.machine.complaint()}"
            if select.select([line], [], [], min(left, 1.0))[0]:
                heard = line.recv(1 << 16)
                assert heard, f"the machine ended: {self.said[-500:]!r} {self.machine.complaint()}"
                self.said += heard
        before, _, self.said = self.said.partition(words)
        return before

    def type(self, text: str) -> None:
        self.machine.serials["uart0"].sendall(f"{text}\n".encode())

    def run(self, command: str, limit: float = 60.0) -> str:
        """What a shell's command prints."""
        self.type(f"echo BEG''IN; {command}; echo E''ND")
        self.until(b"BEGIN\r\n", limit)
        return COLOURS.sub(b"", self.until(b"END\r\n", limit)).decode("utf-8", "replace").replace("\r", "")


@contextmanager
def linux(platform: Platform, wiring: Wiring, folder: Path, modules: list[str], arguments: str = "") -> Iterator[Console]:
    """Boots the tool's own root file system, with modules."""
    package = KERNELS.get(platform.name, "")
    kernel, store = payloads.kernel(platform, silent, package), payloads.modules(platform, silent, package)
    root = payloads.initramfs(platform, silent).read_bytes()
    initrd = folder / "initrd"
    initrd.write_bytes(root + bytes(-len(root) % 4) + compressed(modules_archive(store, modules, names_in(root) or set())))
    words = f"console={CONSOLES.get(platform.name, 'ttyAMA0')} quiet {WORDS.get(platform.name, '')} {arguments}"
    with Machine(platform, kernel.read_bytes(), extra=("-initrd", str(initrd), "-append", words), wiring=wiring) as machine:
        yield Console(machine)
