# SPDX-License-Identifier: Apache-2.0
"""How Bochs is told to be a machine. It executes all cores in turn on one host thread and counts their instructions as time,
so runs repeat exactly until somebody types. Our own build of it (provision.bochs) keeps RAM in a file.
"""

import os
import re
import select
import socket
import subprocess
import time

from bhtool.children import owned
from bhtool.errors import BulkheadError
from bhtool.machine import bochs_kernel, bochs_network
from bhtool.machine.guest_clock import PageClock
from bhtool.machine.launch import Launch, Requirement, Started, memory_file, path_of
from bhtool.platforms import Medium, Platform
from bhtool.provision import bochs
from bhtool.provision.needs import Versions

START_SECONDS, LOOK_SECONDS = 120.0, 0.1
LOOPBACK = "127.0.0.1"
BLOCK_KIB = 8192  # the largest: Bochs looks every block up among all others when it starts, which takes seconds for small ones
# Bochs' own BIOS, as SeaBIOS leaves all other cores spinning here; nothing is drawn; the clock starts at the same moment every time.
CONFIGURATION = """\
config_interface: textconfig
display_library: nogui
romimage: file=/usr/share/bochs/BIOS-bochs-latest, options=fastboot
vgaromimage: file=/usr/share/seabios/vgabios-stdvga.bin
vga: extension=vbe, update_freq=1, realtime=0
clock: sync=none, time0=946681200
panic: action=fatal
error: action=ignore
info: action=ignore
debug: action=ignore
log: -
"""


def requirement(platform: Platform) -> Requirement:
    return Requirement(f"Bochs {bochs.VERSION}, built by `tools/bulkhead setup`", bochs.lacking(), "run `tools/bulkhead setup` to build it")


def versions(_: Platform) -> Versions:
    return {"bochs": bochs.VERSION}


def start(launch: Launch) -> Started:
    image = memory_file(launch.stack, "image", medium_of(launch))
    listeners = {label: listen(launch) for label in launch.platform.emulator.serials}
    network, files = bochs_network.lines(launch)
    lines = configuration(launch, path_of(image), [one.getsockname()[1] for one in listeners.values()], network)
    rc = memory_file(launch.stack, "bochsrc", lines.encode())
    clock = memory_file(launch.stack, "clock", bytes(8))
    described = (f"BULKHEAD_RAM={launch.ram}", f"BULKHEAD_CLOCK={clock}")
    command = owned(["env", *described, str(bochs.program()), "-q", "-f", path_of(rc)])
    fds = (launch.ram, image, rc, clock, *files)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=launch.errors, stderr=launch.errors, pass_fds=fds, process_group=0)
    for label, listener in listeners.items():
        launch.serials[label] = connected(launch, listener, process)
    return Started(process, PageClock(clock))


def medium_of(launch: Launch) -> bytes:
    """The disc to start from: the image itself, or what enters an image that lies in RAM already."""
    if launch.medium != "kernel":
        return launch.image
    platform = launch.platform
    return bochs_kernel.boot_disk(bochs_kernel.load(launch.image, launch.ram, platform.ram_base, platform.ram_size))


def configuration(launch: Launch, image: str, ports: list[int], network: list[str]) -> str:
    """The text of its configuration file."""
    size = launch.platform.ram_size >> 20
    serials = [f"com{n}: enabled=1, mode=socket-client, dev={LOOPBACK}:{port}" for n, port in enumerate(ports, 1)]
    memory = f"memory: guest={size}, host={size}, block_size={BLOCK_KIB}"
    lines = [memory, *boot_lines(launch.medium, image), *serials]
    return CONFIGURATION + "\n".join([*lines, *launch.platform.emulator.arguments, *network, *launch.extra]) + "\n"


def boot_lines(medium: Medium, image: str) -> list[str]:
    disc, kind = ("cdrom", "type=cdrom, status=inserted") if medium == "cdrom" else ("disk", "type=disk, mode=flat")
    return [f"boot: {disc}", "ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14", f"ata0-master: {kind}, path={image}"]


def listen(launch: Launch) -> socket.socket:
    """Bochs connects a serial line when it starts; it waits while a line is full, so that nothing is lost."""
    return launch.stack.enter_context(socket.create_server((LOOPBACK, 0), backlog=1))


def connected(launch: Launch, listener: socket.socket, process: subprocess.Popen[bytes]) -> socket.socket:
    """Our end of a line. A machine that does not get that far says why."""
    deadline = time.monotonic() + START_SECONDS
    while not select.select([listener], [], [], LOOK_SECONDS)[0]:
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            process.wait()
            said = os.pread(launch.errors, 1 << 20, 0).decode("utf-8", "replace")
            raise BulkheadError(f"Bochs did not start: {complaint(said) or 'no reason given'}")
    line, _ = listener.accept()
    line.setblocking(False)
    launch.stack.callback(line.close)
    listener.close()
    return line


def complaint(said: str) -> str:
    """The text after its marker for what ends a machine."""
    found = re.findall(r">>PANIC<<\s*(.*)", said)
    return str(found[0]).strip() if found else ""
