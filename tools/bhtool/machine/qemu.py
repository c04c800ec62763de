# SPDX-License-Identifier: Apache-2.0
"""How QEMU is told to be a machine."""

import os
import socket
import subprocess
import time
from contextlib import ExitStack

from bhtool.children import owned
from bhtool.machine import near_timer, registers, wiring
from bhtool.machine.guest_clock import GuestClock, HostClock, PacketClock
from bhtool.machine.launch import Launch, Requirement, Started, Timing, memory_file, path_of
from bhtool.machine.near_timer import NearTimer
from bhtool.machine.registers import Registers
from bhtool.platforms import Medium, Platform
from bhtool.provision.needs import BUILD_NEEDS, TEST_NEEDS, Need, Versions, dotted, lacking, versions_of

OLDEST = (10, 0)
KEEPS_RECORDS = "intel-iommu"  # a device, and they are in registers alone


def requirement(platform: Platform) -> Requirement:
    program = platform.emulator.program
    need = next((need for need in (*BUILD_NEEDS, *TEST_NEEDS) if need.probe == program), None)
    if need is None:  # of a board that nothing here runs
        own = Need("", program, "emulator", OLDEST)
        return Requirement(f"{program} {dotted(OLDEST)} or newer", lacking(own), "install it: `tools/bulkhead setup` does not")
    text = f"{need.probe} {dotted(need.minimum)} or newer (Debian: {need.package})"
    return Requirement(text, lacking(need), f"run `tools/bulkhead setup` to install {need.package}")


def versions(platform: Platform) -> Versions:
    return versions_of(platform.emulator.program)


def start(launch: Launch) -> Started:
    lines, far_ends = serial_lines(launch)
    image = memory_file(launch.stack, "image", launch.image)
    emulator, size = launch.platform.emulator, launch.platform.ram_size
    memory = f"memory-backend-file,id=ram,size={size},mem-path={path_of(launch.ram)},share=on"
    clock, clock_options, clock_ends = guest_clock(launch)
    near, near_options, near_ends = near_timer_of(launch)
    records, records_options, records_ends = registers_of(launch)
    command = owned([emulator.program, *emulator.arguments, "-m", f"{size >> 20}M", "-object", memory])
    command += [
        *lines,
        *timing_options(launch.timing),
        *clock_options,
        *near_options,
        *records_options,
        "-nodefaults",
        "-display",
        "none",
        "-monitor",
        "none",
    ]
    command += wiring.options(launch.platform, launch.wiring)
    command += [*boot_options(launch.medium, path_of(image)), *launch.extra]
    inherited = (*far_ends, *clock_ends, *near_ends, *records_ends)
    fds = (launch.ram, image, *inherited)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=launch.errors, stderr=launch.errors, pass_fds=fds, process_group=0)
    for end in inherited:
        os.close(end)
    return Started(process, clock, near, records)


def timing_options(timing: Timing) -> list[str]:
    if timing.icount_shift is None:
        return []
    return ["-icount", f"shift={timing.icount_shift},sleep=off", *(["-accel", "tcg,one-insn-per-tb=on"] if timing.single_step else [])]


def boot_options(medium: Medium, path: str) -> list[str]:
    if medium == "kernel":
        return ["-kernel", path, "-no-reboot"]  # a machine that resets itself has ended; firmware may
    # Firmware looks there first, and not on the discs or in the networks that the board is fitted with.
    device = "ide-cd,bus=ide.0" if medium == "cdrom" else "virtio-blk-pci"
    drive = f"if=none,id=medium,format=raw,readonly=on,file={path}"
    return ["-drive", drive, "-device", f"{device},drive=medium,bootindex=0"]


def serial_lines(launch: Launch) -> tuple[list[str], list[int]]:
    """QEMU's options for its serial lines, and the ends of them it is to inherit. A device of its own names its line by the label."""
    options: list[str] = []
    far_ends: list[int] = []
    for label in launch.platform.emulator.serials:
        launch.serials[label], far = connection(launch.stack, socket.SOCK_STREAM)
        far_ends.append(far)
        options += ["-chardev", f"socket,id={label},fd={far}"]
        if not any(one.endswith(f",chardev={label}") for one in launch.platform.emulator.arguments):
            options += ["-serial", f"chardev:{label}"]
    return options, far_ends


def connection(stack: ExitStack, kind: socket.SocketKind) -> tuple[socket.socket, int]:
    """Our end, which does not block, and the end for QEMU."""
    near, far = socket.socketpair(type=kind)
    near.setblocking(False)
    stack.callback(near.close)
    return near, far.detach()


def guest_clock(launch: Launch) -> tuple[GuestClock, list[str], list[int]]:
    """The clock of the machine, QEMU's options for it, and the descriptors it is to inherit.

    Where instructions are counted, a network of two hub ports, without a guest: filter-dump stamps the packets that come from us with the virtual
    clock, from the moment on that the machine's real-time clock says at reset (QEMU, net/dump.c). That one begins with the host's time, whole
    seconds, and counts virtual time, so the moment is known.
    """
    if launch.timing.icount_shift is None:
        return HostClock(), [], []
    network, far = connection(launch.stack, socket.SOCK_DGRAM)
    packets, pipe = os.pipe2(os.O_NONBLOCK)
    launch.stack.callback(os.close, packets)
    start = time.gmtime()
    options = ["-rtc", f"base={time.strftime('%Y-%m-%dT%H:%M:%S', start)},clock=vm"]
    options += ["-netdev", f"dgram,id=clock,local.type=fd,local.str={far}", "-netdev", "hubport,id=clock-in,hubid=0,netdev=clock"]
    options += ["-netdev", "hubport,id=clock-out,hubid=0", "-object", f"filter-dump,id=clock-dump,netdev=clock,file={path_of(pipe)}"]
    return PacketClock(network, packets, int(time.mktime(start))), options, [far, pipe]


def near_timer_of(launch: Launch) -> tuple[NearTimer | None, list[str], list[int]]:
    """As guest_clock."""
    if launch.timing.icount_shift is None:
        return None, [], []
    line, far = connection(launch.stack, socket.SOCK_STREAM)
    return NearTimer(line), near_timer.options(far), [far]


def registers_of(launch: Launch) -> tuple[Registers | None, list[str], list[int]]:
    """As guest_clock."""
    if not any(one.startswith(KEEPS_RECORDS) for one in launch.platform.emulator.arguments):
        return None, [], []
    line, far = connection(launch.stack, socket.SOCK_STREAM)
    return Registers(line), registers.options(far), [far]


def complaint(said: str) -> str:
    """Its warnings are of the clock's network, which has no guest."""
    return next((line.strip() for line in said.splitlines() if line.strip() and ": warning: " not in line), "")
