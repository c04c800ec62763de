# SPDX-License-Identifier: Apache-2.0
"""The kernel module for channels (tools/linux/module), built for a kernel of Debian by that kernel's headers and compiler.

Headers, Kbuild's programs and a cross compiler are packages that are unpacked in the cache: nothing is installed, and no script of theirs runs.

    cache/linux/headers-VERSION/usr/src/linux-headers-VERSION     cache/linux/gcc-12-ARCHITECTURE-STAMP/usr/bin/TRIPLET-gcc-12
    cache/linux/VERSION-STAMP.ko
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from bhtool import VERSION, paths
from bhtool.config.rootfs.modules import OWN, SUFFIX, index_of, information
from bhtool.errors import BulkheadError, Status
from bhtool.image import payloads
from bhtool.platforms import Platform
from bhtool.provision.apt import PrivateApt
from bhtool.provision.progress import Report, megabytes

SOURCES = paths.ROOT / "tools" / "linux"
HEADERS = ("guest.h", "channel.h", "channel_bytes.h", "channel_end.h", "channel_inline.h", "channel_wait.h")  # of abi/
TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu", "armhf": "arm-linux-gnueabihf"}
BITS = {"armhf": 32}  # 64 elsewhere
# Libraries of compiler, assembler and Kbuild's programs that a Debian without a compiler may lack.
LIBRARIES = ("binutils-common", "libbinutils", "libmpc3", "libmpfr6", "libgmp10", "libisl23", "libjansson4", "libelf1", "libssl3")
MODPOST = "scripts/mod/modpost.real-lsb-{bits}"  # `modpost` beside it takes the host's word size for the kernel's
SHOWN_LINES = 20


def source_files() -> dict[str, bytes]:
    """The module as one folder that needs no other: what DKMS takes, too."""
    found = {f"{one.relative_to(SOURCES / 'module')}": one.read_bytes() for one in sorted((SOURCES / "module").rglob("*")) if one.is_file()}
    found["channel_try.h"] = (SOURCES / "include" / "channel_try.h").read_bytes()
    found["uapi/bulkhead.h"] = (SOURCES / "include" / "uapi" / "bulkhead.h").read_bytes()
    found |= {f"abi/{name}": (paths.ABI / name).read_bytes() for name in HEADERS}
    found["dkms.conf"] = found["dkms.conf"].replace(b"@VERSION@", VERSION.encode())
    return found


def stamp_of(*texts: object) -> str:
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:16]


def module(platform: Platform, report: Report, package: str = "") -> Path:
    """Built for the kernel that the tool takes out of `package`, once. Empty: of the platform's package."""
    version = index_of(payloads.modules(platform, report, package)).version
    return built(platform.debian_architecture, version, report)


def built(architecture: str, version: str, report: Report) -> Path:
    sources = source_files()
    target = paths.cache() / "linux" / f"{version}-{stamp_of(sorted(sources.items()))}{SUFFIX}"
    if not target.exists():
        apt = payloads.debian_apt(version)
        with apt.locked():
            apt.prepare()
            if not target.exists():
                build(apt, architecture, version, sources, target, report)
    return target


def build(apt: PrivateApt, architecture: str, version: str, sources: dict[str, bytes], target: Path, report: Report) -> None:
    """From these sources. Requires: the lock of `apt`, which is prepared."""
    headers = headers_of(apt, architecture, version, report)
    tools = compiler(apt, architecture, headers, report)
    report(f"building the module {OWN} for {version}")
    with tempfile.TemporaryDirectory(prefix="bulkhead-") as name:
        folder = Path(name)
        for path, content in sources.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        made = make(folder, headers, tools, architecture)
        told = information(made).get("vermagic", [""])[0].split(" ")[0]
        if told != version:
            raise BulkheadError(f"the module {OWN} was built for {told or 'no kernel'} instead of {version}")
        part = target.with_suffix(".part")
        part.write_bytes(made)
        part.replace(target)


def make(folder: Path, headers: Path, tools: Path, architecture: str) -> bytes:
    """The module without what is for debuggers. `headers`: as KDIR."""
    triplet, modpost = TRIPLETS[architecture], MODPOST.format(bits=BITS.get(architecture, 64))
    libraries = [str(one) for one in (*tools.glob("usr/lib/*-linux-gnu"), *tools.glob("lib/*-linux-gnu"))]
    environment = {
        **os.environ,
        "PATH": f"{tools / 'usr' / 'bin'}:{os.environ.get('PATH', '')}",
        "LD_LIBRARY_PATH": ":".join(libraries),
        "LC_ALL": "C",
    }
    compiler_name = next(tools.glob(f"usr/bin/{triplet}-gcc-[0-9]*")).name
    words = ["make", "-C", str(headers), f"M={folder}", f"CROSS_COMPILE={triplet}-", f"CC={compiler_name}", f"BULKHEAD_VERSION={VERSION}"]
    words.append("CONFIG_DEBUG_INFO_BTF_MODULES=")  # which pahole would make of the kernel itself
    if (headers / modpost).exists():
        words.append(f"MODPOST={modpost}")
    for command in ([*words, "modules"], [f"{triplet}-strip", "--strip-debug", str(folder / f"{OWN}{SUFFIX}")]):
        done = subprocess.run(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False
        )
        if done.returncode:
            tail = "\n".join(done.stdout.splitlines()[-SHOWN_LINES:])
            raise BulkheadError(f"the module {OWN} cannot be built:\n{tail}")
    return (folder / f"{OWN}{SUFFIX}").read_bytes()


def headers_of(apt: PrivateApt, architecture: str, version: str, report: Report) -> Path:
    """The folder that a module is built in, of packages that fit each other. Raises if the suite has them no more."""
    package, final = f"linux-headers-{version}", paths.cache() / "linux" / f"headers-{version}"
    if final.exists():
        return final / "usr" / "src" / package
    if not apt.has(package, architecture):
        apt.update(report)
    if not apt.has(package, architecture):
        text = f"Debian {payloads.SUITE} has no {package} for {architecture} any more, so no module can be built for that kernel"
        raise BulkheadError(
            f"{text}: remove {paths.cache() / 'payloads' / architecture}, and the kernel of today is fetched", Status.MISSING
        )
    whole = f"{package}:{architecture}"
    common, programs = (apt.named_dependency(whole, one) for one in (r"linux-headers-[\w.+-]+-common[\w-]*", r"linux-kbuild-[\w.+-]+"))
    names = [whole, common, f"{programs}:{host_architecture()}"]

    def settle(root: Path) -> None:
        """A package's Makefile names the common one by where it would be installed."""
        file = root / "usr" / "src" / package / "Makefile"
        file.write_text(re.sub(r"(?m)^(include\s+)/usr/src/", rf"\1{final}/usr/src/", file.read_text()))

    return unpacked(apt, names, final, settle, report) / "usr" / "src" / package


def compiler(apt: PrivateApt, architecture: str, headers: Path, report: Report) -> Path:
    """A root with the compiler that the kernel was built by."""
    found = re.search(r"gcc-(\d+)", (headers / ".kernelvariables").read_text())
    if not found:
        raise BulkheadError(f"{headers} does not say which compiler its kernel was built by")
    own, triplet = host_architecture(), TRIPLETS[architecture]
    cross = f"-{triplet.replace('_', '-')}"
    suffix = "" if own == architecture else cross
    names = [f"{part}-{found[1]}{suffix}:{own}" for part in ("gcc", "cpp")]
    names += [f"{name}:{own}" for name in (f"binutils{cross}", *LIBRARIES)]
    return unpacked(apt, names, unpacked_place(f"gcc-{found[1]}-{architecture}", names), lambda _: None, report)


def host_architecture() -> str:
    return subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()


def unpacked_place(name: str, packages: Iterable[str]) -> Path:
    return paths.cache() / "linux" / f"{name}-{stamp_of(*packages)}"


def unpacked(apt: PrivateApt, packages: list[str], final: Path, settle: Callable[[Path], None], report: Report) -> Path:
    """The packages' files in a folder of their own, whole or not at all."""
    if final.exists():
        return final
    part = final.with_name(f"{final.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    apt.update(report)
    size = sum(apt.size_of(one) for one in packages)
    report(f"fetching {len(packages)} packages to build a kernel module with: {megabytes(size)} MB")
    with tempfile.TemporaryDirectory() as name:
        for package in packages:
            file = apt.download(package, Path(name), report)
            done = subprocess.run(["dpkg-deb", "-x", str(file), str(part)], capture_output=True, text=True, check=False)
            if done.returncode:
                raise BulkheadError(f"{file.name} cannot be unpacked: {done.stderr.strip()}")
    settle(part)
    part.replace(final)
    return final
