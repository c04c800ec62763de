# SPDX-License-Identifier: Apache-2.0
"""Between gdb and a machine: whose stop it is, where an address lies, and packets of any kind, without a machine."""

import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import pytest
from bhtool.config.plan import Location, Plan, Region, SandboxPlan
from bhtool.debugger import memory
from bhtool.debugger.breaks import JUDGE, require_breaks, require_elf, script
from bhtool.debugger.layout import LAYOUTS
from bhtool.debugger.live import X86_PACKET_BYTES, Live
from bhtool.debugger.packets import INTERRUPT, Line
from bhtool.debugger.record import Record
from bhtool.debugger.server import Server
from bhtool.debugger.target import CRASHED, INTERRUPTED, TRAP, Stop
from bhtool.errors import BulkheadError, Status
from bhtool.machine.memory import Crash, Memory
from bhtool.platforms import load
from bhtool.report.recorded import recorded
from bhtool.terminal.screen import Screen
from bhtool.verbs.debug import symbols_of
from hypothesis import given
from hypothesis import strategies as st

RAM, HPA, SIZE = 0x40000000, 0x50000000, 0x200000
GUEST, MONITOR = 0x3C5, 0x3C9  # PSTATE at EL1h, at EL2h
PC = 0x40080000
STATISTICS, UART, FOREIGN = RAM + SIZE, 0x9000000, 0x41000000
MAPPED = {STATISTICS: 0x60000000, UART: UART, FOREIGN: 0x70000000}


def sandbox(gpa: int = RAM) -> SandboxPlan:
    here = Location("x.dts", 1)
    one = SandboxPlan("one", 0, "native", here, here, [2, 3], [2, 3], "log", "x.elf", "", gpa, HPA, SIZE, 0)
    one.regions = [
        Region("RAM", "ram", gpa, HPA, SIZE, "rwx"),
        Region("stats", "pool", gpa + SIZE, 0x60000000, 0x1000, "r"),
        Region("uart1", "device", 0x9000000, 0x9000000, 0x1000, "rw", True),
    ]
    return one


@dataclass
class Machine:
    """QEMU's port as debugger/live.py uses it: each `vCont;c` ends with the next of `stops`, a step at once."""

    stops: list[bytes]
    status: dict[int, int] = field(default_factory=lambda: dict.fromkeys(range(4), GUEST))
    sent: list[str] = field(default_factory=list)
    core: int = 0
    packet: bytes = b""  # of registers, instead of AArch64's
    waiting: list[bytes] = field(default_factory=list)

    def fileno(self) -> int:
        return self.end.fileno()

    def __post_init__(self) -> None:
        self.end, self._other = socket.socketpair()
        self._other.send(b"x")  # always readable

    def send(self, data: bytes) -> None:
        self.sent.append(data.decode())
        if data.startswith(b"vCont;s:"):
            self.waiting.append(b"T05thread:%s;" % data.rpartition(b":")[2])
        elif data == b"vCont;c" and self.stops:
            self.waiting.append(self.stops.pop(0))

    def receive(self, seconds: float = 0) -> bytes | None:
        return self.waiting.pop(0) if self.waiting else None

    def interrupt(self) -> None:
        self.waiting.append(b"T02thread:01;")

    def ask(self, data: str | bytes) -> bytes:
        text = data if isinstance(data, str) else data.decode()
        self.sent.append(text)
        if text.startswith("Hg"):
            self.core = int(text[2:], 16) - 1
        if text.startswith("qRcmd,"):
            return self.monitor(bytes.fromhex(text[6:]).decode())
        if text == "g":
            return self.packet or LAYOUTS["aarch64"].laid_over(b"", {"pc": PC, "cpsr": self.status[self.core]})
        return bytes(int(text.partition(",")[2], 16)).hex().encode() if text[:1] == "m" else b"OK"

    def monitor(self, command: str) -> bytes:
        """As QEMU answers: output in packets of its own, then OK. RAM, statistics and another sandbox's memory are mapped."""
        if command.startswith("cpu"):
            return b"OK"
        address = int(command.split()[1], 16)
        page = address & ~0xFFF
        found = HPA + page - RAM if RAM <= address < RAM + SIZE else MAPPED.get(page)
        self.waiting += [] if found is None else [b"O" + b"\r\n".hex().encode(), b"OK"]
        return b"O" + (b"Unmapped\r\n" if found is None else b"gpa: %#x" % (found + address % 0x1000)).hex().encode()


def live(machine: Machine) -> Live:
    return Live("aarch64", sandbox(), cast(Line, machine), range(0))


def never() -> bool:
    return False


def test_a_stop_of_another_sandbox_is_passed_over() -> None:
    """Core 1 is another's: one step, and on."""
    machine = Machine([b"T05thread:02;", b"T05thread:04;"])
    assert live(machine).resume(None, never) == Stop(1)
    assert [one for one in machine.sent if one.startswith("vCont")] == ["vCont;c", "vCont;s:2", "vCont;c"]


def test_a_stop_in_the_monitor_is_passed_over() -> None:
    machine = Machine([b"T05thread:03;", b"T05thread:04;"])
    machine.status[2] = MONITOR
    assert live(machine).resume(None, never) == Stop(1)


def test_a_watchpoint_keeps_its_address() -> None:
    assert live(Machine([b"T05thread:03;watch:40081000;"])).resume(None, never) == Stop(0, TRAP, b"watch:40081000;")


def test_ctrl_c_stops_whoever_runs() -> None:
    machine = Machine([])
    assert live(machine).resume(None, lambda: True) == Stop(0, INTERRUPTED)


def test_a_step_moves_one_core_alone() -> None:
    machine = Machine([])
    assert live(machine).resume(1, never) == Stop(1)
    assert [one for one in machine.sent if one.startswith("vCont")] == ["vCont;s:4"]


def test_a_step_over_an_exit_ends_in_the_guest() -> None:
    """Where the guest goes on is not known: at this instruction or after it. No breakpoint is left there."""
    machine = Machine([b"T05thread:03;"])
    target = live(machine)
    stepped = iter([True, False, True, True])  # before the step, after it, at the next stop
    target.is_guest = lambda core: next(stepped)  # type: ignore[method-assign]
    assert target.resume(0, never) == Stop(0)
    set_there = [one[1:] for one in machine.sent if one.startswith("Z")]
    assert f"1,{PC:x},4" in set_there
    assert f"1,{PC + 4:x},4" in set_there
    assert set_there == [one[1:] for one in machine.sent if one.startswith("z")]


def test_who_is_parked_stands_as_its_record_says() -> None:
    machine = Machine([])
    target = live(machine)
    target.crash = crash("aarch64", 3)
    assert target.resume(None, never) == Stop(1, CRASHED)
    assert LAYOUTS["aarch64"].read(target.registers(1), "pc") == 0x1234
    assert LAYOUTS["aarch64"].read(target.registers(0), "pc") == PC


def test_a_core_in_its_monitor_is_read_by_guest_addresses() -> None:
    """QEMU would translate by the monitor's tables."""
    machine = Machine([])
    machine.status[2] = MONITOR
    assert live(machine).memory(0, RAM + 0x1000, 4) == bytes(4)
    assert f"m{HPA + 0x1000:x},4" in machine.sent
    assert "Qqemu.PhyMemMode:1" in machine.sent
    assert live(machine).memory(0, 0x70000000, 4) is None


@pytest.mark.parametrize("status", [GUEST, MONITOR], ids=["guest", "monitor"])
@pytest.mark.parametrize(
    "address", [STATISTICS, STATISTICS - 2, UART, FOREIGN, 0x1234], ids=["read-only", "across", "device", "foreign", "nothing"]
)
def test_what_its_sandbox_may_not_write_is_not_written(status: int, address: int) -> None:
    """Not even what lies before it. QEMU writes whatever is mapped, as far as its port is concerned."""
    machine = Machine([])
    machine.status[2] = status
    assert not live(machine).write_memory(0, address, b"\x41" * 4)
    assert not [one for one in machine.sent if one.startswith("M")]


@pytest.mark.parametrize("status", [GUEST, MONITOR], ids=["guest", "monitor"])
@pytest.mark.parametrize("address", [UART, FOREIGN, 0x1234], ids=["device", "foreign", "nothing"])
def test_only_its_memory_is_read(status: int, address: int) -> None:
    """A device may take a read for a command."""
    machine = Machine([])
    machine.status[2] = status
    assert live(machine).memory(0, address, 4) is None
    assert not [one for one in machine.sent if one.startswith("m")]
    assert live(machine).memory(0, STATISTICS, 4) == bytes(4)


@pytest.mark.parametrize(("size", "is_known"), [(X86_PACKET_BYTES, True), (X86_PACKET_BYTES + 8, False), (140, False)])
def test_another_qemus_control_registers_are_not_guessed(size: int, is_known: bool) -> None:
    machine = Machine([], packet=bytes(size).hex().encode())
    target = Live("x86_64", sandbox(0), cast(Line, machine), range(0))
    if is_known:
        assert target.memory(0, 0, 4) == bytes(4)
    else:
        with pytest.raises(BulkheadError, match=rf"sends {size} bytes of registers, not the {X86_PACKET_BYTES} .*tools/bulkhead setup"):
            target.memory(0, 0, 4)


@pytest.mark.parametrize("status", [GUEST, MONITOR], ids=["guest", "monitor"])
def test_memory_of_its_own_is_written_by_the_machines_address(status: int) -> None:
    machine = Machine([])
    machine.status[2] = status
    assert live(machine).write_memory(0, RAM + 0xFFE, b"AAAA")
    assert [one for one in machine.sent if one.startswith("M")] == [f"M{HPA + 0xFFE:x},2:4141", f"M{HPA + 0x1000:x},2:4141"]
    assert machine.sent[-3] == "Qqemu.PhyMemMode:1"


def test_a_monitors_registers_are_not_written() -> None:
    machine = Machine([])
    machine.status[2] = MONITOR
    assert live(machine).forward(0, b"P20=00") == b"E01"
    assert live(machine).forward(1, b"P20=00") == b"OK"
    parked = live(machine)
    parked.crash = crash("aarch64", 3)
    assert parked.forward(1, b"P20=00") == b"E01"


def crash(arch: str, core: int = 0) -> Crash:
    return Crash("memory", core, "write", 0, 0, 0x1234, 0, 4, (0, 0), 0, tuple(range(1, 37)))


@pytest.mark.parametrize("arch", LAYOUTS)
def test_a_record_is_laid_out_as_gdb_reads_it(arch: str) -> None:
    values = recorded(arch, crash(arch))
    packet = LAYOUTS[arch].laid_over(b"", values)
    for name, value in values.items():
        assert LAYOUTS[arch].read(packet, name) == value
    assert len(packet) == 2 * sum(size for _, size in LAYOUTS[arch].registers)


@pytest.mark.parametrize(("gpa", "size", "found"), [(RAM, 4, [HPA]), (RAM + SIZE - 4, 8, [HPA + SIZE - 4, 0x60000000]), (RAM - 4, 8, None)])
def test_memory_lies_where_the_plan_says(gpa: int, size: int, found: list[int] | None) -> None:
    where = memory.pieces(sandbox(), gpa, size)
    assert (None if where is None else [piece.hpa for piece in where]) == found


class Tables:
    """Guest memory made of words."""

    def __init__(self, words: dict[int, int], size: int = 8) -> None:
        self._words, self._size = words, size

    def read(self, gpa: int, size: int) -> bytes | None:
        return self._words.get(gpa, 0).to_bytes(size, "little") if size == self._size else None


LONG = {"cr0": 1 << 31 | 1, "cr3": 0x1000, "cr4": 1 << 5, "efer": 1 << 10}
FOUR = {
    0x1000 + 8: 0x2003,
    0x2000 + 16: 0x3003,
    0x3000 + 24: 0x4003,
    0x4000 + 32: 0x8000000000ABC003,
    0x3000 + 32: 0x40000083,
    0x2000 + 24: 0xC0000083,
}


@pytest.mark.parametrize(
    ("address", "found"),
    [
        (1 << 39 | 2 << 30 | 3 << 21 | 4 << 12 | 5, 0xABC005),
        (1 << 39 | 2 << 30 | 4 << 21 | 0x12345, 0x40012345),  # 2 MiB
        (1 << 39 | 3 << 30 | 0x1234567, 0xC1234567),  # 1 GiB
        (1 << 39 | 2 << 30 | 5 << 21, None),
        (0, None),
    ],
)
def test_long_mode_is_walked(address: int, found: int | None) -> None:
    assert memory.translate_x86(LONG, Tables(FOUR).read, address) == found


def test_other_modes_are_walked() -> None:
    pae = LONG | {"efer": 0, "cr3": 0x1020}
    assert (
        memory.translate_x86(pae, Tables({0x1020 + 8: 0x2001, 0x2000 + 16: 0x3003, 0x3000 + 24: 0x5003}).read, 1 << 30 | 2 << 21 | 3 << 12)
        == 0x5000
    )
    legacy = {"cr0": 1 << 31, "cr3": 0x1000}
    assert memory.translate_x86(legacy, Tables({0x1000 + 4: 0x2003, 0x2000 + 8: 0x7003}, 4).read, 1 << 22 | 2 << 12 | 9) == 0x7009
    assert memory.translate_x86({"cr0": 1}, Tables({}).read, 0x1234) == 0x1234


@given(
    controls=st.fixed_dictionaries({name: st.integers(0, 2**64 - 1) for name in ("cr0", "cr3", "cr4", "efer")}),
    address=st.integers(0, 2**64 - 1),
)
def test_no_walk_goes_further_than_its_levels(controls: dict[str, int], address: int) -> None:
    """Every entry points to itself."""
    reads = []

    def read(gpa: int, size: int) -> bytes:
        reads.append(gpa)
        return struct.pack("<Q", 0x1003)[:size]

    memory.translate_x86(controls, read, address)
    assert len(reads) <= 4


class Ram:
    def read(self, hpa: int, size: int) -> bytes:
        return bytes([hpa >> 28]) * size


def record(one: Crash | None) -> Record:
    return Record("aarch64", sandbox(), cast(Memory, Ram()), one)


def test_a_record_reads_ram_and_pool_alone() -> None:
    target = record(crash("aarch64"))
    assert target.memory(0, RAM, 2) == b"\x05\x05"
    assert target.memory(0, RAM + SIZE - 1, 2) == b"\x05\x06"
    assert target.memory(0, 0x9000000, 4) is None
    assert not target.write_memory(0, RAM, b"x")


@pytest.fixture
def gdb() -> Iterator[tuple[Server, Line]]:
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs):
        yield Server(record(crash("aarch64", 2)), Line(ours, is_server=True), str), Line(theirs, is_server=False)


@pytest.mark.parametrize(
    ("packet", "answer"),
    [
        (b"?", b"T05thread:1;"),
        (b"qfThreadInfo", b"m1"),
        (b"qsThreadInfo", b"l"),
        (b"qC", b"QC1"),
        (b"qAttached", b"0"),
        (b"vKill;1", b""),
        (b"Hg1", b"OK"),
        (b"Hg2", b"E01"),
        (b"Hg0", b"OK"),
        (b"Hc-1", b"OK"),
        (b"T1", b"OK"),
        (b"T7", b"E01"),
        (b"m%x,2" % RAM, b"0505"),
        (b"mabc,4", b"E14"),
        (b"vCont?", b"vCont;c;C;s;S;r"),
        (b"vCont;c", b"T0bthread:1;"),
        (b"vCont;s:1;c", b"T0bthread:1;"),
        (b"vMustReplyEmpty", b""),
        (b"qTStatus", b""),
        (b"qSupported:multiprocess+", b"PacketSize=1000;vContSupported+"),
        (b"D", b"OK"),
    ],
)
def test_gdb_is_answered(gdb: tuple[Server, Line], packet: bytes, answer: bytes) -> None:
    assert gdb[0].answer(packet) == answer


def test_who_wants_to_run_a_parked_sandbox_on_is_told_once(gdb: tuple[Server, Line]) -> None:
    server, line = gdb
    server.stop = server.target.resume(None, never)
    assert [server.answer(packet) for packet in (b"vCont;s:1", b"vCont;c")] == [b"T0bthread:1;"] * 2
    told = line.receive(0)
    assert told is not None
    assert bytes.fromhex(told[1:].decode()) == b"`one` is parked for good: look at it, or quit\n"
    assert line.receive(0) is None


@given(st.binary(max_size=40))
def test_no_packet_ends_the_server(packet: bytes) -> None:
    server = Server(record(None), cast(Line, None), str)
    if packet[:1] not in (b"c", b"s") and not packet.startswith(b"vCont"):
        assert isinstance(server.answer(packet), bytes)


def test_packets_come_whole_however_they_are_cut(gdb: tuple[Server, Line]) -> None:
    server, line = gdb
    end = line._line
    end.send(b"+$qfThr")
    assert server.line.receive(0) is None
    end.send(b"eadInfo#bb\x03")
    assert server.line.receive(0) == b"qfThreadInfo"
    assert server.line.receive(0) == INTERRUPT


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With symbols, as gdb reads them."""
    file = tmp_path_factory.mktemp("program") / "ticker.elf"
    command = [
        "clang-19",
        "--target=aarch64-none-elf",
        "-g",
        "-ffreestanding",
        "-nostdlib",
        "-fuse-ld=lld",
        "-Wl,-e,on_irq",
        "-x",
        "c",
        "-",
        "-o",
        str(file),
    ]
    subprocess.run(command, input=b"int count;\nvoid on_irq(void)\n{\n\tcount++;\n}\n", check=True)
    return file


@pytest.mark.parametrize("place", ["on_irq", "*0x40080000", "*$pc + 4", "on_irq if count > 3", "<stdin>:4"])
def test_places_that_exist_are_taken(program: Path, place: str) -> None:
    require_breaks((place,), program)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("on_irk", "--break: `ticker.elf` has no function `on_irk` (did you mean `on_irq`?)"),
        ("nothing_like_it", "--break: `ticker.elf` has no function `nothing_like_it`"),
        ("other.c:4", "--break: other.c:4: No source file named other.c"),
    ],
)
def test_places_that_do_not_exist_are_named(program: Path, place: str, words: str) -> None:
    """Before a machine runs: it would never stop there."""
    with pytest.raises(BulkheadError) as refused:
        require_breaks(("on_irq", place), program)
    assert (str(refused.value), refused.value.status) == (words, Status.USAGE)


def test_no_name_of_an_image_is_an_option_of_gdb(program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """gdb's options run commands of the shell."""
    monkeypatch.chdir(tmp_path)
    image = Path("-iex=shell touch ran")
    image.write_bytes(program.read_bytes())
    (tmp_path / ".gdbinit").write_text("shell touch ran\n")
    monkeypatch.setenv("HOME", str(tmp_path))  # whatever the user's own settings do, places are judged without them
    require_breaks(("on_irq",), image)
    assert not (tmp_path / "ran").exists()


def test_without_symbols_only_addresses_are_places() -> None:
    require_breaks(("*0x40080000",), None)
    with pytest.raises(BulkheadError, match=r"--break start_kernel: no symbols; give the kernel.s vmlinux with --symbols"):
        require_breaks(("start_kernel",), None)


def test_symbols_are_an_elf_files(program: Path, tmp_path: Path) -> None:
    require_elf(program)
    (tmp_path / "README.md").write_text("# no program\n")
    with pytest.raises(BulkheadError, match=r"--symbols: .*README.md is no ELF file") as refused:
        require_elf(tmp_path / "README.md")
    assert refused.value.status == Status.USAGE


def test_without_gdb_its_package_is_asked_for(program: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BulkheadError, match=r"gdb-multiarch is not installed: run `tools/bulkhead setup`") as refused:
        require_breaks(("on_irq",), program)
    assert refused.value.status == Status.MISSING


@dataclass(frozen=True)
class Named:
    file: Path


class Warned:
    def __init__(self) -> None:
        self.said: list[str] = []

    def warn(self, text: str) -> None:
        self.said.append(text)


def test_a_flat_image_is_no_symbols(program: Path, tmp_path: Path) -> None:
    flat, heard = tmp_path / "flat.bin", Warned()
    flat.write_bytes(bytes(4096))
    for image, known in ((flat, None), (program, program)):
        one = replace(sandbox(), image=str(image))
        assert symbols_of(load("qemu-aarch64"), cast(Plan, Named(tmp_path / "x.dts")), one, None, cast(Screen, heard)) == known
    assert heard.said == ["one's image flat.bin is no ELF file and has no symbols: give the ELF file it was made from with --symbols"]


def test_nothing_runs_on_from_a_place_that_cannot_be_stopped_at(program: Path, tmp_path: Path) -> None:
    """gdb goes on to the next of its -ex, but not to the next line of a script."""
    (tmp_path / "breaks").write_text(script(("on_irk",), runs=True).replace("continue", "print 1 + 41"))
    (tmp_path / "good").write_text(script(("on_irq",), runs=True).replace("continue", "print 1 + 41"))
    said = [
        subprocess.run([*JUDGE, "-ex", f"source {tmp_path / name}", str(program)], capture_output=True, text=True, check=False).stdout
        for name in ("breaks", "good")
    ]
    assert ["= 42" in one for one in said] == [False, True]
