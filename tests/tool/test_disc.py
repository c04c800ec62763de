# SPDX-License-Identifier: Apache-2.0
"""BH-F2.disc. Discs are made of packages without root's rights: the file system is whole, dpkg knows what was unpacked, and the same packages make the same disc."""

import errno
import hashlib
import os
import stat
import struct
import subprocess
import tarfile
import uuid
from io import BytesIO
from pathlib import Path

import pytest
from bhtool.cli import bulkhead
from bhtool.errors import BulkheadError
from bhtool.image import debian_root, debs, disc, ext4
from bhtool.image.debian_root import Root
from bhtool.image.ext4 import Entry
from click.testing import CliRunner

MIB = 1 << 20
TIME = 1_700_000_000
IDENTIFIER = uuid.UUID(int=7)


def silent(_: str) -> None:
    pass


def inside(file: Path) -> str:
    return f"{file}?offset={disc.START}"


def asked(file: Path, command: str) -> str:
    return subprocess.run([ext4.program("debugfs"), "-R", command, inside(file)], capture_output=True, text=True, check=True).stdout


def require_clean(file: Path) -> None:
    found = subprocess.run([ext4.program("e2fsck"), "-fn", inside(file)], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def entries(folder: Path) -> list[Entry]:
    content = folder / "content"
    content.write_bytes(b"content\n" * 1000)
    return [
        Entry("usr", "directory", 0o755, time=TIME),
        Entry("usr/with space", "directory", 0o2775, group=50, time=TIME),
        Entry('usr/with space/a"b', "file", 0o4755, 1, 42, TIME + 1, content),
        Entry("bin", "link", target="usr/bin", time=TIME),
        Entry("usr/plain", "file", 0o600, time=TIME, content=content),
    ]


def written(file: Path, of: list[Entry], size: int = 64 * MIB) -> Path:
    disc.write(file, size, of, IDENTIFIER, silent)
    return file


def test_entries_are_in_the_file_system(tmp_path: Path) -> None:
    file = written(tmp_path / "disc, one.img", entries(tmp_path))
    require_clean(file)
    text = asked(file, 'stat "/usr/with space/a""b"')
    assert "Mode:  04755" in text
    assert "User:     1   Group:    42" in text
    assert f"mtime: {TIME + 1:#x}" in text
    assert "Mode:  02775" in asked(file, 'stat "/usr/with space"')
    assert 'Fast link dest: "usr/bin"' in asked(file, "stat /bin")
    assert asked(file, "cat /usr/plain") == "content\n" * 1000


def test_the_same_entries_make_the_same_disc(tmp_path: Path) -> None:
    of = entries(tmp_path)
    one, other = written(tmp_path / "one.img", of), written(tmp_path / "other.img", list(reversed(of)))
    assert hashlib.sha256(one.read_bytes()).digest() == hashlib.sha256(other.read_bytes()).digest()
    assert disc.held(one) < 16 * MIB < one.stat().st_size  # the rest is holes


def test_what_does_not_fit_is_said(tmp_path: Path) -> None:
    big = tmp_path / "big"
    big.write_bytes(os.urandom(80 * MIB))
    with pytest.raises(BulkheadError, match="the root file system needs more than 63 MiB: give the disc a greater --size"):
        written(tmp_path / "disc.img", [Entry("big", "file", time=TIME, content=big)])


def test_what_goes_wrong_is_said(tmp_path: Path) -> None:
    """debugfs itself ends as if all were well."""
    with pytest.raises(BulkheadError, match=r"the file system cannot be made: .*not found"):
        written(tmp_path / "disc.img", [Entry("nofolder/link", "link", target="x", time=TIME)])


def test_a_name_with_a_line_break_gives_no_command(tmp_path: Path) -> None:
    with pytest.raises(BulkheadError, match="line break"):
        list(ext4.commands(Entry("a\nrm b", "link", target="c")))


def test_the_partition_table() -> None:
    """Master boot record: the first entry is at 446, the signature at 510."""
    table = disc.partition_table(1024 * MIB, IDENTIFIER)
    assert len(table) == 512
    assert table[510:] == b"\x55\xaa"
    assert struct.unpack_from("<B3xB3xII", table, 446) == (0, 0x83, 2048, 2 * 1024 * 1024 - 2048)
    assert table[:440] == bytes(440)
    assert table[462:510] == bytes(48)


# ---- packages -------------------------------------------------------------------------------------------------------------------


def packed(
    folder: Path, name: str, members: list[tarfile.TarInfo], contents: dict[str, bytes], control: dict[str, str], fields: str = ""
) -> Path:
    """A .deb, by ar's and tar's own forms."""

    def tar(items: list[tarfile.TarInfo], held: dict[str, bytes]) -> bytes:
        out = BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz") as archive:
            for item in items:
                item.size = len(held.get(item.name, b"")) if item.isfile() else 0
                item.mtime = TIME
                archive.addfile(item, BytesIO(held.get(item.name, b"")))
        return out.getvalue()

    about = f"Package: {name}\nVersion: 1.0-1\nArchitecture: arm64\nMaintainer: Nobody <nobody@example.org>\n{fields}Description: {name}\n of tests\n"
    files = {"./control": about, **{f"./{one}": text for one, text in control.items()}}
    held = {one: text.encode() for one, text in files.items()}
    parts = {
        "debian-binary": b"2.0\n",
        "control.tar.gz": tar([tarfile.TarInfo(one) for one in held], held),
        "data.tar.gz": tar(members, contents),
    }
    data = b"!<arch>\n"
    for part, content in parts.items():
        data += f"{part:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode() + content + b"\n" * (len(content) % 2)
    file = folder / f"{name}_1.0-1_arm64.deb"
    file.write_bytes(data)
    return file


def member(name: str, kind: bytes = tarfile.REGTYPE, mode: int = 0o644, link: str = "", group: int = 0) -> tarfile.TarInfo:
    item = tarfile.TarInfo(name)
    item.type, item.mode, item.linkname, item.gid = kind, mode, link, group
    return item


FOLDER, LINK, HARD = tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE


@pytest.fixture
def package(tmp_path: Path) -> Path:
    members = [
        member(".", FOLDER, 0o755),
        member("./bin/", FOLDER, 0o755),
        member("./bin/tool", mode=0o2755, group=42),
        member("./bin/same", HARD, link="./bin/tool"),
        member("./bin/other", LINK, link="tool"),
        member("./lib64/", FOLDER, 0o755),
        member("./lib64/ld.so", mode=0o755),
        member("./etc/", FOLDER, 0o755),
        member("./etc/tool.conf"),
        member("./usr/share/man/man1/tool.1.gz"),
        member("./usr/share/doc/tool/copyright"),
        member("./usr/share/doc/tool/changelog.gz"),
        member("./var/secret/", FOLDER, 0o700),
    ]
    contents = {"./bin/tool": b"program", "./etc/tool.conf": b"a=1\n", "./usr/share/doc/tool/copyright": b"mine"}
    control = {
        "conffiles": "/etc/tool.conf\n",
        "triggers": "interest-noawait /usr/lib/tools\ninterest-await tools # mine\nactivate-noawait ldconfig\n",
        "postinst": "#!/bin/sh\n",
        "md5sums": "x\n",
    }
    return packed(tmp_path, "tool", members, contents, control, "Multi-Arch: same\n")


def built(tmp_path: Path, packages: list[Path], further: list[Path] | None = None) -> Root:
    spool = tmp_path / "spool"
    spool.mkdir(exist_ok=True)
    return debian_root.build(spool, packages, further or [], "bookworm", silent)


def text_of(root: Root, path: str) -> str:
    content = root.entries[path].content
    assert content is not None
    return content.read_text()


def test_a_package_lies_where_dpkg_would_put_it(package: Path, tmp_path: Path) -> None:
    root = built(tmp_path, [package])
    tool, same = root.entries["usr/bin/tool"], root.entries["usr/bin/same"]
    assert (tool.mode, tool.owner, tool.group, tool.time) == (0o2755, 0, 42, TIME)
    assert (same.kind, same.content) == ("file", tool.content)
    assert root.entries["usr/bin/other"].target == "tool"
    assert [(root.entries[name].kind, root.entries[name].target) for name in ("bin", "lib", "lib64")] == [
        ("link", "usr/bin"),
        ("link", "usr/lib"),
        ("link", "usr/lib64"),
    ]
    assert "usr/lib64/ld.so" in root.entries
    assert root.entries["var/secret"].mode == 0o700
    assert "usr/share/doc/tool/copyright" in root.entries
    assert not [path for path in root.entries if "changelog" in path or "/man1" in path]
    assert not [path for path in root.entries if path.startswith(("bin/", "lib/", "lib64/")) or path in ("", ".")]


def test_dpkgs_database_is_one(package: Path, tmp_path: Path) -> None:
    """Read by dpkg itself."""
    root = built(tmp_path, [package])
    admin = tmp_path / "admin"
    for path, entry in root.entries.items():
        if path.startswith("var/lib/dpkg/"):
            where = admin / path.removeprefix("var/lib/dpkg/")
            where.parent.mkdir(parents=True, exist_ok=True)
            if entry.kind == "file":
                where.write_text(text_of(root, path))

    def query(*words: str) -> str:
        return subprocess.run(["dpkg-query", f"--admindir={admin}", *words], capture_output=True, text=True, check=True).stdout

    sum_of_configuration = hashlib.md5(b"a=1\n", usedforsecurity=False).hexdigest()
    told = query("-W", "-f", "${Package} ${Version} ${db:Status-Abbrev}${Conffiles}").split()
    assert told == ["tool", "1.0-1", "iU", "/etc/tool.conf", sum_of_configuration]
    listed = query("-L", "tool:arm64").split()
    assert listed[:3] == ["/.", "/bin", "/bin/tool"]
    assert "/usr/share/man/man1/tool.1.gz" in listed  # left out, as dpkg lists what it leaves out
    assert {"md5sums", "postinst", "triggers"} <= set(query("--control-list", "tool:arm64").split())
    assert (admin / "triggers" / "File").read_text() == "/usr/lib/tools tool/noawait\n"
    assert (admin / "triggers" / "tools").read_text() == "tool\n"
    assert not (admin / "triggers" / "ldconfig").exists()


@pytest.mark.parametrize("name", ["../outside", "/outside", "usr/../../outside"])
def test_no_package_writes_outside(name: str, tmp_path: Path) -> None:
    hostile = packed(tmp_path, "hostile", [member(name)], {name: b"x"}, {})
    with pytest.raises(BulkheadError, match=r"hostile_1\.0-1_arm64\.deb holds .*outside a root file system"):
        built(tmp_path, [hostile])


def test_what_no_disc_holds_is_refused(tmp_path: Path) -> None:
    device = packed(tmp_path, "device", [member("./dev/x", tarfile.CHRTYPE)], {}, {})
    with pytest.raises(BulkheadError, match="holds /dev/x, which is no file, directory or link"):
        built(tmp_path, [device])
    cut = tmp_path / "cut.deb"
    cut.write_bytes(device.read_bytes()[:80])
    with pytest.raises(BulkheadError, match=r"cut\.deb cannot be unpacked"):
        built(tmp_path, [cut])


def test_further_packages_wait_on_the_disc(package: Path, tmp_path: Path) -> None:
    root = built(tmp_path, [], [package])
    held = root.entries[f"var/lib/bulkhead/packages/{package.name}"].content
    assert held is not None
    assert held.read_bytes() == package.read_bytes()
    assert "usr/bin/tool" not in root.entries


def test_a_disc_of_packages_is_whole(package: Path, tmp_path: Path) -> None:
    made = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        made.append(written(tmp_path / f"{name}.img", built(tmp_path / name, [package]).listed()))
    require_clean(made[0])
    assert made[0].read_bytes() == made[1].read_bytes()
    for script in ("init", "first_boot", "dhcp"):
        subprocess.run(["sh", "-n", str(debian_root.SCRIPTS / f"disc_{script}.sh")], check=True)
    assert "Mode:  0755" in asked(made[0], "stat /usr/sbin/init")


# ---- cache and command ----------------------------------------------------------------------------------------------------------


def test_the_cache_tells_discs_apart() -> None:
    given = [("arm64", (), disc.DEFAULT), ("armhf", (), disc.DEFAULT), ("arm64", ("vim",), disc.DEFAULT), ("arm64", (), disc.LEAST)]
    assert len({disc.key_of(*one) for one in given}) == 4
    assert disc.key_of("arm64", ("a", "b"), disc.LEAST) == disc.key_of("arm64", ("b", "a", "b"), disc.LEAST)


def test_an_unknown_architecture_is_named() -> None:
    with pytest.raises(BulkheadError, match="there is no disc for riscv64; there are amd64, arm64, armhf, armel"):
        disc.debian("riscv64", (), disc.DEFAULT, silent)


def test_a_copy_keeps_holes_and_content(tmp_path: Path) -> None:
    file, copy = tmp_path / "disc.img", tmp_path / "copy.img"
    with file.open("wb") as out:
        out.truncate(64 * MIB)
        for at in (0, 5 * MIB, 33 * MIB + 512):
            out.seek(at)
            out.write(os.urandom(70_000))
    copy.write_bytes(b"older" * MIB)
    disc.copy(file, copy)
    assert copy.read_bytes() == file.read_bytes()
    assert disc.held(copy) < MIB
    assert stat.S_ISREG(copy.stat().st_mode)


def test_a_full_disk_leaves_nothing_half_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, copy = tmp_path / "disc.img", tmp_path / "copy.img"
    file.write_bytes(bytes(MIB))

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "sendfile", full)
    with pytest.raises(BulkheadError, match=r"the disk is full: .*copy\.img takes 1 MiB, and .* free"):
        disc.copy(file, copy)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["disc.img"]


def test_a_disc_that_could_not_be_made_is_not_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BULKHEAD_CACHE", str(tmp_path))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(disc, "make", full)
    with pytest.raises(BulkheadError, match="the disk is full: a disc of Debian takes 300 MiB"):
        disc.debian("arm64", (), disc.DEFAULT, silent)
    assert not list(tmp_path.rglob("*.img"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--arch", "mips"], "'mips' is not one of 'amd64', 'arm64', 'armhf', 'armel'"),
        (["--arch", "arm64", "--size", "3k"], "3k is no size, such as 2G or 900M"),
        (["--arch", "arm64", "--size", "100M"], "100M is not from 512 MiB to 2 TiB"),
        (["--arch", "arm64", "--size", "9999999G"], "is not from 512 MiB to 2 TiB"),
        (["--arch", "arm64", "--package", "-o Dir=/"], "-o Dir=/ is no name of a Debian package"),
        (["--arch", "arm64", "--package", "Vim"], "Vim is no name of a Debian package"),
    ],
)
def test_wrong_words_are_refused(words: list[str], said: str, tmp_path: Path) -> None:
    found = CliRunner().invoke(bulkhead, ["disk", "-o", str(tmp_path / "disc.img"), *words])
    assert found.exit_code == 2
    assert said in " ".join(found.output.split())
    assert not list(tmp_path.iterdir())


def test_a_package_that_there_is_not_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Apt:
        directory = tmp_path

        def update(self, _: object) -> None:
            pass

        def run(self, *_: str, **__: object) -> str:
            return "'http://deb.example.org/a_1_arm64.deb' a_1_arm64.deb 100 SHA256:0\n"

        def has(self, name: str, architecture: str) -> bool:
            return (name, architecture) == ("vim", "arm64")

    with pytest.raises(BulkheadError, match="Debian has no package nosuch for arm64"):
        debs.fetch(Apt(), "arm64", ("vim", "nosuch"), silent)  # type: ignore[arg-type]
    base, more = debs.fetch(Apt(), "arm64", (), silent)  # type: ignore[arg-type]
    assert ([one.name for one in base], more) == (["a_1_arm64.deb"], [])
