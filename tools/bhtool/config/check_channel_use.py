# SPDX-License-Identifier: Apache-2.0
"""What a partition file says of whoever uses a channel, and cannot come true: Linux without a device for it, programs and commands that name none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bhtool.config.channels import KIND, LATEST, RING, Channel
from bhtool.config.domains import Domains, Sandbox
from bhtool.config.plan import ChannelKind
from bhtool.config.rootfs.modules import OWN, plain_name
from bhtool.config.rule import Finding
from bhtool.config.vcpus import PROGRAM, RELAY, SENT_ON, SINK, SOURCE, Vcpu, is_provided_kernel
from bhtool.text import did_you_mean

KERNEL = "vmlinuz"
OWN_ROOTS = ("rootfs.cpio.gz", "rootfs-can.cpio.gz", "rootfs-channels.cpio.gz")  # which have no modules but those that are named
OTHER_ROOT = "root="  # in `bootargs`: from there on it is another's
# Commands of the sandbox kernel that name a channel, and whether more follows the name: kernel/core/shell_channels.c.
COMMANDS = {"send": True, "reopen": True, "receive": False, "open": False, "close": False, "ring": False, "rung": False}
ON_A_CORE = "core="  # core=N,COMMAND


@dataclass(frozen=True)
class Want:
    """An end that a program takes, of the channel that is called as its VCPU is."""

    suffix: str
    end: int
    kinds: tuple[ChannelKind, ...]

    def says(self, name: str) -> str:
        kinds = " or ".join("latest value" if one == LATEST else one for one in self.kinds)
        return f"{'sends to' if self.end == 0 else 'takes from'} a {kinds} `{name}`"

    def suits(self, channel: Channel, end: int) -> bool:
        return end == self.end and channel.kind in self.kinds


# kernel/core/channel_programs.c
WANTS = {
    SOURCE: (Want("", 0, (RING, LATEST)),),
    SINK: (Want("", 1, (RING, LATEST)),),
    RELAY: (Want("", 1, (RING,)), Want(SENT_ON, 0, (RING,))),
}


def linux_has_its_device(domains: Domains) -> Iterator[Finding]:
    for sandbox in domains.sandboxes:
        names = [f"`{channel.name}`" for channel, _ in domains.ends_of(sandbox)]
        if names and _lacks_the_module(sandbox):
            ends = f"an end of channel {names[0]}" if len(names) == 1 else f"ends of {len(names)} channels, {', '.join(names)},"
            root = sandbox.node.text("initrd")
            text = f"`{sandbox.name}` has {ends} and no `{OWN}` among its `modules`, which `{root}` would load: there will be no /dev/{OWN}"
            yield Finding(sandbox.where("modules"), text)


def _lacks_the_module(sandbox: Sandbox) -> bool:
    """Known of the kernel and the root file system that the tool provides: another's may bring it, or have it built in."""
    if not sandbox.is_linux or sandbox.node.text("image") != KERNEL or (not sandbox.kernel_package and _is_beside(sandbox, "image")):
        return False
    if sandbox.node.text("initrd") not in OWN_ROOTS or _is_beside(sandbox, "initrd"):
        return False
    named = sandbox.node.properties["modules"].strings if "modules" in sandbox.node.properties else []
    return OWN not in map(plain_name, named) and not any(one.startswith(OTHER_ROOT) for one in sandbox.bootargs.split())


def _is_beside(sandbox: Sandbox, name: str) -> bool:
    """Whether a file of the name that the property gives lies beside the partition file, and goes before what the tool provides."""
    return Path(sandbox.where(name).file).with_name(sandbox.node.text(name)).exists()


def _of_provided_kernels(domains: Domains) -> Iterator[Sandbox]:
    for sandbox in domains.sandboxes:
        if not sandbox.is_linux and is_provided_kernel(sandbox.node.text("image"), Path(sandbox.where("image").file)):
            yield sandbox


def programs_have_their_channels(domains: Domains) -> Iterator[Finding]:
    for sandbox in _of_provided_kernels(domains):
        for vcpu in sandbox.vcpus:
            for want in WANTS.get(vcpu.program, ()) if not vcpu.is_io else ():
                if why := _why_not(domains, sandbox, vcpu, want):
                    what = f"`{vcpu.name}` of `{sandbox.name}` runs `{vcpu.program}`, which {want.says(vcpu.name + want.suffix)}"
                    yield Finding(vcpu.where(PROGRAM), f"{what}, and {why}")


def _why_not(domains: Domains, sandbox: Sandbox, vcpu: Vcpu, want: Want) -> str:
    """What the program will not find; empty: it will find all."""
    own = {channel.name: (channel, end) for channel, end in domains.ends_of(sandbox)}
    name = vcpu.name + want.suffix
    if name not in own:
        suited = [one for one, (channel, end) in own.items() if want.suits(channel, end)]
        return f"`{sandbox.name}` has no channel of that name{did_you_mean(name, suited)}"
    channel, end = own[name]
    if end != want.end:
        return f"channel `{name}` leads {'from' if end == 0 else 'to'} `{sandbox.name}`"
    return "" if channel.kind in want.kinds else f"the `{KIND}` of channel `{name}` is {channel.kind}"


def commands_name_channels(domains: Domains) -> Iterator[Finding]:
    for sandbox in _of_provided_kernels(domains):
        own = [channel.name for channel, _ in domains.ends_of(sandbox)]
        for command, name in dict.fromkeys(_named_in(sandbox.bootargs)):
            if name not in own:
                text = (
                    f"`{command}` in `bootargs` names `{name}`, and `{sandbox.name}` has no channel of that name{did_you_mean(name, own)}"
                )
                yield Finding(sandbox.where("bootargs"), text)


def _named_in(arguments: str) -> Iterator[tuple[str, str]]:
    """(command, channel), as the kernel cuts its arguments: kernel/core/command.c."""
    for word in arguments.split(" "):
        while word.startswith(ON_A_CORE):
            word = word.partition(",")[2]
        command, _, rest = word.partition("=")
        if command in COMMANDS:
            yield command, rest.partition(",")[0] if COMMANDS[command] else rest
