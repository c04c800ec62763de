# SPDX-License-Identifier: Apache-2.0
"""A machine with a fake monitor, so that the tool's own parts are tried on figures that are known beforehand; and its command in this process."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from bhtool import abi, cli
from bhtool.config.plan import Location, Plan, Region, SandboxPlan
from bhtool.image import loadable
from bhtool.machine.emulated import Machine
from bhtool.paths import ROOT
from bhtool.platforms import Platform, load

FAKE = Path(__file__).parent / "fake_monitor.c"
LINK_ADDRESS = 0x40010000
POOLS = (0x50000000, 0x50080000, 0x50100000)


def sandbox(name: str, index: int, os: str = "native", console: str = "log") -> SandboxPlan:
    here = Location("fake.dts", index + 1)
    ram = (0x40000000, 0x60000000 + index * 0x1000000, 0x1000000)
    one = SandboxPlan(name, index, os, here, here, [index], [index], console, "x.elf", "", *ram, POOLS[index], initrd="rootfs.cpio.gz")  # type: ignore[arg-type]
    one.regions = [Region("ram", "ram", *ram, "rwx")]
    return one


@pytest.fixture(scope="session")
def platform() -> Platform:
    return load("qemu-aarch64")


@pytest.fixture(scope="session")
def plan() -> Plan:
    table = abi.ffi.new("struct bh_table *")
    for index, pool in enumerate(POOLS):
        table.sandboxes[index].pool = pool
    sandboxes = [sandbox("beating", 0), sandbox("crashed", 1), sandbox("linux", 2, "linux", "uart0")]
    return Plan("qemu-aarch64", Path("fake.dts"), sandboxes, table=abi.bytes_of(table))


@pytest.fixture(scope="session")
def monitor(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The fake monitor's ELF file."""
    out = tmp_path_factory.mktemp("fake") / "monitor.elf"
    freestanding = ["--target=aarch64-none-elf", "-ffreestanding", "-nostdlib", "-O1", "-mgeneral-regs-only", "-mstrict-align", f"-I{ROOT}"]
    link = ["-fuse-ld=lld-19", "-static", f"-Wl,--image-base={LINK_ADDRESS:#x}", "-Wl,-z,max-page-size=4096", "-Wl,--build-id=none"]
    subprocess.run(["clang-19", *freestanding, *link, str(FAKE), "-o", str(out)], check=True)
    return out.read_bytes()


@pytest.fixture
def machine(platform: Platform, plan: Plan, monitor: bytes) -> Machine:
    return Machine(platform, loadable.compose(monitor, plan))


Inside = Callable[..., int]


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> Inside:
    """Runs the command in this process, without the launcher; its exit status."""

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["tools/bulkhead", *arguments])
        monkeypatch.setattr(cli, "end_in_order", lambda: None)
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert isinstance(ended.value.code, int)
        return ended.value.code

    return run
