# SPDX-License-Identifier: Apache-2.0
"""BH-F2.network, BH-I1.dma. A virtio network card behind the IOMMU: Debian's driver of it, on a machine whose board tree says that the card obeys.

Without VIRTIO_F_ACCESS_PLATFORM the card would use the machine's own addresses, where the sandbox's memory is not.
"""

from dataclasses import dataclass, fields, replace
from pathlib import Path

import pytest
from bhtool.config.plan import Translated
from bhtool.platforms import OBEYS, Fitted, Platform

from tests.emulated.case import GICV3
from tests.emulated.linux_shell import linux_shell
from tests.emulated.network import plugged
from tests.emulated.scene import platform_or_skip, stage
from tests.emulated.test_linux_network import OTHER_END, PACKETS, PING, UP, WAIT_FOR_LINK, exits, with_a_card

pytestmark = pytest.mark.long
# Virtual I/O Device 1.2, 4.1.2 "PCI Device Discovery": a network card without legacy interface. Registers as QEMU's virtio-net-pci has them.
NODE = """
#include "{board}"
/delete-node/ &nic0;
&pci0 {{
	nic0: ethernet@1,0 {{
		compatible = "pci1af4,1041", "pciclass,0200";
		reg = <0x800 0 0 0 0>;
		assigned-addresses = <0x82000814 0x0 0x2e400000 0x0 0x1000>, <0xc3000820 0x0 0x2e404000 0x0 0x4000>;
		interrupts = <1>;
		bulkhead,iommu-platform;
	}};
}};
"""
MODEL = "virtio-net-pci"


@dataclass(frozen=True)
class OtherTree(Platform):
    """A platform with a board tree of a test's own."""

    tree: Path = Path()

    @property
    def board(self) -> Path:
        return self.tree


def with_virtio(folder: Path) -> Platform:
    found = platform_or_skip(GICV3)
    tree = folder / "virtio.dtsi"
    tree.write_text(NODE.format(board=found.board))
    card = Fitted("nic0", ",".join((MODEL, *OBEYS)), next(one.addr for one in found.nics if one.name == "nic0"))
    nics = (card, *(one for one in found.nics if one.name != "nic0"))
    same = {one.name: getattr(found, one.name) for one in fields(Platform)}
    return plugged(replace(OtherTree(**same, tree=tree), nics=nics), {"nic0": "user,restrict=on"})


def test_packets_without_exits(tmp_path: Path) -> None:
    """That they arrive shows that the card obeys: Linux hands out its own addresses."""
    platform = with_virtio(tmp_path)
    scene = stage(platform, with_a_card(platform, ("virtio_pci", "virtio_net")))
    linux = scene.plan.sandboxes[0]
    assert linux.ram_gpa != linux.ram_hpa
    assert isinstance(linux.devices["nic0"], Translated)
    with linux_shell(platform, scene) as shell:
        shell.ask(f"{UP}; {WAIT_FOR_LINK}; ping -c 1 {OTHER_END}")
        before = exits(shell)
        assert shell.ask(PING) == [f"{PACKETS} packets transmitted, {PACKETS} packets received, 0% packet loss"]
        assert exits(shell) == before
