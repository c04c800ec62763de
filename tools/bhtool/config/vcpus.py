# SPDX-License-Identifier: Apache-2.0
"""VCPUs of a sandbox as its node's children say them: reservations of its cores, Main VCPUs for programs, I/O VCPUs for devices."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bhtool.abi import lib
from bhtool.config.tree import Node, OfNode

HEALTH = "health"
BUDGET, PERIOD, SERVES, SHARE, RATE = "budget-us", "period-us", "serves", "utilization-percent", "max-rate-hz"
PROGRAM, FOREGROUND_ONLY, CORE, SCHEDULER = "program", "foreground-only", "core", "scheduler"
OF_MAIN, OF_IO, OF_BOTH = (BUDGET,), (SERVES, SHARE, RATE), (PERIOD, PROGRAM, FOREGROUND_ONLY, CORE)
EDF = "edf"
# What the kernel makes by itself as soon as there is another VCPU: kernel/core/thread.c.
MAIN_PROGRAM, MAIN_BUDGET_US, MAIN_PERIOD_US = "main", lib.BH_VCPU_MAIN_BUDGET_NS // 1000, lib.BH_VCPU_MAIN_PERIOD_NS // 1000
# What always interrupts the sandbox kernel's first core: kernel/core/heartbeat.c.
HEARTBEAT_HZ = 1000
FEW_SWITCHES = 5  # a budget of fewer is spent on switching to a large part
# The kernel that comes with the tool, and the programs that it has: kernel/core/programs.c. Those of the first core wait for the console's input.
OWN_KERNEL = "sandbox-kernel.elf"
PROGRAMS, FIRST_CORE_PROGRAMS = ("echo", "findprimes", "hog", "loop", "relay", "sink", "source", "tlbwalk"), ("echo",)
# Those that speak by channels, and what a relay's second one is called: kernel/core/channel_programs.c.
RELAY, SINK, SOURCE, SENT_ON = "relay", "sink", "source", "-on"
PROVIDED_KERNELS = (OWN_KERNEL, "dma-storm.elf", "probe.elf")  # the same kernel, with further commands


def is_own_kernel(image: str, partition: Path) -> bool:
    """Whether the partition file's `image` is the kernel that comes with the tool: another may have other programs, and so may a file of that name beside it."""
    return image == OWN_KERNEL and is_provided_kernel(image, partition)


def is_provided_kernel(image: str, partition: Path) -> bool:
    """Whether it is that kernel or one of those that are linked with it, by the same rule."""
    return image in PROVIDED_KERNELS and not partition.with_name(image).exists()


@dataclass(frozen=True)
class Vcpu(OfNode):
    node: Node
    served_nodes: tuple[Node, ...]
    core_nodes: tuple[Node, ...]

    @property
    def is_io(self) -> bool:
        return not self.has(BUDGET) and any(self.has(one) for one in OF_IO)

    @property
    def budget_us(self) -> int:
        return self.node.number(BUDGET, 0)

    @property
    def period_us(self) -> int:
        return self.node.number(PERIOD, 0)

    @property
    def percent(self) -> int:
        return self.node.number(SHARE, 0)

    def share_ns(self, period_us: int) -> int:
        """An I/O VCPU's budget."""
        return period_us * 1000 * self.percent // 100

    def budget_ns(self, period_us: int) -> int:
        return self.share_ns(period_us) if self.is_io else self.budget_us * 1000

    @property
    def rate_hz(self) -> int:
        """0: not told."""
        return self.node.number(RATE, 0)

    @property
    def program(self) -> str:
        return self.node.text(PROGRAM, self.name)

    @property
    def foreground_only(self) -> bool:
        return self.has(FOREGROUND_ONLY)


def is_vcpu(node: Node) -> bool:
    """Whether a sandbox's child is meant for one, by what it has."""
    return node.name != HEALTH and any(name in node.properties for name in (*OF_MAIN, *OF_IO, *OF_BOTH))


def is_main(vcpu: Vcpu) -> bool:
    """It has all of a Main VCPU and nothing of an I/O VCPU."""
    return vcpu.has(BUDGET) and vcpu.has(PERIOD) and not any(vcpu.has(one) for one in OF_IO)


def read_vcpus(sandbox: Node, by_phandle: dict[int, Node]) -> list[Vcpu]:
    """In the order of the file, which is that of VCPUs with equal periods."""

    def led_to(node: Node, name: str) -> tuple[Node, ...]:
        cells = node.properties[name].cells if name in node.properties else []
        return tuple(by_phandle[cell] for cell in cells if cell in by_phandle)

    return [Vcpu(one, led_to(one, SERVES), led_to(one, CORE)) for one in sandbox.children.values() if is_vcpu(one)]


def shortest_period_us(vcpus: list[Vcpu]) -> int:
    """Of the Main VCPUs that an I/O VCPU may serve: the main program's, where there are no others."""
    return min((one.period_us for one in vcpus if not one.is_io), default=MAIN_PERIOD_US)


def period_of(vcpu: Vcpu, vcpus: list[Vcpu]) -> int:
    return vcpu.period_us if vcpu.has(PERIOD) else shortest_period_us(vcpus)
