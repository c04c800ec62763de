# SPDX-License-Identifier: Apache-2.0
"""Rules on names, counts and references between sandboxes."""

from __future__ import annotations

from collections.abc import Iterator

from bhtool.abi import lib, sizeof_field
from bhtool.config.domains import LOG, NO_CONSOLE, Domains, Sandbox
from bhtool.config.explain import MONITOR
from bhtool.config.rule import Finding
from bhtool.config.written import REFERENCES

PACKAGE = "kernel-package"
OURS = {MONITOR: "the monitor", "bulkhead": "this tool"}  # in tables, records, logs and JSON, beside sandboxes


def has_sandboxes(domains: Domains) -> Iterator[Finding]:
    if not domains.sandboxes:
        yield Finding(domains.node.location, "there is no sandbox")


def not_too_many(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes[lib.BH_MAX_SANDBOXES : lib.BH_MAX_SANDBOXES + 1]:
        yield Finding(sandbox.location, f"there are {len(domains.sandboxes)} sandboxes, a machine holds {lib.BH_MAX_SANDBOXES}")


def name_short(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        if len(sandbox.name.encode()) >= lib.BH_NAME_BYTES:
            yield Finding(sandbox.location, f"the name `{sandbox.name}` is longer than {lib.BH_NAME_BYTES - 1} characters")
    for sandbox in domains.sandboxes:
        for device in sandbox.devices:
            if len(device.name.encode()) >= lib.BH_NAME_BYTES:
                yield Finding(device.location, f"the name `{device.name}` is longer than {lib.BH_NAME_BYTES - 1} characters")
        for vcpu in sandbox.vcpus:
            for where, name in dict.fromkeys(((vcpu.location, vcpu.name), (vcpu.where("program"), vcpu.program))):
                if len(name.encode()) >= lib.BH_NAME_BYTES:
                    yield Finding(where, f"the name `{name}` is longer than {lib.BH_NAME_BYTES - 1} characters")
    for channel in domains.channels:
        if len(channel.name.encode()) >= lib.BH_NAME_BYTES:
            yield Finding(channel.location, f"the name `{channel.name}` is longer than {lib.BH_NAME_BYTES - 1} characters")


def name_unique(domains: Domains) -> Iterator[Finding]:
    first: dict[str, Sandbox] = {}
    for sandbox in domains.sandboxes:
        if sandbox.name in OURS:
            yield Finding(
                sandbox.location, f"a sandbox is called `{sandbox.name}`, as {OURS[sandbox.name]} is where a run shows who says what"
            )
        if sandbox.name in first:
            yield Finding(sandbox.location, f"a second sandbox is called `{sandbox.name}` (first: {first[sandbox.name].location})")
        first.setdefault(sandbox.name, sandbox)


def arguments_short(domains: Domains) -> Iterator[Finding]:
    most = sizeof_field("bh_info", "arguments") - 1
    for sandbox in domains.sandboxes:
        length = len(sandbox.bootargs.encode())
        if length > most and not sandbox.is_linux:
            yield Finding(sandbox.where("bootargs"), f"the arguments of `{sandbox.name}` are {length} bytes long, {most} fit")


def one_takes_the_rest(domains: Domains) -> Iterator[Finding]:
    takers = [sandbox for sandbox in domains.sandboxes if sandbox.takes_the_rest]
    for sandbox in takers[1:]:
        where = takers[0].where("takes-the-rest")
        yield Finding(sandbox.where("takes-the-rest"), f"`{sandbox.name}` takes the rest, as `{takers[0].name}` does already ({where})")


def console_granted(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        node = sandbox.console_node
        if node and not any(device.node is node for device in sandbox.devices):
            yield Finding(sandbox.where("console"), f"the console of `{sandbox.name}`, {node.label}, is not in its `access`")


def console_is_uart(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        for device in sandbox.devices:
            may_be_pci = sandbox.is_linux and domains.machine.family.programs.linux_console_is_pci
            if device.node is sandbox.console_node and not (device.is_uart or (device.is_pci_uart and may_be_pci)):
                yield Finding(sandbox.where("console"), f"the console of `{sandbox.name}`, {device.name}, is not a UART the tool can use")


def linux_console(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        if sandbox.is_linux and sandbox.console == LOG:
            yield Finding(sandbox.where("console"), f"`{sandbox.name}` runs Linux, which cannot write to a log ring")
        elif not sandbox.is_linux and sandbox.console == NO_CONSOLE:
            yield Finding(sandbox.where("console"), f"`{sandbox.name}` is native and has a log ring at least")


def initrd_for_linux(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        if not sandbox.is_linux and "initrd" in sandbox.node.properties:
            yield Finding(sandbox.where("initrd"), f"`{sandbox.name}` is native and has an `initrd`")


def modules_with_kernel(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        if "modules" not in sandbox.node.properties:
            continue
        if not sandbox.is_linux:
            yield Finding(sandbox.where("modules"), f"`{sandbox.name}` is native and has `modules`")
        elif sandbox.node.text("image") != "vmlinuz":
            text = (
                f"`{sandbox.name}` has `modules`, and its kernel `{sandbox.node.text('image')}` is not the tool's, whose modules are known"
            )
            yield Finding(sandbox.where("modules"), text)
        elif "initrd" not in sandbox.node.properties:
            yield Finding(sandbox.where("modules"), f"`{sandbox.name}` has `modules` and no `initrd` that would load them")


def package_of_own_kernel(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        if PACKAGE not in sandbox.node.properties:
            continue
        if not sandbox.is_linux:
            yield Finding(sandbox.where(PACKAGE), f"`{sandbox.name}` is native and has a `{PACKAGE}`")
        elif (image := sandbox.node.text("image")) != "vmlinuz":
            yield Finding(sandbox.where(PACKAGE), f"`{sandbox.name}` has a `{PACKAGE}`, and its kernel `{image}` comes from a file")


def package_of_architecture(domains: Domains) -> Iterator[Finding]:
    """By its name, which ends with what Debian calls the processors: whether there is such a package is seen when it is fetched."""
    own = domains.machine.family.programs.linux_flavour
    for sandbox in domains.sandboxes:
        words = (package := sandbox.kernel_package).split("-")
        if package and (own not in words or "dbg" in words):  # dbg: what a debugger reads
            yield Finding(sandbox.where(PACKAGE), f"`{package}` of `{sandbox.name}` holds no kernel for {domains.machine.family.title}")


def _other_sandboxes(domains: Domains, name: str) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        nodes = {"may-kick": sandbox.kick_nodes, "log-access": sandbox.log_nodes, "accepts-notify": sandbox.accept_nodes}[name]
        for index, node in enumerate(nodes):
            if node in nodes[:index]:
                yield Finding(sandbox.where(name), f"`{sandbox.name}` names `{node.label}` twice in `{name}`")
            elif node is sandbox.node:
                yield Finding(sandbox.where(name), f"`{sandbox.name}` names itself in `{name}`")
            elif not domains.sandbox_at(node):
                yield Finding(sandbox.where(name), f"`{node.label}` in `{name}` of `{sandbox.name}` is not a sandbox")


def may_kick_others(domains: Domains) -> Iterator[Finding]:
    yield from _other_sandboxes(domains, "may-kick")


def log_access_others(domains: Domains) -> Iterator[Finding]:
    yield from _other_sandboxes(domains, "log-access")


def accepts_from_others(domains: Domains) -> Iterator[Finding]:
    yield from _other_sandboxes(domains, "accepts-notify")


def references_resolve(domains: Domains) -> Iterator[Finding]:
    known = {node.phandle for node in domains.machine.root.walk() if node.phandle}
    owners = [*(sandbox.node for sandbox in domains.sandboxes), *(one.health for one in domains.sandboxes if one.health), domains.node]
    owners += [vcpu.node for sandbox in domains.sandboxes for vcpu in sandbox.vcpus]
    owners += [channel.node for channel in domains.channels]
    for node in owners:
        for name in (*REFERENCES, "console"):
            one = node.properties.get(name)
            if one and not one.is_text and any(cell not in known for cell in one.cells):
                yield Finding(one.location, f"`{name}` of `{node.name}` holds a number that refers to nothing")
