# SPDX-License-Identifier: Apache-2.0
"""BH-F6.linux. The module for channels is built for the kernels that Debian has, without a warning; and the library by its Makefile, from what the SDK has."""

import subprocess
from pathlib import Path

import pytest
from bhtool.delivery.sdk import linux_files
from bhtool.errors import BulkheadError
from bhtool.image import linux_module, payloads
from bhtool.image.linux_module import BITS

LIMIT = 120
KERNELS = [  # the first in every run
    ("arm64", "6.1", "arm64"),
    ("arm64", "6.12", "arm64"),
    ("arm64", "6.1", "rt-arm64"),
    ("armhf", "6.1", "armmp-lpae"),
    ("armhf", "6.12", "armmp-lpae"),
    ("amd64", "6.1", "cloud-amd64"),
    ("amd64", "6.12", "cloud-amd64"),
    ("amd64", "6.12", "amd64"),
]
LONG = [pytest.param(*one, marks=pytest.mark.long) for one in KERNELS[1:]]


def versions(architecture: str, release: str, flavour: str) -> list[str]:
    """Of kernels that the suites have, as `uname -r` says them, the oldest first."""
    apt = payloads.debian_apt(payloads.NEWER if release != "6.1" else "")
    with apt.locked():
        apt.prepare()
        if not (names := named(apt.run("apt-cache", "pkgnames", f"linux-headers-{release}."), release, flavour)):
            apt.update()
            names = named(apt.run("apt-cache", "pkgnames", f"linux-headers-{release}."), release, flavour)
        return [one for one in names if apt.has(f"linux-headers-{one}", architecture)]


def named(text: str, release: str, flavour: str) -> list[str]:
    found = [one.removeprefix("linux-headers-") for one in text.split()]
    return sorted(one for one in found if one.startswith(f"{release}.") and one.partition("-")[2].lstrip("0123456789-") == flavour)


@pytest.mark.slow
@pytest.mark.parametrize(("architecture", "release", "flavour"), [pytest.param(*KERNELS[0]), *LONG])
def test_it_is_built_for(architecture: str, release: str, flavour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own version's, and not one of another: the builder looks."""
    found = versions(architecture, release, flavour)
    if not found:
        pytest.skip(f"Debian {payloads.SUITE} and {payloads.NEWER_SUITE} have no kernel {release} {flavour} for {architecture}")
    module = linux_module.built(architecture, found[-1], lambda _: None).read_bytes()
    assert module[:4] == b"\x7fELF"
    assert (module[4] == 1) == (BITS.get(architecture) == 32)
    assert b".debug_info" not in module


def test_a_kernel_that_debian_has_no_more_is_named() -> None:
    with pytest.raises(BulkheadError, match=r"has no linux-headers-6\.1\.0-1-arm64 for arm64 any more"):
        linux_module.built("arm64", "6.1.0-1-arm64", lambda _: None)


def test_the_library_is_built_from_what_the_sdk_has(tmp_path: Path) -> None:
    for name, content in linux_files().items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    words = [
        "make",
        "-C",
        str(tmp_path / "linux" / "lib"),
        "CC=clang-19",
        "CFLAGS=-O2 -Werror",
        f"DESTDIR={tmp_path}",
        "PREFIX=/usr",
        "install",
    ]
    subprocess.run(words, check=True, capture_output=True, timeout=LIMIT)
    installed = {str(one.relative_to(tmp_path / "usr")) for one in (tmp_path / "usr").rglob("*") if one.is_file()}
    headers = {
        "bulkhead_channel.h",
        "bulkhead.h",
        "guest.h",
        "channel.h",
        "channel_bytes.h",
        "channel_end.h",
        "channel_inline.h",
        "channel_wait.h",
        "telemetry.h",
    }
    assert installed == {"lib/libbulkhead-channel.a", "lib/libbulkhead-channel.so", *(f"include/bulkhead/{name}" for name in headers)}
    program = '#include "bulkhead_channel.h"\n#include "channel_inline.h"\nint main(void) { return bulkhead_open(0, ""); }\n'
    compiler = ["clang-19", "-x", "c", "-", f"-I{tmp_path / 'usr' / 'include' / 'bulkhead'}", f"-L{tmp_path / 'usr' / 'lib'}"]
    subprocess.run([*compiler, "-lbulkhead-channel", "-o", str(tmp_path / "program")], input=program, text=True, check=True, timeout=LIMIT)


def test_what_dkms_is_told() -> None:
    told = linux_files()["linux/module/dkms.conf"].decode()
    assert 'BUILT_MODULE_NAME[0]="bulkhead"' in told
