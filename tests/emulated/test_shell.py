# SPDX-License-Identifier: Apache-2.0
"""BH-F4.programs. Who types at the sandbox kernel's UART: keys, and commands that show and change VCPUs while others run, without an exit."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from bhtool.machine.emulated import Machine, timing_for
from bhtool.machine.session import ReadyEvent, Session

from tests.emulated.scene import compile_file, platform_or_skip, scene_of
from tests.emulated.shell import LIMIT, Shell

pytestmark = pytest.mark.slow
FILE = Path(__file__).parent / "shell.dts"
READ_SECONDS = 0.05  # in which the kernel reads what was typed
LINE_MOST, CHUNK = 159, 40  # the kernel keeps 256 characters that it has not read
LEFT, HOME, DELETE, UP, DOWN, BACKSPACE = "\x1b[D", "\x1b[H", "\x1b[3~", "\x1b[A", "\x1bOB", "\x7f"
GIVEN = re.compile(r"vcpu (\S+): (\d+) us of (\d+) us; given (\d+) us in (\d+) us, background (\d+) us")


class EngineShell(Shell):
    def vcpus(self) -> dict[str, tuple[int, ...]]:
        """Of each VCPU: budget, period, given, in how long, in the background; in us."""
        found = [match for line in self.ask("vcpus") if (match := GIVEN.fullmatch(line))]
        return {one[1]: tuple(int(number) for number in one.groups()[1:]) for one in found}


PLATFORMS = [
    pytest.param(name, marks=[pytest.mark.platform(name), pytest.mark.xdist_group(f"shell-{name}")])  # one worker runs its machine
    for name in ("qemu-aarch64", "qemu-aarch64-gicv2", "qemu-armv7", "qemu-svm")
]


@pytest.fixture(scope="module", params=PLATFORMS)
def shell(request: pytest.FixtureRequest) -> Iterator[EngineShell]:
    platform = platform_or_skip(request.param)
    scene = scene_of(platform, compile_file(platform, FILE))
    with Session(platform, scene.plan, Machine(platform, scene.image, timing_for(platform, scene.plan))) as session:
        assert any(isinstance(event, ReadyEvent) for event in session.events(LIMIT) if event)
        yield EngineShell(session, "engine")


@pytest.mark.parametrize(
    "keys",
    [
        "life",
        f"lie{LEFT}f",
        f"ife{HOME}l",
        f"xlife{HOME}{DELETE}",
        f"lifex{BACKSPACE}",
        "info\x15life",
        "life=info\x01\x06\x06\x06\x06\x0b",
        "life info\x17",
        "info\x03life",
        "lif\t",
        "li\x0cfe",
        "\x80\xff\x00\x1b[99~li\x1b[[Af\x1bxe",
    ],
    ids=ascii,
)
def test_keys_edit_a_line(shell: EngineShell, keys: str) -> None:
    assert shell.ask(keys) == ["life 0"]


def test_former_lines_come_back(shell: EngineShell) -> None:
    shell.ask("life")  # so that there is a line before those, whichever test comes first
    assert len(shell.ask("uptime")) == 1
    assert shell.ask("life") == ["life 0"]
    (line,) = shell.ask(f"dra{UP}{UP}{UP}{UP}{UP}{DOWN}x{BACKSPACE}")  # each line is followed by another one, which asks for the end
    assert line.startswith("up ")


def test_a_line_that_is_too_long_does_no_harm(shell: EngineShell) -> None:
    for _ in range(LINE_MOST // CHUNK + 2):
        shell.type(" " * CHUNK)
        shell.wait(READ_SECONDS)
    assert shell.ask("\x15life") == ["life 0"]


def test_help_has_a_line_for_each_command(shell: EngineShell) -> None:
    lines = shell.ask("help")
    assert len(lines) > 25
    assert all(re.fullmatch(r"[a-z-]+[^ ]*( =\S+)*: \S.*", line) for line in lines), lines


def test_threads_and_interrupts_are_told(shell: EngineShell) -> None:
    found = [re.fullmatch(r"thread (\S+): (.*), \d+ us", line) for line in shell.ask("threads")]
    threads = {one[1]: one[2] for one in found if one}
    assert len(threads) == len(found) >= 3
    assert threads["main"] == "vcpu main, level 0, running"
    assert re.fullmatch("vcpu loop, level 0, (ready|sleeping)", threads["loop"])
    assert threads["hog"] == "vcpu hog, level 0, ready"
    before, after = (
        {line.rpartition(": ")[0]: int(line.rpartition(": ")[2]) for line in shell.ask("ticks=20\rirqs")[1:]} for _ in range(2)
    )
    assert {name.split()[-1] for name in before} == {"local", "uart0"}
    assert set(before) == set(after)
    assert all(after[name] > count for name, count in before.items())


def test_frames_add_up(shell: EngineShell) -> None:
    said = {line.split(":")[0].removeprefix("mem "): [int(one) for one in re.findall(r"\d+", line)] for line in shell.ask("mem")}
    free, all_of_them, size = said["frames"]
    assert free + sum(said[name][0] for name in ("stacks", "tables", "notes", "others")) == all_of_them
    assert 13 << 20 < all_of_them * size + sum(said["image"]) <= 16 << 20, "the first MiB or two are a loader's"
    assert said["stacks"][0] >= 3 * 2, "idle, loop and hog"


def test_the_log_is_shown_again(shell: EngineShell) -> None:
    assert shell.ask("life\rlife") == ["life 0", "life 0"]
    *shown, end = shell.ask("dmesg=3")
    assert end.startswith("no such command"), "which asked for the end"
    assert shown in (["life 0"], ["life 0", "life 0"]), "one of three may be that of the heartbeat"


def test_a_vcpu_gets_what_it_is_set_to(shell: EngineShell) -> None:
    """And nobody else less. The change itself costs two budgets at most: what it used of the old one comes back, and a period passes."""
    assert shell.ask("set=hog,6000,20000") == ["set hog: 6000 us of 20000 us"]
    first = shell.vcpus()
    shell.ask("ticks=5000")  # half a second, for which the main program sleeps
    second = shell.vcpus()
    assert second["hog"][:2] == (6000, 20000)
    for name in ("hog", "loop"):
        budget, period, given, elapsed, _ = (after - before for after, before in zip(second[name], first[name], strict=True))
        assert budget == period == 0
        share = second[name][0] / second[name][1]
        most = share * elapsed + 2 * second[name][0]
        assert given <= most
        if name == "hog":
            assert elapsed > 500_000
            assert given >= (elapsed // second[name][1] - 2) * second[name][0]


def test_a_vcpu_that_is_set_again_gets_no_more(shell: EngineShell) -> None:
    """What it has used comes back before it has a new budget."""
    first = shell.vcpus()["hog"]
    for _ in range(20):
        shell.ask("set=hog,4000,20000 set=hog,4000,20000")
    second = shell.vcpus()["hog"]
    assert second[2] - first[2] <= (second[3] - first[3]) * 4000 / 20000 + 2 * 6000


def test_what_cannot_be_promised_is_refused(shell: EngineShell) -> None:
    before = shell.vcpus()["hog"][:2]
    refused, late, fits = shell.ask("set=hog,19000,20000")
    assert "refused" in refused
    assert "would have its budget after" in late
    budget = int(re.fullmatch(r"vcpu hog: (\d+) us would fit", fits)[1])  # type: ignore[index]
    assert shell.vcpus()["hog"][:2] == before
    assert shell.ask(f"set=hog,{budget},20000") == [f"set hog: {budget} us of 20000 us"]
    refused, *_ = shell.ask(f"set=hog,{budget + 100},20000")
    assert "refused" in refused
    shell.ask("set=hog,4000,20000")


@pytest.mark.parametrize(
    "line",
    [
        "set",
        "set=hog",
        "set=hog,1",
        "set=nobody,1,2",
        "set=hog,0,1000",
        "set=hog,1001,1000",
        "set=hog,1,2,3",
        "start=nobody",
        "start=hog,1",
    ],
)
def test_nonsense_changes_nothing(shell: EngineShell, line: str) -> None:
    before = {name: numbers[:2] for name, numbers in shell.vcpus().items()}
    assert len(shell.ask(line)) == 1
    assert len(shell.ask(f"{line},18446744073709551615")) == 1
    assert {name: numbers[:2] for name, numbers in shell.vcpus().items()} == before


def test_a_program_is_started(shell: EngineShell) -> None:
    assert shell.ask("start=tlbwalk,500,10000") == ["start tlbwalk: vcpu tlbwalk, 500 us of 10000 us"]
    shell.ask("ticks=500")
    lines = shell.ask("vcpus")
    (told,) = (line for line in lines if line.startswith("tlbwalk: a round takes"))
    least, most = (int(number) for number in re.findall(r"\d+", told))
    assert 0 < least <= most


def test_a_program_is_stopped_and_begins_again(shell: EngineShell) -> None:
    assert shell.ask("stop=hog") == ["stop hog: stopped, its vcpu is kept"]
    assert any(line.startswith("thread hog:") and "stopped" in line for line in shell.ask("threads"))
    before = shell.vcpus()["hog"]
    shell.ask("ticks=500")
    assert shell.vcpus()["hog"][2] == before[2], "it runs on"
    assert shell.ask("stop=hog") == ["stop hog: no such program runs on this core"]
    assert shell.ask("stop=nobody") == ["stop nobody: no such program runs on this core"]
    assert shell.ask("start=hog") == ["start hog: runs again on its vcpu"]
    shell.ask("ticks=500")
    assert shell.vcpus()["hog"][2] > before[2]
    assert shell.vcpus()["hog"][:2] == before[:2]


def test_a_program_that_runs_already_has_another_name(shell: EngineShell) -> None:
    assert shell.ask("start=findprimes") == ["start findprimes: vcpu findprimes, 1000 us of 100000 us"]
    assert shell.ask("start=findprimes,100,10000") == ["start findprimes: vcpu findprimes-2, 100 us of 10000 us"]
    assert shell.ask("stop=findprimes-2") == ["stop findprimes-2: stopped, its vcpu is kept"]
    again = "start findprimes-2: runs again on its vcpu"
    assert shell.ask("start=findprimes-2,200,10000") == ["set findprimes-2: 200 us of 10000 us", again]
    vcpus = shell.vcpus()
    assert (vcpus["findprimes"][:2], vcpus["findprimes-2"][:2]) == ((1000, 100_000), (200, 10_000))
    for name in ("findprimes", "findprimes-2"):
        assert shell.ask(f"stop={name}") == [f"stop {name}: stopped, its vcpu is kept"]


def rounds(shell: EngineShell, name: str) -> tuple[int, int]:
    """Those of a program, and by when, in us."""
    lines = shell.ask("vcpus")
    (ran,) = (int(found[1]) for line in lines if (found := re.match(rf"{name}: (\d+) rounds", line)))
    (elapsed,) = (int(found[5]) for line in lines if (found := GIVEN.fullmatch(line)) and found[1] == name)
    return ran, elapsed


def test_a_loop_goes_by_the_period_of_its_vcpu(shell: EngineShell) -> None:
    assert shell.ask("set=loop,1000,40000") == ["set loop: 1000 us of 40000 us"]
    shell.ask("wait=150")  # if another was set before, it has that when the period of `main` is over
    ran, elapsed = rounds(shell, "loop")
    shell.ask("wait=500")  # not `ticks`, for which `main` pays, so that it would tell its lines late
    ran_then, elapsed_then = rounds(shell, "loop")
    assert abs((ran_then - ran) - (elapsed_then - elapsed) / 40000) <= 1
    assert shell.ask("set=loop,1000,10000") == ["set loop: 1000 us of 10000 us"]


def test_who_waits_for_ticks_pays_for_them(shell: EngineShell) -> None:
    """Each takes a microsecond and more, and what is typed and told less than all of them."""
    before = shell.vcpus()["main"][2]
    shell.ask("wait=500")
    between = shell.vcpus()["main"][2]
    shell.ask("ticks=5000")
    after = shell.vcpus()["main"][2]
    assert after - between >= (between - before) + 5000


def test_programs_begin_and_end_again_and_again(shell: EngineShell) -> None:
    """Without losing a frame."""
    before = shell.ask("mem")
    for _ in range(10):
        said = shell.ask("stop=hog start=hog stop=hog start=hog")
        assert said == ["stop hog: stopped, its vcpu is kept", "start hog: runs again on its vcpu"] * 2
    assert shell.ask("mem") == before


def test_tracing_takes_half_of_what_is_free_at_most(shell: EngineShell) -> None:
    before = shell.ask("mem")
    for line, what in (
        ("trace=15859712", "no room for rings of 15859712 bytes"),
        ("trace=nonsense", "on, off, or the bytes"),
        ("trace=-1", "on, off"),
    ):
        (said,) = shell.ask(line)
        assert what in said
    assert shell.ask("mem") == before
    assert shell.ask("trace=65536") == ["trace on"]
    assert shell.ask("trace=off") == ["trace off"]


@pytest.mark.parametrize("line", ["read=0xffd", "read=1", "write=0xffe,1", "write=2", "read=18446744073709551615"])
def test_an_access_across_pages_is_refused(shell: EngineShell, line: str) -> None:
    (said,) = shell.ask(line)
    assert "no multiple of 4, or out of reach" in said


def test_a_number_of_more_than_64_bits_is_none(shell: EngineShell) -> None:
    assert shell.ask("write=4096,18446744073709551616") == ["not a number, or more than 64 bits: write 4096,18446744073709551616"]


def test_nobody_exits_who_is_typed_at(shell: EngineShell) -> None:
    lines = shell.ask("exits")
    assert any(line.startswith("exits call: 1 ") for line in lines)
    assert all(line.endswith(" 0 since") for line in lines), lines
