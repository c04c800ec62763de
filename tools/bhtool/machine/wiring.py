# SPDX-License-Identifier: Apache-2.0
"""What a machine's network cards and discs are connected to: said on the command line, judged here before anything starts, and told to QEMU in its words (to Bochs in bochs_network).

CAN controllers are always connected, to each other. Nothing leaves the host unless that is asked for: `user` is a network of the emulator's own, with an address for the card and nothing behind it, but for forwarded ports.
"""

import errno
import os
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

from bhtool.errors import BulkheadError, Status
from bhtool.platforms import Fitted, Platform
from bhtool.text import all_of, size_text

Kind = Literal["none", "hub", "user", "host"]
KINDS: tuple[Kind, ...] = get_args(Kind)
DEBIAN = "debian"  # a disc of the tool's own
HUB = 7  # QEMU's number of it; 0 has the clock (qemu.guest_clock)
GUEST = "10.0.2.15"  # the first address that QEMU's DHCP server gives
CAN_BUS = "can"  # QEMU's name of it
BOCHS_FORWARDS = 5  # MAX_HOSTFWD of its iodev/network/eth_slirp.cc; it forgets others without a word
SECTOR = 512
EMPTY_BYTES = 1 << 30  # of a disc that nobody gave: it reads as zeros and forgets what is written


@dataclass(frozen=True)
class Network:
    """What one card is connected to."""

    kind: Kind = "none"
    forwards: tuple[tuple[int, int], ...] = ()  # TCP ports: of this host, of the sandbox
    pcap: Path | None = None  # takes every frame

    @property
    def follows_host(self) -> bool:
        """Whether somebody at the other end lives in the host's time."""
        return self.kind in ("user", "host")


@dataclass(frozen=True)
class Disc:
    file: Path
    forgets: bool = False  # what is written, when the machine ends


@dataclass(frozen=True)
class Wiring:
    """By the names that the platform gives its cards and discs; who is not named has nothing."""

    networks: dict[str, Network] = field(default_factory=dict)
    discs: dict[str, Disc] = field(default_factory=dict)

    @property
    def follows_host(self) -> bool:
        return any(one.follows_host for one in self.networks.values())


def networks_of(platform: Platform, kinds: Sequence[str], forwards: Sequence[str], pcaps: Sequence[str]) -> dict[str, Network]:
    """Of `--network NIC=KIND`, `--forward [NIC=]HOST:GUEST` and `--pcap [NIC=]FILE`. Raises BulkheadError."""
    if (kinds or forwards or pcaps) and not platform.nics:
        raise BulkheadError(f"{platform.name} has no network card", Status.USAGE)
    found: dict[str, Network] = {}
    for text in kinds:
        name, kind = _named(text, "--network", "NIC=KIND, such as nic0=user", platform.nics)
        known = next((one for one in KINDS if one == kind), None)
        if known is None:
            raise BulkheadError(f"--network {text}: there is no network {kind!r}; {all_of(KINDS, quote='')}", Status.USAGE)
        if name in found:
            raise BulkheadError(f"--network names {name} twice", Status.USAGE)
        found[name] = Network(known)
    for text in forwards:
        name, ports = _named(_with_name(text, platform), "--forward", "[NIC=]HOST:GUEST, such as 8080:80", platform.nics)
        network = found.setdefault(name, Network("user"))
        if not network.follows_host:
            raise BulkheadError(f"--forward {text}: {name} is connected to {network.kind}; give it --network {name}=user", Status.USAGE)
        found[name] = replace(network, forwards=(*network.forwards, _ports(text, ports)))
    for text in pcaps:
        name, file = _named(_with_name(text, platform), "--pcap", "[NIC=]FILE", platform.nics)
        found[name] = replace(found.get(name, Network()), pcap=_output(text, file))
    _require_apart(found)
    if platform.emulator.kind == "bochs":
        _require_of_bochs(found)
    return found


def discs_of(platform: Platform, texts: Sequence[str]) -> dict[str, str]:
    """File or DEBIAN by name, of `--disk NAME=FILE`. Raises BulkheadError."""
    if texts and not platform.discs:
        raise BulkheadError(f"{platform.name} has no disc", Status.USAGE)
    found: dict[str, str] = {}
    for text in texts:
        name, file = _named(text, "--disk", f"NAME=FILE or NAME={DEBIAN}, such as disk0={DEBIAN}", platform.discs)
        if name in found:
            raise BulkheadError(f"--disk names {name} twice", Status.USAGE)
        if file != DEBIAN:
            _require_disc(text, Path(file))
        found[name] = file
    return found


def require_ports(networks: dict[str, Network]) -> None:
    """Raises BulkheadError if another program has a port that is to be forwarded."""
    for name, network in networks.items():
        for port, _ in network.forwards:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError as error:
                    why = {errno.EADDRINUSE: "another program has it", errno.EACCES: "root alone may have one below 1024"}
                    reason = why.get(error.errno or 0, error.strerror)
                    raise BulkheadError(f"port {port} of this host cannot be forwarded to {name}: {reason}; choose another") from error


def _with_name(text: str, platform: Platform) -> str:
    """Without a name it is of the first card."""
    return text if re.match(r"[a-z][a-z0-9]*=", text) else f"{platform.nics[0].name}={text}"


def _named(text: str, option: str, form: str, fitted: tuple[Fitted, ...]) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise BulkheadError(f"{option} {text}: write {form}", Status.USAGE)
    if name not in [one.name for one in fitted]:
        raise BulkheadError(f"{option} {text}: there is no {name!r}; {all_of((one.name for one in fitted), quote='')}", Status.USAGE)
    return name, value


def _ports(text: str, ports: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,5}):(\d{1,5})", ports)
    if not found or not all(1 <= int(one) <= 0xFFFF for one in found.groups()):
        raise BulkheadError(f"--forward {text}: write [NIC=]HOST:GUEST, two ports from 1 to 65535, such as 8080:80", Status.USAGE)
    return int(found[1]), int(found[2])


def _output(text: str, file: str) -> Path:
    path = Path(file)
    folder = path.parent
    if path.is_dir() or not folder.is_dir() or not os.access(path if path.exists() else folder, os.W_OK):
        raise BulkheadError(f"--pcap {text}: {path} cannot be written", Status.USAGE)
    return path.absolute()


def _require_disc(text: str, file: Path) -> None:
    if not file.is_file():
        raise BulkheadError(f"--disk {text}: there is no file {file}; `tools/bulkhead disk` makes one", Status.USAGE)
    if not os.access(file, os.R_OK | os.W_OK):
        raise BulkheadError(f"--disk {text}: {file} cannot be read and written; copy it, or change its rights", Status.USAGE)
    size = file.stat().st_size
    if not size or size % SECTOR:
        raise BulkheadError(f"--disk {text}: {file} has {size_text(size)}, and a disc has whole sectors of {SECTOR} bytes", Status.USAGE)


def _require_apart(networks: dict[str, Network]) -> None:
    ports: dict[int, str] = {}
    files: dict[Path, str] = {}
    for name, network in networks.items():
        for port, _ in network.forwards:
            if port in ports:
                raise BulkheadError(f"--forward names port {port} of this host twice", Status.USAGE)
            ports[port] = name
        if network.pcap and network.pcap in files:
            raise BulkheadError(f"--pcap names {network.pcap} twice", Status.USAGE)
        if network.pcap:
            files[network.pcap] = name


def _require_of_bochs(networks: dict[str, Network]) -> None:
    """It has a slirp of its own, and no hub."""
    for name, network in networks.items():
        if network.kind == "hub":
            raise BulkheadError(f"--network {name}=hub: Bochs has no hub; there are none, user, host", Status.USAGE)
        if network.pcap:
            raise BulkheadError(f"--pcap {network.pcap}: Bochs writes no file for Wireshark", Status.USAGE)
        if len(network.forwards) > BOCHS_FORWARDS:
            raise BulkheadError(f"--forward: Bochs forwards {BOCHS_FORWARDS} ports of {name} at most", Status.USAGE)


def options(platform: Platform, wiring: Wiring) -> list[str]:
    """QEMU's options for what the platform is fitted with. A card that is connected to nothing has no link; a disc that nobody gave is empty."""
    found: list[str] = []
    for card in platform.nics:
        network = wiring.networks.get(card.name, Network())
        end = "" if network.kind == "none" and not network.pcap else f",netdev={card.name}"
        found += _netdev(card.name, network) if end else []
        found += ["-device", f"{card.model}{end},addr={card.addr}"]
    for disc in platform.discs:
        given = wiring.discs.get(disc.name)
        if given:
            forgets = ",snapshot=on" if given.forgets else ""
            found += ["-drive", f"if=none,id={disc.name},format=raw,file={_escaped(given.file)}{forgets}"]
        else:
            found += ["-blockdev", f"driver=null-co,node-name={disc.name},size={EMPTY_BYTES},read-zeroes=on"]
        found += ["-device", f"{disc.model},drive={disc.name},serial={disc.name},addr={disc.addr}"]
    return found + _can_bus(platform)


def _can_bus(platform: Platform) -> list[str]:
    """One for all controllers: it hands on frames at once, and where instructions are counted two runs are the same."""
    found = ["-object", f"can-bus,id={CAN_BUS}"] if platform.cans else []
    for one in platform.cans:
        found += ["-device", f"{one.model},canbus={CAN_BUS},addr={one.addr}"]
    return found


def _netdev(name: str, network: Network) -> list[str]:
    if network.kind in ("user", "host"):
        restrict = "on" if network.kind == "user" else "off"
        forwards = "".join(f",hostfwd=tcp:127.0.0.1:{host}-{GUEST}:{guest}" for host, guest in network.forwards)
        found = ["-netdev", f"user,id={name},restrict={restrict}{forwards}"]
    elif network.kind == "hub":
        found = ["-netdev", f"hubport,id={name},hubid={HUB}"]
    else:  # a hub of its own: somebody wants to see what it sends
        found = ["-netdev", f"hubport,id={name},hubid={HUB + 1 + int(re.sub(r'[^0-9]', '', name) or 0)}"]
    if network.pcap:
        found += ["-object", f"filter-dump,id={name}-dump,netdev={name},file={_escaped(network.pcap)}"]
    return found


def _escaped(path: Path) -> str:
    """QEMU ends a value at a comma, and takes two for one."""
    return str(path).replace(",", ",,")
