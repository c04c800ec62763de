# SPDX-License-Identifier: Apache-2.0
"""BH-F2.network, BH-I1.dma. A virtio network card behind the IOMMU: Debian's driver of it, on a machine whose board tree says that the card obeys.

Without VIRTIO_F_ACCESS_PLATFORM the card would use the machine's own addresses, where the sandbox's memory is not.
"""

from pathlib import Path

import pytest
from bhtool.config.plan import Translated
from bhtool.platforms import OBEYS

from tests.emulated.case import GICV3
from tests.emulated.linux_shell import linux_shell
from tests.emulated.other_tree import with_card
from tests.emulated.scene import stage
from tests.emulated.test_linux_network import OTHER_END, PACKETS, PING, UP, WAIT_FOR_LINK, exits, with_a_card

pytestmark = pytest.mark.long
# Virtual I/O Device 1.2, 4.1.2 "PCI Device Discovery": a network card without legacy interface. Registers as QEMU's virtio-net-pci has them.
NODE = """
	nic0: ethernet@1,0 {
		compatible = "pci1af4,1041", "pciclass,0200";
		reg = <0x800 0 0 0 0>;
		assigned-addresses = <0x82000814 0x0 0x2e400000 0x0 0x1000>, <0xc3000820 0x0 0x2e404000 0x0 0x4000>;
		interrupts = <1>;
		bulkhead,iommu-platform;
	};
"""
MODEL = ",".join(("virtio-net-pci", *OBEYS))


def test_packets_without_exits(tmp_path: Path) -> None:
    """That they arrive shows that the card obeys: Linux hands out its own addresses."""
    platform = with_card(tmp_path, GICV3, NODE, MODEL)
    scene = stage(platform, with_a_card(platform, ("virtio_pci", "virtio_net")))
    linux = scene.plan.sandboxes[0]
    assert linux.ram_gpa != linux.ram_hpa
    assert isinstance(linux.devices["nic0"], Translated)
    with linux_shell(platform, scene) as shell:
        shell.ask(f"{UP}; {WAIT_FOR_LINK}; ping -c 1 {OTHER_END}")
        before = exits(shell)
        assert shell.ask(PING) == [f"{PACKETS} packets transmitted, {PACKETS} packets received, 0% packet loss"]
        assert exits(shell) == before
