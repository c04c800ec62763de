# SPDX-License-Identifier: Apache-2.0
"""The command without the clone: the host tool, what it reads, and every platform's monitor and kernel, built, as a wheel or a Debian package.

Both hold the same tree, like a clone's but for sources, and a launcher. It makes its Python environment and its work folder in the user's cache.

    wheel   bulkhead_tree/{tools, abi, dts, platforms, docs, prebuilt}   bulkhead_launcher.py   console script `bulkhead`
    deb     /usr/lib/bulkhead/{the same}                                 /usr/bin/bulkhead
"""

import base64
import csv
import hashlib
import io
import os
import stat
import subprocess
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from bhtool import VERSION, paths
from bhtool.image.build import build_platform, products_of
from bhtool.image.payloads import Report
from bhtool.platforms import every
from bhtool.provision.needs import RUN_NEEDS, VENV_NEEDS

Tree = dict[str, bytes]
READ = (
    "LICENSE",
    "tools/bulkhead",
    "tools/requirements*.txt",
    "tools/bhtool/**/*",
    "tools/bochs/*",
    "tools/sdk/**/*",
    "tools/linux/**/*",
    "abi/*.h",
    "dts/**/*",
    "platforms/*/platform.toml",
    "platforms/*/board.h",
    "arch/board.h",
    "arch/x86_64/board_pc.h",
    "docs/*.md",
    "docs/decisions/*.md",
    "docs/guides/*.md",
    "README.md",
    "CHANGELOG.md",
)
PROGRAMS = ("tools/bulkhead",)
SUMMARY = "A separation kernel's host tool, with its monitors built for every board"
LAUNCHER = '''# SPDX-License-Identifier: Apache-2.0
"""The command `bulkhead`."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent / "bulkhead_tree" / "tools"))

from bhtool.launch import launch  # noqa: E402


def main() -> None:
    launch(sys.argv[1:])
'''
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same package from the same sources


def sources() -> Tree:
    files = {file for pattern in READ for file in paths.ROOT.glob(pattern) if file.is_file() and "__pycache__" not in file.parts}
    return {str(file.relative_to(paths.ROOT)): file.read_bytes() for file in sorted(files)}


def built(report: Report) -> Tree:
    """What every platform's build makes and the tool hands on."""
    tree: Tree = {}
    for platform in every():
        folder = build_platform(platform, report).parent
        tree |= {f"prebuilt/{platform.board_name}/{name}": (folder / name).read_bytes() for name in products_of(platform)}
    return tree


def collect(report: Report) -> Tree:
    return sources() | built(report)


def record(files: Tree, own: str) -> bytes:
    """RECORD, whose own name is `own`: Python packaging, "Recording installed projects"."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode("ascii")
        rows.writerow((name, f"sha256={digest}", len(content)))
    rows.writerow((own, "", ""))
    return text.getvalue().encode()


def write_wheel(tree: Tree, folder: Path) -> Path:
    """Python packaging, "Binary distribution format". Needs no packages: the launcher makes the environment that the tool runs in."""
    described = f"bulkhead-{VERSION}.dist-info"
    files = {f"bulkhead_tree/{name}": content for name, content in tree.items()}
    files["bulkhead_launcher.py"] = LAUNCHER.encode()
    metadata = (
        f"Metadata-Version: 2.1\nName: bulkhead\nVersion: {VERSION}\nSummary: {SUMMARY}\nLicense: Apache-2.0\nRequires-Python: >=3.11\n"
    )
    files[f"{described}/METADATA"] = metadata.encode()
    files[f"{described}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: bulkhead\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{described}/entry_points.txt"] = b"[console_scripts]\nbulkhead = bulkhead_launcher:main\n"
    files[f"{described}/RECORD"] = record(files, f"{described}/RECORD")
    path = folder / f"bulkhead-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
    return path


def control() -> str:
    """Debian Policy Manual, 5.3 "Binary package control files". The launcher brings what a user's verb needs and this does not name."""
    needed = ", ".join(dict.fromkeys(need.package for need in VENV_NEEDS))
    wanted = ", ".join(dict.fromkeys(need.package for need in RUN_NEEDS))
    head = f"Package: bulkhead\nVersion: {VERSION}\nArchitecture: all\nMaintainer: Bulkhead's authors <bulkhead@localhost>\n"
    return f"{head}Depends: python3 (>= 3.11), {needed}\nRecommends: {wanted}\nSection: devel\nPriority: optional\nDescription: {SUMMARY}\n"


def write_deb(tree: Tree, folder: Path) -> Path:
    path = folder / f"bulkhead_{VERSION}_all.deb"
    with tempfile.TemporaryDirectory() as made:
        root = Path(made) / "root"
        for name, content in tree.items():
            file = root / "usr" / "lib" / "bulkhead" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.chmod(0o755 if name in PROGRAMS else 0o644)
        (root / "usr" / "bin").mkdir()
        (root / "usr" / "bin" / "bulkhead").symlink_to("../lib/bulkhead/tools/bulkhead")
        (root / "DEBIAN").mkdir()
        (root / "DEBIAN" / "control").write_text(control(), encoding="utf-8")
        for file in (root, *root.rglob("*")):
            if file.is_dir():
                file.chmod(stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
        environment = os.environ | {"SOURCE_DATE_EPOCH": "315532800"}
        subprocess.run(
            ["dpkg-deb", "--root-owner-group", "--build", str(root), str(path)], check=True, capture_output=True, env=environment
        )
    return path


FORMATS: dict[str, Callable[[Tree, Path], Path]] = {"wheel": write_wheel, "deb": write_deb}
