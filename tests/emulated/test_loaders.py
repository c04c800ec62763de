# SPDX-License-Identifier: Apache-2.0
"""BH-F2.loaders. Boot loaders as users have them: unattended, each brings every sandbox of a partition file up, and none starts half an image.

BH-I7.boot: what a loader left out, cut or damaged is refused in one sentence, by the monitor or by the loader, and the machine ends.
"""

import json
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.families.table import FAMILIES
from bhtool.image import loadable
from bhtool.image.fit import FIT, make_disk, script
from bhtool.image.formats import OF_MEDIUM, pack
from bhtool.image.iso import MODULE, MONITOR, make_disc
from bhtool.image.module import with_module
from bhtool.image.tools import run_tool
from bhtool.machine.emulated import Machine
from bhtool.machine.session import Session
from bhtool.platforms import Medium, Platform

from tests.emulated.case import ARMV7, GICV2, GICV3, SVM, VTX
from tests.emulated.scene import compile_file, monitor
from tests.emulated.test_refusals import STATUS, last_words

NATIVE, MIXED = paths.PARTITIONS / "native.dts", paths.PARTITIONS / "mixed.dts"
LIMIT_SECONDS = 300.0
LOADER_SECONDS = 60.0
OVMF = "/usr/share/OVMF/OVMF_CODE_4M.fd"
OVMF_SMM = "/usr/share/OVMF/OVMF_CODE_4M.secboot.fd"
OVMF_VARIABLES = "/usr/share/OVMF/OVMF_VARS_4M.fd"
U_BOOT, U_BOOT_32 = "/usr/lib/u-boot/qemu_arm64/u-boot.bin", "/usr/lib/u-boot/qemu_arm/u-boot.bin"


@dataclass(frozen=True)
class Loader:
    """What the machine has in its ROM, and where that finds the image. The machine ends where it would reset."""

    name: str
    platform: str
    medium: Medium
    extra: tuple[str, ...] = ("-no-reboot",)
    partitions: tuple[Path, ...] = (NATIVE, MIXED)
    long: bool = False


def flash(file: str, options: str = "readonly=on") -> tuple[str, str]:
    return "-drive", f"if=pflash,format=raw,{options},file={file}"


OVMF_GRUB = Loader("ovmf-grub", SVM, "cdrom", ("-no-reboot", *flash(OVMF)), long=True)  # test_nothing_of_the_firmware... starts it, too
GUARDED_FLASH = ("-global", "driver=cfi.pflash01,property=secure,value=on")
ONE_THREAD = ("-accel", "tcg,thread=single")  # in SMM cores wait with PAUSE, which hands a shared thread on: a tenth of the time
OVMF_SMM_GRUB = Loader(
    "ovmf-smm-grub", SVM, "cdrom", ("-no-reboot", *flash(OVMF_SMM), *flash(OVMF_VARIABLES, "snapshot=on"), *GUARDED_FLASH, *ONE_THREAD)
)
LOADERS = (
    Loader("seabios-grub", SVM, "cdrom"),
    Loader("seabios-grub-disk", SVM, "disk", partitions=(NATIVE,)),
    OVMF_GRUB,
    Loader("bochs-bios-grub", VTX, "cdrom", (), (NATIVE,)),
    Loader("u-boot", GICV3, "disk", ("-no-reboot", "-bios", U_BOOT)),
    Loader("u-boot", GICV2, "disk", ("-no-reboot", "-bios", U_BOOT), (NATIVE,)),
    Loader("u-boot", ARMV7, "disk", ("-no-reboot", "-bios", U_BOOT_32)),
)


def is_covered(loader: Loader, partition: Path) -> bool:
    """mixed.dts has native sandboxes, too."""
    return partition == NATIVE and MIXED in loader.partitions


LOADER_ROWS = [
    pytest.param(
        loader.platform,
        loader,
        partition,
        id=f"{loader.platform}-{loader.name}-{partition.stem}",
        marks=pytest.mark.long if loader.long or is_covered(loader, partition) else pytest.mark.slow,
    )
    for loader in LOADERS
    for partition in loader.partitions
]


@contextmanager
def running(platform: Platform, loader: Loader, partition: Path) -> Iterator[Session]:
    """The machine once no sandbox has anything more to wait for, or the limit has passed."""
    plan = compile_file(platform, partition)
    form = OF_MEDIUM[loader.medium] if platform.arch != "x86_64" else "iso"  # which is a disk as well
    content = pack(form, platform, monitor(platform), plan)
    with Session(platform, plan, Machine(platform, content, extra=loader.extra, medium=loader.medium)) as session:
        for event in session.events(LIMIT_SECONDS):
            if event is None and all(watch.settled for watch in session.watches.values()):
                break
        yield session


def everybody_is_ready(session: Session) -> bool:
    return {watch.state for watch in session.watches.values()} == {"ready"}


@pytest.mark.parametrize(("platform", "loader", "partition"), LOADER_ROWS)
def test_everybody_is_ready(machine_platform: Platform, loader: Loader, partition: Path) -> None:
    with running(machine_platform, loader, partition) as session:
        assert everybody_is_ready(session), {name: watch.state for name, watch in session.watches.items()}


IDLE_CORE = "CPU#3"  # of mixed.dts


@pytest.mark.slow
@pytest.mark.parametrize("platform", [SVM])
@pytest.mark.parametrize("loader", [OVMF_GRUB, OVMF_SMM_GRUB], ids=lambda loader: loader.name)
def test_nothing_of_the_firmware_is_in_the_way(machine_platform: Platform, loader: Loader, tmp_path: Path) -> None:
    """BH-I1.memory. UEFI parks the other cores in a loop in RAM, and its SMM keeps some: Linux owns all the rest, and nobody else runs there."""
    text = "".join(line for line in MIXED.read_text().splitlines(keepends=True) if "linux_ram" not in line)
    (tmp_path / "rest.dts").write_text(text)
    control = ("-qmp", f"unix:{tmp_path / 'qmp'},server=on,wait=off")
    with running(machine_platform, replace(loader, extra=(*loader.extra, *control)), tmp_path / "rest.dts") as session:
        assert everybody_is_ready(session)
        idle = registers(tmp_path / "qmp").split(IDLE_CORE)[1].split("CPU#")[0]
    assert "EIP=0000fff0" in idle, "waits for STARTUP since INIT"
    assert "HLT=1" in idle


def registers(qmp: Path) -> str:
    """Of all cores, as QEMU's monitor shows them."""
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(str(qmp))
        lines = link.makefile("rw", encoding="utf-8")
        lines.readline()  # its greeting
        for command in ("qmp_capabilities", "human-monitor-command"):
            arguments = {"arguments": {"command-line": "info registers -a"}} if command.startswith("human") else {}
            lines.write(json.dumps({"execute": command, **arguments}) + "\n")
            lines.flush()
            answer = json.loads(lines.readline())
    return str(answer["return"])


# ---- GRUB: monitor and boot module ------------------------------------------------------------------------------------

ONE, TWO, NONE = f"module2 {MODULE}", f"module2 {MODULE}\nmodule2 {MODULE}", ""


def flip(data: bytes, at: int) -> bytes:
    copy = bytearray(data)
    copy[at] ^= 1
    return bytes(copy)


@dataclass(frozen=True)
class BadModule:
    name: str
    modules: str  # lines of GRUB's configuration
    damage: Callable[[bytes], bytes]
    says: str


BAD_MODULES = (
    BadModule("missing", NONE, bytes, "the loader brought none"),
    BadModule("twice", TWO, bytes, "the loader brought more than this image has"),
    BadModule("cut-short", ONE, lambda module: module[:-4096], "it has another size than the image expects"),
    BadModule("cut-by-a-byte", ONE, lambda module: module[:-1], "it has another size than the image expects"),
    BadModule("too-long", ONE, lambda module: module + bytes(4096), "it has another size than the image expects"),
    BadModule("damaged", ONE, lambda module: flip(module, len(module) // 2), "its checksum is wrong"),
    BadModule("damaged-at-the-end", ONE, lambda module: flip(module, -1), "its checksum is wrong"),
)


@pytest.mark.slow
@pytest.mark.parametrize("platform", [SVM])
@pytest.mark.parametrize("bad", BAD_MODULES, ids=lambda bad: bad.name)
def test_bad_module(machine_platform: Platform, bad: BadModule) -> None:
    bare, module = with_module(compile_file(machine_platform, NATIVE))
    files = {MONITOR: loadable.compose(monitor(machine_platform), bare), MODULE: bad.damage(module)}
    disc = make_disc(files, f"multiboot2 {MONITOR}\n{bad.modules}\nboot\n")
    said, status = last_words(machine_platform, disc, "cdrom", limit=LOADER_SECONDS)
    assert said.startswith(f"bulkhead: boot module refused: {bad.says}")
    assert len(said.splitlines()) == 1, "one sentence"
    assert status == STATUS[machine_platform.name], "the machine ends by itself"


@pytest.mark.parametrize("platform", [SVM])
def test_no_loader_for_the_module(machine_platform: Platform) -> None:
    """QEMU's own loader brings no modules."""
    bare, _ = with_module(compile_file(machine_platform, NATIVE))
    said, status = last_words(machine_platform, loadable.compose(monitor(machine_platform), bare), "kernel")
    assert said.startswith("bulkhead: boot module refused: the loader brought none")
    assert status == STATUS[machine_platform.name]


# ---- U-Boot: parts of a FIT image ---------------------------------------------------------------------------------------


def fit_of(disk: bytes, folder: Path) -> bytes:
    (folder / "disk").write_bytes(disk)
    run_tool("mcopy", "-n", "-i", "disk", f"::{FIT}", FIT, folder=folder)
    return (folder / FIT).read_bytes()


def flip_first(part: bytes) -> Callable[[bytes], bytes]:
    """Damages the FIT where these bytes lie in it."""
    return lambda fit: flip(fit, fit.index(part))


def without(name: bytes) -> Callable[[bytes], bytes]:
    """Renames the part `name`, but not in the list of what to load."""
    return lambda fit: fit.replace(name + b"\0\0\0", name[:-1] + b"x\0\0\0", 1)


@dataclass(frozen=True)
class BadFit:
    name: str
    damage: Callable[[bytes], bytes]
    says: str  # U-Boot's own words
    on_all: bool = False


BAD_FITS = (
    BadFit("truncated", lambda fit: fit[: len(fit) // 2], "Bad FIT kernel image format"),
    BadFit("damaged-monitor", flip_first(b"a region wraps around"), "Bad hash value for 'hash-1' hash node in 'monitor'"),
    BadFit("damaged-payload", flip_first(b"BHIN"), "Bad hash value for 'hash-1' hash node in 'payload-0'", on_all=True),
    BadFit("no-such-payload", without(b"payload-3"), "Could not find subimage node"),
)


BAD_FIT_ROWS = [pytest.param(GICV3, U_BOOT, bad, id=f"{GICV3}-{bad.name}", marks=pytest.mark.slow) for bad in BAD_FITS]
BAD_FIT_ROWS += [  # one there, and all with the long tests: what refuses is the same U-Boot
    pytest.param(ARMV7, U_BOOT_32, bad, id=f"{ARMV7}-{bad.name}", marks=pytest.mark.slow if bad.on_all else pytest.mark.long)
    for bad in BAD_FITS
]


@pytest.mark.parametrize(("platform", "rom", "bad"), BAD_FIT_ROWS)
def test_bad_fit(machine_platform: Platform, rom: str, bad: BadFit, tmp_path: Path) -> None:
    plan = compile_file(machine_platform, NATIVE)
    whole = fit_of(pack("fit", machine_platform, monitor(machine_platform), plan), tmp_path)
    damaged = bad.damage(whole)
    assert damaged != whole
    arch = machine_platform.arch
    with tempfile.TemporaryDirectory() as name:
        disk = make_disk(damaged, script(0x50000000, arch), FAMILIES[arch].images.uboot, Path(name))
    said, status = last_words(machine_platform, disk, "disk", ("-bios", rom), LOADER_SECONDS)
    assert bad.says in said
    assert "bulkhead: cannot start: the boot loader refuses the image" in said
    assert "Starting kernel" not in said
    assert status == STATUS[machine_platform.name], "the machine ends by itself"
