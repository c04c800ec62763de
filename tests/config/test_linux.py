# SPDX-License-Identifier: Apache-2.0
"""BH-F1.handed. What a Linux sandbox is handed: its own cores and devices, nothing of anybody else's, in the forms its kernel reads."""

import struct
from collections.abc import Callable
from pathlib import Path

import libfdt
import pytest
from bhtool.config.linux_x86 import CLOCK_DIGITS
from bhtool.config.plan import Plan, SandboxPlan
from bhtool.config.tree import Node, joined, read_blob
from bhtool.paths import PARTITIONS

from tests.config.software import INITRD, arm32_kernel, x86_kernel

Compile = Callable[[Path, str], Plan]
MIXED, LINUX2 = PARTITIONS / "mixed.dts", PARTITIONS / "linux2.dts"
GOOD = Path(__file__).parent / "broken" / "good.dtsi"
MIB = 1 << 20
ARM = ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7")


def linux_of(plan: Plan) -> SandboxPlan:
    return next(one for one in plan.sandboxes if one.os == "linux")


def memory_at(plan: Plan, gpa: int, size: int) -> bytes:
    """Bytes of the Linux sandbox's memory as it is entered."""
    one = linux_of(plan)
    hpa = gpa - one.ram_gpa + one.ram_hpa
    for segment in plan.segments:
        if segment.hpa <= hpa < segment.hpa + len(segment.data):
            return segment.data[hpa - segment.hpa :][:size]
    raise AssertionError(f"nothing at {gpa:#x}")


def guest_tree(plan: Plan) -> Node:
    one = linux_of(plan)
    blob = memory_at(plan, one.arg, 0x10000)
    libfdt.Fdt(blob)  # checks the header
    return read_blob(blob)


@pytest.mark.parametrize("platform", ARM)
def test_device_tree_shows_only_what_is_owned(compile_on: Compile, platform: str) -> None:
    tree = guest_tree(compile_on(MIXED, platform))
    cpus = tree.find("/cpus")
    assert cpus is not None
    assert [node.reg() for node in cpus.children.values()] == [[(0, 0)]]
    assert [node.name for node in tree.children.values() if node.name.startswith("serial")] == ["serial@9000000"]
    assert tree.find("/domains") is tree.find("/bulkhead") is tree.find("/reserved-memory") is None
    psci, memory = tree.find("/psci"), tree.find("/memory@40000000")
    assert psci is not None
    assert memory is not None
    assert psci.text("method") == "hvc"
    assert memory.reg() == [(0x40000000, 512 << 20)]


@pytest.mark.parametrize("platform", [*ARM, "qemu-svm"])
def test_no_console_no_serial_port(compile_on: Compile, tmp_path: Path, platform: str) -> None:
    file = tmp_path / "silent.dts"
    file.write_text(f'#include "{MIXED}"\n&linux {{ /delete-property/ takes-the-rest; console = "none"; }};\n')
    plan = compile_on(file, platform)
    assert (linux_of(plan).console, plan.errors) == ("none", [])
    if platform == "qemu-svm":
        assert memory_at(plan, 0x11000, 10).startswith(b"quiet")
        assert b"PNP0501" not in b"".join(segment.data for segment in plan.segments)
    else:
        assert not [name for name in guest_tree(plan).children if name.startswith(("serial", "aliases"))]


@pytest.mark.parametrize(("core", "frame"), [(0, 0x080A0000), (3, 0x08100000)])
def test_redistributors_of_own_cores_only(compile_on: Compile, tmp_path: Path, core: int, frame: int) -> None:
    idle, own = "idle-cores = <&cpu3>", "\tcores = <&cpu0>"
    source = MIXED.read_text().replace(idle, f"idle-cores = <&cpu{3 - core}>").replace(own, f"\tcores = <&cpu{core}>")
    (tmp_path / "moved.dts").write_text(source)
    gic = guest_tree(compile_on(tmp_path / "moved.dts", "qemu-aarch64")).find("/interrupt-controller@8000000")
    assert gic is not None
    assert gic.reg() == [(0x08000000, 0x10000), (frame, 0x20000)]
    assert "redistributor-stride" not in gic.properties


@pytest.mark.parametrize(
    ("cores", "expected", "region"),
    [
        ("<&cpu0>, <&cpu3>", (0, 3), (0x080A0000, 0x80000, 0x60000)),
        ("<&cpu3>, <&cpu0>", (3, 0), (0x080A0000, 0x80000, 0x60000)),
    ],
)
def test_two_cores_boot_core_first(
    compile_on: Compile, tmp_path: Path, cores: str, expected: tuple[int, ...], region: tuple[int, int, int]
) -> None:
    source = LINUX2.read_text()
    assert source.count("<&cpu0>, <&cpu3>") == 1
    (tmp_path / "ordered.dts").write_text(source.replace("<&cpu0>, <&cpu3>", cores))
    for platform in ARM:
        plan = compile_on(tmp_path / "ordered.dts", platform)
        assert tuple(linux_of(plan).cores) == expected
        cpus, gic = guest_tree(plan).find("/cpus"), guest_tree(plan).find("/interrupt-controller@8000000")
        assert cpus is not None
        assert gic is not None
        assert [node.reg() for node in cpus.children.values()] == [[(core, 0)] for core in expected]
        assert {node.text("enable-method") for node in cpus.children.values()} == {"psci"}
        if platform == "qemu-aarch64":
            assert gic.reg()[1:] == [region[:2]]
            assert gic.properties["redistributor-stride"].cells == [0, region[2]]
    apics = [struct.unpack_from("<BBBBI", madt(compile_on(tmp_path / "ordered.dts", "qemu-svm")), 44 + 8 * n) for n in range(2)]
    assert apics == [(0, 8, uid, core, 1) for uid, core in enumerate(expected)]


@pytest.mark.parametrize(("platform", "flags"), [("qemu-aarch64", 0x4), ("qemu-aarch64-gicv2", 0x904), ("qemu-armv7", 0x904)])
def test_interrupts_of_timer_and_counters_name_own_cores(compile_on: Compile, platform: str, flags: int) -> None:
    """Linux binding "arm,gic": bits 15:8 of the flags; a GICv3 has none."""
    tree = guest_tree(compile_on(LINUX2, platform))
    timer, counters = tree.find("/timer"), tree.find("/pmu")
    assert timer is not None
    assert timer.properties["interrupts"].cells[2::3] == [flags] * 4
    assert counters is not None
    assert counters.text("compatible") == ("arm,cortex-a15-pmu" if platform == "qemu-armv7" else "arm,armv8-pmuv3")
    assert counters.properties["interrupts"].cells == [1, 7, flags]


@pytest.mark.parametrize("platform", ARM)
def test_counters_that_interrupt_over_shared_lines_are_not_shown(compile_on: Compile, tmp_path: Path, platform: str) -> None:
    """Nobody has those lines: neither the sandbox that takes the rest nor the owner of the core."""
    file = tmp_path / "shared.dts"
    board = "&pmu { interrupts = <0 20 4>, <0 21 4>, <0 22 4>, <0 23 4>; };"
    file.write_text(f'#ifdef BOARD_TREE\n{board}\n#else\n#include "{LINUX2}"\n#endif\n')
    plan = compile_on(file, platform)
    assert [one.rule for one in plan.warnings] == ["BH-W041"]
    assert guest_tree(plan).find("/timer") is not None
    assert guest_tree(plan).find("/pmu") is None
    assert not {line.line for one in plan.sandboxes for line in one.lines} & set(range(52, 56))


@pytest.mark.parametrize("platform", ["qemu-aarch64-gicv2", "qemu-armv7"])
def test_gicv2_shows_the_cpu_interface(compile_on: Compile, platform: str) -> None:
    plan = compile_on(MIXED, platform)
    gic = guest_tree(plan).find("/interrupt-controller@8000000")
    assert gic is not None
    assert gic.reg() == [(0x08000000, 0x1000), (0x08010000, 0x1000)]
    assert all(any(region.kind == "banked" for region in one.regions) for one in plan.sandboxes)


@pytest.mark.parametrize("platform", ARM)
def test_kernel_and_initrd_lie_where_the_boot_protocol_wants_them(compile_on: Compile, platform: str) -> None:
    plan = compile_on(MIXED, platform)
    one = linux_of(plan)
    chosen = guest_tree(plan).find("/chosen")
    assert chosen is not None
    assert one.entry % 0x200000 == 0
    magic = (0x24, b"\x18\x28\x6f\x01") if platform == "qemu-armv7" else (56, b"ARM\x64")
    assert memory_at(plan, one.entry + magic[0], 4) == magic[1]
    start, end = (int.from_bytes(chosen.properties[f"linux,initrd-{side}"].data, "big") for side in ("start", "end"))
    assert memory_at(plan, start, end - start) == INITRD
    assert chosen.text("bootargs") == "quiet"


@pytest.mark.parametrize("platform", ARM)
def test_the_console_is_named_by_its_path_alone(compile_on: Compile, platform: str) -> None:
    """A `console=` would be the name of one driver, and boards have others: Documentation/devicetree/usage-model.rst, /chosen."""
    tree = guest_tree(compile_on(MIXED, platform))
    chosen, aliases = tree.find("/chosen"), tree.find("/aliases")
    assert chosen
    assert aliases
    path, _, mode = chosen.text("stdout-path").partition(":")
    console = tree.find(aliases.text(path))
    assert console
    assert "arm,pl011" in console.compatible
    assert mode == "115200n8"
    assert "console=" not in chosen.text("bootargs")


def test_command_line_ends_in_blanks_for_the_clock(compile_on: Compile) -> None:
    plan = compile_on(MIXED, "qemu-svm")
    one = linux_of(plan)
    line = memory_at(plan, 0x11000, 4096)
    assert line == b"console=ttyS0,115200 quiet pci=noearly tsc=reliable reboot=acpi tsc_early_khz=" + b" " * CLOCK_DIGITS + b"\0"
    assert one.clock_text - one.ram_hpa == 0x11000 + len(line) - 1 - CLOCK_DIGITS


def test_zero_page(compile_on: Compile) -> None:
    """Offsets: Documentation/arch/x86/zero-page.rst."""
    plan = compile_on(MIXED, "qemu-svm")
    page = memory_at(plan, linux_of(plan).arg, 4096)
    assert page[0x202:0x206] == b"HdrS"
    assert struct.unpack_from("<Q", page, 0x070) == (0x1C000,)
    assert struct.unpack_from("<I", page, 0x228) == (0x11000,)
    image, size = struct.unpack_from("<II", page, 0x218)
    assert memory_at(plan, image, size) == INITRD
    rows = [struct.unpack_from("<QQI", page, 0x2D0 + 20 * n) for n in range(page[0x1E8])]
    assert rows == [(0, 0x10000, 1), (0x10000, 0x10000, 2), (0x20000, 0x80000, 1), (0x100000, (511 << 20), 1)]
    assert linux_of(plan).entry == 0x1000200


def test_the_bios_data_are_written(compile_on: Compile) -> None:
    """Linux reads the vectors and the BIOS' words from its own memory: how many KiB there are below 1 MiB, and no extended area."""
    plan = compile_on(MIXED, "qemu-svm")
    data = memory_at(plan, 0, 0x500)
    assert struct.unpack_from("<H", data, 0x413) == (640,)
    assert not any(data[:0x413])
    assert not any(data[0x415:])


def test_acpi_tables(compile_on: Compile) -> None:
    plan = compile_on(MIXED, "qemu-svm")
    pointer = memory_at(plan, 0x1C000, 36)
    assert sum(pointer[:20]) % 256 == sum(pointer) % 256 == 0
    (xsdt,) = struct.unpack_from("<Q", pointer, 24)
    tables = {bytes(table[:4]): table for table in follow(plan, xsdt)}
    assert set(tables) == {b"XSDT", b"FACP", b"APIC", b"DSDT"}
    for name, table in tables.items():
        assert sum(table) % 256 == 0, name
    assert struct.unpack_from("<BBBBI", tables[b"APIC"], 44) == (0, 8, 0, 0, 1)
    assert struct.unpack_from("<BBBBII", tables[b"APIC"], 52) == (1, 12, 0, 0, 0xFEC00000, 0)
    assert len(tables[b"APIC"]) == 64
    facp = tables[b"FACP"]
    assert struct.unpack_from("<I", facp, 112)[0] & 1 << 20
    assert struct.unpack_from("<BBBBQB", facp, 116) == (1, 8, 0, 1, 0x604, 1)
    assert b"COM1" in tables[b"DSDT"]
    assert b"COM2" not in tables[b"DSDT"]
    # ACPI 6.3, table 6-238 "Extended Interrupt Descriptor": consumer, edge-triggered, active high; one interrupt, pin 1, which pin 4 is to Linux.
    assert b"\x89\x06\x00\x03\x01\x01\x00\x00\x00" in tables[b"DSDT"]


def madt(plan: Plan) -> bytes:
    (xsdt,) = struct.unpack_from("<Q", memory_at(plan, 0x1C000, 36), 24)
    return next(table for table in follow(plan, xsdt) if table[:4] == b"APIC")


def follow(plan: Plan, xsdt: int) -> list[bytes]:
    """The XSDT, what it points to, and the FADT's DSDT."""

    def table(gpa: int) -> bytes:
        return memory_at(plan, gpa, struct.unpack("<4sI", memory_at(plan, gpa, 8))[1])

    root = table(xsdt)
    found = [table(gpa) for (gpa,) in struct.iter_unpack("<Q", root[36:])]
    facp = next(one for one in found if one[:4] == b"FACP")
    return [root, *found, table(struct.unpack_from("<Q", facp, 140)[0])]


def test_entry_area_maps_four_gibibytes_one_to_one(compile_on: Compile) -> None:
    """SDM vol. 3A, 4.5.4 "Linear-Address Translation with 4-Level Paging": walk it as the CPU does."""
    plan = compile_on(MIXED, "qemu-svm")
    tables = memory_at(plan, 0x13000, 0x6000)

    def entry(table: int, index: int) -> int:
        return int(struct.unpack_from("<Q", tables, table - 0x13000 + 8 * index)[0])

    for address in (0, 0x200000, 0x3FFFFFFF, 0x40000000, 0xFD001000, 0xFFFFFFFF):
        directory = entry(entry(0x13000, 0) & ~0xFFF, address >> 30) & ~0xFFF
        leaf = entry(directory, address >> 21 & 511)
        assert leaf & 0x83 == 0x83
        assert (leaf & ~0x1FFFFF) + (address & 0x1FFFFF) == address
    gdt = struct.unpack("<4Q", memory_at(plan, 0x12000, 32))
    assert gdt == (0, 0, 0x00AF9B000000FFFF, 0x00CF93000000FFFF)


def refused_in_64_mib(compile_on: Compile, folder: Path, platform: str, kernel: bytes, bytes_loaded: int, board: str = "") -> str:
    """What is said of a kernel followed by zeros, without an initrd, in 64 MiB of RAM."""
    image, file = folder / "vmlinuz", folder / "large.dts"
    with image.open("wb") as written:
        written.write(kernel)
        written.truncate(len(kernel) + bytes_loaded)
    linux = f'&linux_ram {{ size = <MiB(64)>; }};\n&linux {{ /delete-property/ initrd;\nimage = "{image}"; }};'
    file.write_text(f'#ifdef BOARD_TREE\n{board}\n#else\n#include "{GOOD}"\n{linux}\n#endif\n')
    (error,) = compile_on(file, platform).errors
    assert (Path(error.file).name, error.line, error.rule) == ("large.dts", 7, "BH-R065")
    return error.text.removeprefix(f"`{image}` and its initrd ")


def test_kernel_longer_than_it_says(compile_on: Compile, tmp_path: Path) -> None:
    """All of its file is loaded, from 16 MiB on, whatever its header calls its size."""
    text = refused_in_64_mib(compile_on, tmp_path, "qemu-svm", x86_kernel(init_size=0x1000), 52 * MIB)
    assert text == "need 70 MiB, RAM is 64 MiB; make the RAM larger"


def test_device_tree_beyond_ram(compile_on: Compile, tmp_path: Path) -> None:
    """It is the last in RAM, at 62 MiB, and larger than the 2 MiB kept for it: a device's node goes into it as it is."""
    values = "".join(f" blob{number} = /bits/ 64 <{'0 ' * 12000}>;" for number in range(33))  # 3 MiB
    blob = f"&uart1 {{{values} }};"
    text = refused_in_64_mib(compile_on, tmp_path, "qemu-armv7", arm32_kernel(4096), 28 * MIB, blob)
    assert text.startswith("device tree (0x43e00000..0x441")
    assert text.endswith(") does not lie in RAM, 0x40000000..0x43ffffff; make the RAM larger")


def test_a_tree_is_ended_that_has_no_room_left(compile_on: Compile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its room grows by as little as there is, so it is full when all is said: as by chance one in 256 is."""
    begin = libfdt.FdtSw.__init__
    monkeypatch.setattr(libfdt.FdtSw, "__init__", lambda self: begin(self, 1024))
    monkeypatch.setattr(libfdt.FdtSw, "INC_SIZE", 4)
    file = tmp_path / "full.dts"
    file.write_text(f'#include "{MIXED}"\n')
    assert guest_tree(compile_on(file, "qemu-aarch64")).find("/chosen") is not None


@pytest.mark.parametrize("platform", ARM)
def test_a_flat_binary_has_its_tree_above_it(compile_on: Compile, platform: str, tmp_path: Path) -> None:
    file = tmp_path / "flat.dts"
    file.write_text(f'#include "{GOOD}"\n&linux {{ image = "text"; load-address = <0x0 0x40080000>; }};\n')
    plan = compile_on(file, platform)
    assert plan.valid, plan.errors
    one = linux_of(plan)
    assert (one.entry, one.arg) == (0x40080000, 0x44000000)
    assert memory_at(plan, 0x40080000, 3) == b"not"
    chosen = guest_tree(plan).find("/chosen")
    assert chosen is not None
    assert joined(chosen.properties["linux,initrd-start"].cells) == 0x44200000
