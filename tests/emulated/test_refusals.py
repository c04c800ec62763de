# SPDX-License-Identifier: Apache-2.0
"""BH-I7.boot. Bad input to a machine: one sentence on the boot console and the end of the machine, never a hang."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from bhtool import abi, paths
from bhtool.config.table import checksum
from bhtool.image import loadable
from bhtool.machine.emulated import Machine
from bhtool.platforms import Medium, Platform

from tests.emulated.case import ARM, ARMV7, GICV2, GICV3, QEMU, SVM, VTX
from tests.emulated.scene import Scene, monitor, stage_file

LIMIT_SECONDS = 30.0
LOOK_SECONDS = 0.005
STATUS = {SVM: 3, **dict.fromkeys(ARM, 0)}  # isa-debug-exit gives 2 * 1 + 1; ARM firmware has no status to give
FLIPS, SEED = 8, 20261120

NATIVE, OWNS_FUNCTIONS = paths.PARTITIONS / "native.dts", Path(__file__).with_name("pci.dts")
Table = bytes
Damage = Callable[[Table], Table]


def last_words(
    platform: Platform, image: bytes, medium: Medium | None = None, extra: tuple[str, ...] = (), limit: float = LIMIT_SECONDS
) -> tuple[str, int | None]:
    """What the machine says on its boot console, and its status; None: it was still running at the limit."""
    said = b""
    with Machine(platform, image, extra=extra, medium=medium) as machine:
        console = machine.serials["uart0"]
        deadline = time.monotonic() + limit
        while (status := machine.exit_status()) is None and time.monotonic() < deadline:
            said += read(console.recv)
            time.sleep(LOOK_SECONDS)
        while chunk := read(console.recv):
            said += chunk
    return said.decode("ascii", "replace").strip(), status


def read(receive: Callable[[int], bytes]) -> bytes:
    try:
        return receive(4096)
    except (BlockingIOError, ConnectionError):
        return b""


def field(name: str, value: int | bytes) -> Damage:
    """Another value in a field, and a checksum to match."""

    def damage(table: Table) -> Table:
        copy = abi.ffi.new("struct bh_table *")
        abi.ffi.memmove(copy, table, len(table))
        setattr(copy, name, value)
        copy.checksum = checksum(abi.bytes_of(copy))
        return abi.bytes_of(copy)

    return damage


def exchange(table: Table) -> Table:
    """Core 0 and core 1 have each other's number."""
    copy = abi.ffi.new("struct bh_table *")
    abi.ffi.memmove(copy, table, len(table))
    copy.hardware_id[0], copy.hardware_id[1] = copy.hardware_id[1], copy.hardware_id[0]
    copy.checksum = checksum(abi.bytes_of(copy))
    return abi.bytes_of(copy)


def lacks_a_frame(table: Table) -> Table:
    """The last sandbox's pool, of one frame: start-up finds out with the last of that monitor's tables."""
    copy = abi.ffi.new("struct bh_table *")
    abi.ffi.memmove(copy, table, len(table))
    copy.sandboxes[copy.sandbox_count - 1].pool_bytes -= abi.lib.BH_PAGE_BYTES
    copy.checksum = checksum(abi.bytes_of(copy))
    return abi.bytes_of(copy)


def unjudged(table: Table) -> Table:
    """BH-I1.dma. Devices were granted without a word on their DMA."""
    copy = abi.ffi.new("struct bh_table *")
    abi.ffi.memmove(copy, table, len(table))
    for rows, count in ((copy.regions, copy.region_count), (copy.ports, copy.port_count)):
        for n in range(count):
            rows[n].dma = abi.lib.BH_DMA_UNKNOWN
    copy.checksum = checksum(abi.bytes_of(copy))
    return abi.bytes_of(copy)


def unjudged_functions(table: Table) -> Table:
    """BH-I1.dma. PCI functions were granted without a word on their DMA; what their base addresses lead to was judged."""
    copy = abi.ffi.new("struct bh_table *")
    abi.ffi.memmove(copy, table, len(table))
    assert copy.pci_function_count
    for n in range(copy.pci_function_count):
        copy.pci_functions[n].dma = abi.lib.BH_DMA_UNKNOWN
    copy.checksum = checksum(abi.bytes_of(copy))
    return abi.bytes_of(copy)


def flip(bit: int) -> Damage:
    def damage(table: Table) -> Table:
        copy = bytearray(table)
        copy[bit // 8] ^= 1 << bit % 8
        return bytes(copy)

    return damage


def cut(table: Table) -> Table:
    kept = len(table) // 8
    return table[:kept] + bytes(len(table) - kept)


@dataclass(frozen=True)
class Refusal:
    name: str
    damage: Damage
    says: str
    quick: bool = False
    partition: Path = NATIVE


REFUSALS = (
    Refusal("no-table", lambda table: bytes(len(table)), "there is none"),
    Refusal("cut-short", cut, "its checksum is wrong"),
    Refusal("wrong-checksum", flip(8 * abi.ffi.offsetof("struct bh_table", "checksum")), "its checksum is wrong", quick=True),
    Refusal("other-version", field("version", 99), "another version"),
    Refusal("other-size", field("size", 8), "another size"),
    Refusal("other-platform", field("platform", b"qemu-other"), "another platform"),
    Refusal("too-many-sandboxes", field("sandbox_count", 9), "sandbox count out of range"),
    Refusal("other-boot-core", exchange, "cannot start: the machine has not started on the core"),
    Refusal("pool-too-small", lacks_a_frame, "private monitor: the sandbox's pool is too small", quick=True),
    Refusal("unjudged-device", unjudged, "not known to be free of DMA"),
    Refusal("misaligned-shared-page", field("shared", 1), "the shared page is misaligned"),
    Refusal("unjudged-function", unjudged_functions, "a PCI function that is not known to be free of DMA", partition=OWNS_FUNCTIONS),
)


def flips() -> list[int]:
    """Seeded, and spread over the whole table."""
    chooser, bits = random.Random(SEED), 8 * abi.sizeof("bh_table")
    return [chooser.randrange(bits * n // FLIPS, bits * (n + 1) // FLIPS) for n in range(FLIPS)]


def row(platform: str, refusal: Refusal, *marks: pytest.MarkDecorator) -> object:
    return pytest.param(platform, refusal, id=f"{platform}-{refusal.name}", marks=marks)


def rows() -> list[object]:
    """One refusal everywhere, every other and every flip on one platform: all of them are checked on the host by the unit tests.

    With the long tests every refusal everywhere.
    """
    found = [row(platform, refusal) for refusal in REFUSALS if refusal.quick for platform in QEMU]
    for n, refusal in enumerate(refusal for refusal in REFUSALS if not refusal.quick):
        first = QEMU[n % len(QEMU)]
        found += [row(platform, refusal, pytest.mark.slow if platform == first else pytest.mark.long) for platform in QEMU]
    flipped = (Refusal(f"bit-{bit}", flip(bit), "partition table refused") for bit in flips())
    return found + [row(QEMU[n % len(QEMU)], refusal, pytest.mark.slow) for n, refusal in enumerate(flipped)]


def native(platform: Platform) -> Scene:
    return stage_file(platform, NATIVE)


def check(platform: Platform, elf: bytes, says: str) -> None:
    said, status = last_words(platform, elf)
    assert says in said
    assert said.startswith("bulkhead: ")
    assert len(said.splitlines()) == 1, "one sentence"
    assert status == STATUS[platform.name], "the machine ends by itself"


def damaged(platform: Platform, refusal: Refusal) -> bytes:
    plan = stage_file(platform, refusal.partition).plan
    return loadable.compose(monitor(platform), replace(plan, table=refusal.damage(plan.table)))


@pytest.mark.parametrize(("platform", "refusal"), rows())
def test_damaged_table(machine_platform: Platform, refusal: Refusal) -> None:
    check(machine_platform, damaged(machine_platform, refusal), refusal.says)


def rearranged(platform: Platform, old: str, new: str) -> Platform:
    """The same platform on a machine started differently."""
    arguments = tuple(argument.replace(old, new) for argument in platform.emulator.arguments)
    assert arguments != platform.emulator.arguments
    return replace(platform, emulator=replace(platform.emulator, arguments=arguments))


@pytest.mark.slow
@pytest.mark.parametrize("platform", [ARMV7])
def test_entry_in_secure_state(machine_platform: Platform) -> None:
    """Nobody is below to end the machine, nor to start a core: it says so, and rests."""
    said, status = last_words(rearranged(machine_platform, "virtualization=on", "secure=on"), native(machine_platform).image)
    assert said.startswith("bulkhead: cannot start: not entered in Hyp mode")
    assert len(said.splitlines()) == 1, "one sentence"
    assert status is None


@pytest.mark.parametrize("platform", ARM)
def test_entry_at_el1(machine_platform: Platform) -> None:
    check(rearranged(machine_platform, "virtualization=on", "virtualization=off"), native(machine_platform).image, "cannot start: ")


@pytest.mark.parametrize("platform", [SVM])
@pytest.mark.parametrize("model", ["max,-svm", "max,-x2apic", "max,-rdtscp", "qemu64,-svm"])
def test_processor_lacks_a_feature(machine_platform: Platform, model: str) -> None:
    check(rearranged(machine_platform, "max", model), native(machine_platform).image, "cannot start: ")


@pytest.mark.slow
@pytest.mark.parametrize(("platform", "other"), [(GICV3, "gic-version=2"), (GICV2, "gic-version=3")])
def test_other_interrupt_controller(machine_platform: Platform, other: str) -> None:
    own = "gic-version=3" if other.endswith("2") else "gic-version=2"
    check(rearranged(machine_platform, own, other), native(machine_platform).image, "cannot start: ")


@pytest.mark.slow
@pytest.mark.parametrize("platform", ARM)
def test_no_iommu(machine_platform: Platform) -> None:
    """BH-I1.dma. Nothing answers where board.h has its registers: start-up says which address that is, and splits nothing."""
    check(rearranged(machine_platform, ",iommu=smmuv3", ""), native(machine_platform).image, "09050000")


@pytest.mark.parametrize("platform", [SVM])
def test_iommu_that_lets_pass(machine_platform: Platform) -> None:
    """BH-I1.dma. Its registers are as they should be, and it blocks nothing: start-up asks a card."""
    check(
        rearranged(machine_platform, "pt=off", "pt=on"),
        native(machine_platform).image,
        "lets DMA of function 00:05.0 pass; in QEMU start it with pt=off",
    )


@pytest.mark.slow
@pytest.mark.parametrize("platform", QEMU)
def test_monitor_without_a_table(machine_platform: Platform) -> None:
    """bulkhead.elf itself, as somebody may try to boot it."""
    check(machine_platform, monitor(machine_platform), "there is none")


@pytest.mark.slow
@pytest.mark.parametrize("platform", QEMU)
def test_truncated_image(machine_platform: Platform) -> None:
    """A truncated file is the loader's to refuse, with a status, not a hang."""
    elf = native(machine_platform).image
    said, status = last_words(machine_platform, elf[: len(elf) // 2])
    assert said == ""
    assert status not in (None, 0)


@pytest.mark.parametrize("platform", [VTX])
@pytest.mark.parametrize("model", ["core2_penryn_t9600", "corei5_arrandale_m520"])
def test_intel_processor_lacks_a_feature(machine_platform: Platform, model: str) -> None:
    """One without x2APIC, one without unrestricted guests' companions; both have VT-x."""
    said, _ = last_words(rearranged(machine_platform, "corei7_skylake_x", model), native(machine_platform).image)
    assert "bulkhead: cannot start: the processor" in said
