# SPDX-License-Identifier: Apache-2.0
"""Software for Linux sandboxes: stock Debian packages by name, verified by APT, cached; and the initramfs made of them."""

import functools
import gzip
import io
import lzma
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bhtool import paths
from bhtool.config.rootfs.cpio import Archive
from bhtool.config.rootfs.modules import write_store
from bhtool.errors import BulkheadError, Status
from bhtool.families.table import FAMILIES
from bhtool.image import programs
from bhtool.platforms import Platform
from bhtool.provision.apt import PrivateApt
from bhtool.provision.sources import machine_sources, main_entry, release

SUITE = "bookworm"
NEWER_SUITE, NEWER = f"{SUITE}-backports", "+deb"  # of kernels that have this in their version
ARCHITECTURES = ("amd64", "arm64", "armhf", "armel")
KERNEL_PACKAGE = r"linux-image-[\w.+-]+"  # what a metapackage depends on
MODULES_SIZE = "60 MB"
CAN_PACKAGES = ("can-utils", "iproute2")
CAN_PROGRAMS = ("candump", "cansend", "cangen", "ip")  # busybox's `ip` sets no bit rate
READY_LINE = "bulkhead-linux: ready"
ENDING = "ending"  # ending=KEY in `bootargs`, which the kernel hands to its first process: SysRq's KEY instead of a shell, once all is said
PROMPT = "linux# "
INIT = f"""\
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/ TERM=vt100 PS1='{PROMPT}'
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts && mount -t devpts devpts /dev/pts
cat /etc/modules-load.d/*.conf 2>/dev/null | while read -r module; do modprobe "$module"; done
[ ! -x /bin/can-memory ] || can-memory
dmesg -n 4
cd /
root= type=ext4
for word in $(cat /proc/cmdline); do case $word in root=*) root=${{word#root=}} ;; rootfstype=*) type=${{word#rootfstype=}} ;; esac; done
if [ -n "$root" ]; then
	for turn in $(seq 100); do [ -b "$root" ] && break; sleep 0.1; done
	mount -t "$type" "$root" /mnt && umount /proc /sys && exec switch_root /mnt /sbin/init
	echo "bulkhead-linux: root=$root cannot be the root file system"
else
	for word in $(cat /proc/cmdline); do case $word in serve=*) serve "${{word#serve=}}" ;; esac; done
	echo "{READY_LINE}"
fi
[ -z "${ENDING}" ] || {{ sleep 1; echo "${ENDING}" > /proc/sysrq-trigger; }}
while :; do setsid cttyhack sh; done
"""
SCRIPTS = {"serve": Path(__file__).with_name("network_serve.sh"), "fetch": Path(__file__).with_name("disc_fetch.sh")}
CAN_SCRIPTS = {"can-memory": Path(__file__).with_name("can_memory.sh")}

Report = Callable[[str], None]


def debian_apt(name: str = "") -> PrivateApt:
    """Debian's SUITE from this machine's own mirror, whichever release it runs; NEWER_SUITE besides, if that has a package of this name."""
    distribution, codename = release()
    entry = main_entry(machine_sources(), codename)
    if distribution != "debian" or entry is None:
        raise BulkheadError(
            "Debian's kernels are fetched from the machine's own Debian mirror, and this machine has none: add one to its APT sources",
            Status.MISSING,
        )
    if NEWER in name:
        return PrivateApt(paths.cache() / "apt-newer", (entry.with_suite(SUITE), entry.with_suite(NEWER_SUITE)), ARCHITECTURES)
    return PrivateApt(paths.cache() / "apt-payloads", (entry.with_suite(SUITE),), ARCHITECTURES)


def member(package: Path, wanted: str) -> bytes:
    """The first regular file of a .deb whose path begins with `wanted`."""
    tree = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(tree)) as tar:
        for item in tar:
            if item.isfile() and item.name.startswith(wanted):
                content = tar.extractfile(item)
                assert content is not None
                return content.read()
    raise BulkheadError(f"{package.name} holds no {wanted}", Status.MISSING)


def real_package(apt: PrivateApt, package: str, architecture: str, pattern: str) -> str:
    """The package matching the pattern that `package` depends on, or itself if there is none, for the architecture."""
    name = f"{package}:{architecture}"
    if not apt.has(package, architecture):
        raise BulkheadError(
            f"Debian {SUITE} has no package {package} for {architecture}: `apt-cache search {package}` shows names", Status.MISSING
        )
    return f"{apt.named_dependency(name, pattern) or package}:{architecture}"


def fetch(package: str, architecture: str, wanted: str, real: str, report: Report) -> bytes:
    """Downloads `package`, or the package matching `real` that it depends on, and takes one file out of it."""
    apt = debian_apt(package)
    with apt.locked(), tempfile.TemporaryDirectory() as directory:
        apt.prepare()
        report(f"fetching {package} for {architecture} from Debian {SUITE}")
        apt.update(report)
        name = real_package(apt, package, architecture, real) if real else f"{package}:{architecture}"
        return member(apt.download(name, Path(directory), report), wanted)


def files_of(package: Path) -> Iterator[tuple[str, bytes]]:
    """Every regular file of a .deb, one after the other: a kernel's are 300 MB."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE) as tree:
        assert tree.stdout is not None
        with tarfile.open(fileobj=tree.stdout, mode="r|") as tar:
            for item in tar:
                if item.isfile():
                    content = tar.extractfile(item)
                    assert content is not None
                    yield item.name.removeprefix("./").removeprefix("usr/"), content.read()


def unpacked_module(path: str, content: bytes) -> tuple[str, bytes]:
    """As the kernel takes it: newer packages have their modules packed by xz."""
    return (path.removesuffix(".xz"), lzma.decompress(content)) if path.endswith(".ko.xz") else (path, content)


def store_modules(package: Path, store: Path, kernel_file: Path) -> None:
    """Modules fit their own kernel alone: where the one in the cache is another, it becomes this one."""

    def members() -> Iterator[tuple[str, bytes]]:
        for path, content in files_of(package):
            if path.startswith("boot/vmlinuz-") and (not kernel_file.exists() or kernel_file.read_bytes() != content):
                part = kernel_file.with_suffix(".part")
                part.write_bytes(content)
                part.replace(kernel_file)
            if path.startswith("lib/modules/"):
                yield unpacked_module(path.removeprefix("lib/modules/"), content)

    write_store(store, members())


def modules(platform: Platform, report: Report, package: str = "") -> Path:
    """The modules of Debian's kernel, by name: config/rootfs/modules.py. Empty: of the platform's package."""
    package, architecture = package or platform.linux_package, platform.debian_architecture
    kernel_file = paths.cache() / "payloads" / architecture / package
    store = kernel_file.with_name(f"{package}.modules-2.zip")  # 2: with what modprobe.d(5) calls soft dependencies
    if not store.exists():
        apt = debian_apt(package)
        with apt.locked(), tempfile.TemporaryDirectory() as directory:
            apt.prepare()
            report(f"fetching the modules of {package} for {architecture} from Debian {SUITE}, about {MODULES_SIZE}")
            apt.update(report)
            real = real_package(apt, package, architecture, KERNEL_PACKAGE)
            store.parent.mkdir(parents=True, exist_ok=True)
            store_modules(apt.download(real, Path(directory), report), store, kernel_file)
    return store


def cached(package: str, architecture: str, wanted: str, real: str, report: Report) -> Path:
    """The cached file; fetched the first time, and put in place whole or not at all."""
    path = paths.cache() / "payloads" / architecture / package
    if not path.exists():
        data = fetch(package, architecture, wanted, real, report)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_bytes(data)
        part.replace(path)
    return path


def plain_image(data: bytes) -> bytes:
    """arm64: the raw Image, whether the package holds it plain or gzip'ed (Documentation/arch/arm64/booting.rst, 3)."""
    image = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    if image[56:60] != b"ARM\x64":
        raise BulkheadError("Debian's arm64 kernel is neither a plain nor a gzip'ed Image")
    return image


def kernel(platform: Platform, report: Report, package: str = "") -> Path:
    """The kernel as the configuration wants it: bzImage on x86, raw Image on arm64, zImage on armhf. Empty: of the platform's package."""
    package = package or platform.linux_package
    found = cached(package, platform.debian_architecture, "./boot/vmlinuz-", KERNEL_PACKAGE, report)
    path = platform.build / f"vmlinuz-{package}"
    if not path.exists() or path.stat().st_mtime_ns < found.stat().st_mtime_ns:
        path.parent.mkdir(parents=True, exist_ok=True)
        if FAMILIES[platform.arch].programs.linux_packed:
            path.write_bytes(plain_image(found.read_bytes()))
        else:
            shutil.copyfile(found, path)
    return path


@functools.cache  # compressing takes longer than all the rest of a partition file
def initramfs_bytes(busybox: bytes, further: bytes = b"") -> bytes:
    """further: programs as image/programs.py packs them. One that is there is not replaced by busybox's."""
    archive = Archive()
    files = programs.unpacked(further) if further else {}
    folders = {path.partition("/")[0] for path in files}
    for directory in ("bin", "dev", "mnt", "proc", "sys", "tmp", "root", *sorted(folders - {"bin"})):
        archive.directory(directory)
    for path, content in files.items():
        archive.program(path, content)
    archive.character_device("dev/console", 5, 1)
    archive.program("bin/busybox", busybox)
    archive.link("bin/sh", "busybox")
    archive.program("init", INIT.encode())
    for name, script in (SCRIPTS | (CAN_SCRIPTS if further else {})).items():
        archive.program(f"bin/{name}", script.read_bytes())
    return archive.packed()


def initramfs(platform: Platform, report: Report) -> Path:
    return written(platform, "rootfs.cpio.gz", report)


def can_initramfs(platform: Platform, report: Report) -> Path:
    """With the programs for CAN of Debian besides."""
    return written(platform, "rootfs-can.cpio.gz", report, can_programs(platform.programs_architecture, report).read_bytes())


def can_programs(architecture: str, report: Report) -> Path:
    path = paths.cache() / "payloads" / architecture / "can-programs-1.tar"
    if not path.exists():
        apt = debian_apt()
        with apt.locked():
            apt.prepare()
            data = programs.packed(apt, architecture, CAN_PACKAGES, CAN_PROGRAMS, report)
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_suffix(".part")
            part.write_bytes(data)
            part.replace(path)
    return path


def written(platform: Platform, name: str, report: Report, further: bytes = b"") -> Path:
    busybox = cached("busybox-static", platform.programs_architecture, "./bin/busybox", "", report)
    path = platform.build / name
    path.parent.mkdir(parents=True, exist_ok=True)
    data = initramfs_bytes(busybox.read_bytes(), further)
    if not path.exists() or path.read_bytes() != data:
        path.write_bytes(data)
    return path
