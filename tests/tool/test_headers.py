# SPDX-License-Identifier: Apache-2.0
"""BH-F6.names. `bulkhead headers`: what C and Python are told of channels is what the partition file says, and a name that is misspelt is refused by both."""

import subprocess
import sys
from pathlib import Path

import pytest
from bhtool.errors import Status
from bhtool.paths import PARTITIONS, ROOT

from tests.tool.conftest import Inside

CHANNELS = PARTITIONS / "channels.dts"
BROKEN = ROOT / "tests" / "config" / "broken"
C_PROGRAM = """
#include "abi/channel.h"
#include "control_channels.h"
_Static_assert(CHANNEL_SAMPLES_KIND == BH_CHANNEL_RING && CHANNEL_SPEED_KIND == BH_CHANNEL_LATEST && CHANNEL_ORDERS_KIND == BH_CHANNEL_MAILBOX, "");
_Static_assert(CHANNEL_SAMPLES_END == 1 && CHANNEL_SAMPLES_SLOTS == 16 && CHANNEL_SAMPLES_SLOT_BYTES == 64, "");
_Static_assert(CHANNEL_SPEED_END == 0 && CHANNEL_SPEED_SLOTS == 4 && CHANNEL_ORDERS_SLOT_BYTES == 4096, "");
_Static_assert(CHANNEL_SAMPLES_NUMBER == 0 && CHANNEL_SAMPLES_ON_NUMBER == 1 && CHANNEL_ORDERS_NUMBER == 3 && CHANNEL_ORDERS_ON_REQUEST == 0, "");
_Static_assert(CHANNEL_CONTROL_HEARS_RING_GAP_US == 0 && CHANNEL_CONTROL_HEARS_RUNG_GAP_US == 10000 && CHANNEL_SPEED_READERS == 1, "");
const char *const names[] = { CHANNEL_SAMPLES_NAME, CHANNEL_SPEED_PEER };
"""
PYTHON_PROGRAM = """
from control_channels import CHANNEL_ORDERS, CHANNEL_SAMPLES, CHANNEL_SPEED
assert CHANNEL_SAMPLES == ("samples", 1, 1, "sensor", 16, 64, 0, 1, False, 0, 0)
assert CHANNEL_SPEED == ("speed", 2, 0, "linux", 4, 64, 2, 1, False, 0, 0)
assert CHANNEL_ORDERS.slot_bytes == 4096
"""


def compiled(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    file = folder / "program.c"
    file.write_text(text)
    command = ["clang-19", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", str(ROOT), "-I", str(folder), str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def run(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", text], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def written(tmp_path: Path, inside: Inside) -> Path:
    assert inside("headers", str(CHANNELS), "-o", str(tmp_path)) == Status.GOOD
    return tmp_path


def test_each_sandbox_has_a_header_and_a_module(written: Path) -> None:
    names = {f"{sandbox}_channels{suffix}" for sandbox in ("sensor", "control", "linux") for suffix in (".h", ".py")}
    assert {file.name for file in written.iterdir()} == names


def test_good_names(written: Path) -> None:
    done = compiled(written, C_PROGRAM)
    assert done.returncode == 0, done.stderr
    done = run(written, PYTHON_PROGRAM)
    assert done.returncode == 0, done.stderr


def test_a_misspelt_name_does_not_compile(written: Path) -> None:
    done = compiled(written, C_PROGRAM.replace("CHANNEL_SAMPLES_NAME", "CHANNEL_SAMPELS_NAME"))
    assert done.returncode != 0
    assert "CHANNEL_SAMPELS_NAME" in done.stderr
    done = run(written, PYTHON_PROGRAM.replace("CHANNEL_SPEED\n", "CHANNEL_SPED\n"))
    assert done.returncode != 0
    assert "cannot import name 'CHANNEL_SPED'" in done.stderr


def test_a_sandbox_has_no_names_of_others(written: Path) -> None:
    done = compiled(written, '#include "sensor_channels.h"\nconst char *const name = CHANNEL_SPEED_NAME;\n')
    assert "CHANNEL_SPEED_NAME" in done.stderr


def test_they_are_written_anew_and_nobody_else_s_file_is_lost(written: Path, inside: Inside, capsys: pytest.CaptureFixture[str]) -> None:
    assert inside("headers", str(CHANNELS), "-o", str(written)) == Status.GOOD
    own = written / "linux_channels.py"
    own.write_text("mine\n")
    (written / "control_channels.h").unlink()
    capsys.readouterr()
    assert inside("headers", str(CHANNELS), "-o", str(written)) == Status.USAGE
    assert f"{own} is there and was not written by `bulkhead headers`" in " ".join(capsys.readouterr().err.split())
    assert own.read_text() == "mine\n"
    assert not (written / "control_channels.h").exists()


def channel(name: str) -> str:
    return f'{name} {{ compatible = "bulkhead,channel-v1"; from = <&one>; to = <&two>; }};'


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ((), 'f.dts has no channels; a child of `domains` with compatible = "bulkhead,channel-v1" is one'),
        (("a-b", "a_b"), "f.dts: channels `a-b` and `a_b` would both be called A_B; rename one of them"),
        (("speed", "Speed"), "f.dts: channels `speed` and `Speed` would both be called SPEED; rename one of them"),
    ],
)
def test_what_has_no_names(names: tuple[str, ...], says: str, tmp_path: Path, inside: Inside, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "f.dts", tmp_path / "out"
    out.mkdir()
    file.write_text(f'#include "{BROKEN / "good.dtsi"}"\n&domains {{ {"".join(map(channel, names))} }};\n')
    assert inside("headers", str(file), "-o", str(out)) == Status.FAILED
    assert says in " ".join(capsys.readouterr().err.split())
    assert not list(out.iterdir())


def test_odd_names(tmp_path: Path, inside: Inside) -> None:
    """All characters that a node's name may have, and one that begins with a digit."""
    file = tmp_path / "f.dts"
    file.write_text(f'#include "{BROKEN / "good.dtsi"}"\n&domains {{ {channel("2nd,a.b_c+d-e")} }};\n')
    assert inside("headers", str(file), "-o", str(tmp_path)) == Status.GOOD
    done = compiled(tmp_path, '#include "one_channels.h"\nconst char *const name = CHANNEL_2ND_A_B_C_D_E_NAME;\n')
    assert done.returncode == 0, done.stderr
    done = run(tmp_path, "from two_channels import CHANNEL_2ND_A_B_C_D_E as one; assert one.name == '2nd,a.b_c+d-e' and one.end == 1")
    assert done.returncode == 0, done.stderr


def test_the_folder_is_made(tmp_path: Path, inside: Inside) -> None:
    assert inside("headers", str(CHANNELS), "-o", str(tmp_path / "new" / "one")) == Status.GOOD
    assert (tmp_path / "new" / "one" / "linux_channels.py").exists()


def test_no_folder_is_made_for_nothing(tmp_path: Path, inside: Inside) -> None:
    assert inside("headers", str(tmp_path / "none.dts"), "-o", str(tmp_path / "new")) == Status.USAGE
    assert not (tmp_path / "new").exists()


def test_a_file_is_no_folder(tmp_path: Path, inside: Inside) -> None:
    (tmp_path / "file").touch()
    assert inside("headers", str(CHANNELS), "-o", str(tmp_path / "file")) == Status.USAGE


LINUX_PROGRAM = """
#include "bulkhead.h"
#include "linux_channels.h"
_Static_assert(CHANNEL_SPEED_KIND == BULKHEAD_LATEST && CHANNEL_ORDERS_KIND == BULKHEAD_MAILBOX && CHANNEL_SAMPLES_ON_KIND == BULKHEAD_RING, "");
"""
LINUX_PYTHON = f"""
import sys
sys.path.insert(0, "{ROOT / "tools" / "linux" / "python"}")
from bulkhead_channel import *
from linux_channels import *
import bulkhead_channel
assert Channel is bulkhead_channel.Channel
assert (CHANNEL_SPEED.kind, CHANNEL_ORDERS.kind, CHANNEL_SAMPLES_ON.kind) == (Kind.LATEST, Kind.MAILBOX, Kind.RING)
"""


def test_they_go_with_the_libraries_of_linux(written: Path) -> None:
    """Whose kinds have names of their own, and a class `Channel`."""
    file = written / "program.c"
    file.write_text(LINUX_PROGRAM)
    uapi = ROOT / "tools" / "linux" / "include" / "uapi"
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", str(uapi), "-I", str(written), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    done = run(written, LINUX_PYTHON)
    assert done.returncode == 0, done.stderr


def test_a_header_needs_no_other(written: Path) -> None:
    done = compiled(written, '#include "linux_channels.h"\nint kind = CHANNEL_SPEED_KIND;\n')
    assert done.returncode == 0, done.stderr


RUNG = "doorbell-max-hz = <1000 3>; on-request;"


def test_what_rings_is_opened_and_has_readers(tmp_path: Path, inside: Inside) -> None:
    """Numbers count the channels of each sandbox alone, in the order of its rows BH_GRANT_CHANNEL."""
    file = tmp_path / "f.dts"
    first = channel("first").replace("&two", "&linux")
    asks = channel("asks").replace("; }", f"; {RUNG} }}")
    tells = channel("tells").replace("; }", '; kind = "latest"; readers = <3>; }')
    file.write_text(f'#include "{BROKEN / "good.dtsi"}"\n&domains {{ {first} {asks} {tells} }};\n')
    assert inside("headers", str(file), "-o", str(tmp_path)) == Status.GOOD
    for sandbox, shape in (("one", "(1, 1, 1000, 333334), (2, 3, False)"), ("two", "(0, 1, 333334, 1000), (1, 3, False)")):
        program = f"""
from {sandbox}_channels import CHANNEL_ASKS as asks, CHANNEL_TELLS as tells
assert ((asks.number, asks.on_request, asks.ring_gap_us, asks.rung_gap_us), (tells.number, tells.readers, tells.on_request)) == ({shape})
"""
        done = run(tmp_path, program)
        assert done.returncode == 0, done.stderr
    said = (tmp_path / "two_channels.h").read_text()
    for line in (
        "ASKS_ON_REQUEST 1",
        "ASKS_RING_GAP_US 333334",
        "ASKS_RUNG_GAP_US 1000",
        "TELLS_READERS 3",
        "TELLS_NUMBER 1",
        "ASKS_KIND 0 /* BH_CHANNEL_MAILBOX, BULKHEAD_MAILBOX */",
    ):
        assert f"#define CHANNEL_{line}\n" in said
