# SPDX-License-Identifier: Apache-2.0
"""BH-F6.linux. Debian's Python in a sandbox uses channels by the package bulkhead_channel: by the module, and on a PC without it. One machine a platform serves all tests, in their order."""

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.image import debs, payloads, programs
from bhtool.image.linux_module import stamp_of
from bhtool.image.linux_programs import INCLUDED, LIBRARY, SHARED, compiled_program, packed
from bhtool.platforms import Platform

from tests.emulated.case import GICV3, SVM
from tests.emulated.linux_shell import linux_shell
from tests.emulated.scene import compiled, platform_or_skip, scene_of, silent
from tests.emulated.shell import Shell
from tests.emulated.test_linux_channels import ARMV7, SECONDS, Pair, partition

PLATFORMS = [
    pytest.param(name, marks=[pytest.mark.platform(name), pytest.mark.xdist_group(f"linux-python-{name}")]) for name in (GICV3, ARMV7, SVM)
]
pytestmark = [pytest.mark.slow, pytest.mark.long]

FOLDER = Path(__file__).parent
BINDING = paths.ROOT / "tools" / "linux" / "python" / "bulkhead_channel" / "__init__.py"
PACKAGES = ("python3.11-minimal", "libpython3.11-stdlib")
EXTENSIONS = ("_ctypes", "mmap")  # of those that the package imports, what is not built in
STANDARD = "./usr/lib/python3.11/"
TRIPLETS = {"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu", "armel": "arm-linux-gnueabi"}
HOME = "PYTHONHOME=/ PYTHONPATH=/bin/python.zip:/bin PYTHONDONTWRITEBYTECODE=1"


def library_of(packages: list[Path]) -> bytes:
    """Python's own, in the one archive that it imports from."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in packages:
            for item, content in debs.contents(debs.read(package)):
                if item.isfile() and item.name.startswith(STANDARD) and item.name.endswith(".py"):
                    archive.writestr(item.name.removeprefix(STANDARD), content)
    return data.getvalue()


def interpreter(architecture: str) -> dict[str, bytes]:
    """With what it loads, and its library; kept in the cache."""
    wanted = ["python3.11", *(f"{name}.cpython-311-{TRIPLETS[architecture]}.so" for name in EXTENSIONS)]
    kept = paths.cache() / "linux" / f"python3.11-{architecture}-{stamp_of(*wanted)}.tar"
    apt = payloads.debian_apt()
    with apt.locked():
        if not kept.exists():
            apt.prepare()
            packages = debs.fetch_closure(apt, architecture, PACKAGES, silent)
            files = programs.unpacked(programs.packed_from(packages, wanted)) | {"bin/python.zip": library_of(packages)}
            part = kept.with_suffix(".part")
            part.write_bytes(packed(files))
            part.replace(kept)
    return programs.unpacked(kept.read_bytes())


def python_of(platform: Platform) -> dict[str, bytes]:
    own = {"bin/bulkhead_channel.py": BINDING, "bin/talk.py": FOLDER / "linux_talk.py"}
    return interpreter(platform.programs_architecture) | {name: file.read_bytes() for name, file in own.items()}


@contextmanager
def booted(name: str, folder: Path, module: bool) -> Iterator[Pair]:
    machine = platform_or_skip(name)
    files = python_of(machine)
    if not module:
        files["lib/libbulkhead-channel.so"] = compiled_program(machine, LIBRARY, INCLUDED, silent, SHARED)
    file = partition(folder, machine, files, module)
    file.write_text(file.read_text().replace("MiB(128)", "MiB(256)"))  # Python is large
    with linux_shell(machine, scene_of(machine, compiled(machine, file))) as linux:
        yield Pair(linux, Shell(linux.session, "control"))


@pytest.fixture(scope="module")
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with booted(request.param, tmp_path_factory.mktemp("python"), module=True) as pair:
        yield pair


def talk(pair: Pair, words: str) -> list[str]:
    return pair.heard(f"{HOME} python3.11 /bin/talk.py {words} 2>/dev/null")


with_module = pytest.mark.parametrize("pair", PLATFORMS, indirect=True, scope="module")


@with_module
def test_what_a_channel_is(pair: Pair) -> None:
    assert talk(pair, "info samples") == [
        "samples control RING 1 4 64 LIVES True",
        "commands hears orders samples says stream target",
    ]


@with_module
def test_messages_go_both_ways(pair: Pair) -> None:
    pair.receives("samples")
    for text in ("one", "two"):
        assert pair.sends("samples", text) == "done"
    flags = "<Flags.START|END: 3>"
    assert talk(pair, "receive samples 2") == [f"0 one {flags}", f"1 two {flags}"]
    assert talk(pair, "receive samples 1") == ["TimeoutError ETIMEDOUT"]
    talk(pair, "wait commands")
    pair.receives("commands")
    assert talk(pair, "send commands faster") == ["sent"]
    assert pair.receives("commands") == "0: faster"
    assert talk(pair, "latest stream") == ["48 True"]


@with_module
def test_what_goes_wrong_is_an_error_of_its_class(pair: Pair) -> None:
    assert talk(pair, "send samples no") == ["OSError EINVAL"]
    assert talk(pair, f"send commands {'x' * 65}") == ["OSError EMSGSIZE"]
    assert talk(pair, "twice samples") == ["OSError EBUSY"]
    assert talk(pair, "info nothing") == ["FileNotFoundError ENOENT"]
    assert talk(pair, "wait samples") == ["0 True"]


@with_module
def test_who_is_gone_is_said_to_be(pair: Pair) -> None:
    pair.control.type("park\r")
    for _ in pair.linux.session.events(SECONDS):
        if pair.linux.session.watches["control"].settled:
            break
    assert talk(pair, "receive samples 1") == ["BrokenPipeError EPIPE"]


@pytest.mark.platform(SVM)
@pytest.mark.xdist_group("linux-python-memory")
def test_without_the_module_the_library_does_it(tmp_path: Path) -> None:
    with booted(SVM, tmp_path, module=False) as pair:
        assert talk(pair, "info samples") == ["samples control RING 1 4 64 LIVES True"]
        pair.receives("samples")
        for text in ("one", "two"):
            assert pair.sends("samples", text) == "done"
        flags = "<Flags.START|END: 3>"
        assert talk(pair, "receive samples 2") == [f"0 one {flags}", f"1 two {flags}"]
        assert talk(pair, "receive samples 1") == ["TimeoutError ETIMEDOUT"]
        assert talk(pair, "latest stream") == ["48 True"]
        assert talk(pair, "twice samples") == ["OSError EBUSY"]
        assert talk(pair, "info nothing") == ["FileNotFoundError ENOENT"]
        assert talk(pair, "wait samples") == ["0 False"]
