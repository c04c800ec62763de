# SPDX-License-Identifier: Apache-2.0
"""What Bochs' network cards are connected to (wiring.py), in its words: to its own copy of slirp, or to nothing."""

from bhtool.machine.launch import Launch, memory_file, path_of
from bhtool.machine.wiring import GUEST, Network

FIRST_SLOT = 2  # of PCI: what Bochs calls slot 1
MAC = "52:54:00:12:34:{:02x}"  # as QEMU gives them
FIRST_MAC = 0x56
NOTHING = "/dev/null"  # below which no file is: a guest may ask for files by TFTP


def lines(launch: Launch) -> tuple[list[str], list[int]]:
    """Of the configuration file, and files that they name and Bochs has to inherit."""
    found: list[str] = []
    files: list[int] = []
    for number, card in enumerate(launch.platform.nics):
        network = launch.wiring.networks.get(card.name, Network())
        end = "ethmod=null"
        if network.follows_host:
            files.append(memory_file(launch.stack, card.name, script(network).encode()))
            end = f"ethmod=slirp, ethdev={NOTHING}, script={path_of(files[-1])}"
        found.append(f"pci: slot{int(card.addr) - FIRST_SLOT + 1}={card.model}")
        found.append(f"{card.model}: card={number}, type=pci, mac={MAC.format(FIRST_MAC + number)}, {end}")
    return found, files


def script(network: Network) -> str:
    """slirp's options. Without IPv6: Bochs never lets timers of slirp's expire, and routers are made known by one."""
    forwards = [f"hostfwd = tcp:127.0.0.1:{host}-{GUEST}:{guest}" for host, guest in network.forwards]
    return "\n".join(["# slirp config", f"restricted = {int(network.kind == 'user')}", "ipv6_enabled = 0", *forwards, ""])
