# SPDX-License-Identifier: Apache-2.0
"""The machines Bulkhead knows: each is a folder platforms/NAME with a platform.toml beside its board header."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from bhtool import paths
from bhtool.errors import BulkheadError, Status
from bhtool.text import all_of, did_you_mean

DEFAULT = "qemu-aarch64"
MOST_COST_NS = 0xFFFF  # switch_ns and top_half_ns of struct bh_info


# What makes a virtio function of QEMU go by the IOMMU, as a board tree can say of it: config/dma.py.
OBEYS = ("iommu_platform=on", "disable-legacy=on")

Medium = Literal["kernel", "cdrom", "disk"]  # what an image is: loaded by the emulator itself, or a disc a boot loader is on


@dataclass(frozen=True)
class Emulator:
    kind: Literal["qemu", "bochs"]
    program: str
    arguments: tuple[str, ...]  # QEMU's options, lines of Bochs' configuration
    medium: Medium
    serials: tuple[str, ...]  # role labels, in the order of the machine's serial lines; then those of PCI
    good_exits: tuple[int, ...]  # statuses that mean "the machine switched itself off"
    icount_shift: int
    counts_linux: bool  # whether Linux runs at full speed under icount
    clock_hz: int  # of the guests' counter; 0: measured by the monitor, which tells each sandbox


@dataclass(frozen=True)
class Fitted:
    """A PCI function on the machine's first bus that the host connects to something: machine/wiring.py."""

    name: str  # its label in the board tree
    model: str  # the emulator's word, with options
    addr: str  # slot, or slot.function, as the emulator takes it


@dataclass(frozen=True)
class Campaign:
    """Role labels of devices for `attack`. None of them has DMA, or a wire to the host, whose time would be another each time."""

    devices: tuple[str, ...] | None = (
        None  # of hostile sandboxes, one each, so that filters have something to let through; None: nobody said
    )
    watched: str = ""  # a sentinel's, whose line is not to be seen elsewhere


@dataclass(frozen=True)
class Platform:
    name: str
    title: str
    arch: str
    backend: str
    proves: str
    cannot: str
    emulator: Emulator
    ram_base: int
    ram_size: int
    linux_package: str
    debian_architecture: str  # of the kernel,
    programs_architecture: str  # and of the programs that the tool puts beside it
    board_name: str  # the platform whose board and monitor image this one shares; itself, if it has its own
    campaign: Campaign = Campaign()
    nics: tuple[Fitted, ...] = ()  # network cards
    discs: tuple[Fitted, ...] = ()
    cans: tuple[Fitted, ...] = ()  # CAN controllers, all on one bus
    second_opinion_on: str = ""  # another platform, of which some is checked here once more
    switch_ns: int = 0  # for admission: what a switch between VCPUs takes at most, and a top half; 0: what abi/guest.h says
    top_half_ns: int = 0

    @property
    def board(self) -> Path:
        return paths.ROOT / "dts" / "boards" / f"{self.board_name}.dtsi"

    @property
    def build(self) -> Path:
        return paths.BUILD / self.board_name

    @property
    def cross_file(self) -> Path:
        return paths.CROSS / f"{self.arch}.ini"


def from_toml(name: str, tree: dict[str, Any]) -> Platform:
    """Raises BulkheadError."""
    emulator, ram, linux, campaign = tree["emulator"], tree["ram"], tree["linux"], tree.get("campaign", {})
    return Platform(
        name=name,
        title=tree["title"],
        arch=tree["arch"],
        backend=tree["backend"],
        proves=tree["proves"],
        cannot=tree["cannot"],
        emulator=Emulator(
            kind=emulator["kind"],
            program=emulator["program"],
            arguments=tuple(emulator["arguments"]),
            medium=emulator["medium"],
            serials=tuple(emulator["serials"]),
            good_exits=tuple(emulator["good_exits"]),
            icount_shift=emulator["icount_shift"],
            counts_linux=emulator["counts_linux"],
            clock_hz=emulator["clock_hz"],
        ),
        ram_base=ram["base"],
        ram_size=ram["size"],
        linux_package=linux["package"],
        debian_architecture=linux["architecture"],
        programs_architecture=linux.get("programs", linux["architecture"]),
        board_name=tree.get("board", name),
        campaign=Campaign(tuple(campaign["devices"]) if "devices" in campaign else None, campaign.get("watched", "")),
        nics=_fitted(tree, "network", "nics"),
        discs=_fitted(tree, "storage", "discs"),
        cans=_fitted(tree, "can", "controllers"),
        second_opinion_on=tree.get("second_opinion_on", ""),
        switch_ns=_cost(tree, "switch_ns"),
        top_half_ns=_cost(tree, "top_half_ns"),
    )


def _cost(tree: dict[str, Any], name: str) -> int:
    """Such as [scheduler] switch_ns = 11000. Raises BulkheadError."""
    cost = tree.get("scheduler", {}).get(name, 0)
    if type(cost) is not int or not 0 <= cost <= MOST_COST_NS:
        raise BulkheadError(
            f"{name} in [scheduler] is {cost}; write nanoseconds, {MOST_COST_NS:,} at most, or 0 for what abi/guest.h says", Status.USAGE
        )
    return cost


def _fitted(tree: dict[str, Any], table: str, name: str) -> tuple[Fitted, ...]:
    """Such as [network] nics = [{ name = "nic0", model = "e1000e", addr = "5" }]. Raises BulkheadError."""
    found = tuple(Fitted(one["name"], one["model"], one["addr"]) for one in tree.get(table, {}).get(name, ()))
    for one in found:
        kind, *options = one.model.split(",")
        lacking = [option for option in OBEYS if option not in options]
        if kind.startswith("virtio-") and lacking:
            text = f"{one.name} in [{table}] is `{one.model}`, which goes past every IOMMU; give it `{','.join(lacking)}` besides (BH-R124)"
            raise BulkheadError(text, Status.USAGE)
    return found


def names() -> list[str]:
    return sorted(path.parent.name for path in paths.PLATFORMS.glob("*/platform.toml"))


def load(name: str) -> Platform:
    path = paths.PLATFORMS / name / "platform.toml"
    if not path.exists():
        raise BulkheadError(
            f"no platform is called {name}{did_you_mean(name, names(), quote='')}; {all_of(names(), quote='')}", Status.USAGE
        )
    with path.open("rb") as file:
        return from_toml(name, tomllib.load(file))


def every() -> list[Platform]:
    """Those that stand for themselves: without second opinions."""
    return [platform for platform in map(load, names()) if not platform.second_opinion_on]
