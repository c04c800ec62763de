# SPDX-License-Identifier: Apache-2.0
"""What a board keeps from every sandbox, whatever a partition file or a board tree says: read from platforms/NAME/board.h, which the monitor is
built from and judges partition tables by when it starts.
"""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from bhtool import paths
from bhtool.abi import lib
from bhtool.config.machine import BoardPrivate
from bhtool.config.span import Span
from bhtool.errors import BulkheadError, Status

LISTS = (
    "BOARD_RAM",
    "BOARD_RESERVED_RAM",
    "BOARD_PRIVATE_SPANS",
    "BOARD_PRIVATE_PORTS",
    "BOARD_PRIVATE_LINES",
    "BOARD_PCI_WINDOW",
    "BOARD_PCI_PORTS",
)
IMAGE = "BOARD_IMAGE_AT"  # PCs have none: their image is always linked for the same address
IOMMU = "BOARD_IOMMU"  # of boards that have one: kind, registers, and the PCI function that it is itself
MAY_BE_ABSENT = (IMAGE, IOMMU)
MACROS = (*LISTS, "BOARD_PCI_PORTS_AT", *MAY_BE_ABSENT)
_PAIR = re.compile(r"\{([^{},]*),([^{},]*)\}")
_IOMMU = re.compile(r"\{\s*(BH_IOMMU_\w+)\s*,([^{},]*)(?:,([^{},]*))?\}")
_SUM = re.compile(r"(0x[0-9a-f]+|\d+)(?:\+(0x[0-9a-f]+|\d+))*")


@functools.cache
def read_private(board_name: str) -> BoardPrivate:
    """Raises BulkheadError where the header does not compile, or writes an address in a way that is not read here."""
    header = paths.PLATFORMS / board_name / "board.h"
    *lists, ports_at, image, iommu = _expanded(header)
    ram, reserved, registers, ports, lines, windows, pci_ports = (tuple(_spans(header, text)) for text in lists)
    if start := _number(header, ports_at):  # there they are memory
        windows = *windows, *(Span(start + one.start, one.size) for one in pci_ports)
    image_at = _number(header, image) if image else None
    return BoardPrivate(board_name, ram, reserved, registers, ports, lines, windows, pci_ports, _iommu(header, iommu), image_at)


def _expanded(header: Path) -> list[str]:
    """What each macro stands for."""
    source = f'#include "{header}"\n' + "".join(f'"{name}" {name}\n' for name in MACROS)
    # The guard keeps clang's own stdint.h empty: UINT64_C(0) stays as it is written.
    command = ["clang-19", "-E", "-P", "-ffreestanding", "-D__CLANG_STDINT_H", f"-I{paths.ROOT}", "-x", "c", "-"]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    found = [re.search(rf'^"{name}"(.*)$', done.stdout, re.MULTILINE) for name in MACROS]
    if done.returncode or not all(found):
        raise BulkheadError(f"{header} cannot be read: {(done.stderr.splitlines() or ['a macro is missing'])[0]}", Status.FAILED)
    texts = {name: one[1].strip() for name, one in zip(MACROS, found, strict=True) if one}
    if missing := [name for name, text in texts.items() if text == name and name not in MAY_BE_ABSENT]:
        raise BulkheadError(f"{header} does not define {missing[0]}", Status.FAILED)
    return ["" if text == name else text for name, text in texts.items()]


def _spans(header: Path, text: str) -> Iterator[Span]:
    """Of pairs in braces, with commas between."""
    if rest := _PAIR.sub("", text).replace(",", "").strip():
        raise BulkheadError(f"{header} writes {rest!r} where pairs of numbers in braces are expected", Status.FAILED)
    for start, size in _PAIR.findall(text):
        yield Span(_number(header, start), _number(header, size))


def _iommu(header: Path, text: str) -> tuple[int, int, int] | None:
    """As struct board_iommu is initialized."""
    if not text:
        return None
    found = _IOMMU.fullmatch(text)
    if not found or not hasattr(lib, found[1]):
        raise BulkheadError(f"{header} writes {text!r} where an IOMMU is expected: {{ BH_IOMMU_SMMUV3, 0x9050000 }}", Status.FAILED)
    return int(getattr(lib, found[1])), _number(header, found[2]), _number(header, found[3] or "0")


def _number(header: Path, text: str) -> int:
    """Of literals and their sums."""
    plain = re.sub(r"uint64_c|[\s()]|u?ll\b", "", text.lower())
    if not _SUM.fullmatch(plain):
        raise BulkheadError(f"{header} writes {text.strip()!r} where a sum of numbers is expected", Status.FAILED)
    return sum(int(one, 0) for one in plain.split("+"))
