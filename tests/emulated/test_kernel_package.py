# SPDX-License-Identifier: Apache-2.0
"""BH-F1.kernel. The kernel that a partition file names by its package starts in a sandbox, and has the modules that the platform's own lacks."""

from pathlib import Path

import pytest
from bhtool.platforms import Platform

from tests.emulated.boot_arguments import lean
from tests.emulated.case import SVM
from tests.emulated.linux_shell import linux_shell
from tests.emulated.scene import compiled, scene_of

MODULES = ("nvme", "e1000e", "ext4")
PARTITION = """/dts-v1/;
#define MiB(n) 0x0 ((n) << 20)
#include BOARD_DTSI
/ {
	reserved-memory { #address-cells = <2>; #size-cells = <2>; ranges; linux_ram: linux { size = <MiB(256)>; }; };
	domains {
		compatible = "bulkhead,partitions-v1"; idle-cores = <&cpu1>, <&cpu2>, <&cpu3>;
		linux {
			compatible = "bulkhead,sandbox-v1"; os,type = "linux"; cores = <&cpu0>; memory-region = <&linux_ram>;
			access = <&uart0>; console = <&uart0>; image = "vmlinuz"; kernel-package = "linux-image-amd64";
			initrd = "rootfs.cpio.gz"; modules = MODULES; bootargs = "ARGUMENTS";
		};
	};
};
"""


@pytest.mark.slow
@pytest.mark.parametrize("platform", [SVM])
def test_the_standard_kernel_starts_with_modules(platform: str, machine_platform: Platform, tmp_path: Path) -> None:
    """It panics where it is shown machine checks and finds none (hal/x86/cpuid_boot.c)."""
    file = tmp_path / "standard.dts"
    names = ", ".join(f'"{name}"' for name in MODULES)
    arguments = lean(platform).replace("btf_vmlinux_init,", "")  # which modules want
    file.write_text(PARTITION.replace("MODULES", names).replace("ARGUMENTS", arguments))
    with linux_shell(machine_platform, scene_of(machine_platform, compiled(machine_platform, file))) as shell:
        assert "cloud" not in " ".join(shell.ask("uname -r"))
        loaded = {line.split()[0] for line in shell.ask("cat /proc/modules") if line}
    assert set(MODULES) <= loaded
