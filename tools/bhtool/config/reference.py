# SPDX-License-Identifier: Apache-2.0
"""docs/configuration.md, made from the bindings and the table of rules so that it cannot fall behind them.

python -m bhtool.config.reference > docs/configuration.md        (from tools/)
"""

from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML

from bhtool import paths
from bhtool.config.dma import FREE_BINDINGS, SIGNS
from bhtool.config.properties import CHANNEL, DOMAINS, HEALTH, REGION, SANDBOX, VCPU, Fact
from bhtool.config.rules import RULES
from bhtool.config.vcpus import MAIN_BUDGET_US, MAIN_PERIOD_US

HEAD = """# Partition files

A partition file is a device tree that includes its board (`#include BOARD_DTSI`) and says, below `/domains`, who owns what. The
same file serves every platform: board trees offer the same role labels (`cpu0`, `uart0`, ...). `native.dts`, `mixed.dts`,
`linux2.dts`, `restart.dts`, `realtime.dts` and `channels.dts` in `dts/partitions` are complete examples; `tools/bulkhead check FILE` validates one and prints what it
grants.

The board tree stays as it is (BH-R009): a partition file adds children of `/reserved-memory` and `/domains`. What the machine has is described in the
[board tree](boards.md). To set aside more bytes at the start of RAM for firmware and monitor, define `LOW_RESERVED` before the board is included.

RAM is a child of `/reserved-memory`: `size` (two cells, a multiple of 2 MiB), or `reg` where it has to lie somewhere. Devices go by the role labels of
the boards in `dts/boards`: `uart0` and `uart1` everywhere; PCI functions such as `pciuart0`, `pcitest0` and `pcivga0` where the emulator has them.

The tool finds a place for whatever fits, also between what is pinned: the same file always gets the same addresses, and large regions begin at aligned ones
where possible. A sandbox that takes the rest and names no region has every whole 2 MiB of RAM that is left, be it in several stretches: to the sandbox they are one.
The boot snapshots that restarts copy back are placed before that.

On a board whose tree says which NUMA node its cores and its memory belong to (`numa-node-id`), RAM that is not pinned goes to the node of its sandbox's cores while there
is room, and so does what its monitor keeps. `check` names the nodes of both, by the labels of their memory, and warns where a sandbox reaches RAM of another node (BH-W032).

On ARM a sandbox has the timers and performance monitors of its cores, with those of their interrupts that are private to a core (PPIs). Some boards wire the
monitors' overflows to shared lines, one a core. There these lines are nobody's, and `check` warns of it (BH-W041): the counters count all the same, but nothing interrupts
when they overflow, and Linux finds no node for them. They have no registers that `access` could grant (BH-R040).

This page is generated from `dts/bindings` and the checker's table of rules (`tools/bhtool/config/reference.py`).

## When a sandbox is ready

`run --until ready` waits for it, `run` counts from it, and exits are told apart by it. A sandbox is ready when it makes the hypercall READY
([guest.md](guest.md)), or when a line of its console holds the text of its `ready-line`, whichever comes first. A Linux that starts from the tool's `rootfs.cpio.gz` says
`bulkhead-linux: ready`. One that starts from another root file system and has no `ready-line` is ready when its kernel says that it runs its first process (`Run /init
as init process`, which `quiet` hides), or when its console shows a prompt: an unfinished line that ends in `login: `, `# ` or `$ `. `run` ends with status 1 if a sandbox
that is not ready yet stays silent for too long, or if a kernel panics and does not reboot. How long is too long, in guest time:

| sandboxes | without a line | in all |
|---|---|---|
| native ones alone | 1 minute | 5 minutes |
| with Linux (cores of an emulator take turns; on ARMv7 each unpacks its kernel for half a minute) | 2 minutes for each Linux | 10 minutes for each Linux |
| where guest time is the host's | at least 2 minutes | at least 10 minutes |
"""
DMA = """## Devices and DMA

A device that reaches memory by itself reaches everybody's, unless an IOMMU stands between. So a device is granted only if it is known to be free of DMA (BH-R049), or if an
IOMMU translates for it. It is free of DMA by one of

- its binding, the first string of its `compatible`, in the list below. Later strings do not count: they name older devices whose drivers can use it, which
  may have had no DMA where it has some;
- the board tree's word: `bulkhead,dma-free = "reason"` in the device's node. A partition file cannot say so (BH-R009), and of a virtio function nobody can (BH-D173).
  Editors know it by `dts/bindings/bulkhead,device.yaml`.

Where the board tree has an IOMMU ([boards](boards.md#an-iommu)), a PCI function that its host's `iommu-map` leads to it and that is not known to be free of DMA is *translated*: it may
master the bus, and all that it does leads to its sandbox's RAM, at the sandbox's own addresses, or aborts. That is how network cards and discs are granted; without an
IOMMU they are refused by their class (BH-R103). Every other function of the machine aborts, whoever has it, from before start-up trusts memory. Nothing in a partition file
asks for it: `access = <&nic0>;` is all. What there is to know:

- Only the IOMMU tells functions apart: those that it takes for one have one owner (BH-R105, BH-R107).
- On ARM they interrupt by lines (BH-R108), which need one owner each as any line does (BH-R043). On a PC they interrupt by messages, and their sandbox has one core (BH-R109).
- A virtio function goes past the IOMMU unless its platform gives it VIRTIO_F_ACCESS_PLATFORM, of which nothing outside of it tells. The board tree says so in its node, `bulkhead,iommu-platform`,
  or it is refused (BH-R124).
- A second set of tables for the RAM comes out of the monitor's memory; `check` and `size` count it. The IOMMU's own tables, once for the machine, are listed by `check`.

Without an IOMMU a function that masters the bus is granted to one sandbox alone, which asks for it: `allow-unprotected-dma = "reason"`. The function then reaches all memory, the monitors'
and every sandbox's, and on a PC interrupts any core; `check` warns of it (BH-W094), and start-up refuses it where the machine has an IOMMU. Its monitor still keeps it where it is, and takes
bus mastering away before the sandbox first runs, when it ends and before a restart. A function goes by the machine's addresses:

- a native sandbox finds a row `BH_GRANT_DMA_RAM` in its information page: `gpa` is where functions see the RAM whose row is `BH_GRANT_RAM`. A driver adds the difference;
- Linux hands out its own addresses, so its RAM has to lie where it sees it: pin its region at the board's `guest-ram` (BH-R123). No PC can do that, as RAM begins at 0 there.

`takes-the-rest` leaves every other device to nobody, with a warning for each (BH-W049). `check` prints of each granted device how it is known. The partition table
carries the mark `BH_DMA_FREE`, `BH_DMA_TRANSLATED` or `BH_DMA_UNPROTECTED` for each, and start-up refuses registers, ports and PCI functions without one. PCI functions with the first
do not master the bus in any case: their monitor prevents it ([guest](guest.md)).

A device of a listed binding is refused all the same if its node has one of {signs}, unless the board tree says why that does not matter.
They count in its child nodes and on the buses above it, too, except that `dma-ranges` of a bus alone does not count. A PCI function goes by vendor, device and class, `pciVVVV,DDDD` and `pciclass,CCSS`.

| binding | why it does no DMA |
|---|---|
"""
SUPPLIES = """
## Clocks, resets and power domains

Whoever has a clock, a reset, a power domain or a pin controller can stop what depends on it. So what a device names by `clocks`, `resets`, `power-domains`, `pinctrl-N` or
`...-supply` is fixed (`fixed-clock`, `regulator-fixed` without a GPIO) or a device that the same sandbox has (BH-R056): `access = <&uart5>, <&cru>;`. A controller that cores of
others or the machine itself depend on is nobody's (BH-R114). Linux is not told of such controllers in this version.
"""
VCPUS = """## VCPUs

Every child of a native sandbox but `health` is a VCPU, and its name is the node's. The sandbox kernel makes it when it starts, with a program that is compiled in:

```dts
loop { budget-us = <200>; period-us = <1000>; };
search { budget-us = <500>; period-us = <5000>; program = "findprimes"; foreground-only; };
```

A Main VCPU has `budget-us` in each `period-us` of its core, whatever others do. Beyond that it runs where nobody with budget wants to, unless it is `foreground-only`. The shorter the
period, the earlier its turn; of equal ones the first in the file comes first. The kernel itself has a VCPU `main`, {main}, as soon as there is another.
`check` shows the budgets, periods and response times of each core's VCPUs, and refuses what no test admits (BH-R149) with what would fit. It counts
switches and, on the first core, what the heartbeat and lines with a `max-rate-hz` take, by the costs of the platform ([admission](admission.md)).

An I/O VCPU handles the interrupts of the device that it `serves`, with `utilization-percent` of the core, of each of its periods. In this version
that is the UART of its console; with `scheduler = "edf"` it is refused (BH-R004).

"""
CHANNELS = """## Channels

A channel is memory that exactly two sandboxes share, native ones or Linux. It is a child of `/domains`, and its name is the node's:

```dts
speed { compatible = "bulkhead,channel-v1"; from = <&control>; to = <&linux>; kind = "ring"; slot-bytes = <4096>; slots = <8>; };
```

| kind | what it is for | slots |
|---|---|---|
| `mailbox` | one message at a time, both ways in turn: a question and its answer | one for each end |
| `ring` | one way, in their order, none left out | `slots` of `from`, 8 if it does not say |
| `latest` | one way; the receiver always finds the newest message whole, and neither waits for the other | two of `from` for each of the `readers`, and two more: four for one |

Each end finds the whole channel in one piece in its window, and can write its own area alone; the page between the areas only monitors write (`abi/channel.h`). Nothing there can be
executed, and PCI functions behind an IOMMU do not reach it. A row `BH_GRANT_CHANNEL` of the information page says where it is, which end the sandbox has, and whose the other is.

An area takes 256 bytes and for each slot 64 more than `slot-bytes`, in whole pages of 4 KiB; the page comes to that, and for the end of a `ring` or `latest` that only receives one page more.
The channels of a sandbox lie one behind the other, in the order of the file, and may take 8 MiB together (BH-R165). `check` shows where each lies in the machine.

"""
PROPERTIES = """## Properties

BH-R003 refuses a value of another form than the one given, BH-R002 an unknown property; the last column has the other rules that judge it, as `tools/bulkhead explain R020` tells them.
A cell is 32 bits; what takes two cells is written high half first: `<0x0 0x1000000>` is 16 MiB.
"""
SKIPPED = {"compatible", "$nodename", "phandle"}


def text_of(entry: Mapping[str, Any]) -> str:
    return " ".join(str(entry.get("description", "")).split())


def read(binding: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = YAML(typ="safe").load((paths.ROOT / "dts" / "bindings" / binding).read_text())
    return found


def row(name: str, required: bool, meaning: str, fact: Fact) -> str:
    cells = (f"`{name}`{' (required)' if required else ''}", meaning, fact.form, fact.default, f"`{fact.example}`", fact.rules or "-")
    return "| " + " | ".join(cells) + " |"


def properties(title: str, tree: Mapping[str, Any], facts: Mapping[str, Fact]) -> list[str]:
    """Every property of a binding, with what is known of it."""
    required = tree.get("required", ())
    entries = {name: entry for name, entry in tree["properties"].items() if name not in SKIPPED and isinstance(entry, dict)}
    rows = [row(name, name in required, text_of(entry), facts[name]) for name, entry in entries.items()]
    return [f"### {title}", "", "| property | meaning | form | default | example | rules |", "|---|---|---|---|---|---|", *rows, ""]


def all_properties() -> list[str]:
    sandbox = read("bulkhead,sandbox-v1.yaml")
    return [
        *PROPERTIES.splitlines(),
        "",
        *properties("`/domains`", read("bulkhead,partitions-v1.yaml"), DOMAINS),
        *properties("A sandbox, a child of `/domains`", sandbox, SANDBOX),
        *properties("`health` of a sandbox", sandbox["properties"]["health"], HEALTH),
        *properties("A VCPU, any other child of a sandbox", sandbox["additionalProperties"], VCPU),
        *properties("A channel, another child of `/domains`", read("bulkhead,channel-v1.yaml"), CHANNEL),
        *properties("A child of `/reserved-memory`", read("bulkhead,memory.yaml")["additionalProperties"], REGION),
    ]


def rules() -> list[str]:
    rows = [f"| {rule.id} | {rule.holds} | {rule.remedy} |" for rule in RULES]
    return ["| rule | what must hold | what to do where it does not |", "|---|---|---|", *rows]


def dma() -> list[str]:
    signs = ", ".join(f"`{name}`" for name in SIGNS)
    return [*DMA.format(signs=signs).splitlines(), *(f"| `{binding}` | {why} |" for binding, why in FREE_BINDINGS.items())]


def vcpus() -> list[str]:
    main = f"{MAIN_BUDGET_US // 1000} ms of each {MAIN_PERIOD_US // 1000} ms"
    return VCPUS.replace("{main}", main).splitlines()


def render() -> str:
    of_tool = " and ".join(rule.id for rule in RULES if not rule.of_file)
    parts = [HEAD, *vcpus(), *CHANNELS.splitlines(), *all_properties(), *dma(), *SUPPLIES.splitlines(), ""]
    parts += [
        "## Rules",
        "",
        "A refusal reads `file:line: rule: text; remedy`; for BH-R001 there is no remedy. BH-W are warnings: every verb that takes a partition file shows them on standard",
        f"error, and refuses the file with `--strict` (but for {of_tool}, which nobody mends in the file). What follows from a mistake that is reported is not reported as well.",
        "",
        *rules(),
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    print(render(), end="")
