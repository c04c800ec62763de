# SPDX-License-Identifier: Apache-2.0
"""How QEMU is told to be a machine."""

import socket
import subprocess

from bhtool.children import owned
from bhtool.jsonfile import Versions, versions_of
from bhtool.machine_launch import Launch, Requirement, Timing, memory_file, path_of
from bhtool.platforms import Medium, Platform
from bhtool.provision.needs import BUILD_NEEDS, dotted, lacking


def requirement(platform: Platform) -> Requirement:
    need = next(need for need in BUILD_NEEDS if need.probe == platform.emulator.program)
    text = f"{need.probe} {dotted(need.minimum)} or newer (Debian: {need.package})"
    return Requirement(text, lacking(need), f"run `tools/bulkhead setup` to install {need.package}")


def versions(platform: Platform) -> Versions:
    return versions_of(platform.emulator.program)


def start(launch: Launch) -> subprocess.Popen[bytes]:
    lines, far_ends = serial_lines(launch)
    image = memory_file(launch.stack, "image", launch.image)
    emulator, size = launch.platform.emulator, launch.platform.ram_size
    memory = f"memory-backend-file,id=ram,size={size},mem-path={path_of(launch.ram)},share=on"
    command = owned([emulator.program, *emulator.arguments, "-m", f"{size >> 20}M", "-object", memory])
    command += [*lines, *timing_options(launch.timing), "-nodefaults", "-display", "none", "-monitor", "none"]
    command += [*boot_options(launch.medium, path_of(image)), *launch.extra]
    fds = (launch.ram, image, *(end.fileno() for end in far_ends))
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=launch.errors, stderr=launch.errors, pass_fds=fds)
    for end in far_ends:
        end.close()
    return process


def timing_options(timing: Timing) -> list[str]:
    if timing.icount_shift is None:
        return []
    return ["-icount", f"shift={timing.icount_shift},sleep=off", *(["-accel", "tcg,one-insn-per-tb=on"] if timing.single_step else [])]


def boot_options(medium: Medium, path: str) -> list[str]:
    if medium == "kernel":
        return ["-kernel", path, "-no-reboot"]  # a machine that resets itself has ended; firmware may
    if medium == "cdrom":
        return ["-drive", f"media=cdrom,format=raw,readonly=on,file={path}"]
    return ["-drive", f"if=virtio,format=raw,readonly=on,file={path}"]


def serial_lines(launch: Launch) -> tuple[list[str], list[socket.socket]]:
    """QEMU's options for its serial lines, and the ends of them it is to inherit."""
    options: list[str] = []
    far_ends: list[socket.socket] = []
    for label in launch.platform.emulator.serials:
        near, far = socket.socketpair()
        near.setblocking(False)
        launch.stack.callback(near.close)
        launch.serials[label] = near
        far_ends.append(far)
        options += ["-chardev", f"socket,id={label},fd={far.fileno()}", "-serial", f"chardev:{label}"]
    return options, far_ends


def complaint(said: str) -> str:
    return next(iter(said.splitlines()), "").strip()
