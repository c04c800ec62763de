# SPDX-License-Identifier: Apache-2.0
"""Composing the bootable image: what the monitor's linker laid out stays, table and payloads arrive in memory."""

import io
import subprocess
import time
from pathlib import Path

import pytest
from bhtool.config.plan import Plan, Segment
from bhtool.errors import BulkheadError
from bhtool.image import loadable
from bhtool.machine.console import Lines, Uart
from bhtool.machine.emulated import Machine
from bhtool.platforms import load
from elftools.elf.elffile import ELFFile

FAKE = Path(__file__).parent / "fake_pvh.S"
PAYLOAD = Segment("payload", 0x1000000, b"PAYL")


def plan_of(table: bytes, *segments: Segment) -> Plan:
    return Plan("any", Path("any.dts"), table=table, segments=list(segments))


@pytest.fixture(scope="module")
def pvh(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    out = tmp_path_factory.mktemp("pvh") / "pvh.elf"
    link = ["-fuse-ld=lld", "-nostdlib", "-static", "-Wl,-Ttext=0x101000", "-Wl,--image-base=0x100000", "-Wl,--build-id=none"]
    subprocess.run(["clang-19", "--target=x86_64-unknown-linux-gnu", *link, str(FAKE), "-o", str(out)], check=True)
    return out.read_bytes()


def test_notes_table_and_payload_reach_the_machine(pvh: bytes) -> None:
    composed = loadable.compose(pvh, plan_of(b"TABL", PAYLOAD))
    with Machine(load("qemu-svm"), composed) as machine:
        uart, lines = Uart(machine.serials["uart0"]), Lines()
        deadline = time.monotonic() + 20
        seen: list[str] = []
        while not seen and time.monotonic() < deadline:
            seen = lines.feed(uart.read())
            time.sleep(0.02)
    assert seen == ["TABLPAYL"]


@pytest.fixture(scope="module")
def monitor32(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A monitor for 32 bits, as far as its file goes."""
    out = tmp_path_factory.mktemp("monitor32") / "monitor.elf"
    source = (
        r'__asm__(".section .partition_table, \"aw\", %nobits; .globl partition_table; partition_table: .space 4096");'
        "extern char partition_table[]; int zeroes[64]; const int constant = 2; void _start(void) { zeroes[constant] = partition_table[1]; }"
    )
    options = ["--target=armv7a-unknown-linux-gnueabi", "-ffreestanding", "-fuse-ld=lld-19", "-nostdlib", "-static", "-Wl,--build-id=none"]
    subprocess.run(["clang-19", *options, "-x", "c", "-", "-o", str(out)], input=source, text=True, check=True)
    return out.read_bytes()


@pytest.mark.parametrize("name", ["monitor", "monitor32"])
def test_everything_the_linker_placed_is_kept(name: str, request: pytest.FixtureRequest) -> None:
    monitor: bytes = request.getfixturevalue(name)
    before = ELFFile(io.BytesIO(monitor))
    after = ELFFile(io.BytesIO(loadable.compose(monitor, plan_of(b"TABL" * 64, PAYLOAD))))
    loads = [segment for segment in before.iter_segments() if segment["p_type"] == "PT_LOAD"]
    kept = [segment for segment in after.iter_segments() if segment["p_type"] == "PT_LOAD"]
    assert len(kept) == len(loads) + 1
    for member in ("e_ident", "e_machine", "e_entry", "e_flags", "e_phentsize"):
        assert after.header[member] == before.header[member]
    for old, new in zip(loads, kept, strict=False):
        assert (old["p_paddr"], old["p_memsz"], old["p_flags"]) == (new["p_paddr"], new["p_memsz"], new["p_flags"])
        assert new.data().startswith(old.data())
    assert (kept[-1]["p_paddr"], kept[-1].data()) == (PAYLOAD.hpa, PAYLOAD.data)


def test_a_table_that_is_too_large_is_refused(monitor: bytes) -> None:
    with pytest.raises(BulkheadError, match="does not fit"):
        loadable.compose(monitor, plan_of(bytes(1 << 20)))


def test_a_monitor_without_a_table_is_refused() -> None:
    with pytest.raises(BulkheadError, match="partition_table"):
        loadable.compose(Path("/bin/true").read_bytes(), plan_of(b""))


@pytest.mark.parametrize("name", ["pvh", "monitor32"])
def test_there_is_a_section_table(name: str, request: pytest.FixtureRequest) -> None:
    """GRUB 2.12 refuses to start a file that has none."""
    composed = ELFFile(io.BytesIO(loadable.compose(request.getfixturevalue(name), plan_of(b"TABL", PAYLOAD))))
    assert [section["sh_type"] for section in composed.iter_sections()] == ["SHT_NULL"]


RESET = """
	.section .note.pvh, "a", @note
	.long 4, 4, 18
	.asciz "Xen"
	.long _start
	.code32
	.text
	.global _start
_start:	lidt none
	int3
none:	.long 0, 0
"""


def test_a_machine_that_resets_itself_has_ended(tmp_path: Path) -> None:
    out = tmp_path / "reset.elf"
    options = [
        "--target=x86_64-unknown-linux-gnu",
        "-fuse-ld=lld",
        "-nostdlib",
        "-static",
        "-Wl,-Ttext=0x101000",
        "-Wl,--image-base=0x100000",
    ]
    subprocess.run(["clang-19", *options, "-x", "assembler", "-", "-o", str(out)], input=RESET, text=True, check=True)
    with Machine(load("qemu-svm"), out.read_bytes()) as machine:
        deadline = time.monotonic() + 20
        while machine.exit_status() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        assert machine.exit_status() is not None
