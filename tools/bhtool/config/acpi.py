# SPDX-License-Identifier: Apache-2.0
"""The least ACPI a stock Linux needs in an x86 sandbox: its own local APICs, the I/O APIC as its monitor shows it, its UARTs, and a way to switch itself off.

0x1c000 RSDP   0x1c100 XSDT   0x1c200 FADT   0x1c400 MADT   0x1c600 MCFG   0x1d000 DSDT      structures: ACPI 6.3, chapter 5.2
"""

from __future__ import annotations

import struct
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from bhtool.config.channel_places import View
from bhtool.config.machine import Wire
from bhtool.config.payload import Piece
from bhtool.config.span import Span
from bhtool.errors import BulkheadError, Status

ACPI, ACPI_END = 0x1C000, 0x20000
RSDP, XSDT, FADT, MADT, MCFG, DSDT = ACPI, 0x1C100, 0x1C200, 0x1C400, 0x1C600, 0x1D000
LOCAL_APIC_BASE, IO_APIC_BASE = 0xFEE00000, 0xFEC00000
# The monitor takes a write here as the sandbox's own reset (1) or power-off (SLP_TYP 5 and SLP_EN); 0x605 is its status.
SLEEP_PORT, SLEEP_STATUS_PORT, RESET_VALUE = 0x604, 0x605, 1
OEM, CREATOR = b"BLKHD ", b"BLKH"


@dataclass(frozen=True)
class Port:
    """I/O ports of one 16550 UART, and its line; without one it is polled."""

    first: int
    count: int
    wires: tuple[Wire, ...] = ()


@dataclass(frozen=True)
class Bus:
    """The PCI buses of a sandbox that owns functions: where their registers are, and of its own functions the windows and lines."""

    configuration: Span | None  # None: behind ports alone
    last: int  # bus
    memory: tuple[Span, ...]
    ports: tuple[Span, ...]
    routes: tuple[tuple[int, int, Wire], ...]  # device, pin from 0, line


def acpi_pieces(apic_ids: list[int], uarts: list[Port], bus: Bus | None, channels: Sequence[View] = ()) -> list[Piece]:
    """Every table at its place. apic_ids: boot core first."""
    mcfg = [Piece("ACPI MCFG", MCFG, _mcfg(bus.configuration, bus.last))] if bus and bus.configuration else []
    listed = (FADT, MADT, *([MCFG] if mcfg else []))
    has_lines = any(uart.wires for uart in uarts) or bool(bus and bus.routes) or any(one.line for one in channels)
    return [
        Piece("ACPI RSDP", RSDP, _rsdp()),
        Piece("ACPI XSDT", XSDT, _table(b"XSDT", 1, b"".join(struct.pack("<Q", one) for one in listed))),
        Piece("ACPI FADT", FADT, _fadt()),
        Piece("ACPI MADT", MADT, _madt(apic_ids, has_lines)),
        *mcfg,
        Piece("ACPI DSDT", DSDT, _dsdt(uarts, bus, channels)),
    ]


def _sum_to_zero(table: bytearray, offset: int, length: int) -> bytes:
    table[offset] = 0
    table[offset] = -sum(table[:length]) & 0xFF
    return bytes(table)


def _table(signature: bytes, revision: int, body: bytes) -> bytes:
    """5.2.6 "System Description Table Header", then the body."""
    header = struct.pack("<4sIBB6s8sI4sI", signature, 36 + len(body), revision, 0, OEM, b"SANDBOX ", 1, CREATOR, 1)
    return _sum_to_zero(bytearray(header + body), 9, 36 + len(body))


def _rsdp() -> bytes:
    """5.2.5.3 "Root System Description Pointer (RSDP) Structure", two checksums."""
    table = bytearray(struct.pack("<8sB6sBIIQB3x", b"RSD PTR ", 0, OEM, 2, 0, 36, XSDT, 0))
    _sum_to_zero(table, 8, 20)
    return _sum_to_zero(table, 32, 36)


def _madt(apic_ids: list[int], has_lines: bool) -> bytes:
    """5.2.12 "Multiple APIC Description Table (MADT)": enabled processor local APICs, and the I/O APIC, whose pins are the first interrupts."""
    entries = [struct.pack("<BBBBI", 0, 8, uid, apic_id, 1) for uid, apic_id in enumerate(apic_ids)]
    if has_lines:
        entries.append(struct.pack("<BBBBII", 1, 12, 0, 0, IO_APIC_BASE, 0))
    return _table(b"APIC", 5, struct.pack("<II", LOCAL_APIC_BASE, 0) + b"".join(entries))


def _port_register(port: int) -> bytes:
    """5.2.3.2 "Generic Address Structure": one byte of system I/O space."""
    return struct.pack("<BBBBQ", 1, 8, 0, 1, port)


def _fadt() -> bytes:
    """5.2.9 "Fixed ACPI Description Table (FADT)", revision 6, hardware-reduced: no timers, no fixed events."""
    table = bytearray(276)

    def put(offset: int, data: bytes) -> None:
        table[offset : offset + len(data)] = data

    put(40, struct.pack("<I", DSDT))
    put(109, struct.pack("<H", 1 << 2 | 1 << 5))  # IAPC_BOOT_ARCH: no VGA, no CMOS clock
    # WBINVD, PROC_C1, no power and sleep button, RESET_REG_SUP, HW_REDUCED_ACPI
    put(112, struct.pack("<I", 1 << 0 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 10 | 1 << 20))
    put(116, _port_register(SLEEP_PORT) + bytes([RESET_VALUE]))  # RESET_REG, RESET_VALUE
    put(131, bytes([3]))  # minor version
    put(140, struct.pack("<Q", DSDT))
    put(244, _port_register(SLEEP_PORT) + _port_register(SLEEP_STATUS_PORT))
    return _table(b"FACP", 6, bytes(table[36:]))


def _mcfg(configuration: Span, last: int) -> bytes:
    """PCI Firmware Specification 3.0, 4.1.2 "MCFG Table Description": segment 0, the buses that exist."""
    return _table(b"MCFG", 1, bytes(8) + struct.pack("<QHBB4x", configuration.start, 0, 0, last))


def _dsdt(uarts: list[Port], bus: Bus | None, channels: Sequence[View]) -> bytes:
    template = Path(__file__).with_name("dsdt.asl.j2").read_text()
    source = jinja2.Template(template, trim_blocks=True, undefined=jinja2.StrictUndefined).render(uarts=uarts, bus=bus, channels=channels)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "dsdt.asl").write_text(source)
        try:
            command = ["iasl", "-p", str(path / "dsdt"), str(path / "dsdt.asl")]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        except FileNotFoundError as missing:
            raise BulkheadError("iasl is missing; run `tools/bulkhead setup`", Status.MISSING) from missing
        if done.returncode:
            raise BulkheadError(f"iasl refused the sandbox's DSDT: {done.stdout.strip()}")
        return (path / "dsdt.aml").read_bytes()
