# SPDX-License-Identifier: Apache-2.0
"""What a first run says while it downloads and builds: few lines in a pipe, one line that is rewritten on a terminal."""

import queue
import sys
from contextlib import closing
from pathlib import Path

import pytest
from bhtool import paths
from bhtool.provision.apt import Estimate, PrivateApt, bytes_of, followed, heard
from bhtool.provision.bochs import Compilations
from bhtool.provision.progress import OneLine, Steps, share_of_apt
from bhtool.provision.venv import Packages
from bhtool.terminal import tty

from tests.tool.terminals import play

FAKE_APT = """\
#!/usr/bin/env python3
import os, sys
option = next(word for word in sys.argv if word.startswith("APT::Status-Fd="))
with os.fdopen(int(option.split("=")[1]), "w") as status:
    for percent in range(0, 101, 5):
        print(f"dlstatus:1:{percent:.4f}:Retrieving file 1 of 1", file=status)
        print("something else", file=status)
print("said")
print("E: refused", file=sys.stderr)
sys.exit(100)
"""
FAKE_DPKG = """\
import sys
for percent in (0, 10.5, 50, 74.9, 100):
    print(f"pmstatus:qemu:{percent}:Unpacking qemu: now")
    print("Unpacking qemu ...")
sys.exit(int(sys.argv[1]))
"""
PIP = [
    "Collecting attrs==26.1.0 (from -r requirements.txt (line 5))",
    "  Downloading attrs-26.1.0-py3-none-any.whl (67 kB)",
    "Collecting mypy==2.4.1 (from -r requirements.txt (line 22))",
    "  Downloading mypy-2.4.1.whl (12.5 MB)",
    "Installing collected packages: attrs, mypy",
    "Successfully installed attrs-26.1.0 mypy-2.4.1",
]


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(tty, "can_be_live", lambda: False)
    return []


def test_a_pipe_gets_a_line_for_every_quarter(said: list[str]) -> None:
    steps = Steps("downloading", said.append, 62_000_000)
    for percent in range(101):
        steps(percent / 100)
    steps(0.3)
    assert said == [f"downloading: {done} of 62.0 MB" for done in ("15.5", "31.0", "46.5", "62.0")]


def test_a_terminal_gets_as_many_as_an_eye_follows(said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tty, "can_be_live", lambda: True)
    seconds = iter(range(1000))
    monkeypatch.setattr("bhtool.provision.progress.time.monotonic", lambda: next(seconds) * 0.0625)
    steps = Steps("compiling", said.append)
    for percent in range(100):
        steps(percent / 100, "x.o")
    assert said == [f"compiling: {percent}%, x.o" for percent in range(3, 100, 4)]


def test_apt_tells_how_far_it_has_come(said: list[str], tmp_path: Path) -> None:
    apt = tmp_path / "apt-get"
    apt.write_text(FAKE_APT)
    apt.chmod(0o755)
    status, out, complaints = heard([str(apt), "download"], None, Steps("downloading", said.append, 4_000_000))
    assert (status, out, complaints) == (100, "said\n", "E: refused\n")
    assert said == [f"downloading: {done} of 4.0 MB" for done in ("1.0", "2.0", "3.0", "4.0")]


@pytest.mark.parametrize(("status", "last"), [(0, None), (1, "\n".join(["Unpacking qemu ..."] * 5))])
def test_dpkg_tells_how_far_it_has_come(said: list[str], status: int, last: str | None) -> None:
    assert followed([sys.executable, "-c", FAKE_DPKG, str(status)], Steps("installing", said.append)) == last
    assert said == [f"installing: {percent}%, Unpacking qemu: now" for percent in (50, 100)]


def test_an_estimate_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """APT asks nobody, and so refuses nothing, where a package needs no other: --assume-no alone would install it."""
    ran: list[tuple[str, ...]] = []

    def run(self: PrivateApt, *words: str, may_fail: bool = False) -> str:
        ran.append(words)
        return "The following NEW packages will be installed:\n  hello\nNeed to get 53.1 kB of archives.\nAfter this operation, 284 kB of\n"

    monkeypatch.setattr(PrivateApt, "run", run)
    assert PrivateApt(tmp_path, ()).estimate(["hello"]) == Estimate(("hello",), "53.1 kB", "284 kB")
    assert all("--print-uris" in words or "--simulate" in words for words in ran)


def test_what_is_no_status_line() -> None:
    assert share_of_apt("dlstatus:1:20.5:Retrieving", "dlstatus") == (0.205, "Retrieving")
    for line in ("dlstatus:1:x:y", "dlstatus:1", "pmstatus:a:1:b", "Unpacking a:b:c:d"):
        assert share_of_apt(line, "dlstatus") is None


def test_pip_tells_packages_and_bytes(said: list[str]) -> None:
    with closing(Packages(2, said.append)) as packages:
        for line in PIP:
            packages.line(line)
    assert said == [
        "Python packages: 33%, 1 of 2, 0.0 MB",
        "Python packages: 67%, 2 of 2, 0.1 MB",
        "Python packages: 100%, 2 of 2, 12.6 MB",
        "installing 2 packages",
    ]


def test_a_terminal_sees_pip_install_what_it_says_nothing_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip unpacks and compiles for a minute without a word."""
    told: queue.Queue[str] = queue.Queue()
    monkeypatch.setattr(tty, "can_be_live", lambda: True)
    monkeypatch.setattr(paths, "VENV", tmp_path)
    monkeypatch.setattr("bhtool.provision.venv.LOOK_SECONDS", 0.01)
    packages = Packages(2, told.put)

    def install(name: str) -> None:
        folder = tmp_path / "lib" / "python3.11" / "site-packages" / f"{name}.dist-info"
        folder.mkdir(parents=True)
        (folder / "INSTALLER").write_text("pip\n")

    def await_report(text: str) -> None:
        while not told.get(timeout=20).startswith(text):
            pass

    install("pip")  # was there before
    with closing(packages):
        packages.line("Installing collected packages: attrs, mypy\n")
        for count, name in enumerate(("attrs", "mypy")):
            await_report(f"installing 2 packages: {count} of 2, ")
            install(name)
        await_report("installing 2 packages: 2 of 2, ")
    while not told.empty():
        told.get()
    with pytest.raises(queue.Empty):
        told.get(timeout=0.1)


def test_make_tells_how_many_files_are_compiled(said: list[str]) -> None:
    compilations = Compilations(8, said.append)
    for _ in range(8):
        compilations.line("g++ -O2 -c cpu.cc")
        compilations.line("rm -f libcpu.a")
    assert said == [f"compiling Bochs: {percent}%" for percent in (25, 50, 75, 100)]


@pytest.mark.parametrize(
    ("size", "number"), [("321 MB", 321_000_000), ("1,024 B", 1024), ("12.5 kB", 12_500), ("1.2 GB", 1_200_000_000), ("much", 0)]
)
def test_sizes_as_apt_writes_them(size: str, number: int) -> None:
    assert bytes_of(size) == number


def tell(line: OneLine) -> None:
    for done in range(3):
        line(f"downloading: {done} MB")
    line("installing: 50%, something long")
    line("installing: 100%")
    line.end()
    print("done")


@pytest.mark.parametrize("piped", ["", "out", "err"])
def test_one_line_is_rewritten_on_a_terminal(piped: str) -> None:
    ended = play("tests.tool.test_progress", piped=piped, columns=120)
    seen = ended.out.splitlines() if "out" in piped else ended.terminal.lines()
    every = [*(f"downloading: {done} MB" for done in range(3)), "installing: 50%, something long", "installing: 100%", "done"]
    assert seen == (every if piped else [every[2], every[4], every[5]])


def test_nothing_but_the_standard_library_is_needed() -> None:
    """A fresh clone has no rich yet."""
    ended = play("tests.tool.alone", "bhtool.launch")
    assert ended.terminal.lines() == ["alone"]


if __name__ == "__main__":
    tell(OneLine())
