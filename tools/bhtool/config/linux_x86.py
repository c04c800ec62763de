# SPDX-License-Identifier: Apache-2.0
"""Linux on x86: a stock bzImage entered at its 64-bit entry point, as Documentation/arch/x86/boot.rst describes.

0 BIOS data   0x10000 boot_params   0x11000 command line   0x12000 entry area   0x1c000..0x1ffff ACPI   16 MiB kernel, then initrd
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from bhtool.config.acpi import ACPI, ACPI_END, Bus, Port, acpi_pieces
from bhtool.config.channel_places import View
from bhtool.config.machine import Device
from bhtool.config.payload import Payload, PayloadError, Piece, Room
from bhtool.config.span import align_up
from bhtool.config.x86_entry import ENTRY_AREA, STACK, entry_pieces
from bhtool.text import MIB, size_text

NOT_A_KERNEL, WRONG_MACHINE, TOO_BIG, ARGUMENTS_LONG = "BH-R061", "BH-R062", "BH-R065", "BH-R013"
ZERO_PAGE, COMMAND_LINE, KERNEL = 0x10000, 0x11000, 0x1000000
COMMAND_LINE_BYTES = 0x1000
LOW_END = 0xA0000
# BIOS data area: the word at 0x40E is the extended one's segment, that at 0x413 counts KiB.
BIOS_KIB, BIOS_DATA_END = 0x413, 0x500
CLOCK_DIGITS = 10
TTY = {0x3F8: 0, 0x2F8: 1, 0x3E8: 2, 0x2E8: 3}  # Linux arch/x86/include/asm/serial.h, SERIAL_PORT_DFNS

# boot.rst, "The Real-Mode Kernel Header"; offsets in the file and in boot_params.
SETUP_SECTS, MAGIC, VERSION, TYPE_OF_LOADER, LOADFLAGS = 0x1F1, 0x202, 0x206, 0x210, 0x211
CODE32_START, RAMDISK_IMAGE, CMD_LINE_PTR, XLOADFLAGS, CMDLINE_SIZE, INIT_SIZE = 0x214, 0x218, 0x228, 0x236, 0x238, 0x260
XLF_KERNEL_64, LOADED_HIGH, UNDEFINED_LOADER = 1, 1, 0xFF
# Documentation/arch/x86/zero-page.rst
ACPI_RSDP_ADDR, E820_ENTRIES, E820_TABLE = 0x070, 0x1E8, 0x2D0
E820_RAM, E820_RESERVED = 1, 2


def linux_x86_payload(
    kernel: bytes,
    initrd: bytes,
    name: str,
    bootargs: str,
    apic_ids: list[int],
    uarts: list[Port],
    bus: Bus | None,
    room: Room,
    console: str = "",
    channels: Sequence[View] = (),
) -> Payload:
    """`console`: what the kernel is told of it; nothing: the first of `uarts`. Raises PayloadError when the kernel cannot be entered or does not fit."""
    _check_kernel(kernel, name)
    loaded = kernel[_setup_bytes(kernel) :]
    kernel_bytes = max(struct.unpack_from("<I", kernel, INIT_SIZE)[0], len(loaded))
    initrd_gpa = align_up(KERNEL + kernel_bytes, 0x200000)
    if not room.holds(KERNEL, kernel_bytes) or not room.holds(initrd_gpa, len(initrd)):
        raise PayloadError(
            TOO_BIG, f"`{name}` and its initrd need {size_text(align_up(initrd_gpa + len(initrd), MIB))}, RAM is {size_text(room.size)}"
        )
    line = command_line(bootargs, uarts, console, by_ports=bool(bus and not bus.configuration))
    most = min(COMMAND_LINE_BYTES, struct.unpack_from("<I", kernel, CMDLINE_SIZE)[0]) - 1
    if len(line) > most:
        raise PayloadError(ARGUMENTS_LONG, f"the kernel command line is {len(line)} bytes long, {most} fit", "bootargs")
    pieces = [
        Piece("BIOS data", 0, _bios_data()),
        Piece("boot parameters", ZERO_PAGE, _zero_page(kernel, initrd_gpa, len(initrd), room)),
        Piece("command line", COMMAND_LINE, line + b"\0"),
        *entry_pieces(),
        *acpi_pieces(apic_ids, uarts, bus, channels),
        Piece(name, KERNEL, loaded),
    ]
    if initrd:
        pieces.append(Piece("initrd", initrd_gpa, initrd))
    clock = COMMAND_LINE + len(line) - CLOCK_DIGITS
    return Payload(pieces, KERNEL + 0x200, ZERO_PAGE, STACK, ENTRY_AREA, clock)


def pci_console(uart: Device, uarts: int) -> str:
    """The address stands for the number, which the driver gives; no more old ports are looked for than there are UARTs.

    Documentation/admin-guide/kernel-parameters.txt, "console=uart[8250],io" and "8250.nr_uarts".
    """
    assert uart.function
    bar = uart.function.bars[0]
    return f"console=uart8250,{'io' if bar.is_ports else 'mmio'},{bar.start:#x},115200n8 8250.nr_uarts={uarts}"


def command_line(bootargs: str, uarts: list[Port], console: str = "", by_ports: bool = False) -> bytes:
    """By ports a kernel reads the bus only if it is told to, or if it finds a chip of the board there. No early look at PCI, for quirks of chips that no sandbox has: 64 exits. Ends in ten blanks after `tsc_early_khz=` for the monitor to fill: only the machine knows its clock."""
    if not console and uarts and uarts[0].first in TTY:
        console = f"console=ttyS{TTY[uarts[0].first]},115200"
    words = [
        *([console] if console else []),
        *([bootargs] if bootargs else []),
        f"pci={'conf1,' if by_ports else ''}noearly",
        "tsc=reliable",
        "reboot=acpi",
        "tsc_early_khz=",
    ]
    return (" ".join(words) + " " * CLOCK_DIGITS).encode()


def _check_kernel(kernel: bytes, name: str) -> None:
    if len(kernel) < 0x1000 or kernel[MAGIC : MAGIC + 4] != b"HdrS":
        raise PayloadError(NOT_A_KERNEL, f"`{name}` is not an x86 Linux kernel (bzImage)")
    version, flags = struct.unpack_from("<H", kernel, VERSION)[0], struct.unpack_from("<H", kernel, XLOADFLAGS)[0]
    if version < 0x20C or not flags & XLF_KERNEL_64:
        raise PayloadError(WRONG_MACHINE, f"`{name}` has no 64-bit entry point (boot protocol 2.12 or newer)")


def _setup_bytes(kernel: bytes) -> int:
    return ((kernel[SETUP_SECTS] or 4) + 1) * 512


def _bios_data() -> bytes:
    """What Linux believes of the memory below 1 MiB, whatever lay there: how many KiB of it there are, and that nobody has reserved an extended area.

    A machine of BIOS keeps vectors and data here. Linux arch/x86/kernel/ebda.c reads both words, and takes what it finds from its own memory.
    """
    data = bytearray(BIOS_DATA_END)
    struct.pack_into("<H", data, BIOS_KIB, LOW_END // 1024)
    return bytes(data)


def _zero_page(kernel: bytes, initrd_gpa: int, initrd_size: int, room: Room) -> bytes:
    page = bytearray(0x1000)
    header_end = 0x202 + kernel[0x201]  # the jump over the header tells its length
    page[SETUP_SECTS:header_end] = kernel[SETUP_SECTS:header_end]
    page[TYPE_OF_LOADER] = UNDEFINED_LOADER
    page[LOADFLAGS] |= LOADED_HIGH
    struct.pack_into("<I", page, CODE32_START, KERNEL)
    struct.pack_into("<II", page, RAMDISK_IMAGE, initrd_gpa if initrd_size else 0, initrd_size)
    struct.pack_into("<I", page, CMD_LINE_PTR, COMMAND_LINE)
    struct.pack_into("<Q", page, ACPI_RSDP_ADDR, ACPI)
    memory = [
        (0, ZERO_PAGE, E820_RAM),
        (ZERO_PAGE, ACPI_END - ZERO_PAGE, E820_RESERVED),
        (ACPI_END, LOW_END - ACPI_END, E820_RAM),
        (0x100000, room.end - 0x100000, E820_RAM),
    ]
    page[E820_ENTRIES] = len(memory)
    for index, entry in enumerate(memory):
        struct.pack_into("<QQI", page, E820_TABLE + 20 * index, *entry)
    return bytes(page)
