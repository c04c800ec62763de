# SPDX-License-Identifier: Apache-2.0
"""Every rule of the configuration (BH-I7.tool), once: identifier, what must hold, what to do where it does not, and who checks it.

The documentation's table, the messages and the tests come from here. Numbers are never used twice, for good. A new rule has a check, files that break
it in tests/config/broken, its word in tests/config/predicate.py, perhaps a remedy in codes/whys.py, and docs/configuration.md made anew.
"""

from __future__ import annotations

from bhtool.config import check_board as board
from bhtool.config import check_cores as cores
from bhtool.config import check_devices as devices
from bhtool.config import check_health as health
from bhtool.config import check_memory as memory
from bhtool.config import check_pci as pci
from bhtool.config import check_references as references
from bhtool.config import check_supplies as supplies
from bhtool.config import check_unprotected as unprotected
from bhtool.config import check_vcpus as vcpus
from bhtool.config.domains import Domains
from bhtool.config.plan import Diagnostic, Location
from bhtool.config.rule import Rule
from bhtool.config.rules_channels import CHANNEL_RULES, CHANNEL_WARNINGS
from bhtool.config.rules_dma import DMA_RULES, DMA_WARNINGS
from bhtool.config.rules_vcpus import VCPU_RULES, VCPU_WARNINGS
from bhtool.config.tree import Node
from bhtool.text import visible

RULES = (
    # The source.
    Rule("BH-R001", "The source compiles to a device tree.", "change what the message names"),
    Rule(
        "BH-R002",
        "Every property and child node is known.",
        "correct its name or take it out; docs/configuration.md has all that there are",
    ),
    Rule("BH-R003", "Every value has the form its binding asks for.", "give it the form that docs/configuration.md shows"),
    Rule("BH-R004", "Nothing is asked for that this version cannot do.", "this version does not support it: take it out", vcpus.not_yet),
    Rule("BH-R005", "The file splits the machine.", 'split it by a node `domains` with compatible = "bulkhead,partitions-v1"'),
    Rule("BH-R006", "References lead to nodes.", "write them as `<&label>`", references.references_resolve),
    Rule("BH-R007", "The board tree describes the whole machine.", "complete the board tree; dts/boards has examples", board.complete),
    Rule("BH-R008", "What the source takes in is ordinary, and small enough to read.", "take in small files alone, by `#include`"),
    Rule(
        "BH-R009",
        "A partition file leaves the board tree as it is.",
        "describe the machine in the board tree (docs/boards.md); a partition file has `reserved-memory` and `domains`",
    ),
    # Sandboxes.
    Rule("BH-R010", "There are at most eight sandboxes.", "merge or remove some", references.not_too_many),
    Rule("BH-R011", "Names fit into 31 characters.", "shorten it", references.name_short),
    Rule("BH-R012", "Sandboxes have different names, and none has ours.", "rename it", references.name_unique),
    Rule("BH-R013", "Boot arguments fit.", "shorten `bootargs`", references.arguments_short),
    Rule("BH-R014", "There is a sandbox.", 'add a child with compatible = "bulkhead,sandbox-v1"', references.has_sandboxes),
    Rule("BH-R015", "At most one sandbox takes the rest.", "leave `takes-the-rest` to one of them", references.one_takes_the_rest),
    # Cores.
    Rule("BH-R020", "`cores` names cores of the board.", "use the labels cpu0, cpu1, ... of the board tree", cores.names_a_core),
    Rule("BH-R021", "A core has one owner.", "take it out of one of the two", cores.owned_once),
    Rule("BH-R022", "Threads of one physical core stay together.", "give all of them to one sandbox", cores.siblings_together),
    Rule("BH-R023", "A sandbox has a core.", "give it one in `cores`", cores.has_cores, unless=("BH-R006", "BH-R020")),
    Rule("BH-R024", "A sandbox has at most 16 cores.", "give some to another, or list them in `idle-cores`", cores.not_too_many),
    # Memory.
    Rule("BH-R030", "`memory-region` is a child of `reserved-memory`.", "add one there and refer to it", memory.is_reserved_memory),
    Rule("BH-R031", "A memory region has one owner.", "give each sandbox a region of its own", memory.given_once),
    Rule("BH-R032", "A sandbox has memory.", "add `memory-region`", memory.has_memory, unless=("BH-R006",)),
    Rule("BH-R033", "Memory comes in whole 2 MiB units.", "round the memory region's address and size to 2 MiB (0x200000)", memory.aligned),
    Rule("BH-R034", "Pinned memory lies in RAM.", "move it, or use `size` and let the tool place it", memory.inside_ram),
    Rule(
        "BH-R035", "Pinned memory is clear of firmware and monitor.", "move it, or let the tool place it by `size`", memory.clear_of_monitor
    ),
    Rule("BH-R036", "Pinned regions do not overlap.", "move one of them, or let the tool place it by `size`", memory.apart),
    Rule("BH-R037", "All memory fits.", "make it smaller, or unpin regions that split the free memory"),
    Rule("BH-R038", "Linux has at least 64 MiB.", "give its memory region 64 MiB or more", memory.large_enough),
    Rule("BH-R039", "A sandbox's RAM ends below its window.", "make its memory region smaller", memory.below_window),
    # Devices.
    Rule(
        "BH-R040",
        "`access` names devices.",
        "name a device; memory, cores and interrupt controllers are granted otherwise",
        devices.names_a_device,
    ),
    Rule("BH-R041", "A device has one owner, and is named once.", "leave it in one `access`, once", devices.given_once),
    Rule(
        "BH-R042",
        "Devices of different owners share no page.",
        "give both to one sandbox; the machine cannot tell them apart",
        devices.pages_apart,
    ),
    Rule(
        "BH-R043",
        "Devices of different owners share no interrupt line.",
        "give both to one sandbox, or leave one PCI function to nobody",
        devices.lines_apart,
    ),
    Rule(
        "BH-R044",
        "Devices of different owners share no I/O port.",
        "give both to one sandbox, or give their nodes in the board tree the ports that they have",
        devices.ports_apart,
    ),
    Rule(
        "BH-R045",
        "Devices are clear of interrupt controllers and the IOMMU.",
        "no sandbox can have that page: move the device's `reg` in the board tree, if it is elsewhere",
        devices.clear_of_controllers,
    ),
    Rule(
        "BH-R046", "Devices are clear of the sandbox's RAM.", "make the RAM smaller, or give the device to another", memory.clear_of_devices
    ),
    Rule(
        "BH-R047",
        "Devices that share an interrupt line have one trigger for it.",
        "give both the same trigger in `interrupts` of the board tree",
        devices.line_used_alike,
    ),
    Rule("BH-R048", "Ports of the machine itself are nobody's.", "take the device out of `access`", devices.ports_not_of_platform),
    Rule(
        "BH-R049",
        "A device that is granted is known to do no DMA.",
        'take it out of `access`; if it does none, say in the board tree why: bulkhead,dma-free = "reason"; a PCI function that does needs an IOMMU there',
        devices.is_known_to_do_no_dma,
    ),
    Rule(
        "BH-R056",
        "Clocks, resets, power domains and pins of a device are fixed or its owner's, and so are its interrupts.",
        "give what it depends on to the same sandbox, a native one, with all that depends on it; else take the device out of `access`",
        supplies.depends_on_its_own,
    ),
    Rule(
        "BH-R114",
        "Who has a clock, reset, power domain or pin has all that it can stop.",
        "take the controller out of `access`, or give what depends on it to the same sandbox",
        supplies.feeds_its_own,
    ),
    Rule(
        "BH-R110",
        "On a PC, at most one Linux sandbox has level-triggered lines.",
        "give the device to that sandbox or to a native one, or leave out its `interrupts`",
        devices.one_chooses_level_vectors,
    ),
    Rule(
        "BH-R111",
        "On a PC, native sandboxes have at most 15 level-triggered lines.",
        "take a device out of `access`, or leave out its `interrupts`",
        devices.level_vectors_suffice,
    ),
    Rule(
        "BH-R059",
        "Interrupt lines of the machine itself are nobody's.",
        "take the device out of `access`, or give its `interrupts` in the board tree the line that it has",
        devices.lines_not_of_platform,
    ),
    Rule(
        "BH-R112",
        "Registers that the board keeps from every sandbox are nobody's.",
        "take the device out of `access`; platforms/NAME/board.h says what is kept, and why",
        devices.registers_not_of_platform,
    ),
    # References between them.
    Rule("BH-R050", "The console is granted.", 'add it to `access`, or use console = "log"', references.console_granted),
    Rule("BH-R051", "The console is a UART.", "name a PL011 or a 16550; Linux on a PC may have a PCI one", references.console_is_uart),
    Rule(
        "BH-R052",
        "The console of Linux is a UART or `none`; no other sandbox has `none`.",
        'name a UART; else "none" for Linux, "log" for others',
        references.linux_console,
    ),
    Rule("BH-R053", "`may-kick` names other sandboxes, each once.", "name another sandbox by its label, once", references.may_kick_others),
    Rule(
        "BH-R054", "`log-access` names other sandboxes, each once.", "name another sandbox by its label, once", references.log_access_others
    ),
    Rule(
        "BH-R058",
        "`accepts-notify` names other sandboxes, each once.",
        "name another sandbox by its label, once",
        references.accepts_from_others,
    ),
    Rule("BH-R055", "An initrd is for Linux.", 'take it out, or add os,type = "linux"', references.initrd_for_linux),
    # Images.
    Rule("BH-R060", "Images exist.", "put the file beside the partition file, or use a name the tool knows"),
    Rule(
        "BH-R061",
        "An image is what its sandbox can run.",
        "give an ELF executable to `native`, a kernel to `linux`, and a `load-address` to a flat binary (ARM)",
    ),
    Rule("BH-R062", "An image is for this machine.", "build it for the platform, or choose another with --platform"),
    Rule(
        "BH-R063",
        "An image lies in its sandbox's RAM.",
        "link it there, or make the RAM larger; a board with a `guest-ram` of its own says in `guests_at` of platforms/NAME/meson.build where ours are linked",
    ),
    Rule(
        "BH-R064",
        "An image leaves the entry area, the stack and itself alone.",
        "link it at or above 0x40080000 on ARM (512 KiB into RAM, which a board may have elsewhere), 0x200000 on a PC: `bulkhead overlay --for ld` writes a linker script",
    ),
    Rule("BH-R065", "Kernel, initrd and device tree fit into their sandbox's RAM.", "make the RAM larger"),
    # What the partition table can hold.
    Rule(
        "BH-R066",
        "An image's guest contract is one that this version has.",
        "build it again with this version's SDK (`tools/bulkhead sdk`), or take the version it was built for",
    ),
    Rule(
        "BH-R067",
        "A root file system holds what an initramfs can hold, and a program to start.",
        "mend that, or name a cpio archive (newc) that you have packed yourself",
    ),
    Rule(
        "BH-R068",
        "`modules` are those of the kernel `vmlinuz` that the tool provides, for an `initrd`.",
        "take it out; modules of your own kernel lie in your root file system, below /lib/modules/VERSION",
        references.modules_with_kernel,
    ),
    Rule("BH-R069", "The kernel has the modules that are named.", "name them as `modinfo` does, at most 64 with those they need"),
    Rule("BH-R130", "An initrd is one that Linux can unpack.", "give a cpio archive of the form newc, compressed or not"),
    Rule("BH-R131", "What an initrd unpacks to fits into its sandbox's RAM.", "make the RAM larger, or the root file system smaller"),
    Rule(
        "BH-R132",
        "`kernel-package` says where the kernel `vmlinuz` comes from that the tool provides.",
        'take it out, or let the tool provide the kernel: image = "vmlinuz"',
        references.package_of_own_kernel,
    ),
    Rule(
        "BH-R133",
        "`kernel-package` is a package of Debian with a kernel for the board's architecture.",
        "name one that `apt-cache search linux-image` lists there; Debian calls its kernels for PCs amd64, for ARMv8 arm64, for ARMv7 armmp",
        references.package_of_architecture,
    ),
    Rule("BH-R070", "The grants of a sandbox fit into its information page.", "take devices out of `access`, or VCPUs or channels out"),
    Rule(
        "BH-R071",
        "Regions, ports, lines, pieces and PCI functions fit into the partition table.",
        "take devices out of `access`, or channels out",
    ),
    Rule(
        "BH-R072",
        "What a sandbox's monitor keeps besides its RAM, translation tables included, is at most 320 KiB, and 16 KiB more for each core after the fourth.",
        "take far-apart devices out of `access`",
    ),
    # Faults.
    Rule("BH-R080", "A heartbeat that is watched has a watcher.", "let a sandbox that kicks it have `may-kick`", health.has_a_watcher),
    Rule(
        "BH-R081",
        "A sandbox that restarts says how often at most.",
        "write how many faults a restart answers: `max-restarts = <3>;`",
        health.says_how_often,
    ),
    Rule("BH-R082", "Only native sandboxes have heartbeats.", "take out `heartbeat-timeout-us`", health.has_a_heartbeat),
    Rule("BH-R083", "A heartbeat's timeout is from 100 us to 10 s.", "choose one from 100 to 10000000 us", health.timeout_in_range),
    Rule("BH-R084", "There is room for the boot snapshots of sandboxes that restart.", "make some memory smaller"),
    Rule(
        "BH-R085", "`max-restarts` and `then` tell about restarts.", 'add on-fault = "restart", or take them out', health.tells_of_restarts
    ),
    Rule("BH-R086", "`notify` names other sandboxes, each once.", "name another sandbox by its label, once", health.notifies_another),
    Rule("BH-R087", "Who is named in `notify` accepts it.", "list this sandbox in the other's `accepts-notify`", health.notice_is_accepted),
    Rule(
        "BH-R088",
        "Linux is not told of others' ends: it has no driver.",
        "name a native sandbox, or take it out",
        health.notice_is_understood,
    ),
    # Modular protection.
    Rule("BH-R090", "A protection that is switched off is one the machine has.", "take it out of `unprotected`", unprotected.exists),
    Rule("BH-R091", "On GICv2 whoever has the interrupt controller sends IPIs.", "name `ipi` too", unprotected.irq_with_ipi),
    Rule(
        "BH-R092",
        "On a PC a sandbox that starts cores has its `ipi` protection.",
        "take `ipi` out of `unprotected`, or leave the sandbox one core",
        unprotected.ipi_on_one_core,
    ),
    # PCI.
    Rule("BH-R100", "A PCI function is described, once.", "complete its node in the board tree", pci.described),
    Rule(
        "BH-R101",
        "Base addresses of PCI functions are possible, and in a window of their host.",
        "correct `assigned-addresses` in the board tree",
        pci.addresses_possible,
    ),
    Rule("BH-R102", "Base addresses of PCI functions are apart.", "correct `assigned-addresses` in the board tree", pci.addresses_apart),
    Rule(
        "BH-R125",
        "The table of MSI-X of a PCI function lies in memory of one of its base addresses; one that a monitor owns shares no page with another.",
        "correct `bulkhead,msix` in the board tree: base address, offset, entries",
        pci.message_tables_possible,
        unless=("BH-R101",),
    ),
    Rule(
        "BH-R103",
        "No PCI function that is given away is a bridge, or of a class that works by DMA and unseen by an IOMMU.",
        "take it out of `access`; what works by DMA needs an IOMMU in the board tree, and `iommu-map` in its host's node (docs/boards.md)",
        pci.can_be_given,
        unless=("BH-R104",),
    ),
    *DMA_RULES,
    *VCPU_RULES,
    *CHANNEL_RULES,
    # Warnings.
    Rule("BH-W001", "dtc has nothing to say.", "change what the message names"),
    Rule(
        "BH-W020",
        "Every core has an owner.",
        "give it to a sandbox, or list it in `idle-cores` of `domains`",
        cores.all_owned,
        unless=("BH-R006", "BH-R020", "BH-R021", "BH-R023"),
    ),
    Rule(
        "BH-W030",
        "Every memory region is used.",
        "take it out, or name it in a `memory-region`",
        memory.all_used,
        unless=("BH-R006", "BH-R030", "BH-R031", "BH-R032"),
    ),
    Rule("BH-W031", "A sandbox with `takes-the-rest` can have all of it.", "give that memory to another sandbox, by a `memory-region`"),
    Rule(
        "BH-W032",
        "A sandbox has its cores and its RAM in one NUMA node.",
        "give it cores of the node that has room, or pin its memory region (`reg`) there",
    ),
    Rule(
        "BH-W041",
        "Timers and performance monitors interrupt their own core, by PPIs.",
        "nothing, where no sandbox waits for these interrupts: its counters count all the same",
        board.private_interrupts,
    ),
    Rule(
        "BH-W049",
        "A sandbox with `takes-the-rest` gets every device that nobody names.",
        'if it does no DMA, say in the board tree why: bulkhead,dma-free = "reason"; else it stays nobody\'s',
        devices.withheld_from_the_rest,
    ),
    Rule(
        "BH-W060",
        "Software that the tool provides is there.",
        "`run` and `image` build and fetch it, and `check --build` judges it now",
        of_file=False,
    ),
    Rule(
        "BH-W061",
        "Linux finds a first process in its initrd, and memory for it.",
        "mend the archive, enlarge the RAM, or install what measures it",
    ),
    Rule("BH-W090", "Every sandbox is confined.", "take it out of `unprotected`, but to measure or to attack", unprotected.nothing),
    *DMA_WARNINGS,
    *VCPU_WARNINGS,
    *CHANNEL_WARNINGS,
)

SYNTAX, DTC_WARNING = "BH-R001", "BH-W001"
BY_ID = {rule.id: rule for rule in RULES}


def diagnose(rule: str, where: Location, text: str, remedy: str = "") -> Diagnostic:
    """The message for a broken rule: what is wrong, and what to do (empty: the rule's own); of what the compiler finds, the text says both."""
    what_to_do = "" if rule in (SYNTAX, DTC_WARNING) else f"; {remedy or BY_ID[rule].remedy}"
    return Diagnostic(where.file, where.line, rule, visible(text + what_to_do))


def judge_meaning(domains: Domains) -> list[Diagnostic]:
    """Every finding of every rule with a check, errors and warnings, in the order of the files."""
    judged = [(rule, one) for rule in RULES if rule.check for one in rule.check(domains)]
    wrong = {one.location for rule, one in judged if one.node is None and not rule.is_warning}
    found = [diagnose(rule.id, one.location, one.text) for rule, one in judged if wrong.isdisjoint(_places(one.node))]
    broken = {rule.id for rule, _ in judged}
    causes = [one for one in found if broken.isdisjoint(BY_ID[one.rule].unless)]
    return sorted(dict.fromkeys(causes), key=lambda one: (one.file, one.line, one.rule))


def _places(node: Node | None) -> list[Location]:
    """Where the node and its properties are written."""
    return [node.location, *(one.location for one in node.properties.values())] if node else []
