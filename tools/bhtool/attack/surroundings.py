# SPDX-License-Identifier: Apache-2.0
"""What lies around a hostile sandbox, from the plan: where its own grants end and what is worth reaching for."""

import random
from dataclasses import dataclass
from functools import cached_property

from bhtool import abi
from bhtool.config.board import read_board
from bhtool.config.machine import Machine
from bhtool.config.plan import ChannelPlan, Plan, SandboxPlan
from bhtool.config.span import PAGE, Span
from bhtool.families.table import FAMILIES
from bhtool.platforms import Platform

REDISTRIBUTOR_BYTES = 0x20000
PAGE_SHIFT = 12


@dataclass(frozen=True)
class Target:
    address: int
    whose: str


@dataclass(frozen=True)
class OwnChannel:
    """As one of its two ends has it, from `gpa` on."""

    plan: ChannelPlan
    end: int
    gpa: int

    @property
    def page(self) -> Span:
        return Span(self.gpa + self.plan.area_bytes[0], PAGE)

    @property
    def areas(self) -> tuple[Span, Span]:
        first, second = self.plan.area_bytes
        return Span(self.gpa, first), Span(self.page.end, second)

    @property
    def span(self) -> Span:
        return Span(self.gpa, self.plan.size)


class Surroundings:
    """As one hostile sandbox sees it: guest-physical addresses."""

    def __init__(self, platform: Platform, plan: Plan, sandbox: SandboxPlan) -> None:
        self.platform, self.plan, self.sandbox = platform, plan, sandbox
        self.arch, self.family = platform.arch, FAMILIES[platform.arch]

    @cached_property
    def machine(self) -> Machine:
        return read_board(self.platform)

    @cached_property
    def controller(self) -> Span:
        """What monitors answer for of the interrupt controller, as large as the board tree has it: distributor, I/O APIC."""
        return Span(*self.machine.interrupt_controller.reg()[0])

    @cached_property
    def redistributors(self) -> int:
        """Where the first begins."""
        return self.machine.interrupt_controller.reg()[1][0]

    @cached_property
    def own(self) -> list[Span]:
        """What was granted; a sandbox without protection has no more, though it reaches more."""
        return [Span(one.gpa, one.size) for one in self.sandbox.regions if one.kind != "open"]

    @cached_property
    def filtered(self) -> list[Span]:
        """Answered by the monitor in the place of the hardware: an access comes back, and what it does is the filter's to limit."""
        space = [self.configuration] if self.configuration.size else []
        if self.family.interrupts.controller == "apic":
            return [self.controller, *space]
        if self.family.interrupts.controller != "gic":
            return space
        return [*self.distributor, *self.absent, *space]

    @cached_property
    def distributor(self) -> list[Span]:
        """And what belongs to it: the frames of own redistributors."""
        cores = self.sandbox.cores if self.has_redistributors else []
        frames = [Span(self.redistributors + core * REDISTRIBUTOR_BYTES, REDISTRIBUTOR_BYTES) for core in cores]
        return [self.controller, *frames]

    @cached_property
    def absent(self) -> list[Span]:
        """All redistributors' frames. Other cores' are shown as absent: reading them stops nobody. `distributor-pieces` attacks them."""
        return [Span(self.redistributors, len(self.machine.cores) * REDISTRIBUTOR_BYTES)] if self.has_redistributors else []

    @cached_property
    def configuration(self) -> Span:
        """Of PCI, as memory: empty where the board has none, or the sandbox no function."""
        pages = self.sandbox.configuration
        start, end = min((one.gpa for one in pages), default=0), max((one.gpa + one.size for one in pages), default=0)
        return Span(start, end - start)

    @property
    def has_redistributors(self) -> bool:
        return self.machine.gic_v3

    def is_foreign(self, address: int) -> bool:
        """On ARMv7 the lower half of an address decides: QEMU's 32-bit machine tells a monitor of no more, and if that were mapped..."""
        page = Span(address & (self.family.campaign.reported - PAGE), PAGE)
        return not any(span.overlaps(page) for span in (*self.own, *self.filtered))

    @cached_property
    def channels(self) -> list[OwnChannel]:
        """Of which it is an end, in the order in which calls count them."""
        return self.channels_of(self.sandbox)

    def channels_of(self, sandbox: SandboxPlan) -> list[OwnChannel]:
        starts = {one.hpa: one.gpa for one in sandbox.regions if one.kind == "channel"}
        own = [one for one in self.plan.channels if sandbox.index in one.ends]
        return [OwnChannel(one, one.ends.index(sandbox.index), starts[one.hpa]) for one in own]

    @cached_property
    def foreign_channels(self) -> list[tuple[Span, str]]:
        """Where channels of others lie, and where those see them."""
        found = []
        for one in self.plan.sandboxes:
            for channel in self.channels_of(one):
                text = f"channel {channel.plan.name}"
                if self.sandbox.index not in channel.plan.ends:
                    found.append((channel.span, f"{text}, as {one.name} sees it"))
                if channel.end == 0:
                    found.append((Span(channel.plan.hpa, channel.plan.size), text))
        return found

    @cached_property
    def worth_reaching(self) -> list[tuple[Span, str]]:
        """What belongs to somebody: others' memory, monitors', devices."""
        found = [(Span(self.plan.shared_hpa, PAGE), "kick mailboxes"), (Span(self.machine.image_address, 0x40000), "monitor image")]
        for one in self.plan.sandboxes:
            found += [(Span(ram.hpa, ram.size), f"RAM of {one.name}") for ram in one.ram]
            found.append((Span(one.pool_hpa, int(abi.lib.BH_POOL_ARENA)), f"pool of {one.name}"))
            arena = int(abi.lib.BH_POOL_ARENA)
            found.append((Span(one.pool_hpa + arena, one.pool_size - arena), f"monitor of {one.name}"))
        found += [(Span(one.start, one.size), one.what) for one in self.plan.holdings if one.kind == "memory"]
        windows = [(span, whose) for span, whose in self.foreign_channels if "sees it" in whose]
        return found + windows

    def draw(self, rng: random.Random, pages: int = 1, below: int = 1 << 64) -> Target:
        """In the first of so many foreign pages: three of four in what belongs to somebody, the others anywhere."""
        for _ in range(64):
            span, whose = (
                rng.choice(self.worth_reaching) if rng.random() < 0.75 else (Span(0, 1 << self.family.campaign.address_bits), "anywhere")
            )
            address = span.start + rng.randrange(max(span.size, PAGE)) & ~(PAGE - 1) | rng.choice((0, 0, 16, 0x7F0, 0xFE0))
            if address < below and all(self.is_foreign(address + n * PAGE) for n in range(pages)):
                return Target(address, whose)
        return Target(min(below, 1 << self.family.campaign.address_bits) - pages * PAGE, "anywhere")

    @cached_property
    def edges(self) -> list[int]:
        """Where a page of its own is followed by one that is not; but of channels on request, which may be closed."""
        asked = [one.span for one in self.channels if one.plan.on_request]
        return [span.end for span in self.own if self.is_foreign(span.end) and not any(span.overlaps(one) for one in asked)]


AllSurroundings = dict[int, list[Surroundings]]  # by cast
