# SPDX-License-Identifier: Apache-2.0
"""`bulkhead overlay`: what a foreign kernel's build is told is what the sandbox has, in a form that its tools take."""

import re
import struct
import subprocess
from pathlib import Path

import libfdt
import pytest
from bhtool.config.compile import compile_partition
from bhtool.config.plan import SandboxPlan
from bhtool.errors import Status
from bhtool.overlay.forms import FORMS
from bhtool.paths import ROOT
from bhtool.platforms import load

from tests.tool.conftest import Inside

OTHERS = ("qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm", "bochs-vtx")
BOARD = Path(__file__).with_name("zephyr_board.dts")
PARTITION = """
/dts-v1/;
#define MiB(n) 0x0 ((n) << 20)
#include BOARD_DTSI
/ {
	reserved-memory {
		#address-cells = <2>; #size-cells = <2>; ranges;
		rtos_ram: rtos { size = <MiB(16)>; };
		other_ram: other { size = <MiB(512)>; };
	};
	domains {
		compatible = "bulkhead,partitions-v1";
		rtos {
			compatible = "bulkhead,sandbox-v1";
			cores = <CORES>; memory-region = <&rtos_ram>;
			access = <&UART>; console = <CONSOLE>; image = "not-built-yet.elf";
		};
		other {
			compatible = "bulkhead,sandbox-v1"; os,type = "linux";
			takes-the-rest; memory-region = <&other_ram>; console = "none"; image = "vmlinuz";
		};
	};
};
"""


def partition(folder: Path, cores: str = "&cpu2", uart: str = "uart0", console: str | None = None) -> Path:
    text = PARTITION.replace("CORES", cores).replace("UART", uart)
    file = folder / "split.dts"
    file.write_text(text.replace("<CONSOLE>", console or f"<&{uart}>"))
    return file


def compiled(overlay: Path, *defined: str) -> libfdt.FdtRo:
    """The board's tree with the overlay after it, as Zephyr's build reads both; dtc has nothing to say of them."""
    both = "".join(f"#define {name}\n" for name in defined) + f'#include "{BOARD}"\n#include "{overlay}"\n'
    text = subprocess.run(["clang-19", "-E", "-x", "assembler-with-cpp", "-"], input=both, capture_output=True, text=True, check=True)
    tree = subprocess.run(["dtc", "-I", "dts", "-O", "dtb", "-"], input=text.stdout.encode(), capture_output=True, check=True)
    assert not tree.stderr, tree.stderr.decode()
    return libfdt.FdtRo(tree.stdout)


def place(tree: libfdt.FdtRo, path: str) -> tuple[int, ...]:
    cells = [int.from_bytes(tree.getprop(tree.path_offset(path), "reg")[at : at + 8], "big") for at in (0, 8)]
    return tuple(cells)


def children(tree: libfdt.FdtRo, path: str) -> list[str]:
    found, node = [], tree.first_subnode(tree.path_offset(path), libfdt.QUIET_NOTFOUND)
    while node >= 0:
        found.append(tree.get_name(node))
        node = tree.next_subnode(node, libfdt.QUIET_NOTFOUND)
    return found


def status(tree: libfdt.FdtRo, path: str) -> str:
    return str(tree.getprop(tree.path_offset(path), "status").as_str())


@pytest.mark.parametrize("cores", ["&cpu0", "&cpu2", "&cpu1 &cpu3"])
def test_zephyr_is_told_its_memory_cores_and_console(cores: str, tmp_path: Path, inside: Inside) -> None:
    assert inside("overlay", str(partition(tmp_path, cores)), "rtos", "--for", "zephyr", "-o", str(tmp_path / "z.overlay")) == Status.GOOD
    tree = compiled(tmp_path / "z.overlay")
    chosen = tree.path_offset("/chosen")
    assert tree.getprop(chosen, "zephyr,sram").as_str() == "/soc/memory@40080000"
    assert place(tree, "/soc/memory@40080000") == (0x40080000, 0x00F80000)
    assert tree.getprop(chosen, "zephyr,console").as_str() == "/soc/uart@9000000"
    assert "memory@40000000" not in children(tree, "/soc")
    wanted = [f"cpu@{number}" for number in re.findall(r"\d", cores)]
    several = len(wanted) == 2
    assert sorted(children(tree, "/cpus")) == (wanted if several else ["cpu@0", "cpu@1"]), "of one core Zephyr asks the processor"
    conf = (tmp_path / "z.conf").read_text()
    assert "CONFIG_ARMV8_A_NS=y\n" in conf
    assert ("CONFIG_SMP=y\nCONFIG_MP_MAX_NUM_CPUS=2\n" in conf) == several
    assert ("CONFIG_PM_CPU_OPS=y\n" in conf) == several, "without it Zephyr has no PSCI to start the others by"


@pytest.mark.parametrize("defined", [(), ("OF_2026",)])
def test_zephyr_does_not_look_for_its_emulator(defined: tuple[str, ...], tmp_path: Path, inside: Inside) -> None:
    """Newer boards have QEMU's firmware configuration, whose driver reads it at start-up; nobody has it in a sandbox."""
    assert inside("overlay", str(partition(tmp_path)), "rtos", "--for", "zephyr", "-o", str(tmp_path / "z.overlay")) == Status.GOOD
    tree = compiled(tmp_path / "z.overlay", *defined)
    assert status(tree, "/fw-cfg@9020000") == "disabled"
    assert status(tree, "/ramfb") == "disabled"
    assert place(tree, "/fw-cfg@9020000") == (0x9020000, 0x18)


def test_only_its_own_files_are_written_anew(tmp_path: Path, inside: Inside) -> None:
    made = partition(tmp_path)
    for kernel in FORMS:
        file = tmp_path / f"{kernel}.out"
        command = ("overlay", str(made), "rtos", "--for", kernel, "-o", str(file))
        assert inside(*command) == Status.GOOD
        assert inside(*command) == Status.GOOD
        file.write_text("mine\n")
        assert inside(*command) == Status.USAGE
        assert file.read_text() == "mine\n"


def test_zephyr_leaves_another_sandboxs_uart_alone(tmp_path: Path, inside: Inside) -> None:
    file = partition(tmp_path, uart="uart1")
    assert inside("overlay", str(file), "rtos", "--for", "zephyr", "-o", str(tmp_path / "z.overlay")) == Status.GOOD
    tree = compiled(tmp_path / "z.overlay")
    assert status(tree, "/soc/uart@9000000") == "disabled"
    assert status(tree, "/soc/uart@9040000") == "okay"
    assert place(tree, "/soc/uart@9040000") == (0x9040000, 0x1000)
    interrupts = tree.getprop(tree.path_offset("/soc/uart@9040000"), "interrupts")
    assert struct.unpack(">4I", interrupts) == (0, 8, 2, 0)


def planned(file: Path, platform: str) -> SandboxPlan:
    def none(name: str) -> Path:
        raise FileNotFoundError(name)

    return compile_partition(file, load(platform), none).sandboxes[0]


def defined(header: Path, names: list[str]) -> dict[str, int]:
    """What a compiler makes of them, in C and in assembly alike."""
    found = []
    for language in ("c", "assembler-with-cpp"):
        text = f'#include "{header}"\n' + "\n".join(f"value-of {name}" for name in names)
        done = subprocess.run(["clang-19", "-E", "-P", "-x", language, "-"], input=text, capture_output=True, text=True, check=True)
        assert not done.stderr
        found.append([int(line.split()[1], 0) for line in done.stdout.splitlines() if line.startswith("value-of")])
    assert found[0] == found[1]
    return dict(zip(names, found[0], strict=True))


@pytest.mark.parametrize("platform", ["qemu-aarch64", *(pytest.param(one, marks=pytest.mark.slow) for one in OTHERS)])
def test_header_says_what_the_plan_says(platform: str, tmp_path: Path, inside: Inside) -> None:
    file, header = partition(tmp_path, "&cpu2 &cpu1"), tmp_path / "rtos.h"
    assert inside("overlay", str(file), "rtos", "--for", "c", "--platform", platform, "-o", str(header)) == Status.GOOD
    plan = planned(file, platform)
    where = {region.name: region.gpa for region in plan.regions} | {port.name: port.first for port in plan.ports}
    line = {"_PIN": plan.lines[0].line, "_VECTOR": plan.lines[0].vector} if plan.lines[0].vector else {"_INTID": plan.lines[0].line}
    wanted = {
        "BH_RAM_BASE": plan.ram_gpa,
        "BH_RAM_BYTES": plan.ram_size,
        "BH_CORE_COUNT": 2,
        "BH_CORE0_ID": plan.hardware_ids[0],
        "BH_CORE1_ID": plan.hardware_ids[1],
        "BH_UART0_BASE": where["uart0"],
        "BH_CONSOLE_BASE": where["uart0"],
        "BH_INFO": where["info"],
        "BH_STATS": where["stats"],
        "BH_LOG": where["log"],
    } | {f"BH_UART0{name}": value for name, value in line.items()}
    assert defined(header, list(wanted)) == wanted
    if platform == "qemu-aarch64":
        assert defined(header, ["BH_GICR0_BASE", "BH_GICR1_BASE"]) == {"BH_GICR0_BASE": 0x80E0000, "BH_GICR1_BASE": 0x80C0000}
    if platform.startswith("qemu-a"):
        assert defined(header, ["BH_VIRTUAL_TIMER_INTID"])["BH_VIRTUAL_TIMER_INTID"] == 27


@pytest.mark.parametrize(
    ("platform", "wanted"),
    [
        ("qemu-aarch64", {"configUNIQUE_INTERRUPT_PRIORITIES": 32}),
        ("qemu-aarch64-gicv2", {"configINTERRUPT_CONTROLLER_BASE_ADDRESS": 0x8000000}),
        ("qemu-armv7", {"configINTERRUPT_CONTROLLER_CPU_INTERFACE_OFFSET": 0x10000}),
    ],
)
def test_freertos_gets_the_names_of_its_port(platform: str, wanted: dict[str, int], tmp_path: Path, inside: Inside) -> None:
    file = partition(tmp_path)
    assert inside("overlay", str(file), "rtos", "--for", "freertos", "--platform", platform, "-o", str(tmp_path / "r.h")) == Status.GOOD
    assert defined(tmp_path / "r.h", list(wanted)) == wanted
    assert (tmp_path / "r.ld").is_file()


TARGETS = {
    "qemu-aarch64": ["--target=aarch64-none-elf", "-mgeneral-regs-only", "-mstrict-align"],
    "qemu-armv7": ["--target=armv7a-none-linux-gnueabi", "-mcpu=cortex-a15", "-mfloat-abi=soft", "-mno-unaligned-access"],
    "qemu-svm": ["--target=x86_64-none-elf", "-mgeneral-regs-only", "-mno-red-zone"],
}


@pytest.mark.slow
@pytest.mark.parametrize("platform", list(TARGETS))
def test_what_is_linked_by_the_script_is_accepted(platform: str, tmp_path: Path, inside: Inside) -> None:
    file, found = partition(tmp_path), load(platform)
    assert inside("overlay", str(file), "rtos", "--for", "ld", "--platform", platform, "-o", str(tmp_path / "rtos.ld")) == Status.GOOD
    guests, out = ROOT / "tests" / "guests", tmp_path / "rtos.o"
    common = ["-ffreestanding", "-I", str(ROOT), "-I", str(guests / found.arch)]
    subprocess.run(["clang-19", *TARGETS[platform], *common, "-c", str(guests / "tiny.c"), "-o", str(out)], check=True)
    subprocess.run(["ld.lld-19", "-T", str(tmp_path / "rtos.ld"), str(out), "-o", str(tmp_path / "rtos.elf")], check=True)

    def resolve(name: str) -> Path:
        if name != "not-built-yet.elf":
            raise FileNotFoundError(name)
        return tmp_path / "rtos.elf"

    plan = compile_partition(file, found, resolve)
    assert [error.rule for error in plan.errors] == ["BH-R060"]  # vmlinuz, the other's
    loads = [one for one in plan.segments if one.name.startswith("rtos: rtos") or "not-built-yet" in one.name]
    assert min(one.hpa - plan.sandboxes[0].ram_hpa for one in loads) == (0x200000 if platform == "qemu-svm" else 0x80000)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nobody", "--for", "c"], "has no sandbox `nobody`; there are `rtos`, `other`"),
        (["other", "--for", "c"], "`other` runs Linux"),
        (["rtos", "--for", "zephyr", "--platform", "qemu-aarch64-gicv2"], "its QEMU board for AArch64, qemu_cortex_a53, has a GICv3"),
        (["rtos", "--for", "zephyr", "--platform", "qemu-armv7"], "fits qemu-armv7: its QEMU board for ARMv7-A, qemu_cortex_a7"),
        (["rtos", "--for", "zephyr", "--platform", "qemu-svm"], "fits qemu-svm: its QEMU boards for PCs are entered in 32-bit mode"),
        (["rtos", "--for", "freertos", "--platform", "qemu-svm"], "FreeRTOS has no port for x86_64"),
        (["rtos", "--for", "zephyr", "-o", "z.conf"], "z.conf would be overwritten by its companion; name it z.overlay"),
        (["rtos", "--for", "nuttx"], "'nuttx' is not one of"),
    ],
)
def test_refusals(arguments: list[str], words: str, tmp_path: Path, inside: Inside, capsys: pytest.CaptureFixture[str],
                  monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert inside("overlay", str(partition(tmp_path)), *arguments) in (Status.FAILED, Status.USAGE)
    said = " ".join(capsys.readouterr().err.split())
    assert words in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["split.dts"]


def test_zephyr_has_no_driver_for_a_log(tmp_path: Path, inside: Inside, capsys: pytest.CaptureFixture[str]) -> None:
    file = partition(tmp_path, console='"log"')
    assert inside("overlay", str(file), "rtos", "--for", "zephyr", "-o", str(tmp_path / "z.overlay")) == Status.FAILED
    said = capsys.readouterr().err
    line = next(number for number, text in enumerate(file.read_text().splitlines(), 1) if "console" in text)
    assert f"{file}:{line}: " in said.replace("\n", "")
    assert not (tmp_path / "z.overlay").exists()


def test_ram_is_told_when_it_is_known(tmp_path: Path, inside: Inside, capsys: pytest.CaptureFixture[str]) -> None:
    """What is kept of images for restarts comes off the rest, and images may not be built yet."""
    file = tmp_path / "rest.dts"
    rest = PARTITION.replace("CORES", "&cpu2").replace("UART", "uart0").replace("<CONSOLE>", "<&uart0>")
    rest = rest.replace("takes-the-rest; memory-region = <&other_ram>;", "takes-the-rest;").replace(' os,type = "linux";', "")
    rest = rest.replace('console = "none"', 'console = "log"')
    image = 'image = "not-built-yet.elf";'
    file.write_text(rest)
    assert inside("overlay", str(file), "other", "--for", "c", "-o", str(tmp_path / "other.h")) == Status.GOOD
    file.write_text(rest.replace(image, image + ' health { on-fault = "restart"; max-restarts = <3>; };'))
    assert inside("overlay", str(file), "rtos", "--for", "c", "-o", str(tmp_path / "rtos.h")) == Status.GOOD
    capsys.readouterr()
    assert inside("overlay", str(file), "other", "--for", "c", "-o", str(tmp_path / "no.h")) == Status.FAILED
    said = " ".join(capsys.readouterr().err.split())
    assert "how much RAM is left for `other` depends on the images that are kept for restarts, as that of `rtos`" in said
    assert "name its RAM: memory-region" in said
    assert not (tmp_path / "no.h").exists()


def test_a_refused_file_says_why(tmp_path: Path, inside: Inside, capsys: pytest.CaptureFixture[str]) -> None:
    file = ROOT / "tests" / "config" / "broken" / "BH-R020-core.dts"
    assert inside("overlay", str(file), "control", "--for", "c", "-o", str(tmp_path / "x.h")) == Status.FAILED
    assert "BH-R020" in capsys.readouterr().err
