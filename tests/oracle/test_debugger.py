# SPDX-License-Identifier: Apache-2.0
"""BH-E1.oracle. The debugger's protocol against a machine that is a few canned answers: descriptions in pieces, packets in pieces, little-endian values."""

import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from bhtool.errors import BulkheadError
from bhtool.oracle.debugger import Debugger

TARGET = '<target><xi:include href="core.xml"/><xi:include href="system.xml"/></target>'
FILES = {
    "target.xml": TARGET,
    "core.xml": '<feature><reg name="x0" bitsize="64" type="int" regnum="0"/></feature>',
    "system.xml": '<feature><reg name="VTTBR_EL2" bitsize="64" regnum="221" type="int"/><reg name="VTCR_EL2" bitsize="64" regnum="222"/></feature>',
}
PIECE = 40
PHYSICAL = {"Qqemu.PhyMemMode:1": "OK", "Qqemu.PhyMemMode:0": "OK", "m9050020,4": "05000000", "m9060000,8": "E14"}
VALUES = PHYSICAL | {"pdd": "00d0084100000200", "pde": "5935028000000000"}


def answer(command: str) -> str:
    if found := re.match(r"qXfer:features:read:([\w.]+):(\w+),", command):
        text, start = FILES[found[1]], int(found[2], 16)
        return ("m" if start + PIECE < len(text) else "l") + text[start : start + PIECE]
    if command.startswith("Hg"):
        return "OK" if command == "Hg2" else "E22"
    return VALUES.get(command, "")


def serve(listener: socket.socket) -> None:
    line, _ = listener.accept()
    with line:
        while data := line.recv(4096):
            for command in re.findall(r"\$([^#]*)#..", data.decode()):
                text = answer(command)
                packet = f"+${text}#{sum(text.encode()) & 0xFF:02x}".encode()
                line.sendall(packet[:3])
                line.sendall(packet[3:])


@pytest.fixture
def port(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "port"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        yield path
        thread.join(10)


def test_registers(port: Path) -> None:
    debugger = Debugger(port)
    assert debugger.read(1, ["VTTBR_EL2", "VTCR_EL2", "HCR_EL2"]) == {"VTTBR_EL2": 0x000200004108D000, "VTCR_EL2": 0x80023559}
    with pytest.raises(BulkheadError, match="no core 2"):
        debugger.read(2, ["VTTBR_EL2"])
    debugger.close()


def test_physical_memory(port: Path) -> None:
    """As registers of an IOMMU are read."""
    debugger = Debugger(port)
    assert debugger.peek(0x9050020, 4) == 5
    with pytest.raises(BulkheadError, match="nothing at 0x9060000 to read"):
        debugger.peek(0x9060000, 8)
    debugger.close()
