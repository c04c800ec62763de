# SPDX-License-Identifier: Apache-2.0
"""BH-F2.network, BH-I1.dma, BH-I2.exitless. QEMU's NE2000, which is ports and a line, in the place of a board's card: behind an IOMMU it masters no bus.

Bochs' is in test_linux_ports.py. On ARM ports are memory. Linux' driver masks the line while it hands over a frame, if the line calls meanwhile: an exit that is counted apart.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from bhtool.config.plan import DmaFree

from tests.emulated.case import GICV3, SVM
from tests.emulated.linux_shell import linux_shell
from tests.emulated.other_tree import with_card
from tests.emulated.scene import stage
from tests.emulated.test_linux_network import OTHER_END, PACKETS, PING, STANDARD_KERNEL, UP, WAIT_FOR_LINK, exits, with_a_card

pytestmark = pytest.mark.long
NODE = """
	nic0: ethernet@{slot},0 {{
		compatible = "pci10ec,8029", "pciclass,0200";
		reg = <{function:#x} 0 0 0 0>;
		assigned-addresses = <{base:#x} 0x0 {ports:#x} 0x0 0x100>;
		interrupts = <1>;
	}};
"""
PLACES = {GICV3: (1, 0x3000, 3), SVM: (5, 0xD200, 5)}  # slot, ports; exits of Linux for a line that it masks and lets go
INTERRUPTS = "awk '/ eth0/ { print $2 }' /proc/interrupts"


@pytest.mark.parametrize("name", PLACES)
def test_packets_cost_what_the_driver_masks(name: str, tmp_path: Path) -> None:
    slot, ports, masking = PLACES[name]
    node = NODE.format(slot=slot, function=slot << 11, base=0x81000010 | slot << 11, ports=ports)
    platform = with_card(tmp_path, name, node, "ne2k_pci")
    platform = replace(platform, linux_package=STANDARD_KERNEL.get(name, platform.linux_package))
    scene = stage(platform, with_a_card(platform, ("ne2k-pci",)))
    assert isinstance(scene.plan.sandboxes[0].devices["nic0"], DmaFree)
    with linux_shell(platform, scene) as shell:
        shell.ask(f"{UP}; {WAIT_FOR_LINK}; ping -c 1 {OTHER_END}")
        before, called = exits(shell), shell.number(INTERRUPTS)
        assert shell.ask(PING) == [f"{PACKETS} packets transmitted, {PACKETS} packets received, 0% packet loss"]
        more = {reason: count - before.get(reason, 0) for reason, count in exits(shell).items() if count != before.get(reason, 0)}
        assert more.keys() <= {"device"}
        assert more.get("device", 0) <= masking * (shell.number(INTERRUPTS) - called)
